//! Failure files: a test with the schedule of an execution that fails it.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use snapshot_core::observation::Event;

use super::{FileError, parse};
use crate::apart::Crash;
use crate::matrix::Test;
use crate::schedule::Schedule;
use crate::verdict::{Verdict, Violation};

const FORMAT: &str = "lineup-failure";

/// A replayable failure.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failure {
    format: String,
    version: u32,
    /// The name of the subject.
    pub subject: String,
    /// The test, as text.
    pub test: String,
    /// The schedule, as text.
    pub schedule: String,
    /// The events, as text, to recognise the same execution.
    pub events: Vec<String>,
    /// True if the execution is stuck.
    pub stuck: bool,
    /// True if it is a failure only if spinning threads spin for ever.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spins: bool,
    /// True if the first wait at a condition variable of each operation wakes up spuriously.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spurious_wakeups: bool,
    /// Signal or exit status, if the execution ends the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
}

/// Returns the events of a history as texts.
pub(crate) fn events<A: Debug>(test: &Test, events: &[Event<A>]) -> Vec<String> {
    let mut called = [0; 16];
    let text = |event: &Event<A>| {
        let thread = test.thread_name(event.thread());
        match event {
            Event::Call(t) => {
                called[t.index()] += 1;
                format!("{thread} {}", test.sequence(*t)[called[t.index()] - 1].text())
            }
            Event::Return(_, answer) => format!("{thread} -> {answer:?}"),
        }
    };
    events.iter().map(text).collect()
}

impl Failure {
    /// Makes the file of an execution that fails.
    fn of_execution<A: Debug>(test: &Test, schedule: &Schedule, history: &[Event<A>]) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: 1,
            subject: test.subject().name().to_owned(),
            test: test.text(),
            schedule: schedule.to_string(),
            events: events(test, history),
            stuck: false,
            spins: false,
            spurious_wakeups: false,
            crash: None,
        }
    }

    /// Makes the file of a violation.
    pub fn new(test: &Test, violation: &Violation) -> Self {
        let Violation { history, schedule, spins, .. } = violation;
        Self {
            stuck: history.is_stuck(),
            spins: *spins,
            ..Self::of_execution(test, schedule, history.events())
        }
    }

    /// Makes the file of an execution that ends the process.
    pub fn of_crash(test: &Test, crash: &Crash) -> Self {
        Self {
            crash: Some(crash.ended.clone()),
            ..Self::of_execution(test, &crash.schedule, &crash.events)
        }
    }

    /// Makes the file of an answer, if it has an execution that fails.
    pub fn of_verdict(test: &Test, verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Violation(violation) => Some(Self::new(test, violation)),
            Verdict::Crash(crash) => Some(Self::of_crash(test, crash)),
            _ => None,
        }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the text is not a failure file.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let failure: Self = parse(1, text)?;
        if failure.format != FORMAT || failure.version != 1 {
            let (given, version) = (failure.format, failure.version);
            return Err(FileError::Format { given, version, expected: FORMAT });
        }
        Ok(failure)
    }

    /// Parses the schedule.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn schedule(&self) -> Result<Schedule, FileError> {
        Ok(self.schedule.parse()?)
    }
}
