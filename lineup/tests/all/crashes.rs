//! Operations that end the process: each is an answer, with a schedule that ends it again.

use std::panic::catch_unwind;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lineup::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::hostile::{command, finish, program};

/// Variable with the path of a file that `once` creates.
const MARKER: &str = "LINEUP_CRASHES_MARKER";

/// Executes `crash` where two calls overlap.
fn overlapping(calls: &AtomicU32, crash: fn()) {
    if calls.fetch_add(1, SeqCst) > 0 {
        crash();
    }
    calls.fetch_sub(1, SeqCst);
}

/// Sends a signal to this process until it ends: the handler of `std` returns from the first
/// SIGSEGV.
fn send(signal: &str) {
    let process = std::process::id();
    let kill = format!("while kill -{signal} {process}; do sleep 0.01; done");
    drop(Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status());
}

fn deeper(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 16]);
    if depth == u64::MAX { 0 } else { deeper(depth + 1) + frame[3] }
}

struct Second;

impl Drop for Second {
    fn drop(&mut self) {
        panic!("second reason");
    }
}

fn panic_while_panicking() {
    let _second = Second;
    panic!("first reason");
}

fn once() {
    let marker = std::env::var(MARKER).unwrap_or_default();
    if std::fs::File::create_new(marker).is_ok() {
        std::process::abort();
    }
}

/// Leaves a process behind, which outlives any test.
fn orphan() {
    drop(Command::new("sleep").arg("30").stdout(Stdio::null()).spawn());
    std::process::abort();
}

lineup::subject! {
    /// Ends the process where two calls overlap.
    pub(crate) Crashing(calls: AtomicU32) = AtomicU32::new(0);
    abort() => overlapping(calls, || std::process::abort());
    invalid() => overlapping(calls, || send("SEGV"));
    overflow() => overlapping(calls, || { std::hint::black_box(deeper(0)); });
    twice() => overlapping(calls, panic_while_panicking);
    exit() => overlapping(calls, || std::process::exit(7));
    killed() => overlapping(calls, || send("KILL"));
    once() => overlapping(calls, once);
    orphan() => overlapping(calls, orphan);
    fine() => overlapping(calls, || ());
}

lineup::subject! {
    /// As `Crashing`, in one way.
    pub(crate) Aborting(calls: AtomicU32) = AtomicU32::new(0);
    abort() => overlapping(calls, || std::process::abort());
    fine() => overlapping(calls, || ());
}

#[test]
fn each_kind_of_crash_fails_and_crashes_again_when_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failure.json").display().to_string();
    let mut answered = 0;
    let source = include_str!("crashes.rs").lines();
    let line = 1 + source.take_while(|line| !line.contains("calls.fetch_add")).count();
    for (operation, signal) in [
        ("abort", "SIGABRT"),
        ("invalid", "SIGSEGV"),
        ("overflow", "SIGSEGV"),
        ("twice", "SIGABRT"),
        ("exit", "exit status: 7"),
    ] {
        let test = format!("{operation} fine | {operation}");
        let (code, text, _) = program(&["run", "Crashing", "--test", &test, "--save", &file]);
        assert_eq!(code, Some(1), "{text}");
        let headline = format!("Crashing: FAIL: an execution ends the process: {signal}\n");
        let operation = format!("{operation}() of A ends the process: {signal}");
        for part in [&headline, &operation, "test (1 x 2):", "schedule: B0+2 A0+2\n"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let place = format!("at lineup/tests/all/crashes.rs:{line}.");
        assert!(text.replace('\n', " ").contains(&place), "{text}");
        let is_twice = text.contains("first panic:\n    panicked at lineup/tests/all/crashes.rs:");
        assert_eq!(is_twice && text.contains("first reason"), test.starts_with("twice"), "{text}");
        let (code, text, _) = program(&["replay", &file]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("\nthe execution that was recorded\n"), "{text}");
        assert!(text.contains(&operation) && text.ends_with("\nFAIL\n"), "{text}");
        answered += 1;
    }
    assert_eq!(answered, 5);
}

#[test]
fn calls_that_do_not_overlap_do_not_crash() {
    let (code, text, _) = program(&["run", "Crashing", "--test", "abort overflow exit"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn series_with_a_crash_reports_its_smallest_test() {
    let series = ["random", "Aborting", "--shape", "2x2", "--samples", "9", "--seed", "1"];
    let (code, text, _) = program(&series);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("test (1 x 2):"), "{text}");
}

/// The series before the crash are recorded.
#[test]
fn a_crash_ends_a_survey_with_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("records.csv").display().to_string();
    let series = ["survey", "Aborting", "--tests", "all:1x1", "--tests", "all:1x2"];
    let (code, text, _) = program(&[&series[..], &["--record", &record]].concat());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Aborting: FAIL: an execution ends the process: "), "{text}");
    assert!(text.contains("test (1 x 2):"), "{text}");
    let recorded = std::fs::read_to_string(&record).unwrap();
    assert!(recorded.contains("Aborting,all:1x1,") && recorded.lines().count() == 2, "{recorded}");
}

/// A process that the object started keeps the standard error of the check open.
#[test]
fn processes_that_are_left_behind_are_not_waited_for() {
    let begin = Instant::now();
    let mut command = command(&["run", "Crashing", "--test", "orphan fine | orphan"]);
    // Shown errors of the first process go to the terminal, here to nowhere.
    let (code, text, _) = finish(command.stderr(Stdio::null()).spawn().unwrap());
    assert!(begin.elapsed() < Duration::from_secs(20), "{text}");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("FAIL: an execution ends the process: SIGABRT"), "{text}");
}

/// Neither a crash that happens once nor a signal of the system is a failure.
#[test]
fn ends_that_do_not_repeat_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    for (operation, ended) in [("once", "SIGABRT"), ("killed", "signal 9")] {
        let test = format!("{operation} | {operation}");
        let mut command = command(&["run", "Crashing", "--test", &test]);
        let marker = folder.path().join("marker");
        let (code, text, _) = finish(command.env(MARKER, marker).spawn().unwrap());
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains(&format!("the process of the check ended ({ended})")), "{text}");
        assert!(text.contains(&format!("{operation}() | {operation}()")), "{text}");
    }
    assert!(folder.path().join("marker").exists());
}

#[test]
fn assertions_survive_crashes() {
    lineup::assert!(Crashing, [fine(), abort()]);
    let crashes = [
        catch_unwind(|| lineup::assert!(Crashing, [abort(), fine()], [fine(), fine()])),
        catch_unwind(|| lineup::assert!(Crashing, all(1 x 2))),
    ];
    for crash in crashes {
        let text = *crash.unwrap_err().downcast::<String>().unwrap();
        assert!(text.starts_with("Crashing: FAIL: an execution ends the process: "), "{text}");
        assert!(text.contains("\nschedule: B0+2 A0+2\n"), "{text}");
    }
}
