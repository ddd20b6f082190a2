//! Hostile inputs and outputs: whatever is put before the program, it ends with one
//! of its documented exit codes, in bounded time and memory.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Runs the program in at most 4 GB of memory and a minute of time, with an output that
/// goes to a file or, if none is given, is returned.
fn run(arguments: &[&str], redirections: &str) -> (i32, String) {
    run_after("ulimit -v 4000000", arguments, redirections)
}

/// The same after other commands of the shell.
fn run_after(before: &str, arguments: &[&str], redirections: &str) -> (i32, String) {
    let script = format!("{before}; exec \"$0\" \"$@\" {redirections}");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_snapshot-test")])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut out, mut error) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let drained = thread::spawn(move || {
        let mut bytes = Vec::new();
        error.read_to_end(&mut bytes).map(|_| bytes)
    });
    let watched = Arc::new(Mutex::new(child));
    let watch = Arc::clone(&watched);
    let (done, is_done) = mpsc::channel();
    let killer = thread::spawn(move || {
        if is_done.recv_timeout(Duration::from_secs(60)).is_err() {
            let _ = watch.lock().unwrap().kill();
        }
    });
    let mut bytes = Vec::new();
    out.read_to_end(&mut bytes).unwrap();
    bytes.extend(drained.join().unwrap().unwrap());
    let status = watched.lock().unwrap().wait().unwrap();
    let _ = done.send(());
    killer.join().unwrap();
    let code = status.code().unwrap_or_else(|| panic!("{arguments:?} ended by a signal: {status}"));
    (code, String::from_utf8(bytes).expect("the output is text"))
}

/// Ends with one of the documented codes, and commands no terminal.
fn is_answered(arguments: &[&str]) -> (i32, String) {
    let (code, text) = run(arguments, "");
    assert!((0..=3).contains(&code), "{arguments:?}: {code}: {text:.2000}");
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let is_json = arguments.contains(&"json") || arguments.contains(&"convert");
    assert!(is_json || !text.contains(commands), "{arguments:?}: {text:?}");
    (code, text)
}

const GOOD: &str = "segments 2\np0 update 5\np1 scan\np0 ok\np1 ok 5 0\n";

/// Texts with what is wrong with them.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts: Vec<(&str, Vec<u8>)> = vec![
        ("empty", vec![]),
        ("only line ends", b"\n\n\r\n".to_vec()),
        ("carriage returns", GOOD.replace('\n', "\r\n").into_bytes()),
        ("old line ends", GOOD.replace('\n', "\r").into_bytes()),
        ("byte order mark", [b"\xef\xbb\xbf", GOOD.as_bytes()].concat()),
        ("UTF-16", GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("NUL", GOOD.replace("ok 5", "ok \0").into_bytes()),
        ("invalid UTF-8", [GOOD.as_bytes(), b"p0 update \xff\xfe\n"].concat()),
        ("escape", GOOD.replace("update", "\u{1b}[2Jupdate").into_bytes()),
        ("C1 control", GOOD.replace("update 5", "update \"\u{9b}2J\u{202e}\"").into_bytes()),
        ("cut off", GOOD.as_bytes()[..GOOD.len() - 5].to_vec()),
        ("twice", GOOD.repeat(2).into_bytes()),
        (
            "every line twice",
            GOOD.lines().map(|l| format!("{l}\n{l}\n")).collect::<String>().into(),
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
        ("zeros", vec![0; 100_000]),
    ];
    texts.push(("values", format!("p0 scan\np0 ok{}\n", " 7".repeat(500_000)).into_bytes()));
    texts
}

#[test]
fn every_text_is_answered() {
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
            let (code, text) = is_answered(&["check", "--format", format, &input]);
            // A refusal has words.
            assert!(code != 2 || text.lines().count() > 1, "{name}: {text}");
            refused += usize::from(code == 2);
        }
        is_answered(&["check", "--report", "json", &input]);
        is_answered(&["check", "--method", "search", "--budget-seconds", "1", &input]);
        is_answered(&["convert", "--to", "jsonl", &input]);
        is_answered(&["certify", &input, &path("certificate")]);
        let (code, text) = is_answered(&["certify", &good, &input]);
        assert_eq!(code, 2, "{name} is no certificate: {text}");
    }
    assert!(refused > 2 * texts.len(), "{refused}");
}

