//! Threads that spin for ever, where that is to count as *stuck*.
//!
//! A thread that spins can run, so an execution in which all do is not stuck, exactly: each of
//! them might give up by itself, after a number of rounds or at some time. If none does, and nothing
//! changes in shared memory while each of them goes from a yield to its next one, then nothing ever
//! will: each reads the values that it read before, whatever the order. That is taken for granted
//! where it is asked for (`Check::diverging`), after many steps without a change. What
//! changes is known of atomics of the stand-in for `std`; a step of another kind, of a lock, say,
//! counts as a change, so that what is not known is never *stuck*.

use snapshot_core::observation::Thread;

use crate::control::Situation;

/// What an execution counts as in which the threads that can run spin, and nothing changes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum Diverging {
    /// As one without answer: each of them may give up after more steps.
    #[default]
    Unknown,
    /// As one that is stuck: none of them ever gives up by itself.
    Stuck,
}

/// Rounds, from yield to yield, that each thread makes before the others alone are tried.
const ROUNDS: u32 = 2;

/// What the last steps of an execution were.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    /// Steps without a change that count as stuck; `None`: none do.
    limit: Option<u32>,
    steps: u32,
    rounds: [u32; Thread::LIMIT + 1],
}

impl Spin {
    /// For a check with this patience: its second half must be without change.
    pub(crate) fn new(diverging: Diverging, patience: u32) -> Self {
        let limit = (diverging == Diverging::Stuck).then_some(patience / 2);
        Self { limit, steps: 0, rounds: [0; Thread::LIMIT + 1] }
    }

    /// Forgets the steps of an execution that is over.
    pub(crate) const fn begin(&mut self) {
        self.steps = 0;
        self.rounds = [0; Thread::LIMIT + 1];
    }

    /// The thread that ran made a step; `yielded` if it ended in a yield.
    pub(crate) fn step(&mut self, situation: &Situation, yielded: bool) {
        if situation.changed {
            self.begin();
            return;
        }
        self.steps += 1;
        if let Some(thread) = situation.current.filter(|_| yielded) {
            self.rounds[thread.index()] += 1;
        }
    }

    /// Those of these threads that made their rounds without a change: each spins, and will do the
    /// same again until something changes.
    pub(crate) fn resting(&self, threads: u16) -> u16 {
        if self.limit.is_none() {
            return 0;
        }
        let rests = |t: &usize| self.rounds[*t] >= ROUNDS;
        (0..self.rounds.len()).filter(rests).fold(0, |set, t| set | 1 << t) & threads
    }

    /// Whether they did so for long enough to be stuck.
    pub(crate) fn is_stuck(&self, threads: u16) -> bool {
        self.limit.is_some_and(|limit| self.steps >= limit) && self.resting(threads) == threads
    }
}
