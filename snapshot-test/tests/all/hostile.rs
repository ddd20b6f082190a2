//! Hostile inputs and outputs: for every input, the program ends with one of its documented exit
//! codes, in bounded time and memory.

#![cfg(unix)]
use std::fs;

use test_support::{Program, spoilt};

const PROGRAM: Program = Program::new(env!("CARGO_BIN_EXE_snapshot-test"));

const GOOD: &str = "segments 2\np0 update 5\np1 scan\np0 ok\np1 ok 5 0\n";

/// Returns texts with their defects.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts = spoilt(GOOD, "update");
    texts.extend([
        ("NUL in a value", GOOD.replace("ok 5", "ok \0").into_bytes()),
        ("invalid UTF-8 in a value", [GOOD.as_bytes(), b"p0 update \xff\xfe\n"].concat()),
        (
            "C1 control in a value",
            GOOD.replace("update 5", "update \"\u{9b}2J\u{202e}\"").into_bytes(),
        ),
        ("many segments", b"segments 4000000000\np0 scan\n".to_vec()),
        ("more segments", b"segments 99999999999999999999999\np0 scan\n".to_vec()),
        ("no segments", b"segments 0\n".to_vec()),
        ("many processes", b"processes 4000000000\np0 scan\n".to_vec()),
        ("large process", b"p18446744073709551615 scan\n".to_vec()),
        ("larger process", b"p18446744073709551616 scan\n".to_vec()),
        ("large segment", b"segments 2\np0 update s18446744073709551615 1\n".to_vec()),
        ("large value", GOOD.replace('5', &"9".repeat(1000)).into_bytes()),
        ("no processes", b"segments 65536\n".to_vec()),
        ("negative", b"segments -1\np-1 scan\n".to_vec()),
        ("JSON depth", "[".repeat(100_000).into_bytes()),
        ("JSON object", b"{\"snapshot\":".repeat(10_000)),
        ("JSON numbers", b"{\"p\":1e999,\"op\":\"scan\"}\n".to_vec()),
        ("blanks", vec![b' '; 1_000_000]),
        ("comment", [b"#".as_slice(), &vec![b'x'; 1_000_000], b"\n", GOOD.as_bytes()].concat()),
        ("quotes", [b"p0 update \"".as_slice(), &vec![b'\\'; 1_000_001], b"\"\n"].concat()),
        ("semicolons", vec![b';'; 100_000]),
        ("values", format!("p0 scan\np0 ok{}\n", " 7".repeat(500_000)).into_bytes()),
    ]);
    texts
}

#[test]
fn every_hostile_text_gets_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let good = path("good");
    fs::write(&good, GOOD).unwrap();
    let certificate = r#"{"snapshot-certificate":1,"verdict":"linearizable","order":[0,1]}"#;
    fs::write(path("certificate"), certificate).unwrap();
    let texts = texts();
    let mut refused = 0;
    for (name, bytes) in &texts {
        let input = path("input");
        fs::write(&input, bytes).unwrap();
        for format in ["auto", "text", "jsonl", "disc22"] {
            let (code, text) = PROGRAM.answer(&["check", "--format", format, &input]);
            // A refusal has an explanation.
            assert!(code != 2 || text.lines().count() > 1, "{name}: {text}");
            refused += usize::from(code == 2);
        }
        PROGRAM.answer(&["check", "--report", "json", &input]);
        PROGRAM.answer(&["check", "--method", "search", "--budget-seconds", "1", &input]);
        PROGRAM.answer(&["convert", "--to", "jsonl", &input]);
        PROGRAM.answer(&["certify", &input, &path("certificate")]);
        let (code, text) = PROGRAM.answer(&["certify", &good, &input]);
        assert_eq!(code, 2, "{name} is no certificate: {text}");
    }
    assert!(refused > 2 * texts.len(), "{refused}");
}

