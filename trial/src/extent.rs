//! Extent of a test: quick, on each change, or slow, if `SNAPSHOT_SLOW` is set.

use std::env;

/// Returns true in the slow suite.
pub fn is_slow() -> bool {
    env::var_os("SNAPSHOT_SLOW").is_some()
}

/// Returns the parameter for the suite that runs.
pub fn either<T>(quick: T, slow: T) -> T {
    if is_slow() { slow } else { quick }
}

/// Returns the number in an environment variable, or the number for the suite that runs.
///
/// # Panics
/// If the variable is set to something other than a number.
pub fn number(variable: &str, quick: u64, slow: u64) -> u64 {
    match env::var(variable) {
        Ok(set) => set.parse().unwrap_or_else(|_| panic!("{variable}={set} is no number")),
        Err(_) => either(quick, slow),
    }
}
