//! Replayable schedules.
//!
//! A schedule gives the time that each thread runs, not in steps of the library but in operations
//! and, within the last of them, in scheduling points: so it survives changes of the code between
//! operations.

use std::fmt;
use std::str::FromStr;

use snapshot_core::observation::Thread;
use thiserror::Error;

/// A run of one thread: until it has returned from `operations` operations, and then been scheduled
/// `steps` times more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    /// The thread that runs.
    pub thread: Thread,
    /// Operations that it returns from.
    pub operations: u32,
    /// Number of times it is scheduled after the last return.
    pub steps: u32,
}

/// The order in which the threads of an execution ran. As text, `A2+3 B1` says: A returns
/// from two operations and makes three steps more, then B returns from one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Schedule(pub Vec<Segment>);

/// A text that is not a schedule.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "`{0}` is no part of a schedule: expected a thread's letter, the number of operations it \
         returns from, and possibly `+` and a number of steps, as in `A2+3`"
)]
pub struct ScheduleError(String);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Segment { thread, operations, steps }) in self.0.iter().enumerate() {
            let space = if place > 0 { " " } else { "" };
            write!(f, "{space}{thread}{operations}")?;
            if *steps > 0 {
                write!(f, "+{steps}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let segment = |word: &str| -> Option<Segment> {
            let mut letters = word.chars();
            let thread = Thread::from_letter(letters.next()?)?;
            let (operations, steps) = match letters.as_str().split_once('+') {
                Some((operations, steps)) => (operations, steps.parse().ok()?),
                None => (letters.as_str(), 0),
            };
            Some(Segment { thread, operations: operations.parse().ok()?, steps })
        };
        let words = text.split_whitespace();
        let segments = words.map(|word| segment(word).ok_or_else(|| ScheduleError(word.into())));
        Ok(Self(segments.collect::<Result<_, _>>()?))
    }
}

impl Schedule {
    /// Records the choice of a thread.
    pub(crate) fn note(&mut self, chosen: Thread) {
        match self.0.last_mut() {
            Some(segment) if segment.thread == chosen => segment.steps += 1,
            _ => self.0.push(Segment { thread: chosen, operations: 0, steps: 1 }),
        }
    }

    /// Records whether the last step returned from an operation.
    pub(crate) fn returned(&mut self, returned: bool) {
        if let Some(segment) = self.0.last_mut().filter(|_| returned) {
            segment.operations += 1;
            segment.steps = 0;
        }
    }
}
