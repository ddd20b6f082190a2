//! Running a command as a child, with its time and its peak memory, within limits.
//!
//! The kernel reports the peak of a child from the moment it is forked, so a
//! child is never reported smaller than its parent was at that moment: the
//! parent must stay small, and generates its inputs as streams.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use thiserror::Error;
use wait4::Wait4;

/// What a child cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From its start to its end.
    pub time: Duration,
    /// What all of its processors worked for it, and for its own children.
    pub cpu: Duration,
    /// The largest part of its memory that was resident at once, in bytes.
    pub peak_memory: u64,
    /// How it ended.
    pub status: ExitStatus,
}

/// A command that could not be run.
#[derive(Debug, Error)]
#[error("`{program}` cannot be run: {cause}")]
pub struct RunError {
    program: String,
    cause: io::Error,
}

/// Runs a command to its end; its output is dropped, its errors are shown.
///
/// # Errors
/// If it cannot be started or waited for. That it fails is no error here: see
/// [`Cost::status`].
pub fn run(program: &OsString, arguments: &[OsString]) -> Result<Cost, RunError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    wait(&mut command, None).map_err(|cause| fail(program, cause))
}

/// What a child may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From its start to its end.
    pub time: Duration,
    /// Bytes of address space.
    pub memory: u64,
}

/// How a child ended that had limits.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What it cost, be it stopped or not.
    pub cost: Cost,
    /// The limit that it ran into, if it did.
    pub exceeded: Option<Exceeded>,
    /// What it wrote to its standard output.
    pub output: String,
    /// What it wrote to its standard error.
    pub errors: String,
}

/// A limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exceeded {
    /// It took too long.
    Time,
    /// It asked for more memory than it may have, and did not survive that.
    Memory,
}

/// Runs a command to its end, or to the end of the time it may take, or until it
/// dies of having no memory left.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run_within(
    program: &OsString,
    arguments: &[OsString],
    limits: Limits,
) -> Result<Ended, RunError> {
    let inner = || -> io::Result<Ended> {
        let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        // The shell sets the limit, then becomes the program.
        let kibibytes = (limits.memory >> 10).to_string();
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -v "$0" && exec "$@""#]).arg(kibibytes);
        command.arg(program).args(arguments).stdin(Stdio::null());
        command.stdout(output.try_clone()?).stderr(errors.try_clone()?);
        let cost = wait(&mut command, Some(limits.time))?;
        let was_killed = cost.status.signal().is_some();
        // A late child is late, even if it ended before it could be killed.
        let exceeded = match cost.time >= limits.time {
            true => Some(Exceeded::Time),
            false => was_killed.then_some(Exceeded::Memory),
        };
        Ok(Ended { cost, exceeded, output: text(&mut output)?, errors: text(&mut errors)? })
    };
    inner().map_err(|cause| fail(program, cause))
}

fn fail(program: &OsString, cause: io::Error) -> RunError {
    RunError { program: program.to_string_lossy().into_owned(), cause }
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Starts the command and waits for it, for so long at most.
fn wait(command: &mut Command, patience: Option<Duration>) -> io::Result<Cost> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    // Dropping the sender, at the end of this function, ends the guard.
    let _guard = patience.map(|patience| guard(&child, patience));
    let usage = child.wait4()?;
    let (time, cpu) = (start.elapsed(), usage.rusage.utime + usage.rusage.stime);
    Ok(Cost { time, cpu, peak_memory: usage.rusage.maxrss, status: usage.status })
}

/// Has a thread kill the child after so long, unless what is returned is dropped before.
fn guard(child: &Child, patience: Duration) -> mpsc::Sender<()> {
    let pid = Pid::from_child(child);
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        if ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            // That there is no such process any more is no trouble.
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Cost {
        run(&"sh".into(), &["-c".into(), script.into()]).unwrap()
    }

    #[test]
    fn the_status_and_the_time_are_the_childs() {
        let cost = shell("sleep 0.2; exit 3");
        assert_eq!(cost.status.code(), Some(3));
        assert!(cost.time >= Duration::from_millis(200));
        assert!(shell("exit 0").status.success());
    }

    #[test]
    fn the_peak_is_in_bytes_and_grows_with_what_is_allocated() {
        // `tail` keeps a line whole before it prints it; 64 MiB of one.
        let large = shell("head -c 67108864 /dev/zero | tail -n 1");
        let small = shell("exit 0");
        assert!(large.peak_memory > 64 << 20, "{large:?}");
        assert!(small.peak_memory < 64 << 20 && small.peak_memory > 1 << 16, "{small:?}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&"no-such-program".into(), &[]).unwrap_err();
        assert!(error.to_string().contains("`no-such-program`"), "{error}");
    }

    fn limited(script: &str, limits: Limits) -> Ended {
        run_within(&"sh".into(), &["-c".into(), script.into()], limits).unwrap()
    }

    const AMPLE: Limits = Limits { time: Duration::from_secs(60), memory: 1 << 30 };

    #[test]
    fn a_process_within_its_limits_ends_by_itself() {
        let ended = limited("echo found; echo lost >&2; exit 3", AMPLE);
        assert_eq!((ended.exceeded, ended.cost.status.code()), (None, Some(3)));
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("found\n", "lost\n"));
    }

    #[test]
    fn a_process_that_takes_too_long_is_stopped() {
        let limits = Limits { time: Duration::from_millis(200), ..AMPLE };
        let ended = limited("echo begun; while :; do :; done", limits);
        assert_eq!((ended.exceeded, ended.output.as_str()), (Some(Exceeded::Time), "begun\n"));
        assert!(ended.cost.time < AMPLE.time, "{:?}", ended.cost);
    }

    #[test]
    fn time_on_a_processor_is_counted_and_waiting_is_not() {
        let busy = limited("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done", AMPLE).cost;
        let waiting = limited("sleep 0.2", AMPLE).cost;
        assert!(waiting.time >= Duration::from_millis(200), "{waiting:?}");
        assert!(busy.cpu > 5 * waiting.cpu, "{busy:?}, {waiting:?}");
    }

    #[test]
    fn a_process_that_takes_too_much_fails() {
        let limits = Limits { memory: 64 << 20, ..AMPLE };
        let hoard = "head -c 268435456 /dev/zero | tail -n 1 | wc -c";
        let (ended, ample) = (limited(hoard, limits), limited(hoard, AMPLE));
        assert_ne!(ended.output, ample.output, "{ended:?}");
        assert!(ended.cost.peak_memory < ample.cost.peak_memory, "{ended:?}, {ample:?}");
    }
}