/// Recordings of several objects, damaged: exit code 2, with the position and the defect.
#[test]
fn damaged_keys_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input").display().to_string();
    for (text, said) in [
        ("@\"a\" p0 update 5\n@\"b\" p0 ok\n", "2:1: process 0 ends an operation"),
        ("@\"a\" p0 update 5\np0 ok\n", "2:1: expected a key"),
        ("@a p0 update 5\n", "1:2: expected a key after `@`"),
        ("@\"a\u{1b}[2J\" p0 update 5\n", "found the control byte 0x1b"),
        ("@\"a\\u001b[2J\" p0 ok\n", "1:1: process 0 ends an operation"),
        ("@\"a\" p0 update 5\n@\"a", "2:4: truncated last line"),
        ("object immediate\n@\"a\" p0 exchange 5\np0 ok 5\n", "3:1: expected a key"),
        ("object immediate\n@\"a\" p0 exchange 5\n@\"b\" p0 ok 5\n", "3:1: process 0 ends"),
        ("{\"key\":[1],\"process\":0,\"op\":\"scan\"}\n", "invalid type: sequence"),
    ] {
        fs::write(&path, text).unwrap();
        let (code, answer) = PROGRAM.answer(&["check", &path]);
        assert!(code == 2 && answer.contains(said), "{text}: {code}, {answer}");
        assert!(!answer.contains('\u{1b}'), "{answer:?}");
    }
    let one_each = |key| format!("@\"{key}\" p0 update 1\n@\"{key}\" p0 ok\n");
    let many: String = (0..20_000).map(one_each).collect();
    fs::write(&path, many).unwrap();
    let (code, answer) = PROGRAM.answer(&["check", &path]);
    assert!(code == 0 && answer.contains("20000 objects"), "{code}, {answer}");
}

#[test]
fn endless_lines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good").display().to_string();
    fs::write(&good, GOOD).unwrap();
    let long = folder.path().join("long").display().to_string();
    fs::write(&long, vec![b'x'; 9 << 20]).unwrap();
    for format in ["auto", "text", "jsonl", "disc22"] {
        let (code, text) = PROGRAM.answer(&["check", "--forget", "--format", format, "/dev/zero"]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("control byte 0x00"), "{format}: {text}");
        let (code, text) = PROGRAM.answer(&["check", "--format", format, &long]);
        assert_eq!(code, 2, "{text}");
        assert!(format == "auto" || text.contains("8 MiB"), "{format}: {text}");
    }
    let (code, text) = PROGRAM.answer(&["certify", &good, "/dev/zero"]);
    assert_eq!(code, 2);
    assert!(text.contains("line 1 is longer than 64 KiB"), "{text}");
}

#[test]
fn unreadable_paths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("good"), GOOD).unwrap();
    fs::create_dir(path("empty")).unwrap();
    let (here, empty) = (path("."), path("empty"));
    for bad in
        [&path("missing"), &here, &empty, "", "/dev/null", &path("good/below"), "\u{1b}[31m\n"]
    {
        for arguments in [
            vec!["check", bad],
            vec!["convert", "--to", "text", bad],
            vec!["certify", bad, &path("good")],
            vec!["certify", &path("good"), bad],
            vec!["convert", "--to", "text", &path("good"), "-o", &path("missing/below")],
            vec!["check", "--certificate", &path("good"), &path("good")],
        ] {
            let (code, text) = PROGRAM.answer(&arguments);
            // `check` judges each file in a folder.
            let expected = if arguments == ["check", &here] { 0 } else { 2 };
            assert_eq!(code, expected, "{arguments:?}: {text}");
        }
    }
}

/// A full output is an error with exit code 2, a closed one ends the program quietly, and a
/// diagnostic that cannot be written changes nothing.
#[test]
fn full_and_closed_outputs_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (good, bad, proofs) = (path("good"), path("bad"), path("proofs"));
    fs::write(&good, GOOD).unwrap();
    fs::write(&bad, "p0 ok\n").unwrap();
    let (code, _) = PROGRAM.answer(&["check", &good, "--certificate", &proofs]);
    assert_eq!(code, 0);
    let proof = path("proofs/good.certificate");
    let commands: [&[&str]; 12] = [
        &["check", &good],
        &["check", &good, &good, "--report", "json"],
        &["certify", &good, &proof],
        &["certify", &bad, &proof],
        &["convert", "--to", "jsonl", &good],
        &["generate"],
        &["corpus", "--list"],
        &["corpus", "--family", "twins"],
        &["automata"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ];
    PROGRAM.assert_minds_its_outputs(&commands);
    PROGRAM.assert_refuses_in_silence(&[
        &["check", &bad][..],
        &["chekc"],
        &["check", &path("missing")],
    ]);
}

