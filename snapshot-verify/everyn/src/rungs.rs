//! All rungs of the ladder.

use snapshot_hints::ways::{direct, nested};

use crate::model::{Ghosts, Obligation, Part};
use crate::shape::Mode;

/// Returns all rungs, by their guesses at ghost scans.
pub fn all() -> Vec<Obligation> {
    let of = |ghosts| [nested(ghosts).to_vec(), direct(ghosts)].concat().concat();
    // Rungs of rounds stand for any rounds.
    let mut rounds = of(Ghosts::Rounds { begin: 0, end: 0 });
    rounds.retain(|rung| rung.mode == Mode::Direct || rung.part == Part::Tokens);
    [of(Ghosts::Scans), of(Ghosts::Calls), rounds].concat()
}
