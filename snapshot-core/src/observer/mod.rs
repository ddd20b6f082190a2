//! The observer: the union of the three automata, determinised.
//!
//! A subset of the union's states looks exponential in the number n of processes, but on simple
//! histories most of it is redundant:
//!
//! * Decrease watches a scan by p for a 0 at l if it was invoked after some scan had returned 1 at
//!   l; inappropriateness watches it for the same if it was invoked after F_l had responded. Both
//!   accept the same responses, so only the disjunction counts: `needed_l` before the invocation,
//!   and one copy of it per open scan, `must_l`.
//! * Inversion and the cases (3) and (4) of Lemma 14 wait for a scan that returns (0, 1), each from
//!   some event on: again only the disjunction counts, `bad01`; and likewise `bad10`.
//! * The rest of the subset records whether F_l was invoked.
//!
//! This leaves six bits and two per open scan, each step O(1), for every n; it *is* the
//! determinised union with equivalent states merged. The tests prove that for 2, 3 and 4 processes,
//! by exploring the product of both automata with all well-formed words. More processes cannot add
//! a new case: every condition of Theorem 10 and Lemma 14 concerns two scans at most, and the
//! watched scan is treated equally for every process.
//!
//! [`ObserverState`] is the bare state with its transitions, for a caller that
//! keeps the open scans itself; [`Observer`] runs letter by letter and says
//! why it accepts; [`OnlineObserver`] takes the events of a recording that may turn out simple.

mod online;
mod state;

pub use online::{Observation, OnlineObserver};
pub use state::{Alarm, Must, ObserverState};

use crate::simple::{Letter, SimpleHistory, Symbol};

/// The observer of one simple history, event by event.
///
/// It accepts (finds a violation) at the first response that makes the prefix non-linearizable, and
/// accepts every continuation.
///
/// Invariants: while there is no alarm, `state` satisfies [`ObserverState::validate`], and `must`
/// of a process without open scan is [`Must::NOTHING`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Observer {
    state: ObserverState,
    /// The obligation of the open scan of each process.
    must: Vec<Must>,
    alarm: Option<Alarm>,
}

impl Observer {
    /// Creates the observer before the first event of a history of this many processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        Self { state: ObserverState::INITIAL, must: vec![Must::NOTHING; processes], alarm: None }
    }

    /// Takes the next letter, O(1). Returns true if the history so far is a violation.
    ///
    /// # Panics
    /// If the letter's process is not below the number of processes.
    pub fn step(&mut self, letter: Letter) -> bool {
        if self.alarm.is_none() {
            match self.successor(letter) {
                Ok(state) => self.state = state,
                Err(alarm) => self.alarm = Some(alarm),
            }
        }
        self.alarm.is_some()
    }

    fn successor(&mut self, letter: Letter) -> Result<ObserverState, Alarm> {
        let must = &mut self.must[letter.process().index()];
        match letter.symbol() {
            Symbol::InvokeScan => {
                *must = self.state.invoke_scan();
                Ok(self.state)
            }
            Symbol::RespondScan { at_i, at_j } => {
                self.state.respond_scan(std::mem::take(must), at_i, at_j)
            }
            Symbol::RespondForeign => Err(Alarm::Foreign),
            Symbol::InvokeUpdate { segment, value: true } => Ok(self.state.invoke_update(segment)),
            Symbol::RespondUpdate { segment, value: true } => {
                Ok(self.state.respond_update(segment))
            }
            Symbol::InvokeUpdate { value: false, .. }
            | Symbol::RespondUpdate { value: false, .. }
            | Symbol::InvokeOther
            | Symbol::RespondOther => Ok(self.state),
        }
    }

    /// The six bits. After an alarm: the bits before it.
    pub const fn state(&self) -> ObserverState {
        self.state
    }

    /// The obligation of the open scan of each process.
    pub fn must(&self) -> &[Must] {
        &self.must
    }

    /// The reason why the history so far is a violation, if it is one.
    pub const fn alarm(&self) -> Option<Alarm> {
        self.alarm
    }

    /// Returns the first letter that makes a history a violation, and the reason.
    pub fn first_violation(history: &SimpleHistory) -> Option<(usize, Alarm)> {
        let mut observer = Self::new(history.processes());
        let position = history.letters().iter().position(|&letter| observer.step(letter))?;
        Some((position, observer.alarm?))
    }
}
