//! Subjects that panic, leave threads behind or never return, and the user's Ctrl-C: the program
//! ends soon, with a correct answer.
//!
//! The program is this one, started again to execute [`main_in_a_child_process`] alone.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use lineup::{AnySubject, Check, Test, Unknown, Verdict, batch};
use shuttle::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// The words of the command line, one per line.
const ARGUMENTS: &str = "LINEUP_HOSTILE_ARGUMENTS";

/// Time limit of each test, on a machine with other work.
const SOON: Duration = Duration::from_secs(20);

fn for_ever(step: fn()) -> u32 {
    loop {
        step();
    }
}

lineup::subject! {
    /// Computes or sleeps for ever, where the scheduler sees nothing.
    Endless(cell: AtomicU32) = AtomicU32::new(0);
    fine() => cell.fetch_add(1, SeqCst);
    compute() => for_ever(std::hint::spin_loop);
    sleep() => for_ever(std::thread::park);
}

lineup::subject! {
    /// Panics, always or where two calls overlap.
    Panicking(cell: AtomicU32) = AtomicU32::new(0);
    always() => { if cell.load(SeqCst) < 7 { panic!("always so"); } };
    alone() => { assert_eq!(cell.fetch_add(1, SeqCst), 0, "not alone"); cell.fetch_sub(1, SeqCst); };
    no_text() => { if cell.load(SeqCst) < 7 { std::panic::panic_any(7_u8); } };
}

lineup::subject! {
    /// Nothing is wrong with it: only the number of tests ends a check.
    Right(cell: AtomicU32) = AtomicU32::new(0);
    inc() => cell.fetch_add(1, SeqCst);
    get() => cell.load(SeqCst);
}

struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

lineup::subject! {
    /// Panics when it is dropped.
    Undroppable(cell: (AtomicU32, Explosive)) = (AtomicU32::new(0), Explosive);
    inc() => cell.0.fetch_add(1, SeqCst);
}

lineup::subject! {
    /// Each call leaves a thread of the operating system behind, which sleeps for ever.
    Leaking(cell: AtomicU32) = AtomicU32::new(0);
    leak() => {
        drop(std::thread::spawn(|| for_ever(std::thread::park)));
        cell.fetch_add(1, SeqCst)
    };
}

fn subjects() -> [AnySubject; 9] {
    [
        AnySubject::new::<Endless>(),
        AnySubject::new::<Panicking>(),
        AnySubject::new::<Right>(),
        AnySubject::new::<Undroppable>(),
        AnySubject::new::<Leaking>(),
        AnySubject::new::<crate::spinning::Gate>(),
        AnySubject::new::<crate::crashes::Crashing>(),
        AnySubject::new::<crate::crashes::Aborting>(),
        AnySubject::new::<crate::wakeups::LatchPre>(),
    ]
}

