//! How much a test tries: the quick form, on each change, or that of the slow suite, for which
//! `SNAPSHOT_SLOW` is set.

use std::env;

/// Whether the slow suite runs.
pub fn is_slow() -> bool {
    env::var_os("SNAPSHOT_SLOW").is_some()
}

/// What the test takes in the suite that runs.
pub fn either<T>(quick: T, slow: T) -> T {
    if is_slow() { slow } else { quick }
}

/// The number that this variable sets, or that of the suite that runs.
///
/// # Panics
/// If the variable is set to what is no number.
pub fn number(variable: &str, quick: u64, slow: u64) -> u64 {
    match env::var(variable) {
        Ok(set) => set.parse().unwrap_or_else(|_| panic!("{variable}={set} is no number")),
        Err(_) => either(quick, slow),
    }
}
