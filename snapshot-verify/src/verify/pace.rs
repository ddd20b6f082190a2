//! Progress of a search over all pairs, counted in states: what takes turns with a search begins,
//! and goes on, in proportion to it.

use std::cell::{Cell, RefCell};

use snapshot_core::Process;

use super::Effort;

/// Cost of preparing the search of one pair, in states: this, times n³.
const PREPARED: u64 = 20;

/// Pair and bounds of an exploration.
type Subject = (Option<[Process; 2]>, Effort);

/// Number of states of a search, of all its pairs.
#[derive(Debug, Default)]
pub struct Pace {
    /// States of the finished explorations, and of the present one.
    states: Cell<(u64, u64)>,
    about: Cell<Option<Subject>>,
    /// Pairs whose search has begun.
    begun: RefCell<Vec<Option<[Process; 2]>>>,
}

impl Pace {
    /// Notes that an exploration begins.
    pub fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        let is_known = self.begun.borrow().contains(&pair);
        let prepared = if is_known { 0 } else { PREPARED * (effort.active as u64).pow(3) };
        self.begun.borrow_mut().extend((!is_known).then_some(pair));
        self.states.set((self.states() + prepared, 0));
        self.about.set(Some((pair, effort)));
    }

    /// Notes the states of the present exploration.
    pub fn reach(&self, states: u64) {
        self.states.set((self.states.get().0, states));
    }

    /// Notes that no exploration is left.
    pub fn end(&self) {
        self.about.set(None);
    }

    /// Returns the number of states so far, and the cost of preparation in states.
    pub fn states(&self) -> u64 {
        let (before, present) = self.states.get();
        before + present
    }

    /// Returns the pair and the bounds of the present exploration.
    pub fn about(&self) -> Option<Subject> {
        self.about.get()
    }
}
