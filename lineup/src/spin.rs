//! Detection of threads that spin for ever, where these count as *stuck*.
//!
//! A thread that spins can run, so an execution in which all threads spin is not exactly stuck:
//! each of them might give up by itself, after a number of rounds or at some time. If none gives
//! up, and shared memory does not change while each of them runs from a yield to its next one, then
//! it never changes: each thread reads the values that it read before, in any order.
//! `Check::diverging` assumes this on request, after many steps without a change. Changes are
//! visible for atomics of the stand-in for `std`; a step of another kind, of a lock, say, counts as
//! a change, so that unseen changes never lead to *stuck*.

use snapshot_core::observation::Thread;

use crate::driver::Situation;

/// Meaning of an execution in which all threads that can run spin, and nothing changes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum Diverging {
    /// Unknown: each of them may give up after more steps.
    #[default]
    Unknown,
    /// Stuck: none ever gives up by itself.
    Stuck,
}

/// Rounds, from yield to yield, that each thread makes before only the other threads are tried.
const ROUNDS: u32 = 2;

/// Last steps of an execution.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    /// Steps without a change that count as stuck; `None`: disabled.
    limit: Option<u32>,
    steps: u32,
    rounds: [u32; Thread::LIMIT + 1],
}

impl Spin {
    /// Makes the detector of a check with this patience: its second half must be without change.
    pub(crate) fn new(diverging: Diverging, patience: u32) -> Self {
        let limit = (diverging == Diverging::Stuck).then_some(patience / 2);
        Self { limit, steps: 0, rounds: [0; Thread::LIMIT + 1] }
    }

    /// Returns the state as numbers, if it decides anything.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        let all = std::iter::once(&self.steps).chain(&self.rounds);
        all.filter(|_| self.limit.is_some()).copied()
    }

    /// Forgets the steps of a finished execution.
    pub(crate) const fn begin(&mut self) {
        self.steps = 0;
        self.rounds = [0; Thread::LIMIT + 1];
    }

    /// Records a step of the running thread; `yielded`: it ended in a yield.
    pub(crate) fn step(&mut self, situation: &Situation<'_>, yielded: bool) {
        if situation.changed {
            self.begin();
            return;
        }
        self.steps += 1;
        if let Some(thread) = situation.current.filter(|_| yielded) {
            self.rounds[thread.index()] += 1;
        }
    }

    /// Returns the given threads that made their rounds without a change: each spins, and repeats
    /// itself until something changes.
    pub(crate) fn resting(&self, threads: u16) -> u16 {
        if self.limit.is_none() {
            return 0;
        }
        let rests = |t: &usize| self.rounds[*t] >= ROUNDS;
        (0..self.rounds.len()).filter(rests).fold(0, |set, t| set | 1 << t) & threads
    }

    /// Returns true if these threads have spun for long enough to be stuck.
    pub(crate) fn is_stuck(&self, threads: u16) -> bool {
        self.limit.is_some_and(|limit| self.steps >= limit) && self.resting(threads) == threads
    }
}
