//! Confirming a violation of an immediate snapshot.
//!
//! A violation names one operation or two. This check reads it from the values themselves: a value
//! is newer than another if the process of the segment wrote it in a later operation. That is sound
//! only if no process writes a value twice or writes the initial one, which is checked for the
//! segments of the argument.
//!
//! Each kind is a violation by definition: the contents of a segment only advance, an operation
//! returns its contents at an instant inside its interval, and no block takes effect before its
//! operations are invoked.

use std::hash::Hash;

use thiserror::Error;

use crate::OperationId;
use crate::immediate::{History, Violation};
use crate::seeded::SeededSet;

/// The reason why a violation is not confirmed.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ExchangesError {
    /// The violation names an operation that did not respond, or does not exist.
    #[error("operation {operation} is not a complete operation of the history")]
    NotComplete {
        /// The operation.
        operation: OperationId,
    },
    /// The violation names a segment that the history does not have.
    #[error("the history has no segment {segment}")]
    NoSuchSegment {
        /// The segment.
        segment: usize,
    },
    /// A process writes one value twice.
    #[error("operation {operation} writes a value that its process, or segment, had before")]
    ValueRepeats {
        /// The operation.
        operation: OperationId,
    },
    /// The violation contradicts the recorded operations.
    #[error("the operations do not show what the violation says of them")]
    NotShown,
}

/// Checks that an execution shows a violation. O(number of operations).
///
/// # Errors
/// The reason why the execution does not show it.
pub fn check<V: Eq + Hash>(
    history: &History<V>,
    violation: &Violation,
) -> Result<(), ExchangesError> {
    let reading = Reading { history };
    let is_shown = match *violation {
        Violation::OwnValue { operation } => {
            let own = reading.complete(operation)?;
            reading.entry(operation, own)? != history.written(operation)
        }
        Violation::Containment { first, second, i, j } => {
            reading.complete(first)?;
            reading.complete(second)?;
            reading.is_newer(first, second, i)? && reading.is_newer(second, first, j)?
        }
        Violation::Immediacy { viewer, seen, newer } => {
            reading.complete(viewer)?;
            let segment = reading.complete(seen)?;
            reading.unique(segment)?;
            reading.entry(viewer, segment)? == history.written(seen)
                && reading.is_newer(seen, viewer, newer)?
        }
        Violation::Validity { operation, segment, writer } => {
            reading.complete(operation)?;
            reading.unique(segment)?;
            let value = reading.entry(operation, segment)?;
            let found = reading.writer(segment, value);
            let in_time = found.is_some_and(|found| {
                let late = history.operation(operation).precedes(history.operation(found));
                !late && !history.operation(found).is_failed()
            });
            value != history.initial_value(segment) && found == writer && !in_time
        }
    };
    if is_shown { Ok(()) } else { Err(ExchangesError::NotShown) }
}

/// Reads an execution by its values.
struct Reading<'a, V> {
    history: &'a History<V>,
}

impl<'a, V: Eq + Hash> Reading<'a, V> {
    /// Returns the segment of an operation, if it is complete.
    fn complete(&self, operation: OperationId) -> Result<usize, ExchangesError> {
        match self.history.operations().get(operation.index()) {
            Some(found) if found.is_complete() => Ok(found.process.index()),
            _ => Err(ExchangesError::NotComplete { operation }),
        }
    }

    fn entry(&self, operation: OperationId, segment: usize) -> Result<&'a V, ExchangesError> {
        let entry = self.history.returned(operation).and_then(|all| all.get(segment));
        entry.ok_or(ExchangesError::NoSuchSegment { segment })
    }

    fn of_segment(&self, segment: usize) -> impl Iterator<Item = OperationId> {
        let ids = self.history.operation_ids();
        ids.filter(move |&id| self.history.operation(id).process.index() == segment)
    }

    fn writer(&self, segment: usize, value: &V) -> Option<OperationId> {
        self.of_segment(segment).find(|&id| self.history.written(id) == value)
    }

    /// Checks that no value of the segment repeats, as far as the compared entries need it.
    fn unique(&self, segment: usize) -> Result<(), ExchangesError> {
        let mut values = SeededSet::from_iter([self.history.initial_value(segment)]);
        let repeated =
            self.of_segment(segment).find(|&id| !values.insert(self.history.written(id)));
        repeated.map_or(Ok(()), |operation| Err(ExchangesError::ValueRepeats { operation }))
    }

    /// Returns true if `ahead` returned a newer value for a segment than `behind`.
    fn is_newer(
        &self,
        ahead: OperationId,
        behind: OperationId,
        segment: usize,
    ) -> Result<bool, ExchangesError> {
        let (newer, older) = (self.entry(ahead, segment)?, self.entry(behind, segment)?);
        self.unique(segment)?;
        let older = match self.writer(segment, older) {
            None if older != self.history.initial_value(segment) => return Ok(false),
            found => found,
        };
        // Operations of a process are numbered in the order in which it wrote.
        Ok(self.writer(segment, newer).is_some_and(|newer| older.is_none_or(|older| older < newer)))
    }
}
