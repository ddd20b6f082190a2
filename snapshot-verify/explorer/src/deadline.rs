//! When whatever takes long, or much memory, must end: asked by every stage, in every loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use thiserror::Error;

use crate::limits::{Limit, LimitSet, Limits};

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
    limits: Option<&'a Limits>,
}

impl<'a> Deadline<'a> {
    /// Never.
    pub const NEVER: Self = Self { until: None, stop: None, memory: None, limits: None };

    /// At this instant, if there is one, or as soon as `stop` is set.
    pub const fn new(until: Option<Instant>, stop: Option<&'a AtomicBool>) -> Self {
        Self { until, stop, memory: None, limits: None }
    }

    /// The same, or as soon as more memory is in use than is allowed, if that is given.
    #[must_use]
    pub const fn with_memory(self, memory: Option<Allowance>) -> Self {
        Self { memory, ..self }
    }

    /// The same, that notes which limits of techniques are reached meanwhile.
    #[must_use]
    pub const fn with_limits(self, limits: &'a Limits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    /// Notes that a technique has come to a limit.
    pub fn reach(&self, limit: Limit) {
        if let Some(limits) = self.limits {
            limits.reach(limit);
        }
    }

    /// The limits that were reached so far, as far as that is noted.
    pub fn reached(&self) -> LimitSet {
        self.limits.map_or_else(LimitSet::default, Limits::reached)
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
    fn it_is_over_with_the_memory() {
        let memory = |limit| Some(Allowance { limit, allocated: || 1000 });
        assert_eq!(Deadline::NEVER.with_memory(memory(1001)).check(), Ok(()));
        assert_eq!(Deadline::NEVER.with_memory(memory(1000)).check(), Err(Stopped::Memory));
    }
}
