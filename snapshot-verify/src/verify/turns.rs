//! Turns beside a search: other ways to an answer advance in proportion to its states.
//!
//! They advance between two levels, while all threads of the search are idle, and when a pair
//! begins. So their progress depends on numbers of states, and not on the machine.

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;

use snapshot_core::Process;

use super::{Effort, Watch};
use crate::search::Progress;

/// Cost of preparing the search of one pair, in states: this, times n³.
const PREPARED: u64 = 20;

/// Another way to an answer.
pub trait Turn {
    /// Advances in proportion to the states of the search, within this memory. Returns true if it
    /// has shown progress of its own.
    fn advance(&self, states: u64, memory: u64) -> bool;
}

/// Watches a search, and gives turns.
pub struct Turns<'a> {
    watch: &'a dyn Watch,
    /// Memory of all.
    memory: u64,
    /// Set by an answer.
    answered: &'a AtomicBool,
    turns: &'a [&'a dyn Turn],
    /// States of the finished explorations, and of the present one.
    states: Cell<(u64, u64)>,
    /// Pairs whose search has begun.
    begun: RefCell<Vec<Option<[Process; 2]>>>,
    /// Pair and effort of the present exploration.
    about: Cell<Option<(Option<[Process; 2]>, Effort)>>,
}

impl<'a> Turns<'a> {
    pub fn new(
        watch: &'a dyn Watch,
        memory: u64,
        answered: &'a AtomicBool,
        turns: &'a [&'a dyn Turn],
    ) -> Self {
        let (states, begun, about) = (Cell::new((0, 0)), RefCell::default(), Cell::new(None));
        Self { watch, memory, answered, turns, states, begun, about }
    }

    /// Returns the number of states so far, and the cost of preparation in states.
    pub fn states(&self) -> u64 {
        let (before, present) = self.states.get();
        before + present
    }

    fn give(&self, memory: u64) {
        for turn in self.turns {
            if turn.advance(self.states(), memory)
                && let Some((pair, effort)) = self.about.get()
            {
                self.watch.begin(pair, effort);
            }
        }
    }
}

impl Watch for Turns<'_> {
    fn stop(&self) -> &AtomicBool {
        self.watch.stop()
    }

    fn answered(&self) -> Option<&AtomicBool> {
        Some(self.answered)
    }

    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        let is_known = self.begun.borrow().contains(&pair);
        let prepared = if is_known { 0 } else { PREPARED * (effort.active as u64).pow(3) };
        self.begun.borrow_mut().extend((!is_known).then_some(pair));
        self.states.set((self.states() + prepared, 0));
        self.about.set(Some((pair, effort)));
        self.watch.begin(pair, effort);
        self.give(self.memory / 2);
    }

    fn progress(&self, progress: &Progress) {
        self.watch.progress(progress);
        self.states.set((self.states.get().0, progress.states));
        if progress.between && !progress.tracing {
            self.give(self.memory.saturating_sub(progress.memory) / 2);
        }
    }

    fn prove(&self, rung: &str) {
        self.watch.prove(rung);
    }

    fn allocated(&self) -> Option<fn() -> u64> {
        self.watch.allocated()
    }
}
