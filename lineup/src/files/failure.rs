//! Failure files: a test with the schedule of an execution that fails it.

use serde::{Deserialize, Serialize};
use snapshot_core::observation::Event;

use super::{FileError, parse};
use crate::matrix::Test;
use crate::schedule::Schedule;
use crate::subject::{Answer, Subject, name};
use crate::verdict::Violation;

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
}

/// Returns the events of a history as texts.
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
    /// Makes the file of a violation.
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
