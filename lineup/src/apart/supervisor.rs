//! The process that starts workers.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Mutex;

use super::record::{self, Note};
use super::worker::{JOB, Job, Task};
use super::{Arguments, Told};
use crate::control::lock;

/// Number of the last lines of standard error that a crash is reported with.
const LINES: usize = 5;

/// End of a worker.
pub(super) enum Outcome {
    Told(Told),
    /// It did not come to the check, or could not be started.
    Unreached,
    Ended(Ended),
}

/// End of a worker without an answer.
pub(super) struct Ended {
    /// The signal, or the exit status.
    pub(super) name: String,
    /// False for signals by which users and systems end a process.
    pub(super) is_crash: bool,
    pub(super) notes: Vec<Note>,
    /// The last lines of standard error.
    pub(super) output: Vec<String>,
}

/// Standard input of the workers that run, each with its process.
static WORKERS: Mutex<Vec<(u32, ChildStdin)>> = Mutex::new(Vec::new());

/// Tells all workers that the user interrupted the program.
pub(crate) fn interrupt() {
    for (_, input) in &mut *lock(&WORKERS) {
        // A worker that has ended does not listen.
        drop(input.write_all(b"\n").and_then(|()| input.flush()));
    }
}

/// Starts a worker, and waits for its end.
pub(super) fn start(arguments: &Arguments, job: impl FnOnce(PathBuf) -> Job) -> Outcome {
    let Ok(record) = tempfile::Builder::new().prefix("lineup-").tempfile() else {
        return Outcome::Unreached;
    };
    let job = job(record.path().to_owned());
    let Ok((status, written)) = execute(arguments, &job) else {
        return Outcome::Unreached;
    };
    let notes = record::notes(&fs::read_to_string(record.path()).unwrap_or_default());
    if let Some(Note::Answers(told)) = notes.last() {
        return Outcome::Told(told.clone());
    }
    if notes.is_empty() {
        return Outcome::Unreached;
    }
    let (name, is_crash) = ending(status);
    let text = String::from_utf8_lossy(&written);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let output = lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned());
    Outcome::Ended(Ended { name, is_crash, notes, output: output.collect() })
}

/// Executes a job; returns the status, and the standard error if it is not shown. That goes to a file:
/// a process that the worker left behind may keep a pipe open for ever.
fn execute(arguments: &Arguments, job: &Job) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut command = Command::new(std::env::current_exe()?);
    let is_shown = matches!(job.task, Task::Whole) && matches!(arguments, Arguments::Same);
    match arguments {
        Arguments::Same => command.args(std::env::args_os().skip(1)),
        Arguments::Test(name) => {
            command.args([name.as_str(), "--exact", "--nocapture", "--include-ignored"])
        }
    };
    let mut written = tempfile::tempfile()?;
    let mut worker = command
        .env(JOB, serde_json::to_string(job)?)
        .stdin(Stdio::piped())
        .stdout(if is_shown { Stdio::inherit() } else { Stdio::null() })
        .stderr(match is_shown && !job.steps {
            true => Stdio::inherit(),
            false => written.try_clone()?.into(),
        })
        .spawn()?;
    let process = worker.id();
    if let Some(input) = worker.stdin.take() {
        lock(&WORKERS).push((process, input));
    }
    let status = worker.wait();
    lock(&WORKERS).retain(|(of, _)| *of != process);
    let mut text = Vec::new();
    written.rewind()?;
    written.read_to_end(&mut text)?;
    Ok((status?, text))
}

/// Returns the name of an end, and whether it is a crash.
#[cfg(unix)]
fn ending(status: ExitStatus) -> (String, bool) {
    use std::os::unix::process::ExitStatusExt;
    let named = |name: &str| (name.to_owned(), true);
    match status.signal() {
        None => (status.to_string(), true),
        Some(4) => named("SIGILL"),
        Some(5) => named("SIGTRAP"),
        Some(6) => named("SIGABRT"),
        Some(7 | 10) => named("SIGBUS"),
        Some(8) => named("SIGFPE"),
        Some(11) => named("SIGSEGV"),
        Some(signal) => (format!("signal {signal}"), !matches!(signal, 1 | 2 | 3 | 9 | 13 | 15)),
    }
}

/// Returns the name of an end, and whether it is a crash.
#[cfg(not(unix))]
fn ending(status: ExitStatus) -> (String, bool) {
    (status.to_string(), true)
}
