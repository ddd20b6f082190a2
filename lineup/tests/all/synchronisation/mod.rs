//! Objects whose operations take effect together, right and wrong, under a controlled scheduler:
//! set linearizability of their executions, and progress of stuck ones.

mod handmade;
mod monitor;
mod real;

use lineup::together::{Fault, execute};
use snapshot_core::synchronisation::Synchronisation;

/// Results of exploring an object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    pub executions: usize,
    /// Executions that end with threads waiting for ever.
    pub stuck: usize,
    /// Executions that are not set-linearizable.
    pub wrong: usize,
    /// Executions that are set-linearizable, but lack progress.
    pub missed: usize,
}

impl Seen {
    /// Asserts that no execution is wrong.
    pub fn assert_right(self, name: &str) {
        assert!(self.executions > 0 && self.wrong + self.missed == 0, "{name}: {self:?}");
    }

    /// Asserts that some execution is wrong.
    pub fn assert_wrong(self, name: &str) {
        assert!(self.wrong + self.missed > 0, "{name}: {self:?}");
    }
}

/// Executes threads, each a list of inputs, on a new object under this many random schedules, with
/// fixed seeds.
pub fn explore<S, T>(
    specification: &S,
    schedules: u64,
    threads: &[Vec<S::Input>],
    new: impl Fn() -> T + Clone + Send + Sync + 'static,
    operate: impl Fn(&T, usize, S::Input) -> S::Output + Clone + Send + Sync + 'static,
) -> Seen
where
    S: Synchronisation,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let mut seen = Seen::default();
    for seed in 0..schedules {
        let execution = execute(specification, seed, threads, new.clone(), operate.clone());
        let mut operations = execution.history.operations().iter();
        let is_pending = operations.any(|operation| operation.response().is_none());
        assert_eq!(
            is_pending, execution.is_stuck,
            "exactly the executions without a return are stuck"
        );
        seen.executions += 1;
        seen.stuck += usize::from(execution.is_stuck);
        match execution.fault {
            None => {}
            Some(Fault::NotSetLinearizable) => seen.wrong += 1,
            Some(Fault::NoProgress) => seen.missed += 1,
            Some(Fault::Unknown) => panic!("the history is small"),
        }
    }
    seen
}
