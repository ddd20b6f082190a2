//! Failure files: a test with the schedule of an execution that fails it.

use serde::{Deserialize, Serialize};
use snapshot_core::observation::Event;

use super::{FileError, parse};
use crate::matrix::Test;
use crate::schedule::Schedule;
use crate::subject::{Answer, Subject, name};
use crate::verdict::Violation;

const FORMAT: &str = "lineup-failure";

/// A failure that can be replayed.
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
    /// The events, as text: to see whether it is the same execution.
    pub events: Vec<String>,
    /// Whether it is stuck.
    pub stuck: bool,
    /// Whether it is a failure only if threads that spin do so for ever.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spins: bool,
}

/// The events of a history as texts.
pub(crate) fn events<S: Subject>(
    test: &Test<S>,
    events: &[Event<Answer<S::Response>>],
) -> Vec<String> {
    let mut called = [0; 16];
    let text = |event: &Event<Answer<S::Response>>| {
        let thread = test.thread_name(event.thread());
        match event {
            Event::Call(t) => {
                called[t.index()] += 1;
                format!("{thread} {}", name(&test.sequence(*t)[called[t.index()] - 1]))
            }
            Event::Return(_, answer) => format!("{thread} -> {answer:?}"),
        }
    };
    events.iter().map(text).collect()
}

impl Failure {
    /// The file of a violation.
    pub fn of<S: Subject>(test: &Test<S>, violation: &Violation<S::Response>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: 1,
            subject: S::NAME.to_owned(),
            test: test.text(),
            schedule: violation.schedule.to_string(),
            events: events(test, violation.history.events()),
            stuck: violation.history.is_stuck(),
            spins: violation.spins,
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let failure: Self = parse(1, text)?;
        if failure.format != FORMAT || failure.version != 1 {
            let (given, version) = (failure.format, failure.version);
            return Err(FileError::Format { given, version, expected: FORMAT });
        }
        Ok(failure)
    }

    /// Its schedule.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn schedule(&self) -> Result<Schedule, FileError> {
        Ok(self.schedule.parse()?)
    }
}
