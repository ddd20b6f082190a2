//! A command as a child within limits, with its time and its peak memory.
//!
//! The kernel reports the peak of a child from the moment of its fork, so a child is never reported
//! smaller than its parent was at that moment: the parent must stay small.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use wait4::Wait4;

/// What a child may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From its start to its end.
    pub time: Duration,
    /// Bytes of address space.
    pub memory: u64,
}

/// A limit that a child ran into.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exceeded {
    Time,
    /// It asked for more memory than it may have, and did not survive that.
    Memory,
}

/// How a child ended, and its cost, whether it was stopped or not.
#[derive(Clone, Debug, Serialize)]
pub struct Ended {
    /// The limit that it ran into, if it did.
    pub exceeded: Option<Exceeded>,
    /// Exit code; absent if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// From its start to its end.
    pub wall_seconds: f64,
    /// Work of all processors for it, and for its own children.
    pub cpu_seconds: f64,
    /// The largest part of its memory that was resident at once.
    pub peak_bytes: u64,
}

/// Runs a command to its end, or to the end of its time, or until it dies of having no memory left.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn within(limits: Limits, program: &OsString, arguments: &[OsString]) -> io::Result<Ended> {
    let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    // The shell sets the limit, then becomes the program.
    let kibibytes = (limits.memory >> 10).to_string();
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -v "$0" && exec "$@""#]).arg(kibibytes);
    command.arg(program).args(arguments).stdin(Stdio::null());
    command.stdout(output.try_clone()?).stderr(errors.try_clone()?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    // Dropping the sender, at the end of this function, ends the guard.
    let _guard = guard(&child, limits.time);
    let usage = child.wait4()?;
    let (time, cpu) = (start.elapsed(), usage.rusage.utime + usage.rusage.stime);
    // A late child is late, even if it ended before it could be killed.
    let exceeded = match time >= limits.time {
        true => Some(Exceeded::Time),
        false => usage.status.signal().map(|_| Exceeded::Memory),
    };
    Ok(Ended {
        exceeded,
        code: usage.status.code(),
        output: text(&mut output)?,
        errors: text(&mut errors)?,
        wall_seconds: time.as_secs_f64(),
        cpu_seconds: cpu.as_secs_f64(),
        peak_bytes: usage.rusage.maxrss,
    })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Starts a thread that kills the child after this time, unless the returned sender is dropped
/// before.
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

    const AMPLE: Limits = Limits { time: Duration::from_secs(60), memory: 1 << 30 };

    fn shell(script: &str, limits: Limits) -> Ended {
        within(limits, &"sh".into(), &["-c".into(), script.into()]).unwrap()
    }

    #[test]
    fn process_within_limits_reports_its_exit_code_and_output() {
        let ended = shell("echo found; echo lost >&2; exit 3", AMPLE);
        assert_eq!((ended.exceeded, ended.code), (None, Some(3)));
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("found\n", "lost\n"));
        let missing = within(AMPLE, &"no-such-program".into(), &[]).unwrap();
        assert!(missing.code == Some(127) && missing.errors.contains("no-such-program"));
    }

    #[test]
    fn process_over_its_time_limit_is_stopped() {
        let limits = Limits { time: Duration::from_millis(200), ..AMPLE };
        let ended = shell("echo begun; while :; do :; done", limits);
        assert_eq!((ended.exceeded, ended.output.as_str()), (Some(Exceeded::Time), "begun\n"));
        assert!(ended.wall_seconds < 60.0, "{ended:?}");
    }

    #[test]
    fn cpu_time_excludes_waiting() {
        let busy = shell("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done", AMPLE);
        let waiting = shell("sleep 0.2", AMPLE);
        assert!(waiting.wall_seconds >= 0.2, "{waiting:?}");
        assert!(busy.cpu_seconds > 5.0 * waiting.cpu_seconds, "{busy:?}, {waiting:?}");
    }

    #[test]
    fn peak_memory_is_measured_and_limited() {
        // `tail` keeps a line whole before it prints it: 256 MiB of one.
        let hoard = "head -c 268435456 /dev/zero | tail -n 1 | wc -c";
        let (ample, small) = (shell(hoard, AMPLE), shell("exit 0", AMPLE));
        assert!(ample.peak_bytes > 256 << 20, "{ample:?}");
        assert!(small.peak_bytes < 64 << 20 && small.peak_bytes > 1 << 16, "{small:?}");
        let ended = shell(hoard, Limits { memory: 64 << 20, ..AMPLE });
        assert_ne!(ended.output, ample.output, "{ended:?}");
        assert!(ended.peak_bytes < ample.peak_bytes, "{ended:?}, {ample:?}");
    }
}
