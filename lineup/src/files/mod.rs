//! Observation and failure files, as JSON.

mod failure;
mod observations;

pub use failure::Failure;
pub(crate) use failure::events;
pub use observations::{ObservationFile, observation_lines};

use thiserror::Error;

/// Error in a file.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum FileError {
    /// A line that is not JSON, or lacks fields.
    #[error("line {line}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// Another kind of file.
    #[error("line 1: the format is `{given}`, version {version}: expected `{expected}`, version 1")]
    Format {
        /// The format it names.
        given: String,
        /// The version it names.
        version: u32,
        /// The format that was expected.
        expected: &'static str,
    },
    /// An order or a group that does not belong to the test.
    #[error("line {line}: `{order}` is no order of the test, or contradicts an earlier one")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The order.
        order: String,
    },
    /// A schedule that cannot be read.
    #[error(transparent)]
    Schedule(#[from] crate::schedule::ScheduleError),
}

fn parse<'a, T: serde::Deserialize<'a>>(line: usize, text: &'a str) -> Result<T, FileError> {
    serde_json::from_str(text).map_err(|error| FileError::Json { line, message: error.to_string() })
}
