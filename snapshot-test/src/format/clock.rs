//! Times of events that contradict the order of their lines.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Location;
use super::keys::Key;
use crate::stamp::Stamp;

/// Events with an earlier `time` than the event before, of the same object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Backwards {
    /// The position of the first such event.
    pub first: Location,
    /// The time of the first such event.
    pub time: Stamp,
    /// The time of the event before.
    pub before: Stamp,
    /// Number of such events.
    pub events: u64,
}

/// The consequence of times that run backwards.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Doubt {
    /// For a verdict that is not known yet, or concerns something else.
    Either,
    /// For a violation.
    FalseAlarm,
    /// For a history that is linearizable.
    Missed,
}

impl Backwards {
    /// Returns the observation, and its consequence for a verdict; a sentence without a full stop.
    pub fn told(&self, doubt: Doubt) -> String {
        let Self { first, time, before, events } = self;
        let times = if *events == 1 { "once".to_owned() } else { format!("{events} times") };
        let doubt = match doubt {
            Doubt::Either => "a violation may be a false alarm, or may be missed",
            Doubt::FalseAlarm => "this violation may be a false alarm",
            Doubt::Missed => "a violation may have been missed",
        };
        format!(
            "`time` runs backwards {times}, first in line {} ({time} after {before}): the order of \
             the lines was used, and unless the events happened in that order, {doubt}",
            first.line
        )
    }
}

impl fmt::Display for Backwards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Doubt::Either))
    }
}

/// The times of a log, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The time of the last event of each object; index 0 is for a log without keys.
    latest: Vec<Option<Stamp>>,
    /// The only object that matters, if not all do.
    only: Option<Key>,
    noticed: Noticed,
}

/// The times that run backwards, shared with the reader that notices them.
#[derive(Clone, Debug, Default)]
pub struct Noticed(Arc<Mutex<Option<Backwards>>>);

impl Noticed {
    /// Returns the events so far whose time is earlier than the time of the event before.
    pub fn backwards(&self) -> Option<Backwards> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    /// Takes the time of the next event.
    pub(crate) fn observe(
        &mut self,
        key: Option<Key>,
        time: Stamp,
        location: impl FnOnce() -> Location,
    ) {
        if self.only.is_some() && self.only != key {
            return;
        }
        let index = key.map_or(0, |key| key.index() + 1);
        if index >= self.latest.len() {
            self.latest.resize(index + 1, None);
        }
        let before = self.latest[index].replace(time);
        if let Some(before) = before.filter(|before| time < *before) {
            let mut noticed = self.noticed.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *noticed {
                Some(backwards) => backwards.events += 1,
                none => *none = Some(Backwards { first: location(), time, before, events: 1 }),
            }
        }
    }

    /// Restricts the check to the times of one object.
    pub(crate) const fn select(&mut self, key: Key) {
        self.only = Some(key);
    }

    /// Returns a handle to all observations, present and later.
    pub(crate) fn noticed(&self) -> Noticed {
        self.noticed.clone()
    }
}
