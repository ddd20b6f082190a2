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

/// The report without the line ends within its sentences.
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
fn violations_are_told_and_certified() {
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
        // The same certificate proves nothing of the recording without that violation.
        let twin = file(directory.path(), "twin", BLOCK);
        let (output, text) =
            run(&["certify", twin.to_str().unwrap(), certificate.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        if condition == "validity" {
            // Without a certificate, the recording is read up to the violation only.
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
fn json_lines_are_read_as_well() {
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
fn bad_input_names_the_place_and_the_cure() {
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
    // Other commands say that they read snapshots only.
    let path = file(directory.path(), "block", BLOCK);
    let (output, _) = run(&["convert", path.to_str().unwrap(), "--to", "jsonl"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("immediate snapshot"), "{error}");
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
