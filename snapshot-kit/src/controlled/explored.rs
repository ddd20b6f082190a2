//! Result of an exploration without a violation, and whether it could have found one.

use std::fmt;

use super::execution::{Execution, Stepped};
use crate::overlap::Overlap;
use crate::watchdog::unfinished;

/// The version of shuttle whose types an object must use.
pub(super) const SHUTTLE: &str = "0.9";

/// Result of an exploration without a violation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Explored {
    /// Number of executions.
    pub schedules: usize,
    /// Number of executions that did not end: too many steps, as with a thread that waits forever.
    pub abandoned: usize,
    /// Number of operations, and of overlapping ones.
    pub overlap: Overlap,
}

impl Explored {
    /// Returns a warning if most executions were abandoned.
    pub fn note(&self) -> Option<&'static str> {
        (2 * self.abandoned > self.schedules).then_some(
            "more than half of the schedules did not end: an operation may wait for ever, or need \
             more steps",
        )
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedules, abandoned, overlap: Overlap { operations, scans, .. } } = self;
        write!(
            f,
            "no violation in {schedules} schedules, {operations} operations; {scans} scans \
             overlapped an update"
        )?;
        if *abandoned > 0 {
            write!(f, "; {abandoned} schedules did not end")?;
        }
        self.note().map_or(Ok(()), |note| write!(f, "; warning: {note}"))
    }
}

/// Evidence from all executions together.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) explored: Explored,
    updates: Stepped,
    scans: Stepped,
    /// Operations that had not returned in the last abandoned execution.
    unfinished: String,
}

impl Evidence {
    pub(super) fn add(&mut self, execution: &Execution) {
        self.explored.schedules += 1;
        self.explored.abandoned += usize::from(execution.is_abandoned);
        self.updates.add(execution.updates);
        self.scans.add(execution.scans);
        if let Ok(history) = &execution.history {
            self.explored.overlap += Overlap::new(history);
            if execution.is_abandoned {
                self.unfinished = unfinished(history);
            }
        }
    }

    /// Returns why nothing could have been found, if so. In a schedule that is made `again`
    /// operations need not overlap.
    pub(super) fn lack(&self, steps: usize, again: bool) -> Option<String> {
        let Explored { schedules, abandoned, overlap } = self.explored;
        if schedules == abandoned {
            return Some(format!(
                "none of {schedules} schedules ended within {steps} steps. Operations that had not \
                 returned in the last: {}. A thread that waits in a loop must let others run \
                 (`shuttle::hint::spin_loop()`); `.steps(...)` sets the limit",
                self.unfinished
            ));
        }
        for (kind, Stepped { made, stepped }) in [("update", self.updates), ("scan", self.scans)] {
            if made > 0 && stepped == 0 {
                return Some(format!(
                    "shuttle saw no step inside any {kind} ({made} were made), and so never \
                     stopped a thread there. Does the object use shuttle's types in place of those \
                     of `std`, of version {SHUTTLE} (`snapshot_kit::controlled::shuttle`)?"
                ));
            }
        }
        if again {
            return None;
        }
        overlap.note().map(|note| format!("{note} ({schedules} schedules)"))
    }
}
