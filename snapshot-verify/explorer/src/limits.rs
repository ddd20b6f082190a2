//! Limits of techniques that a run reached.
//!
//! Beyond its limit, a technique leaves a part of the instance unreduced. This changes no verdict
//! but may cost states, so it is reported. docs/verification.md has the numbers.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::deadline::Deadline;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum Limit {
    /// A process specialised to its facts has too many locations or blocks.
    Specialised,
    /// A block has too many relevant conditions.
    Conditions,
    /// A process has too many abstract locations, paths of steps, or index numbers for them.
    Places,
    /// Too many cells may be dead.
    Cells,
    /// Fusing steps takes too many rounds.
    Rounds,
    /// Gaps between counters exceed the greatest cap.
    Gaps,
    /// The conjecture about stale cells was refuted too often.
    Refutations,
    /// The condition of a later branch has too many nodes.
    ConditionSize,
    /// A cell is assigned from another process's variable with too large a domain.
    CellDomain,
    /// Too many ample steps follow each other.
    AtOnce,
    /// Too many reactions follow one step.
    Reactions,
}

impl Limit {
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

    /// Notes with a deadline that a technique has reached this limit.
    pub fn reach(self, deadline: Deadline<'_>) {
        deadline.note(1 << self as u32);
    }

    /// Returns the name for programs.
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

    /// Returns the consequence for the result, as the end of a sentence.
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

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LimitSet(u32);

impl LimitSet {
    /// Returns the limits that stages with this deadline have reached so far.
    pub fn noted(deadline: Deadline<'_>) -> Self {
        Self::from_bits(deadline.noted())
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set as bits, one per limit.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Creates the set from bits; ignores bits that are not limits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & ((1 << Limit::ALL.len()) - 1))
    }

    /// Returns the limits in the set, in the order of [`Limit::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Limit> {
        Limit::ALL.into_iter().filter(move |limit| self.0 & 1 << *limit as u32 != 0)
    }
}

/// The limits reached so far by any thread.
#[derive(Debug, Default)]
pub struct Limits(AtomicU32);

impl Limits {
    /// Returns the target for a deadline's notes.
    pub const fn notes(&self) -> &AtomicU32 {
        &self.0
    }

    pub fn reach(&self, limit: Limit) {
        let bit = 1 << limit as u32;
        // A search may reach a limit in every state.
        if self.0.load(Ordering::Relaxed) & bit == 0 {
            self.0.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub fn reach_all(&self, limits: LimitSet) {
        self.0.fetch_or(limits.0, Ordering::Relaxed);
    }

    pub fn reached(&self) -> LimitSet {
        LimitSet(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reached_limits_are_reported_in_order() {
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
