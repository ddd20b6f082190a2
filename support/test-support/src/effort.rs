//! Effort of the suite: quick, on each change; slow, before a change of an engine; night, for
//! hours. `SNAPSHOT_EFFORT` names it, quick without it.

use std::env;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Effort of the suite that runs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Effort {
    Quick,
    Slow,
    Night,
}

impl Display for Effort {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => "quick",
            Self::Slow => "slow",
            Self::Night => "night",
        })
    }
}

/// Returns the effort that `SNAPSHOT_EFFORT` names.
///
/// # Panics
/// If it names none.
pub fn effort() -> Effort {
    match env::var("SNAPSHOT_EFFORT").as_deref() {
        Err(_) | Ok("quick") => Effort::Quick,
        Ok("slow") => Effort::Slow,
        Ok("night") => Effort::Night,
        Ok(other) => panic!("SNAPSHOT_EFFORT={other}: expected quick, slow or night"),
    }
}

/// Returns true in a suite that is too quick for a test, and says so on standard output.
pub fn is_left_out(least: Effort) -> bool {
    let is_left_out = effort() < least;
    if is_left_out {
        println!("nothing is tested: this test takes SNAPSHOT_EFFORT={least}");
    }
    is_left_out
}

/// Returns true in the slow suite and at night.
pub fn is_slow() -> bool {
    effort() >= Effort::Slow
}

/// Returns true at night.
pub fn is_night() -> bool {
    effort() == Effort::Night
}

/// Returns the parameter for the quick suite, or for the others.
pub fn either<T>(quick: T, slow: T) -> T {
    if is_slow() { slow } else { quick }
}

/// Returns the parameter for the suite that runs.
pub fn by_effort<T>(quick: T, slow: T, night: T) -> T {
    match effort() {
        Effort::Quick => quick,
        Effort::Slow => slow,
        Effort::Night => night,
    }
}

/// Returns the seeds of a random test: `SNAPSHOT_SEEDS=FROM..TO`, or the first ones, as many as
/// the suite takes.
///
/// # Panics
/// If the variable is not a range of numbers.
pub fn seeds(quick: u64, slow: u64) -> Range<u64> {
    let Ok(chosen) = env::var("SNAPSHOT_SEEDS") else { return 0..either(quick, slow) };
    let range =
        chosen.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("SNAPSHOT_SEEDS={chosen}: expected FROM..TO"))
}
