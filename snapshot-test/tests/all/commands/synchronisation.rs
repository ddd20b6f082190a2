//! `check --object`, and `certify` on its output.

use std::fs;

use crate::commands::{answer, refused, run};

/// Figure 9 of Lawrence and Lowe, "Synchronisation: Specification and Testing".
const FIGURE_9: &str = "p0 exchange 13\np1 exchange 70\np1 ok 13\np2 exchange 76\np3 exchange 58\n\
                        p3 ok 76\np2 ok 58\np0 ok 58\n";

/// Figure 10.
const FIGURE_10: &str =
    "object channel\np0 send 48\np1 receive\np2 send 92\np3 receive\np1 ok 48\np0 ok\n";

#[test]
fn figures_of_the_paper_have_their_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let nine = file("nine.txt", FIGURE_9);
    let (code, out, error) = answer(run(&format!("check --object exchanger {nine}")));
    assert_eq!((code, error.as_str()), (1, ""));
    let expected = format!(
        "{nine}: violation (4 operations, 4 processes; exchanger, by keys)\n  not set-linearizable \
         from line 8 (event 7) on\n  X1 = exchange(70) by process 1, returned 13 [line 2 to line 3]\n\n  X1 can take effect with none of the \
         operations that overlap it, and not\n  alone.\n"
    );
    assert_eq!(out, expected);
    let ten = file("ten.txt", FIGURE_10);
    let (code, _, error) = answer(run(&format!("check --object channel {ten}")));
    assert_eq!((code, error.as_str()), (0, ""));
    let (code, out, error) = answer(run(&format!("check --object channel --progress {ten}")));
    assert_eq!((code, error.as_str()), (1, ""));
    assert!(out.contains("X1 = send(92) by process 2 [line 4, still open]"), "{out}");
    assert!(out.contains("at its end X1 and X2 wait, though"), "{out}");
    let (code, out, _) =
        answer(run(&format!("check --object channel --progress --report json {ten}")));
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &record["violation"]["rule"]), (1, &"missed".into()));
    assert_eq!(record["violation"]["operations"][1]["line"], 5);
    let (code, out, _) = answer(run(&format!("check --object channel {ten} {nine}")));
    assert_eq!(code, 2);
    assert!(out.ends_with("2 inputs: 1 set-linearizable, 0 violations, 0 unknown, 1 malformed\n"));
    let (code, out, _) = answer(run(&format!("check --object exchanger --report sarif {nine}")));
    assert_eq!(code, 1);
    assert!(out.contains("\"startLine\""), "{out}");
    // Without --object the header is not valid for a snapshot.
    let (code, _, error) = answer(run(&format!("check {ten}")));
    assert_eq!(code, 2);
    assert!(error.contains("help: judge it with `check --object channel`"), "{error}");
    let lines = file("ten.jsonl", "{\"snapshot-history\":1,\"object\":\"channel\"}\n");
    let (code, _, error) = answer(run(&format!("check {lines}")));
    assert_eq!(code, 2);
    assert!(error.contains("help: judge it with `check --object channel`"), "{error}");
    let lines_of_another = file("an.jsonl", "{\"snapshot-history\":1,\"object\":\"chart\"}\n");
    let (code, _, error) = answer(run(&format!("check {lines_of_another}")));
    assert_eq!(code, 2);
    assert!(error.contains("are judged by `check --object OBJECT`"), "{error}");
    let (code, _, error) = answer(run(&format!("check --object channel {lines}")));
    assert_eq!((code, error.as_str()), (0, ""));
}

#[test]
fn certificates_prove_only_their_recording() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let certificates = at("certificates");
    let twins = [
        ("right.txt", "p0 exchange 1\np1 exchange 1\np0 ok 1\np1 ok 1\n", 0),
        (
            "wrong.txt",
            "p0 exchange 1\np1 exchange 1\np2 exchange 1\np0 ok 1\np1 ok 1\np2 ok 1\n",
            1,
        ),
    ];
    for (name, text, expected) in twins {
        fs::write(at(name), text).unwrap();
        let check = format!("check --object exchanger --certificate {certificates} {}", at(name));
        assert_eq!(answer(run(&check)).0, expected);
    }
    let certify = |name: &str, of: &str| {
        answer(run(&format!("certify {} {certificates}/{of}.certificate", at(name))))
    };
    for (name, ..) in twins {
        let (code, out, error) = certify(name, name);
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
    }
    assert_eq!(certify("right.txt", "wrong.txt").0, 1);
    assert_eq!(certify("wrong.txt", "right.txt").0, 1);
}

#[test]
fn invalid_options_are_refused() {
    let refused_with = |arguments: &str, part: &str| {
        let error = refused(arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    };
    refused_with("check --object chanel x", "did you mean `channel`?");
    refused_with("check --object barrier x", "a number from 1");
    refused_with("check --progress x", "--object");
    refused_with("check --object channel --forget x", "--forget");
    refused_with("check --object queue --initial 5 x", "leave out --initial");
    refused_with("explain --initial 5 x", "--object");
    refused_with("check --object channel --format disc22 x", "are text or jsonl");
}

#[test]
fn each_object_is_monitored_to_its_first_violation() {
    let folder = tempfile::tempdir().unwrap();
    let recording = |planted: usize| {
        let mut text = String::new();
        for value in 1..200 {
            text += &format!("@1 p0 write {value}\n@1 p0 ok\n@2 p0 write {value}\n@2 p0 ok\n");
            let found = if value == planted { 7 } else { value };
            text += &format!("@1 p1 read\n@1 p1 ok {found}\n@2 p1 read\n@2 p1 ok {value}\n");
        }
        text
    };
    let place = folder.path().join("keyed.txt");
    fs::write(&place, recording(100)).unwrap();
    let place = place.display();
    // The 100th read of key 1 is at line 99 * 8 + 6.
    let alarm = "not linearizable from line 798 (event 399) on";
    let (code, out, error) = answer(run(&format!("monitor --object register --all {place}")));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.starts_with(&format!("{place} @1: violation")) && out.contains(alarm), "{out}");
    assert!(out.contains("2 objects: 1 linearizable, 1 violation, 0 unknown"), "{out}");
    let (code, out, _) = answer(run(&format!("monitor --object register {place}")));
    assert!(code == 1 && out.contains(alarm) && !out.contains("objects:"), "{out}");
    let (code, out, _) =
        answer(run(&format!("monitor --object register --all --report json {place}")));
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &record["violation"]["decided_at"]["line"]), (1, &798.into()));
    assert_eq!(record["key"], 1);
    let (code, out, _) = answer(run(&format!("check --object register {place}")));
    assert!(code == 1 && out.contains(alarm), "{out}");
    let right = folder.path().join("right.txt");
    fs::write(&right, recording(0)).unwrap();
    let (code, out, _) = answer(run(&format!("monitor --object register {}", right.display())));
    assert!(code == 0 && out.contains("2 objects: 2 linearizable, 0 violations"), "{out}");
    refused("monitor --object queue --checkpoint c x");
}
