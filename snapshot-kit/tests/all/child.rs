//! Tests in separate processes: those that hang or fail, and the output of those that pass.

use std::process::Command;

/// The environment variable that makes a test hang.
const HANG: &str = "SNAPSHOT_KIT_HANG";

/// The environment variable of a process with one processor.
#[cfg(target_os = "linux")]
const ALONE: &str = "SNAPSHOT_KIT_ONE_PROCESSOR";

/// Returns the exit code and the output of a test.
fn run(test: &str, arguments: &[&str], variable: (&str, &str)) -> (Option<i32>, String) {
    run_by(Command::new(std::env::current_exe().unwrap()), test, arguments, variable)
}

fn run_by(
    mut program: Command,
    test: &str,
    arguments: &[&str],
    (name, value): (&str, &str),
) -> (Option<i32>, String) {
    let child = program.args(["--exact", test]).args(arguments).env(name, value).output().unwrap();
    (child.status.code(), String::from_utf8([child.stdout, child.stderr].concat()).unwrap())
}

/// Runs a test of this name in a separate process, in which this function calls `hang`. Returns the
/// output of that process, which must fail as a test does. The test's own output is captured there,
/// and shown only if the test ends.
pub fn output_while_hanging(test: &str, hang: impl FnOnce()) -> String {
    if std::env::var(HANG).is_ok_and(|name| name == test) {
        hang();
        return String::new();
    }
    failing_output(test, (HANG, test))
}

/// Returns the output of a test that fails with this environment variable.
pub fn failing_output(test: &str, variable: (&str, &str)) -> String {
    let (code, told) = run(test, &[], variable);
    assert_eq!(code, Some(101), "{told}");
    told
}

/// Returns the output of a test that passes, as `--nocapture` shows it.
pub fn passing_output(test: &str) -> String {
    let (code, shown) = run(test, &["--nocapture"], (HANG, "none"));
    assert!(code == Some(0) && shown.contains("1 passed"), "{shown}");
    shown
}

/// Runs a test of this name in a separate process, in which this function calls `body`, and whose
/// threads share one processor.
#[cfg(target_os = "linux")]
pub fn on_one_processor(test: &str, body: impl FnOnce()) {
    if std::env::var(ALONE).is_ok_and(|name| name == test) {
        return body();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let first = allowed.trim().split([',', '-']).next().unwrap();
    let mut program = Command::new("taskset");
    program.args(["-c", first]).arg(std::env::current_exe().unwrap());
    let (code, shown) = run_by(program, test, &[], (ALONE, test));
    assert!(code == Some(0) && shown.contains("1 passed"), "{shown}");
}
