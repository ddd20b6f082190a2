//! Tests that hang, in a process of their own.

use std::process::Command;

/// The variable of the environment that makes a test hang.
const HANG: &str = "SNAPSHOT_KIT_HANG";

/// Runs a test of this name in a process of its own, in which this function does `hang`; the
/// output of that process, which must fail as a test does. What a test prints is captured there,
/// and shown only if the test ends.
pub fn told(test: &str, hang: impl FnOnce()) -> String {
    if std::env::var(HANG).is_ok_and(|name| name == test) {
        hang();
        return String::new();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(HANG, test)
        .output()
        .unwrap();
    let told = String::from_utf8([child.stdout, child.stderr].concat()).unwrap();
    assert_eq!(child.status.code(), Some(101), "{told}");
    told
}