#[test]
fn endless_inputs_are_refused_by_the_length_of_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good").display().to_string();
    fs::write(&good, GOOD).unwrap();
    let long = folder.path().join("long").display().to_string();
    fs::write(&long, vec![b'x'; 9 << 20]).unwrap();
    for format in ["auto", "text", "jsonl", "disc22"] {
        let (code, text) = is_answered(&["check", "--forget", "--format", format, "/dev/zero"]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("control byte 0x00"), "{format}: {text}");
        let (code, text) = is_answered(&["check", "--format", format, &long]);
        assert_eq!(code, 2, "{text}");
        assert!(format == "auto" || text.contains("8 MiB"), "{format}: {text}");
    }
    let (code, text) = is_answered(&["certify", &good, "/dev/zero"]);
    assert_eq!(code, 2);
    assert!(text.contains("line 1 is longer than 64 KiB"), "{text}");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("good"), GOOD).unwrap();
    for bad in [&path("missing"), &path("."), "", "/dev/null", &path("good/below"), "\u{1b}[31m\n"]
    {
        for arguments in [
            vec!["check", bad],
            vec!["convert", "--to", "text", bad],
            vec!["certify", bad, &path("good")],
            vec!["certify", &path("good"), bad],
            vec!["convert", "--to", "text", &path("good"), "-o", &path("missing/below")],
            vec!["check", "--certificate", &path("good"), &path("good")],
        ] {
            let (code, text) = is_answered(&arguments);
            assert_eq!(code, 2, "{arguments:?}: {text}");
        }
    }
}

/// A full output is an error with exit code 2, a closed one ends the program quietly,
/// and a diagnostic that cannot be written changes nothing.
#[test]
fn full_and_closed_outputs_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (good, bad, proofs) = (path("good"), path("bad"), path("proofs"));
    fs::write(&good, GOOD).unwrap();
    fs::write(&bad, "p0 ok\n").unwrap();
    let (code, _) = is_answered(&["check", &good, "--certificate", &proofs]);
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
    for arguments in commands {
        let (usual, _) = run(arguments, "");
        assert_eq!(run(arguments, "> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "2> /dev/full").0, usual, "{arguments:?}");
        assert_eq!(run(arguments, "> /dev/full 2> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "| true").0, 0, "{arguments:?}");
    }
    for arguments in [&["check", &bad][..], &["chekc"], &["check", &path("missing")]] {
        assert_eq!(run(arguments, "2> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "2>&-").0, 2, "{arguments:?}");
    }
}

/// Commands to a terminal in a name are shown, not obeyed; JSON has the name as it is.
#[test]
fn names_command_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("\u{1b}[2J\n: linearizable").display().to_string();
    fs::write(&evil, GOOD).unwrap();
    let (code, text) = is_answered(&["check", &evil]);
    assert_eq!(code, 0);
    assert!(text.contains("\\u{1b}[2J\\u{a}: linearizable: linearizable ("), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let (_, json) = run(&["check", "--report", "json", &evil], "");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["input"], evil);
    is_answered(&["check", "--format", "\u{1b}[2J", &evil]);
}

/// The recording of `certify-bomb`: brute force would take 131 GB for it.
#[test]
fn a_bomb_is_not_judged_and_said_not_to_be() {
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
        let (code, text) = is_answered(&["certify", &path("bomb"), &path("certificate")]);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("may or may not prove") && text.contains(why), "{text}");
    }
}

/// Outputs that cannot be written leave what was there, and nothing else.
#[test]
fn outputs_appear_whole_or_not_at_all() {
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
        // No file may be larger than 0 blocks.
        let (code, text) = run_after("trap '' XFSZ; ulimit -f 0", command, "");
        assert_eq!(code, 2, "{text}");
        for place in [&proof, &copy] {
            assert_eq!(fs::read_to_string(place).unwrap(), "what was there", "{command:?}");
        }
        assert_eq!(fs::read_dir(path("out")).unwrap().count(), 2, "{command:?}");
        assert_eq!(run(command, "").0, 0);
    }
}

/// The budget may run out while fewer operations are looked for. Then, and only then,
/// `check` says that its certificate cannot be checked, and `certify` that it was not.
#[test]
fn a_certificate_that_is_too_large_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let proofs = folder.path().display().to_string();
    let proof = folder.path().join("uncertifiable.txt.certificate").display().to_string();
    let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/uncertifiable.txt");
    let mut violations = 0;
    for budget in ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "60"] {
        let command = ["check", bad, "--certificate", &proofs, "--budget-seconds", budget];
        let (code, said) = is_answered(&command);
        if code == 3 {
            continue;
        }
        assert_eq!(code, 1, "{said}");
        let (certified, answer) = is_answered(&["certify", bad, &proof]);
        let is_said = said.contains("`certify` cannot check it");
        assert_eq!(certified, if is_said { 3 } else { 0 }, "{budget}: {said}{answer}");
        violations += 1;
    }
    assert!(violations > 0);
}
