//! Running a command as a child, with its time and its peak memory.
//!
//! The kernel reports the peak of a child from the moment it is forked, so a
//! child is never reported smaller than its parent was at that moment: the
//! parent must stay small, and generates its inputs as streams.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;
use wait4::Wait4;

/// What a child cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From its start to its end.
    pub time: Duration,
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
    let fail = |cause| RunError { program: program.to_string_lossy().into_owned(), cause };
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(fail)?;
    let usage = child.wait4().map_err(fail)?;
    let time = start.elapsed();
    Ok(Cost { time, peak_memory: usage.rusage.maxrss, status: usage.status })
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
}
