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
        .args(["-c", &script, env!("CARGO_BIN_EXE_snapshot-verify")])
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
    let is_json = arguments.contains(&"json");
    assert!(is_json || !text.contains(commands), "{arguments:?}: {text:?}");
    (code, text)
}

const GOOD: &str = "algorithm mine\nshared r[segment]: value\n\nupdate(v):\n    r[me] := v\n\n\
                    scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := r[s]\n    \
                    return copy\n";

const TRACE: &str = "snapshot-trace 2\nalgorithm naive_collect\nprocesses 3\n\np0 update 1\np2 scan\n\
                     p2 step\np0 step 2\nend\n";

/// A text, and what can be wrong with it.
fn texts(good: &str, number: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", vec![]),
        ("only line ends", b"\n\n\r\n".to_vec()),
        ("carriage returns", good.replace('\n', "\r\n").into_bytes()),
        ("old line ends", good.replace('\n', "\r").into_bytes()),
        ("byte order mark", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
        ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("NUL", good.replace(' ', "\0").into_bytes()),
        ("invalid UTF-8", [good.as_bytes(), b"\xff\xfe\n"].concat()),
        ("escape", good.replace("scan", "\u{1b}[2Jscan").into_bytes()),
        ("C1 control", good.replace("scan", "\u{9b}2J\u{202e}").into_bytes()),
        ("cut off", good.as_bytes()[..good.len() - 5].to_vec()),
        ("twice", good.repeat(2).into_bytes()),
        (
            "every line twice",
            good.lines().map(|l| format!("{l}\n{l}\n")).collect::<String>().into(),
        ),
        ("large number", good.replace(number, "18446744073709551615").into_bytes()),
        ("larger number", good.replace(number, &"9".repeat(1000)).into_bytes()),
        ("negative number", good.replace(number, "-1").into_bytes()),
        ("long line", [good.as_bytes(), &vec![b'x'; 1_000_000], b"\n"].concat()),
        ("blanks", [good.as_bytes(), &vec![b' '; 1_000_000], b"\n"].concat()),
        ("zeros", vec![0; 100_000]),
        ("parentheses", good.replace(number, &"(".repeat(100_000)).into_bytes()),
        ("brackets", [good.as_bytes(), "[".repeat(50_000).as_bytes()].concat()),
    ]
}

#[test]
fn every_algorithm_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.snapshot").display().to_string();
    let mut refused = 0;
    for (name, bytes) in texts(GOOD, "v") {
        fs::write(&input, bytes).unwrap();
        let limits = ["-n", "2", "--time", "5", "--memory", "500M"];
        let (code, text) = is_answered(&[&["check", &input], &limits[..]].concat());
        assert!(code != 2 || !text.is_empty(), "{name}");
        refused += usize::from(code == 2);
        is_answered(&["list", &input]);
        is_answered(&["emit", &input, "--stage", "steps", "-n", "2"]);
        is_answered(&["simulate", &input, "-n", "2", "--walks", "3"]);
    }
    assert!(refused > 12, "{refused}");
}

#[test]
fn every_trace_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input").display().to_string();
    let mut refused = 0;
    for (name, bytes) in texts(TRACE, "1") {
        fs::write(&input, bytes).unwrap();
        let (code, text) = is_answered(&["replay", &input]);
        assert!(code != 2 || !text.is_empty(), "{name}");
        refused += usize::from(code == 2);
    }
    assert!(refused > 12, "{refused}");
}

#[test]
fn endless_inputs_are_refused_by_the_length_of_their_lines() {
    for arguments in [["check", "/dev/zero"], ["list", "/dev/zero"], ["replay", "/dev/zero"]] {
        let (code, text) = is_answered(&arguments);
        assert_eq!(code, 2);
        assert!(text.contains("line 1 is longer than 1024 KiB"), "{text}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
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
    let trace = folder.path().join("trace").display().to_string();
    fs::write(&trace, TRACE).unwrap();
    let commands: [&[&str]; 11] = [
        &["check", "naive_collect", "-n", "2"],
        &["check", "naive_collect", "-n", "2", "--report", "json"],
        &["check", "naive_collect", "-n", "2", "--progress"],
        &["list"],
        &["list", "--reductions", "--report", "json"],
        &["emit", "bowman", "--stage", "steps"],
        &["expect", "register", "--time", "10"],
        &["replay", &trace],
        &["simulate", "bowman", "--walks", "3"],
        &["--help"],
        &["--version"],
    ];
    for arguments in commands {
        let (usual, _) = run(arguments, "");
        assert_eq!(run(arguments, "> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "2> /dev/full").0, usual, "{arguments:?}");
        assert_eq!(run(arguments, "> /dev/full 2> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "| true").0, 0, "{arguments:?}");
    }
    for arguments in [&["check", "/dev/null"][..], &["chekc"], &["replay", "missing"]] {
        assert_eq!(run(arguments, "2> /dev/full").0, 2, "{arguments:?}");
        assert_eq!(run(arguments, "2>&-").0, 2, "{arguments:?}");
    }
}

/// A trace that cannot be written leaves what was there, and nothing else.
#[test]
fn a_trace_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace").display().to_string();
    fs::write(&trace, "what was there").unwrap();
    // No file may be larger than 0 blocks.
    let command = ["check", "bowman", "--bug", "early_exit", "--trace", &trace];
    let (code, text) = run_after("trap '' XFSZ; ulimit -f 0", &command, "");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot write"), "{text}");
    assert_eq!(fs::read_to_string(&trace).unwrap(), "what was there");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(run(&command, "").0, 1);
    assert!(fs::read_to_string(&trace).unwrap().ends_with("\nend\n"));
}

/// Commands to a terminal in a name are shown, not obeyed.
#[test]
fn names_command_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("\u{1b}[2J.snapshot").display().to_string();
    fs::write(&evil, GOOD).unwrap();
    let (code, text) = is_answered(&["check", &evil, "-n", "2"]);
    assert_eq!(code, 0);
    fs::write(&evil, "algorithm \u{1b}[2J\n").unwrap();
    let (code, report) = is_answered(&["check", &evil]);
    assert_eq!(code, 2);
    assert!(report.contains("\\u{1b}[2J.snapshot"), "{text}{report}");
}
