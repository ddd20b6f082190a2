//! Recordings of immediate snapshots, from the file to the certificate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BLOCK: &str = "object immediate\nsegments 3\np0 exchange 5\np1 exchange 8\np0 ok 5 8 0\n\
                     p1 ok 5 8 0\np2 exchange \"x\"\np2 ok 5 8 \"x\"\n";

/// Each violation with the words that its report must have.
const VIOLATIONS: [(&str, &str, &str); 4] = [
    ("own-value", "object immediate\np0 exchange 5\np0 ok 0 0\n", "E1 wrote 5 to segment 0"),
    (
        "containment",
        "object immediate\np0 exchange 5\np1 exchange 8\np0 ok 5 0\np1 ok 0 8\n",
        "E1 took effect in an earlier block than E2. A contradiction.",
    ),
    (
        "immediacy",
        "object immediate\np0 exchange 5\np1 exchange 6\np2 exchange 7\np0 ok 5 6 0\np1 ok 5 6 7\n",
        "E1 returned 7, and E2 returned 0, the initial value, which is older",
    ),
    (
        "validity",
        "object immediate\np0 exchange 5\np0 ok 5 8\np1 exchange 8\n",
        "But E2 had responded before E1 was invoked.",
    ),
];

fn run(arguments: &[&str]) -> (Output, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_snapshot-test")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Returns the report without the line ends within its sentences.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_block_is_accepted_and_its_certificate_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "block.txt", BLOCK);
    let path = path.to_str().unwrap();
    let certificates = directory.path().join("c");
    let certificates = certificates.to_str().unwrap();
    for live in [&["check", path][..], &["check", "--live", path]] {
        let (output, text) = run(live);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("set-linearizable (3 operations, 3 processes, 3 segments"), "{text}");
    }
    run(&["check", path, "--certificate", certificates]);
    let certificate = format!("{certificates}/block.txt.certificate");
    let text = fs::read_to_string(&certificate).unwrap();
    assert!(text.contains("\"blocks\":[[0,1],[2]]"), "{text}");
    let (output, text) = run(&["certify", path, &certificate]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    fs::write(
        &certificate,
        "{\"snapshot-certificate\":1,\"verdict\":\"set-linearizable\",\"blocks\":[[0],[1],[2]]}",
    )
    .unwrap();
    let (output, text) = run(&["certify", path, &certificate]);
    assert_eq!(output.status.code(), Some(1), "{text}");
}

