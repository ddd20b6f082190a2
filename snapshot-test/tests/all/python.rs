//! The Python package under its own tests, with this program as the judge. If `pytest` is not
//! installed, nothing is tested, and a line says so.
//!
//! `SNAPSHOT_PYTHON` names the interpreter, if it is not `python3`.

use std::path::Path;
use std::process::Command;

fn python() -> Command {
    let interpreter = std::env::var_os("SNAPSHOT_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(interpreter);
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SNAPSHOT_TEST", env!("CARGO_BIN_EXE_snapshot-test"));
    command
}

/// Runs these tests and returns how many passed; `None` if `pytest` is not installed.
fn passed(arguments: &[&str]) -> Option<usize> {
    let is_there = "import pytest, sys; sys.exit(sys.version_info < (3, 11))";
    let found = python().args(["-c", is_there]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("pytest for Python 3.11 is not installed: nothing was tested");
        return None;
    }
    let output = python().args(["-m", "pytest", "-q", "-rs"]).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for line in text.lines().filter(|line| line.starts_with("SKIPPED")) {
        eprintln!("{line}");
    }
    let words: Vec<&str> = text.lines().last().unwrap_or_default().split_whitespace().collect();
    let end = words.iter().position(|word| word.trim_end_matches(',') == "passed");
    Some(end.map_or(0, |end| words[end - 1].parse().unwrap()))
}

#[test]
fn the_recorder() {
    let Some(passed) = passed(&["-m", "not redis and not postgresql"]) else { return };
    assert!(passed > 60, "{passed}");
}

#[test]
fn the_recorder_with_redis() {
    if let Some(passed) = passed(&["-m", "redis"]) {
        eprintln!("{passed} tests with Redis passed");
    }
}

#[test]
fn the_recorder_with_postgresql() {
    if let Some(passed) = passed(&["-m", "postgresql"]) {
        eprintln!("{passed} tests with PostgreSQL passed");
    }
}
