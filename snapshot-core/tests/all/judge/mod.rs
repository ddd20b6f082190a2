//! Small histories exhaustively, larger ones at random, and every checker of the crate on all of
//! them.
//!
//! These tests trust nothing: the literal definition ([`oracle`]) judges brute force, brute force
//! judges the checkers, the certificate checkers judge the certificates, and [`certificates`] shows
//! that they refuse invalid ones.
//!
//! `SNAPSHOT_EFFORT=night` extends the enumeration from seconds to minutes, and runs five times
//! as many random histories.

use proptest::prelude::ProptestConfig;

mod admission;
mod certificates;
mod checkers;
mod closure;
mod consecutive;
mod crowded;
mod cuts;
mod enumeration;
mod exhaustive;
mod floating;
mod forgetting;
mod invariance;
mod late;
mod lifted;
mod oracle;
mod partial;
mod random;
mod recording;
mod refutations;
mod renamings;
mod repeated;
mod rules;
mod sampled;
mod sketch;
mod streams;
mod translated;
mod witnesses;

/// Returns the number of random cases: all of these, or a fifth.
fn cases(all: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if test_support::effort::is_night() { all } else { all / 5 })
}
