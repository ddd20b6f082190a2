//! When whatever takes long, or much memory, must end: asked by every stage, in every loop.
//!
//! One deadline is made of a question, and passed down to the loops of all that answers it: the
//! explorer's stages, the prover's analyses and steps.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use thiserror::Error;

/// Why a stage ended early.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum Stopped {
    /// The time was used up.
    #[error("the time is used up")]
    Time,
    /// The memory was used up.
    #[error("the memory is used up")]
    Memory,
    /// Interrupted by the user.
    #[error("interrupted")]
    Interrupted,
}

/// The memory that may be in use, and how to find out what is.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Bytes.
    pub limit: u64,
    /// The bytes that are allocated, by all threads; asked often.
    pub allocated: fn() -> u64,
}

impl Allowance {
    /// What is left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub((self.allocated)())
    }
}

/// The instant at which to end, the memory with which to end, and the wish of the user to
/// end at once. Shared by all threads of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline<'a> {
    until: Option<Instant>,
    stop: Option<&'a AtomicBool>,
    memory: Option<Allowance>,
    notes: Option<&'a AtomicU32>,
}

impl<'a> Deadline<'a> {
    /// Never.
    pub const NEVER: Self = Self { until: None, stop: None, memory: None, notes: None };

    /// At this instant, if there is one, or as soon as `stop` is set.
    pub const fn new(until: Option<Instant>, stop: Option<&'a AtomicBool>) -> Self {
        Self { until, stop, memory: None, notes: None }
    }

    /// The same, or as soon as more memory is in use than is allowed, if that is given.
    #[must_use]
    pub const fn with_memory(self, memory: Option<Allowance>) -> Self {
        Self { memory, ..self }
    }

    /// The same, with which stages note what they have come to, as bits.
    #[must_use]
    pub const fn with_notes(self, notes: &'a AtomicU32) -> Self {
        Self { notes: Some(notes), ..self }
    }

    /// Notes these bits, if that is wanted.
    pub fn note(&self, bits: u32) {
        if let Some(notes) = self.notes {
            notes.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// The bits that were noted so far.
    pub fn noted(&self) -> u32 {
        self.notes.map_or(0, |notes| notes.load(Ordering::Relaxed))
    }

    /// Whether it is time to end. Where there is no limit of memory, that stays so: a loop whose result
    /// is not used then may simply break off, if its caller calls [`Self::check`] before it uses the result.
    pub fn is_over(&self) -> bool {
        self.check().is_err()
    }

    /// Looks at the user, at the memory and at the clock; about 30 ns.
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
    fn it_is_over_at_the_instant_or_when_stopped() {
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
    fn what_is_noted_is_there() {
        let notes = AtomicU32::new(1);
        let deadline = Deadline::NEVER.with_notes(&notes);
        deadline.note(4);
        Deadline::NEVER.note(8);
        assert_eq!((deadline.noted(), Deadline::NEVER.noted()), (5, 0));
    }

    #[test]
    fn it_is_over_with_the_memory() {
        let memory = |limit| Some(Allowance { limit, allocated: || 1000 });
        assert_eq!(Deadline::NEVER.with_memory(memory(1001)).check(), Ok(()));
        assert_eq!(Deadline::NEVER.with_memory(memory(1000)).check(), Err(Stopped::Memory));
    }
}
