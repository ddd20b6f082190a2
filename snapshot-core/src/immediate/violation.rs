//! What an execution that is not set-linearizable shows.

use std::fmt::{self, Display};

use super::history::History;
use crate::OperationId;

/// One of the four conditions of [the module page](super).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Condition {
    /// I1: an operation returns what it wrote.
    OwnValue,
    /// I2: of two vectors one is at most the other.
    Containment,
    /// I3: what an operation sees, it sees with all that was seen by it.
    Immediacy,
    /// I4: what an operation returns was written, and not later.
    Validity,
}

impl Condition {
    /// The condition's name in reports: `own-value`, `containment`, `immediacy`, `validity`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OwnValue => "own-value",
            Self::Containment => "containment",
            Self::Immediacy => "immediacy",
            Self::Validity => "validity",
        }
    }
}

/// Operations that no sequence of blocks explains: one, or two.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Violation {
    /// I1: the operation did not return, for its own segment, what it wrote.
    OwnValue {
        /// The operation.
        operation: OperationId,
    },
    /// I2: each of two operations returned something newer than the other.
    Containment {
        /// The operation that is ahead at `i`.
        first: OperationId,
        /// The operation that is ahead at `j`.
        second: OperationId,
        /// A segment at which `first` returned something newer than `second` did.
        i: usize,
        /// A segment at which `second` returned something newer than `first` did.
        j: usize,
    },
    /// I3: `viewer` returned the value of `seen`, which itself returned for segment `newer`
    /// something newer than `viewer` did.
    Immediacy {
        /// The operation that missed something.
        viewer: OperationId,
        /// The operation whose value it returned.
        seen: OperationId,
        /// The segment at which `seen` is ahead.
        newer: usize,
    },
    /// I4: a value that was not there: never written before the operation responded, or
    /// by an operation that failed.
    Validity {
        /// The operation that returned it.
        operation: OperationId,
        /// The segment.
        segment: usize,
        /// The operation that wrote it, too late or in vain, if any.
        writer: Option<OperationId>,
    },
}

impl Violation {
    /// The condition that is violated.
    pub const fn condition(&self) -> Condition {
        match self {
            Self::OwnValue { .. } => Condition::OwnValue,
            Self::Containment { .. } => Condition::Containment,
            Self::Immediacy { .. } => Condition::Immediacy,
            Self::Validity { .. } => Condition::Validity,
        }
    }

    /// The operations that take part: one or two.
    pub fn operations(&self) -> Vec<OperationId> {
        match *self {
            Self::OwnValue { operation } => vec![operation],
            Self::Containment { first, second, .. } => vec![first, second],
            Self::Immediacy { viewer, seen, .. } => vec![seen, viewer],
            Self::Validity { operation, writer, .. } => {
                writer.into_iter().chain([operation]).collect()
            }
        }
    }

    /// The segments that the argument speaks of, ascending.
    pub fn segments<V>(&self, history: &History<V>) -> Vec<usize> {
        let of = |id: OperationId| history.operation(id).process.index();
        let mut segments = match *self {
            Self::OwnValue { operation } => vec![of(operation)],
            Self::Containment { i, j, .. } => vec![i, j],
            Self::Immediacy { seen, newer, .. } => vec![of(seen), newer],
            Self::Validity { segment, .. } => vec![segment],
        };
        segments.sort_unstable();
        segments.dedup();
        segments
    }

    /// The argument in words; `name` says what an operation is to be called.
    pub fn argument<V: Display + Eq>(
        &self,
        history: &History<V>,
        name: impl Fn(OperationId) -> String,
    ) -> String {
        let entry = |id: OperationId, segment: usize| Entry { history, id, segment };
        match *self {
            Self::OwnValue { operation } => {
                let own = history.operation(operation).process.index();
                format!(
                    "{name} wrote {written} to segment {own} and returned {found} for it. An \
                     operation takes effect as a write and then a read: it returns what it wrote.",
                    name = name(operation),
                    written = history.written(operation),
                    found = entry(operation, own),
                )
            }
            Self::Containment { first, second, i, j } => format!(
                "For segment {i}, {first} returned {first_i}, and {second} returned {second_i}, \
                 which is older: so {second} took effect in an earlier block than {first}. For \
                 segment {j}, {second} returned {second_j}, and {first} returned {first_j}, which \
                 is older: so {first} took effect in an earlier block than {second}. A \
                 contradiction.",
                first_i = entry(first, i),
                second_i = entry(second, i),
                first_j = entry(first, j),
                second_j = entry(second, j),
                first = name(first),
                second = name(second),
            ),
            Self::Immediacy { viewer, seen, newer } => {
                let at = history.operation(seen).process.index();
                format!(
                    "{viewer} returned {value} for segment {at}, which {seen} wrote: so {seen} took \
                     effect in the block of {viewer} or in an earlier one, and {viewer} returns \
                     all that {seen} returned, or something newer. But for segment {newer}, {seen} \
                     returned {more}, and {viewer} returned {less}, which is older.",
                    value = entry(viewer, at),
                    more = entry(seen, newer),
                    less = entry(viewer, newer),
                    viewer = name(viewer),
                    seen = name(seen),
                )
            }
            Self::Validity { operation, segment, writer } => {
                let value = entry(operation, segment);
                let operation = name(operation);
                match writer {
                    None => format!(
                        "{operation} returned {value} for segment {segment}, which is not the \
                         initial value. No operation of process {segment} that was invoked \
                         before {operation} responded wrote it."
                    ),
                    Some(writer) if history.operation(writer).is_failed() => format!(
                        "{operation} returned {value} for segment {segment}, which only {writer} \
                         wrote. But {writer} failed: its value was never there.",
                        writer = name(writer)
                    ),
                    Some(writer) => format!(
                        "{operation} returned {value} for segment {segment}, which {writer} wrote. \
                         But {operation} had responded before {writer} was invoked.",
                        writer = name(writer)
                    ),
                }
            }
        }
    }
}

/// What an operation returned for a segment, in words.
struct Entry<'a, V> {
    history: &'a History<V>,
    id: OperationId,
    segment: usize,
}

impl<V: Display + Eq> Display for Entry<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.history.returned(self.id).and_then(|all| all.get(self.segment))
        else {
            return f.write_str("nothing");
        };
        write!(f, "{value}")?;
        if value == self.history.initial_value(self.segment) {
            f.write_str(", the initial value")?;
        }
        Ok(())
    }
}
