//! Progress of a check, seen from another thread.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Progress of all tests that are checked with it ([`Check::tallied`](crate::Check::tallied)).
#[derive(Debug, Default)]
pub struct Tally {
    serial: AtomicU64,
    concurrent: AtomicU64,
    bound: AtomicU32,
}

impl Tally {
    /// Returns the number of serial executions so far.
    pub fn serial(&self) -> u64 {
        self.serial.load(Ordering::Relaxed)
    }

    /// Returns the number of concurrent executions so far.
    pub fn concurrent(&self) -> u64 {
        self.concurrent.load(Ordering::Relaxed)
    }

    pub(super) fn add_serial(&self) {
        self.serial.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an execution with at most `bound` preemptions.
    pub(super) fn add_concurrent(&self, bound: u32) {
        self.concurrent.fetch_add(1, Ordering::Relaxed);
        self.bound.store(bound, Ordering::Relaxed);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (serial, concurrent) = (self.serial(), self.concurrent());
        write!(f, "{serial} serial executions")?;
        if concurrent == 0 {
            return Ok(());
        }
        let bound = self.bound.load(Ordering::Relaxed);
        write!(f, ", {concurrent} concurrent ones, with up to {bound} preemptions at present")
    }
}
