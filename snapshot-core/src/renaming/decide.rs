//! The verdict by all renamings: the theorem, taken literally.
//!
//! A history of U updates has at most U² / 2 + U renamings, and each is read by the
//! nondeterministic automata, so this takes O(U² · events): it is no way to judge
//! long histories. It shares nothing with the linear-time conditions, the
//! monitor or the observer beyond the definition of a simple history, and so it is a
//! judge of all of them.

use super::{Numbering, Renaming};
use crate::Segment;
use crate::automata::{self, Alphabet, AlphabetError, Simulation};
use crate::search::Budget;

/// The verdict of the automata on all renamings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// No automaton accepts any renaming.
    Linearizable,
    /// The automata accept a renaming.
    Violation {
        /// The renaming whose violation is complete first.
        renaming: Renaming,
        /// The event that completes it. If no update failed, the prefix up to and including it is
        /// not linearizable, and the prefix before it is; an update that fails later may be
        /// read until then.
        event: usize,
    },
    /// The budget ended the check.
    Exhausted,
}

/// The three automata, side by side, ready to read the renamings of histories.
#[derive(Clone, Debug)]
pub struct Judge {
    alphabet: Alphabet,
    simulation: Simulation,
}

impl Judge {
    /// Builds the automata for histories of at most this many processes. O(processes²).
    ///
    /// # Errors
    /// If there are more processes than [`Alphabet::LIMIT`].
    pub fn new(processes: usize) -> Result<Self, AlphabetError> {
        let alphabet = Alphabet::new(processes.max(1))?;
        Ok(Self { alphabet, simulation: Simulation::new(&automata::violation(alphabet)) })
    }

    /// Decides a history by running the automata on all of its renamings.
    ///
    /// O(U² · events) time for U updates, with 4 n + 18 states for n processes in
    /// parallel. The budget is asked once for each renaming; its memory is not used.
    ///
    /// # Panics
    /// If the history has more processes than the automata.
    pub fn decide(&mut self, numbering: &Numbering, budget: &mut Budget<'_>) -> Decision {
        let are_known = numbering.processes() <= self.alphabet.processes();
        assert!(are_known, "the automata are for the history's processes");
        let mut first: Option<(Renaming, usize)> = None;
        for renaming in renamings(numbering) {
            if !(budget.proceed)() {
                return Decision::Exhausted;
            }
            let until = first.map_or(numbering.len(), |(_, letter)| letter);
            self.simulation.reset();
            let mut letters = numbering.letters(renaming).take(until);
            if let Some(letter) = letters.position(|letter| self.simulation.step(letter)) {
                first = Some((renaming, letter));
            }
        }
        first.map_or(Decision::Linearizable, |(renaming, letter)| Decision::Violation {
            renaming,
            event: numbering.event(letter),
        })
    }
}

/// All renamings of a history that differ: each pair of segments with each pair of thresholds from
/// 1 to one more than the last number. In a history of one segment, each threshold.
fn renamings(numbering: &Numbering) -> impl Iterator<Item = Renaming> + '_ {
    let segments = numbering.segments();
    let pairs = (0..segments).flat_map(move |i| {
        let others = (i + 1..segments).map(Some);
        let alone = (segments == 1).then_some(None);
        others.chain(alone).map(move |j| (Segment::from_index(i), j.map(Segment::from_index)))
    });
    pairs.flat_map(move |(i, j)| {
        let last = |segment: Segment| numbering.updates(segment) + 1;
        let last_j = j.map_or(1, last);
        (1..=last(i)).flat_map(move |from_i| {
            (1..=last_j).map(move |from_j| Renaming { i, j, from_i, from_j })
        })
    })
}
