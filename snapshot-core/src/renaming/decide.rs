//! The verdict by all renamings: the theorem, taken literally.
//!
//! The nondeterministic automata read each renaming, so the cost is at least quadratic in the
//! number of updates: long histories are out of reach. Apart from the definition of a simple
//! history, it shares nothing with the linear-time conditions, the monitor and the observer, and so
//! it judges all of them.

use bitvec::prelude::{BitBox, BitVec, Lsb0};
use thiserror::Error;

use super::{NotDifferentiated, Numbering, Renaming};
use crate::Segment;
use crate::automata::{self, Alphabet, AlphabetError, Simulation};
use crate::search::Budget;
use crate::simple::Letter;

/// The verdict of the automata on all renamings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// No automaton accepts any renaming.
    Linearizable,
    /// The automata accept a renaming.
    Violation {
        /// The renaming whose violation is complete first.
        renaming: Renaming,
        /// The event that completes it. If no update failed, the prefix up to and including this
        /// event is not linearizable, and the prefix before it is; an update that fails later may
        /// be read until then.
        event: usize,
    },
    /// The budget ended the check.
    Exhausted,
}

/// The reason why the automata give no verdict on a history.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Unrenamable {
    /// The history is not differentiated.
    #[error(transparent)]
    NotDifferentiated(#[from] NotDifferentiated),
    /// The history has too many processes for the automata.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
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
    /// A history of U updates and n segments has at most U² / 2 + n U renamings. Neighbouring
    /// renamings differ in one threshold, by one, and so in the events of one value: the automata
    /// read the next renaming from the first of these events on, until they reach the same states
    /// as before. That takes O(U² · events · states / 64) time in the worst case, and O(U² ·
    /// concurrency + n² · events) where scans return recent values. Memory: a set of states per
    /// event. The budget is checked once per renaming; its memory limit is not used.
    ///
    /// # Panics
    /// If the history has more processes than the automata.
    pub fn decide(&mut self, numbering: &Numbering, budget: &mut Budget<'_>) -> Decision {
        let are_known = numbering.processes() <= self.alphabet.processes();
        assert!(are_known, "the automata are for the history's processes");
        let mut reading = Reading {
            simulation: &mut self.simulation,
            letters: Vec::new(),
            before: Vec::new(),
            until: numbering.len(),
        };
        let mut first: Option<Renaming> = None;
        for (i, j) in pairs(numbering.segments()) {
            let last_j = j.map_or(0, |j| numbering.updates(j));
            let (changes_i, changes_j) = (changes(numbering, Some(i)), changes(numbering, j));
            let mut previous: Option<Renaming> = None;
            for (from_i, from_j) in thresholds(numbering.updates(i) + 1, last_j + 1) {
                if !(budget.proceed)() {
                    return Decision::Exhausted;
                }
                let renaming = Renaming { i, j, from_i, from_j };
                let accepts = match previous.replace(renaming) {
                    None => {
                        reading.letters = numbering.letters(renaming).collect();
                        reading.read(0, numbering.len())
                    }
                    Some(previous) => {
                        let changed = if previous.from_i == from_i {
                            &changes_j[from_j.min(previous.from_j) as usize]
                        } else {
                            &changes_i[from_i.min(previous.from_i) as usize]
                        };
                        for &letter in changed {
                            reading.letters[letter] = numbering.letter(letter, renaming);
                        }
                        match (changed.first(), changed.last()) {
                            (Some(&from), Some(&to)) => reading.read(from, to + 1),
                            _ => false,
                        }
                    }
                };
                if accepts {
                    first = Some(renaming);
                }
            }
        }
        first.map_or(Decision::Linearizable, |renaming| Decision::Violation {
            renaming,
            event: numbering.event(reading.until),
        })
    }
}

/// The automata on one renaming after another.
///
/// Invariants: `before[k]` is the set of states before letter k, for all k up to `until`; no
/// automaton has accepted with a letter before `until`.
struct Reading<'a> {
    simulation: &'a mut Simulation,
    letters: Vec<Letter>,
    before: Vec<BitBox<u64, Lsb0>>,
    /// The first letter with which some renaming was accepted, or the number of letters.
    until: usize,
}

impl Reading<'_> {
    /// Reads the letters again after the letters in `from..to` have changed. Returns true if an
    /// automaton accepts before `until`, and sets `until` to that position.
    fn read(&mut self, from: usize, to: usize) -> bool {
        match self.before.get(from) {
            Some(before) if from > 0 => self.simulation.set_current(before),
            _ => self.simulation.reset(),
        }
        for letter in from..self.until {
            let states = self.simulation.current();
            match self.before.get_mut(letter) {
                None => self.before.push(BitVec::from_bitslice(states).into_boxed_bitslice()),
                Some(before) if letter >= to && **before == *states => return false,
                Some(before) => before.copy_from_bitslice(states),
            }
            if self.simulation.step(self.letters[letter]) {
                self.until = letter;
                return true;
            }
        }
        false
    }
}

/// Returns by number the letters whose events write the number to the segment, or read it there;
/// ascending.
fn changes(numbering: &Numbering, segment: Option<Segment>) -> Vec<Vec<usize>> {
    let Some(segment) = segment else { return Vec::new() };
    let mut changes = vec![Vec::new(); numbering.updates(segment) as usize + 1];
    for letter in 0..numbering.len() {
        let number = numbering.number(letter, segment);
        let place = number.and_then(|number| changes.get_mut(usize::try_from(number).ok()?));
        if let Some(letters) = place {
            letters.push(letter);
        }
    }
    changes
}

/// Returns all thresholds from 1 to these bounds, each pair next to the previous one: one of the
/// two thresholds differs, by one.
fn thresholds(last_i: u64, last_j: u64) -> impl Iterator<Item = (u64, u64)> {
    (1..=last_i).flat_map(move |from_i| {
        let is_ascending = from_i.is_multiple_of(2);
        (1..=last_j).map(move |at| (from_i, if is_ascending { at } else { last_j + 1 - at }))
    })
}

/// Returns all pairs of segments; if there is one segment, that segment alone.
fn pairs(segments: usize) -> impl Iterator<Item = (Segment, Option<Segment>)> {
    (0..segments).flat_map(move |i| {
        let others = (i + 1..segments).map(Some);
        let alone = (segments == 1).then_some(None);
        others.chain(alone).map(move |j| (Segment::from_index(i), j.map(Segment::from_index)))
    })
}
