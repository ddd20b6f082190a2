//! When, where and on what a session runs, as the system tells.

use std::fs;
use std::process::Command;
use std::thread;

use super::Session;

/// A session that begins now, with this number.
pub fn session(number: u32) -> Session {
    Session {
        session: number,
        date: said("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
        commit: said("git", &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]),
        machine: machine(),
        command: command(),
    }
}

/// What a program prints, or `unknown`.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let text = output.filter(|output| output.status.success());
    let text = text.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

fn machine() -> String {
    let field = |file: &str, name: &str| -> Option<String> {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kibibytes = field("/proc/meminfo", "MemTotal")
        .and_then(|memory| memory.split_whitespace().next()?.parse::<u64>().ok());
    let memory =
        kibibytes.map_or("unknown".to_owned(), |k| format!("{} GiB", (k >> 19).div_ceil(2)));
    format!("{processor}; {cores} cores; {memory}")
}

/// The command as it was given, without the path of the program.
fn command() -> String {
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    [program].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}
