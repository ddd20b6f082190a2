//! Deadlines for work that takes long or much memory: every stage checks its deadline in every
//! loop.
//!
//! A request creates one deadline and passes it down to the loops that serve it: the explorer's
//! stages, the prover's analyses and steps.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use thiserror::Error;

/// Reason why a stage ended early.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum Stopped {
    #[error("the time is used up")]
    Time,
    #[error("the memory is used up")]
    Memory,
    #[error("interrupted")]
    Interrupted,
}

/// Limit on memory, with a function that measures it.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// In bytes.
    pub limit: u64,
    /// Returns the bytes allocated by all threads; called often.
    pub allocated: fn() -> u64,
}

impl Allowance {
    /// Returns the remaining bytes.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub((self.allocated)())
    }
}

/// Limits on time and memory, and the user's request to stop. Shared by all threads of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline<'a> {
    until: Option<Instant>,
    stop: Option<&'a AtomicBool>,
    memory: Option<Allowance>,
    notes: Option<&'a AtomicU32>,
}

impl<'a> Deadline<'a> {
    pub const NEVER: Self = Self { until: None, stop: None, memory: None, notes: None };

    /// Ends at this instant, if given, or as soon as `stop` is set.
    pub const fn new(until: Option<Instant>, stop: Option<&'a AtomicBool>) -> Self {
        Self { until, stop, memory: None, notes: None }
    }

    /// Also ends as soon as more memory is in use than is allowed, if given.
    #[must_use]
    pub const fn with_memory(self, memory: Option<Allowance>) -> Self {
        Self { memory, ..self }
    }

    /// Lets stages note events, as bits.
    #[must_use]
    pub const fn with_notes(self, notes: &'a AtomicU32) -> Self {
        Self { notes: Some(notes), ..self }
    }

    /// Notes these bits, if notes are kept.
    pub fn note(&self, bits: u32) {
        if let Some(notes) = self.notes {
            notes.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Returns the bits noted so far.
    pub fn noted(&self) -> u32 {
        self.notes.map_or(0, |notes| notes.load(Ordering::Relaxed))
    }

    /// Returns true if it is time to end. Without a limit on memory, this stays true. Then a loop
    /// may break off without an error, if its caller calls [`Self::check`] before it uses the
    /// incomplete result.
    pub fn is_over(&self) -> bool {
        self.check().is_err()
    }

    /// Checks the user's request, the memory and the clock; takes about 30 ns.
    ///
    /// # Errors
    /// If it is time to end.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Stopped::Interrupted);
        }
        if self.memory.is_some_and(|memory| memory.left() == 0) {
            return Err(Stopped::Memory);
        }
        match self.until {
            Some(until) if Instant::now() >= until => Err(Stopped::Time),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_is_over_at_its_instant_or_when_stopped() {
        assert_eq!(Deadline::NEVER.check(), Ok(()));
        let now = Instant::now();
        assert_eq!(Deadline::new(Some(now), None).check(), Err(Stopped::Time));
        let later = now.checked_add(std::time::Duration::from_secs(3_600));
        let stop = AtomicBool::new(false);
        let deadline = Deadline::new(later, Some(&stop));
        assert_eq!(deadline.check(), Ok(()));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(deadline.check(), Err(Stopped::Interrupted));
    }

    #[test]
    fn notes_are_kept() {
        let notes = AtomicU32::new(1);
        let deadline = Deadline::NEVER.with_notes(&notes);
        deadline.note(4);
        Deadline::NEVER.note(8);
        assert_eq!((deadline.noted(), Deadline::NEVER.noted()), (5, 0));
    }

    #[test]
    fn deadline_is_over_at_the_memory_limit() {
        let memory = |limit| Some(Allowance { limit, allocated: || 1000 });
        assert_eq!(Deadline::NEVER.with_memory(memory(1001)).check(), Ok(()));
        assert_eq!(Deadline::NEVER.with_memory(memory(1000)).check(), Err(Stopped::Memory));
    }
}