#[test]
fn violations_are_reported_and_certified() {
    let directory = tempfile::tempdir().unwrap();
    let certificates = directory.path().join("c");
    for (condition, recording, words) in VIOLATIONS {
        let path = file(directory.path(), condition, recording);
        let path = path.to_str().unwrap();
        let (output, text) = run(&["check", path, "--certificate", certificates.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(&format!("condition: {condition}")), "{text}");
        assert!(unwrapped(&text).contains(words), "{text}");
        let certificate = certificates.join(format!("{condition}.certificate"));
        let (output, text) = run(&["certify", path, certificate.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        // The same certificate proves nothing about the recording without that violation.
        let twin = file(directory.path(), "twin", BLOCK);
        let (output, text) =
            run(&["certify", twin.to_str().unwrap(), certificate.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        if condition == "validity" {
            // Without a certificate, the recording is read only up to the violation.
            let (_, text) = run(&["check", path]);
            assert!(unwrapped(&text).contains("before E1 responded wrote it"), "{text}");
        }
        let (_, json) = run(&["check", path, "--report", "json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["violation"]["rule"], condition);
        assert_eq!(json["method"], "immediate");
    }
}

#[test]
fn json_lines_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let event = |fields: &str| format!("{{{fields}}}\n");
    let recording = [
        event("\"snapshot-history\":1,\"object\":\"immediate\",\"segments\":2"),
        event("\"process\":0,\"event\":\"invoke\",\"operation\":\"exchange\",\"value\":5"),
        event("\"process\":1,\"event\":\"invoke\",\"operation\":\"exchange\",\"value\":8"),
        event("\"process\":1,\"event\":\"fail\""),
        event("\"process\":0,\"event\":\"ok\",\"values\":[5,0]"),
    ];
    let path = file(directory.path(), "r.jsonl", &recording.concat());
    let (output, text) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("1 failed"), "{text}");
    let seen = recording.concat().replace("[5,0]", "[5,8]");
    let path = file(directory.path(), "seen.jsonl", &seen);
    let (output, text) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(unwrapped(&text).contains("But E1 failed"), "{text}");
}

#[test]
fn bad_input_is_reported_with_place_and_remedy() {
    let directory = tempfile::tempdir().unwrap();
    for (recording, place, words) in [
        ("object immediate\np0 update 5\n", ":2:4:", "its operation is `exchange`"),
        ("p0 exchange 5\n", ":1:4:", "declare `object immediate`"),
        ("object immediate\np0 exchange 5\np0 ok\n", ":3:4:", "one value per segment"),
        (
            "object immediate\nsegments 2\np0 exchange 5\np0 ok 5\n",
            ":4:1:",
            "1 value, but there are 2",
        ),
        ("object immediate\np0 exchange 5\np0 unknown\np0 exchange 6\n", ":4:1:", "goes on after"),
        ("object immediate\nsegments 1\np1 exchange 5\n", ":3:1:", "process 1 has no segment"),
        ("object nothing\n", ":1:8:", "`snapshot` or `immediate`"),
    ] {
        let path = file(directory.path(), "bad", recording);
        let (output, _) = run(&["check", path.to_str().unwrap()]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(place) && error.contains(words), "{error}");
    }
    // disc22 has no exchanges.
    let path = file(directory.path(), "block", BLOCK);
    let (output, _) = run(&["convert", path.to_str().unwrap(), "--to", "disc22"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("disc22 knows snapshots only"), "{error}");
}

#[test]
fn formats_convert_into_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let text = BLOCK.to_owned() + "p2 exchange 9\np0 exchange 6\np0 fail\np2 unknown\n";
    let initial = text.replace("segments 3\n", "segments 3\ninitial 0 0 7\n");
    let keyed = "object immediate\n@\"a\" p0 exchange 5\n@7 p0 exchange 6\n@\"a\" p0 ok 5\n";
    for recording in [text.as_str(), &initial, keyed] {
        file(directory.path(), "r.txt", recording);
        for (from, to, form) in [("r.txt", "r.jsonl", "jsonl"), ("r.jsonl", "again.txt", "text")] {
            let (output, _) = run(&["convert", &at(from), "--to", form, "-o", &at(to)]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
        assert_eq!(fs::read_to_string(at("again.txt")).unwrap(), recording);
    }
    // One of several objects.
    let (output, text) = run(&["convert", &at("r.txt"), "--to", "text", "--key", "a"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text, "object immediate\np0 exchange 5\np0 ok 5\n");
    let admitted = "object immediate\n@1 p0 exchange 5\n@2 p0 exchange 5\n@1 p0 exchange 6\n";
    let path = file(directory.path(), "twice.txt", admitted);
    let (output, _) = run(&["convert", path.to_str().unwrap(), "--to", "jsonl"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains(":4:1:") && error.contains("still open"), "{error}");
}

/// Returns the lines of the recordings in turn, with different keys.
fn mixed(recordings: &[(&str, String)]) -> String {
    let mut lines: Vec<_> = recordings.iter().map(|(key, text)| (key, text.lines())).collect();
    let mut mixed = String::from("object immediate\n");
    while !lines.is_empty() {
        lines.retain_mut(|(key, lines)| match lines.next() {
            Some(line) => {
                if line.starts_with('p') {
                    mixed += &format!("@\"{key}\" {line}\n");
                }
                true
            }
            None => false,
        });
    }
    mixed
}

#[test]
fn objects_are_judged_separately() {
    let directory = tempfile::tempdir().unwrap();
    let mut recordings: Vec<(&str, String)> =
        VIOLATIONS.iter().map(|(name, text, _)| (*name, (*text).to_owned())).collect();
    recordings.push(("fine", BLOCK.to_owned()));
    let path = file(directory.path(), "mixed.txt", &mixed(&recordings));
    let path = path.to_str().unwrap();
    let certificates = directory.path().join("c");
    let (output, text) = run(&["check", path, "--certificate", certificates.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("violation (4 of 5 objects wrong"), "{text}");
    assert!(text.contains("not set-linearizable: @\"own-value\" @\"containment\""), "{text}");
    for (name, _) in &recordings {
        let (output, alone) = run(&["check", path, "--key", name]);
        let condition = format!("condition: {name}");
        assert_eq!(output.status.code() == Some(0), *name == "fine", "{alone}");
        assert_eq!(alone.contains(&condition), *name != "fine", "{alone}");
        let certificate = certificates.join(format!("mixed.txt.{name}.certificate"));
        let (output, text) = run(&["certify", path, certificate.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{text}");
    }
    let (output, text) = run(&["check", path, "--live"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let fine = [("a", BLOCK.to_owned()), ("b", BLOCK.to_owned())];
    let path = file(directory.path(), "fine.txt", &mixed(&fine));
    let (output, text) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("set-linearizable (2 objects, each by itself; 6 operations"), "{text}");
    // A malformed line is bad input; after a violation, the report has the violation, too.
    let path = file(directory.path(), "bad.txt", &(mixed(&fine) + "@\"a\" p0 scan\n"));
    let (output, _) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let path = file(directory.path(), "bad.txt", &(mixed(&recordings) + "@\"a\" p0 scan\n"));
    let (output, text) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("note: the input is malformed later on"), "{text}");
}

/// Runs the generator. Returns the recording.
fn generated(options: &str) -> String {
    let (output, text) = run(&["generate --object immediate", options]
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text
}

#[test]
fn generated_recordings_have_their_stated_verdict() {
    let directory = tempfile::tempdir().unwrap();
    for flaw in corpus::generate::Flaw::ALL {
        for twin in ["", " --twin"] {
            for to in ["text", "jsonl"] {
                let options = format!(
                    "--violation {flaw}{twin} --processes 5 --operations 60 --pending 2 \
                     --failures 0.1 --seed 3 --to {to}"
                );
                let recording = generated(&options);
                assert_eq!(recording, generated(&options));
                let path = file(directory.path(), "g", &recording);
                let (output, text) = run(&["check", path.to_str().unwrap()]);
                let expected = match twin {
                    "" => format!("expect: violation {}", flaw.condition()),
                    _ => "expect: set-linearizable".to_owned(),
                };
                assert!(recording.contains(&expected), "{recording}");
                match twin {
                    "" => {
                        assert_eq!(output.status.code(), Some(1), "{text}");
                        let condition = format!("condition: {}", flaw.condition());
                        assert!(text.contains(&condition), "{text}");
                    }
                    _ => assert_eq!(output.status.code(), Some(0), "{text}"),
                }
            }
        }
    }
    for (options, words) in [
        ("--object immediate --scans 0.2", "--scans works only with --object snapshot"),
        ("--object immediate --violation stale", "needs --writers single"),
        ("--violation immediacy", "needs --object immediate"),
        ("--failures 0.5", "works only with --object immediate"),
        ("--object immediate --processes 2 --violation immediacy", "at least 3 processes"),
        ("--object immediate --to disc22", "disc22 knows snapshots only"),
    ] {
        let arguments = format!("generate {options}");
        let (output, _) = run(&arguments.split_whitespace().collect::<Vec<_>>());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(words), "{options}: {error}");
    }
}

#[test]
fn the_monitor_stops_at_the_violation_and_forgets_the_past() {
    let directory = tempfile::tempdir().unwrap();
    // Beyond the first cut, and far beyond it.
    for operations in [100, 30_000] {
        let options =
            format!("--violation immediacy --processes 4 --operations {operations} --seed 5");
        let recording = generated(&options);
        let path = file(directory.path(), "m.txt", &recording);
        let path = path.to_str().unwrap();
        let (output, text) = run(&["monitor", path]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("condition: immediacy"), "{text}");
        let (_, checked) = run(&["check", path]);
        let place =
            |text: &str| text.split("from ").nth(1).unwrap().split(" (").next().unwrap().to_owned();
        assert_eq!(place(&text), place(&checked));
        assert_eq!(text.contains("before are set-linearizable, and over"), operations > 20_000);
        let twin = file(directory.path(), "t.txt", &generated(&(options + " --twin")));
        let (output, text) = run(&["monitor", twin.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("set-linearizable so far"), "{text}");
    }
    // Several objects, one of them wrong.
    let parts = [("a", BLOCK.to_owned()), ("b", VIOLATIONS[2].1.to_owned())];
    let path = file(directory.path(), "k.txt", &mixed(&parts));
    let (output, text) = run(&["monitor", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("@\"b\"") && text.contains("condition: immediacy"), "{text}");
}

#[test]
fn repeated_values_are_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let recording = "object immediate\np0 exchange 5\np0 ok 5\np0 exchange 5\np0 ok 5\n";
    let path = file(directory.path(), "repeated", recording);
    let (output, text) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("help: record each value with the number of its operation"), "{text}");
}

#[test]
fn explanations_draw_blocks_and_forced_order() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    file(directory.path(), "block.txt", BLOCK);
    for (form, words) in [
        (
            "text",
            &["p0", "|- E1: exchange(5) [5, 8, 0] #1", "E3: exchange(\"x\") [5, 8, \"x\"] #2"][..],
        ),
        ("svg", &["<line class=\"block\"", "exchange(5) [5, 8, 0]"]),
        ("dot", &["o0 -> o1 [color=green4, dir=none, style=bold]", "o1 -> o2 [color=green4]"]),
        ("latex", &["\\draw[densely dotted] (o0) -- (o1)"]),
    ] {
        let (output, text) = run(&["explain", &at("block.txt"), "--to", form]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        for words in words {
            assert!(text.contains(words), "{form}: {text}");
        }
    }
    let (output, text) = run(&["explain", &at("block.txt"), "--html", &at("block.html")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.contains("page: "), "{text}");
    let page = fs::read_to_string(at("block.html")).unwrap();
    for words in
        ["There are 2 blocks of 3 operations", "\"form\":\"exchanges\"", "take effect together"]
    {
        assert!(page.contains(words), "{words}");
    }
    for (condition, recording, words) in VIOLATIONS {
        let path = file(directory.path(), condition, recording);
        let path = path.to_str().unwrap();
        let page = at("v.html");
        let (output, text) = run(&["explain", path, "--html", &page]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        let page = fs::read_to_string(page).unwrap();
        let escaped = unwrapped(words).replace('<', "&lt;");
        assert!(page.contains(&escaped), "{condition}: {page}");
        let (_, drawn) = run(&["explain", path, "--to", "dot"]);
        // Two operations in a circle, unless one returns a value that was never there.
        let arrows = drawn.matches("color=red3").count() + drawn.matches("color=gray40").count();
        assert_eq!(arrows, if condition == "own-value" { 0 } else { 2 }, "{drawn}");
    }
    // One object of several.
    let parts = [("a", BLOCK.to_owned()), ("b", VIOLATIONS[1].1.to_owned())];
    let path = file(directory.path(), "k.txt", &mixed(&parts));
    let path = path.to_str().unwrap();
    let (output, text) = run(&["explain", path, "--key", "b", "--to", "text"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("E2: exchange(5) [5, 0]"), "{text}");
    let (output, _) = run(&["explain", path]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// The columns of a page, read as its script reads them.
#[test]
fn a_page_holds_the_recording_and_its_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let text = BLOCK.to_owned() + "p2 exchange 9\np0 exchange 6\np0 fail\np2 unknown\n";
    let history = {
        let reader = snapshot_test::format::Reader::text(text.as_bytes()).unwrap();
        snapshot_test::read_exchanges(reader).unwrap().0
    };
    let snapshot_core::immediate::Verdict::SetLinearizable(blocks) =
        snapshot_core::immediate::check(&history)
    else {
        panic!("it is set-linearizable")
    };
    let columns = snapshot_picture::columns::encode_exchanges(&history, Some(&blocks));
    assert_eq!(columns.dictionary, ["\"x\""]);
    // The page has the same columns.
    let path = file(directory.path(), "r.txt", &text);
    let page = directory.path().join("r.html");
    run(&["explain", path.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&format!("\"columns\":\"{}\"", columns.base64)), "{page}");
}
