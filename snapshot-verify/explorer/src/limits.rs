//! Limits of techniques: what a run has come to.
//!
//! Beyond a limit, a technique leaves something as it is. That changes no verdict, and may
//! cost states: so it is reported. docs/verification.md has the numbers.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::deadline::Deadline;

/// A limit of a technique.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum Limit {
    /// A process specialised to what it knows has too many locations or blocks.
    Specialised,
    /// Too many conditions at one block.
    Conditions,
    /// A process has too many abstract locations, ways to take a step, or numbers of both.
    Places,
    /// Too many cells that may be dead.
    Cells,
    /// Too many rounds of fusing steps.
    Rounds,
    /// Gaps between counters are kept apart as far as they may be.
    Gaps,
    /// What was guessed to be stale was refuted too often.
    Refutations,
    /// A condition of a later branch has too many nodes.
    ConditionSize,
    /// A variable that others copy to a cell has too large a domain.
    CellDomain,
    /// Too many steps that commute follow each other.
    AtOnce,
    /// Too many reactions to one step.
    Reactions,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Specialised,
        Self::Conditions,
        Self::Places,
        Self::Cells,
        Self::Rounds,
        Self::Gaps,
        Self::Refutations,
        Self::ConditionSize,
        Self::CellDomain,
        Self::AtOnce,
        Self::Reactions,
    ];

    /// Notes with a deadline that a technique has come to it.
    pub fn reach(self, deadline: Deadline<'_>) {
        deadline.note(1 << self as u32);
    }

    /// Its name, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Specialised => "specialised-size",
            Self::Conditions => "conditions",
            Self::Places => "abstract-locations",
            Self::Cells => "dead-cells",
            Self::Rounds => "fusion-rounds",
            Self::Gaps => "counter-gaps",
            Self::Refutations => "refutations",
            Self::ConditionSize => "condition-size",
            Self::CellDomain => "cell-domain",
            Self::AtOnce => "steps-at-once",
            Self::Reactions => "reactions",
        }
    }

    /// What was left as it is, as the end of a sentence.
    pub const fn consequence(self) -> &'static str {
        match self {
            Self::Specialised => {
                "a process specialised to all that it knows has more than 4,000 locations or \
                 16,000 blocks: `decided` knows less of it"
            }
            Self::Conditions => "a block has more than 64 conditions: `decided` tracks no others",
            Self::Places => {
                "a process has more than 2^16 abstract locations or 2^21 ways between them: \
                 without `ample` and global liveness"
            }
            Self::Cells => "more than 128 cells may be dead: `stale` leaves the others out",
            Self::Rounds => "after 8 rounds there are still steps to fuse: `shrink` leaves them",
            Self::Gaps => "gaps between counters of 32 and more count as one",
            Self::Refutations => "200 guesses of `stale` were wrong: it guesses no more",
            Self::ConditionSize => {
                "a condition has more than 200 operators, slots and constants: `decided` does not \
                 track it"
            }
            Self::CellDomain => {
                "a cell is written from a variable of more than 64 values: `decided` takes it for \
                 one that may hold anything"
            }
            Self::AtOnce => "after 256 steps taken at once, `ample` leaves the next to the search",
            Self::Reactions => {
                "after 1,024 reactions to one step, the search takes no more: variables keep what \
                 they need not"
            }
        }
    }
}

/// A set of limits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LimitSet(u32);

impl LimitSet {
    /// Those that stages with this deadline have come to so far.
    pub fn noted(deadline: Deadline<'_>) -> Self {
        Self::from_bits(deadline.noted())
    }

    /// What is in one or the other.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// One bit for each of its limits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set with these bits; those of no limit are left out.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & ((1 << Limit::ALL.len()) - 1))
    }

    /// Its limits, in the order of [`Limit::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Limit> {
        Limit::ALL.into_iter().filter(move |limit| self.0 & 1 << *limit as u32 != 0)
    }
}

/// The limits that were reached, by all threads.
#[derive(Debug, Default)]
pub struct Limits(AtomicU32);

impl Limits {
    /// Where a deadline notes them.
    pub const fn notes(&self) -> &AtomicU32 {
        &self.0
    }

    /// One is reached.
    pub fn reach(&self, limit: Limit) {
        let bit = 1 << limit as u32;
        // A search may come to one at every state.
        if self.0.load(Ordering::Relaxed) & bit == 0 {
            self.0.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// All of these are reached.
    pub fn reach_all(&self, limits: LimitSet) {
        self.0.fetch_or(limits.0, Ordering::Relaxed);
    }

    /// Those that were.
    pub fn reached(&self) -> LimitSet {
        LimitSet(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reached_is_reported_in_order() {
        let limits = Limits::default();
        assert_eq!(limits.reached(), LimitSet::default());
        for limit in [Limit::Gaps, Limit::Conditions, Limit::Gaps] {
            limits.reach(limit);
        }
        let reached: Vec<Limit> = limits.reached().iter().collect();
        assert_eq!(reached, [Limit::Conditions, Limit::Gaps]);
        for (number, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, number);
        }
    }
}
