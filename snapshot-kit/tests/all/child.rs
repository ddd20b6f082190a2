//! Tests in a process of their own: those that hang or fail, and the output of those that pass.

use std::process::Command;

/// The variable of the environment that makes a test hang.
const HANG: &str = "SNAPSHOT_KIT_HANG";

/// The exit code and the output of a test.
fn run(test: &str, arguments: &[&str], (name, value): (&str, &str)) -> (Option<i32>, String) {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .args(arguments)
        .env(name, value)
        .output()
        .unwrap();
    (child.status.code(), String::from_utf8([child.stdout, child.stderr].concat()).unwrap())
}

/// Runs a test of this name in a process of its own, in which this function does `hang`; the
/// output of that process, which must fail as a test does. What a test prints is captured there,
/// and shown only if the test ends.
pub fn told(test: &str, hang: impl FnOnce()) -> String {
    if std::env::var(HANG).is_ok_and(|name| name == test) {
        hang();
        return String::new();
    }
    failing(test, (HANG, test))
}

/// The output of a test that fails with this variable of the environment.
pub fn failing(test: &str, variable: (&str, &str)) -> String {
    let (code, told) = run(test, &[], variable);
    assert_eq!(code, Some(101), "{told}");
    told
}

/// The output of a test that passes, as `--nocapture` shows it.
pub fn shown(test: &str) -> String {
    let (code, shown) = run(test, &["--nocapture"], (HANG, "none"));
    assert!(code == Some(0) && shown.contains("1 passed"), "{shown}");
    shown
}
