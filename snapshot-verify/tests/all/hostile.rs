//! Hostile inputs and outputs: for any of them, the program ends with one of its documented exit
//! codes, in bounded time and memory.

#![cfg(unix)]
use std::fs;

use test_support::{Program, spoilt};

/// The program from outside.
const PROGRAM: Program = Program::new(env!("CARGO_BIN_EXE_snapshot-verify"));

const GOOD: &str = "algorithm mine\nshared r[segment]: value\n\nupdate(v):\n    r[me] := v\n\n\
                    scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := r[s]\n    \
                    return copy\n";

const TRACE: &str = "snapshot-trace 2\nalgorithm naive_collect\nprocesses 3\n\np0 update 1\np2 scan\n\
                     p2 step\np0 step 2\nend\n";

/// Corruptions of a text.
fn texts(good: &str, number: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut texts = spoilt(good, "scan");
    texts.extend([
        ("large number", good.replace(number, "18446744073709551615").into_bytes()),
        ("larger number", good.replace(number, &"9".repeat(1000)).into_bytes()),
        ("negative number", good.replace(number, "-1").into_bytes()),
        ("long line", [good.as_bytes(), &vec![b'x'; 1_000_000], b"\n"].concat()),
        ("blanks", [good.as_bytes(), &vec![b' '; 1_000_000], b"\n"].concat()),
        ("parentheses", good.replace(number, &"(".repeat(100_000)).into_bytes()),
        ("brackets", [good.as_bytes(), "[".repeat(50_000).as_bytes()].concat()),
    ]);
    texts
}

#[test]
fn every_hostile_algorithm_gets_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.snapshot").display().to_string();
    let mut refused = 0;
    for (name, bytes) in texts(GOOD, "v") {
        fs::write(&input, bytes).unwrap();
        let limits = ["-n", "2", "--time", "5", "--memory", "500M"];
        let (code, text) = PROGRAM.answer(&[&["check", &input], &limits[..]].concat());
        assert!(code != 2 || !text.is_empty(), "{name}");
        refused += usize::from(code == 2);
        PROGRAM.answer(&["list", &input]);
        PROGRAM.answer(&["emit", &input, "--stage", "steps", "-n", "2"]);
        PROGRAM.answer(&["simulate", &input, "-n", "2", "--walks", "3"]);
    }
    assert!(refused > 12, "{refused}");
}

#[test]
fn every_hostile_trace_gets_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input").display().to_string();
    let mut refused = 0;
    for (name, bytes) in texts(TRACE, "1") {
        fs::write(&input, bytes).unwrap();
        let (code, text) = PROGRAM.answer(&["replay", &input]);
        assert!(code != 2 || !text.is_empty(), "{name}");
        refused += usize::from(code == 2);
    }
    assert!(refused > 12, "{refused}");
}

#[test]
fn endless_lines_are_refused() {
    for arguments in [["check", "/dev/zero"], ["list", "/dev/zero"], ["replay", "/dev/zero"]] {
        let (code, text) = PROGRAM.answer(&arguments);
        assert_eq!(code, 2);
        assert!(text.contains("line 1 is longer than 1024 KiB"), "{text}");
    }
}

#[test]
fn unreadable_paths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for bad in [&path("missing"), &path("."), "", "/dev/null", "\u{1b}[31m\n"] {
        for arguments in [
            vec!["check", bad],
            vec!["list", bad],
            vec!["emit", "--stage", "tree", bad],
            vec!["simulate", bad],
            vec!["expect", bad],
            vec!["replay", bad],
            vec!["check", "bowman", "--bug", "early_exit", "--trace", &path("missing/below")],
        ] {
            let (code, text) = PROGRAM.answer(&arguments);
            assert_eq!(code, 2, "{arguments:?}: {text}");
        }
    }
}

/// A full output is an error with exit code 2, a closed one ends the program quietly, and a
/// diagnostic that cannot be written changes nothing.
#[test]
fn full_and_closed_outputs_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace").display().to_string();
    fs::write(&trace, TRACE).unwrap();
    let commands: [&[&str]; 11] = [
        &["check", "naive_collect", "-n", "2"],
        &["check", "naive_collect", "-n", "2", "--report", "json"],
        &["check", "naive_collect", "-n", "2", "--status"],
        &["list"],
        &["list", "--reductions", "--report", "json"],
        &["emit", "bowman", "--stage", "steps"],
        &["expect", "register", "--time", "10"],
        &["replay", &trace],
        &["simulate", "bowman", "--walks", "3"],
        &["--help"],
        &["--version"],
    ];
    PROGRAM.assert_minds_its_outputs(&commands);
    PROGRAM.assert_refuses_in_silence(&[
        &["check", "/dev/null"][..],
        &["chekc"],
        &["replay", "missing"],
    ]);
}

/// A trace that cannot be written leaves no file: neither a part of it, nor an older trace that
/// would look like a new one.
#[test]
fn traces_are_written_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace").display().to_string();
    fs::write(&trace, "what was there").unwrap();
    let command = ["check", "bowman", "--bug", "early_exit", "--trace", &trace];
    let (code, text) = PROGRAM.run_without_space(&command);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot write"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(PROGRAM.run(&command, "").0, 1);
    assert!(fs::read_to_string(&trace).unwrap().ends_with("\nend\n"));
}

/// Terminal commands in a name are shown, not executed.
#[test]
fn control_characters_in_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("\u{1b}[2J.snapshot").display().to_string();
    fs::write(&evil, GOOD).unwrap();
    let (code, text) = PROGRAM.answer(&["check", &evil, "-n", "2"]);
    assert_eq!(code, 0);
    fs::write(&evil, "algorithm \u{1b}[2J\n").unwrap();
    let (code, report) = PROGRAM.answer(&["check", &evil]);
    assert_eq!(code, 2);
    assert!(report.contains("\\u{1b}[2J.snapshot"), "{text}{report}");
}