/// Runs the `main` of `lineup::main!`, if the environment has its arguments.
#[test]
fn main_in_a_child_process() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let arguments = ["lineup"].into_iter().chain(arguments.lines()).map(Into::into);
        std::process::exit(lineup::cli::run(&subjects(), arguments).into());
    }
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "hostile::main_in_a_child_process", "--nocapture"])
        .env(ARGUMENTS, arguments.join("\n"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(arguments: &[&str]) -> Child {
    command(arguments).spawn().unwrap()
}

/// Exit code, answer and diagnostics.
pub(crate) fn finish(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn program(arguments: &[&str]) -> (Option<i32>, String, String) {
    let begin = Instant::now();
    let answer = finish(start(arguments));
    assert!(begin.elapsed() < SOON, "{arguments:?} {answer:?}");
    answer
}

#[test]
fn calls_that_never_return_are_named() {
    for operation in ["compute", "sleep"] {
        let test = format!("{operation} | fine");
        let (code, text, _) = program(&["run", "Endless", "--test", &test, "--silence", "0.3"]);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains(&format!("unknown: {operation}() of thread A blocks")), "{text}");
    }
    // Tests without such calls still have their answers.
    let (code, text, _) = program(&["all", "Endless", "--shape", "1x2", "--silence", "0.2"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("Endless: unknown: 1 of 6 tests passed"), "{text}");
}

#[test]
fn endless_call_ends_at_the_time_limit() {
    let run = ["run", "Endless", "--test", "compute | fine", "--silence", "600"];
    let (code, text, _) = program(&[&run[..], &["--time", "0.3"]].concat());
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("unknown: the time was up"), "{text}");
}

#[test]
fn panics_are_outcomes_and_do_not_end_the_program() {
    // Behaviour that every execution shows is the object's behaviour.
    for test in ["always | always", "no_text | always"] {
        let (code, text, errors) = program(&["run", "Panicking", "--test", test]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{text}");
    }
    let (code, text, errors) = program(&["run", "Panicking", "--test", "alone | alone"]);
    assert_eq!((code, errors.as_str()), (Some(1), ""), "{text}");
    assert!(text.contains("not alone"), "{text}");
    let (code, text, _) = program(&["run", "Undroppable", "--test", "inc | inc"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("the object could not be made or dropped"), "{text}");
}

#[test]
fn leaked_threads_do_not_keep_the_program_alive() {
    let (code, text, _) = program(&["run", "Leaking", "--test", "leak | leak"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn unknown_answers_report_the_executed_work() {
    let mut command = command(&["random", "Right", "--shape", "2x2", "--samples", "3"]);
    let child = command.env("LINEUP_BARE_THREAD_LOCALS", "queue 1.0 (lib.rs:1)").spawn().unwrap();
    let (code, text, _) = finish(child);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("queue 1.0 (lib.rs:1)"), "{text}");
    assert!(text.contains("6 serial histories"), "{text}");
}

/// One further test runs, and reports the interruption.
#[test]
fn an_interrupted_series_runs_no_further_tests() {
    let tests = vec![Test::parse::<Panicking>("alone alone | alone alone").unwrap(); 1_000];
    let cancel = Arc::new(AtomicBool::new(true));
    let series = batch::run(&Check::new().cancelled_by(cancel), &tests, true);
    assert_eq!((series.unknown.len(), series.skipped, series.passed), (1, 999, 0));
    assert!(matches!(series.unknown[0].verdict, Verdict::Unknown(Unknown::Interrupted)));
    assert_eq!(series.exit_code(), 3);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_each_command_with_an_answer() {
    let many = ["random", "Right", "--shape", "3x3", "--samples", "20000"];
    let blocked = ["run", "Endless", "--test", "sleep | fine", "--silence", "600"];
    let all = ["all", "Endless", "--shape", "1x3", "--silence", "600"];
    for arguments in [&many[..], &blocked, &all] {
        let child = start(arguments);
        std::thread::sleep(Duration::from_millis(1_500));
        let begin = Instant::now();
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let (code, text, _) = finish(child);
        assert_eq!(code, Some(3), "{arguments:?} {text}");
        assert!(text.contains("unknown: interrupted"), "{arguments:?} {text}");
        assert!(begin.elapsed() < SOON, "{arguments:?}");
    }
}

/// A spin that never ends: without answer, or a failure that is replayed with its premise.
#[test]
fn spinning_call_is_stuck_under_diverging_stuck() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failure.json").display().to_string();
    let run = ["run", "Gate", "--test", "pass | open open"];
    let (code, text, _) = program(&run);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("--diverging stuck has an answer"), "{text}");
    let (code, text, _) = program(&[&run[..], &["--diverging", "stuck", "--save", &file]].concat());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("test (1 x 2)"), "{text}");
    let (code, text, _) = program(&["replay", &file]);
    assert_eq!(code, Some(1), "{text}");
    for part in ["\nthe execution that was recorded\n", "~ A spins at ", "This presumes that an"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