/// Terminal control sequences in a name are shown, not executed; JSON has the raw name.
#[test]
fn control_characters_in_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("\u{1b}[2J\n: linearizable").display().to_string();
    fs::write(&evil, GOOD).unwrap();
    let (code, text) = PROGRAM.answer(&["check", &evil]);
    assert_eq!(code, 0);
    assert!(text.contains("\\u{1b}[2J\\u{a}: linearizable: linearizable ("), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let (_, json) = PROGRAM.run(&["check", "--report", "json", &evil], "");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["input"], evil);
    PROGRAM.answer(&["check", "--format", "\u{1b}[2J", &evil]);
}

/// The recording of `certify-bomb`: brute force would take 131 GB for it.
#[test]
fn certificate_bomb_is_reported_as_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (updates, segments) = (24, 65_536);
    let bomb = |last: &str| {
        let mut text = format!("segments {segments}\n");
        (0..updates).for_each(|k| text += &format!("p{k} update s{k} 1\n"));
        (0..updates).for_each(|k| text += &format!("p{k} ok\n"));
        text + "p100 scan\np100 ok" + &last.repeat(segments) + "\n"
    };
    let list = |count: usize| (0..count).map(|k| k.to_string()).collect::<Vec<_>>().join(",");
    let certificate = format!(
        r#"{{"snapshot-certificate":1,"verdict":"violation","segments":[{}],"operations":[{}]}}"#,
        list(segments),
        list(updates + 1)
    );
    fs::write(path("certificate"), certificate).unwrap();
    for (last, why) in
        [(" 0", "no answer after 1000000 states"), (" 2", "which take 268435456 bytes")]
    {
        fs::write(path("bomb"), bomb(last)).unwrap();
        let (code, text) = PROGRAM.answer(&["certify", &path("bomb"), &path("certificate")]);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("may or may not prove") && text.contains(why), "{text}");
    }
}

/// Outputs that cannot be written leave the previous contents, and nothing else.
#[test]
fn outputs_are_written_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("good"), GOOD).unwrap();
    fs::create_dir(path("out")).unwrap();
    let (proof, copy) = (path("out/good.certificate"), path("out/copy"));
    let commands: [&[&str]; 3] = [
        &["check", &path("good"), "--certificate", &path("out")],
        &["convert", "--to", "jsonl", &path("good"), "-o", &copy],
        &["generate", "-o", &copy],
    ];
    for command in commands {
        for place in [&proof, &copy] {
            fs::write(place, "what was there").unwrap();
        }
        let (code, text) = PROGRAM.run_without_space(command);
        assert_eq!(code, 2, "{text}");
        for place in [&proof, &copy] {
            assert_eq!(fs::read_to_string(place).unwrap(), "what was there", "{command:?}");
        }
        assert_eq!(fs::read_dir(path("out")).unwrap().count(), 2, "{command:?}");
        assert_eq!(PROGRAM.run(command, "").0, 0);
    }
}

/// The budget may run out while fewer operations are searched for. Then, and only then, `check`
/// reports that its certificate cannot be checked, and `certify` that it was not.
#[test]
fn uncheckable_certificate_is_announced_by_check() {
    let folder = tempfile::tempdir().unwrap();
    let proofs = folder.path().display().to_string();
    let proof = folder.path().join("uncertifiable.txt.certificate").display().to_string();
    let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/uncertifiable.txt");
    let mut violations = 0;
    for budget in ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "60"] {
        let command = ["check", bad, "--certificate", &proofs, "--budget-seconds", budget];
        let (code, said) = PROGRAM.answer(&command);
        if code == 3 {
            continue;
        }
        assert_eq!(code, 1, "{said}");
        let (certified, answer) = PROGRAM.answer(&["certify", bad, &proof]);
        let is_said = said.contains("`certify` cannot check it");
        assert_eq!(certified, if is_said { 3 } else { 0 }, "{budget}: {said}{answer}");
        violations += 1;
    }
    assert!(violations > 0);
}
