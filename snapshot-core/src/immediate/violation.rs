//! The violations of set-linearizability.

use std::fmt::{self, Display};

use super::history::History;
use crate::{Names, OperationId, Process, Segment};

/// One of the four conditions of [the module page](super).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Condition {
    /// I1: an operation returns the value that it wrote.
    OwnValue,
    /// I2: of two vectors one is at most the other.
    Containment,
    /// I3: an operation that sees another one sees everything that the other one saw.
    Immediacy,
    /// I4: a returned value was written, and not later.
    Validity,
}

impl Condition {
    /// Returns the condition's name in reports: `own-value`, `containment`, `immediacy`,
    /// `validity`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OwnValue => "own-value",
            Self::Containment => "containment",
            Self::Immediacy => "immediacy",
            Self::Validity => "validity",
        }
    }
}

/// One or two operations that no sequence of blocks explains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Violation {
    /// I1: for its own segment, the operation returned another value than it wrote.
    OwnValue {
        /// The operation.
        operation: OperationId,
    },
    /// I2: each of two operations returned a newer value than the other for some segment.
    Containment {
        /// The operation that is ahead at `i`.
        first: OperationId,
        /// The operation that is ahead at `j`.
        second: OperationId,
        /// A segment for which `first` returned a newer value than `second`.
        i: usize,
        /// A segment for which `second` returned a newer value than `first`.
        j: usize,
    },
    /// I3: `viewer` returned the value of `seen`, which itself returned a newer value for segment
    /// `newer` than `viewer` did.
    Immediacy {
        /// The operation that missed the newer value.
        viewer: OperationId,
        /// The operation whose value it returned.
        seen: OperationId,
        /// The segment for which `seen` is ahead.
        newer: usize,
    },
    /// I4: a returned value was never written before the operation responded, or only by an
    /// operation that failed.
    Validity {
        /// The operation that returned the value.
        operation: OperationId,
        /// The segment.
        segment: usize,
        /// The operation that wrote the value too late, or failed, if any.
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

    /// Returns the operations of the violation: one or two.
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

    /// Returns the segments of the argument, ascending.
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

    /// Returns the argument in words; `name` gives the names of operations, `names` those of
    /// processes and segments.
    pub fn argument<V: Display + Eq>(
        &self,
        history: &History<V>,
        names: &Names,
        name: impl Fn(OperationId) -> String,
    ) -> String {
        let called = |segment: usize| names.segment(Segment::from_index(segment));
        let entry = |id: OperationId, segment: usize| Entry { history, id, segment };
        match *self {
            Self::OwnValue { operation } => {
                let own = history.operation(operation).process.index();
                format!(
                    "{name} wrote {written} to {own} and returned {found} for it. An \
                     operation takes effect as a write and then a read: it returns what it wrote.",
                    name = name(operation),
                    written = history.written(operation),
                    found = entry(operation, own),
                    own = called(own),
                )
            }
            Self::Containment { first, second, i, j } => format!(
                "For {i}, {first} returned {first_i}, and {second} returned {second_i}, \
                 which is older: so {second} took effect in an earlier block than {first}. For \
                 {j}, {second} returned {second_j}, and {first} returned {first_j}, which \
                 is older: so {first} took effect in an earlier block than {second}. A \
                 contradiction.",
                first_i = entry(first, i),
                second_i = entry(second, i),
                first_j = entry(first, j),
                second_j = entry(second, j),
                first = name(first),
                second = name(second),
                i = called(i),
                j = called(j),
            ),
            Self::Immediacy { viewer, seen, newer } => {
                let at = history.operation(seen).process.index();
                format!(
                    "{viewer} returned {value} for {at}, which {seen} wrote: so {seen} took \
                     effect in the block of {viewer} or in an earlier one, and {viewer} returns \
                     all that {seen} returned, or something newer. But for {newer}, {seen} \
                     returned {more}, and {viewer} returned {less}, which is older.",
                    value = entry(viewer, at),
                    more = entry(seen, newer),
                    less = entry(viewer, newer),
                    at = called(at),
                    newer = called(newer),
                    viewer = name(viewer),
                    seen = name(seen),
                )
            }
            Self::Validity { operation, segment, writer } => {
                let value = entry(operation, segment);
                let operation = name(operation);
                let process = names.process(Process::from_index(segment));
                let segment = called(segment);
                match writer {
                    None => format!(
                        "{operation} returned {value} for {segment}, which is not the \
                         initial value. No operation of {process} that was invoked \
                         before {operation} responded wrote it."
                    ),
                    Some(writer) if history.operation(writer).is_failed() => format!(
                        "{operation} returned {value} for {segment}, which only {writer} \
                         wrote. But {writer} failed: its value was never there.",
                        writer = name(writer)
                    ),
                    Some(writer) => format!(
                        "{operation} returned {value} for {segment}, which {writer} wrote. \
                         But {operation} had responded before {writer} was invoked.",
                        writer = name(writer)
                    ),
                }
            }
        }
    }
}

/// Words for the value that an operation returned for a segment.
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
