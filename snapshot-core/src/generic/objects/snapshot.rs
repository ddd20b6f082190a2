//! The atomic snapshot, as one object among others.

use std::hash::Hash;

use crate::generic::{Ending, History, Operation, Specification};
use crate::seeded::{SeededMap, SeededSet};
use crate::{Segment, history};

/// A snapshot object with the initial values of its segments. Any process may
/// update any segment.
#[derive(Clone, Debug)]
pub struct Snapshot<V> {
    /// One value per segment.
    pub initial: Box<[V]>,
}

/// An operation of a snapshot object.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SnapshotInput<V> {
    /// Replaces the value of a segment.
    Update {
        /// The segment, one of the object's.
        segment: Segment,
        /// The new value.
        value: V,
    },
    /// Returns all values.
    Scan,
}

/// What an operation of a snapshot object returns.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SnapshotOutput<V> {
    /// The update took place.
    Updated,
    /// One value per segment.
    Scanned(Box<[V]>),
    /// Of a partial scan: values of some segments.
    PartlyScanned(Box<[(Segment, V)]>),
}

/// A recorded execution of a snapshot object, as any object's.
pub type SnapshotHistory<V> = History<SnapshotInput<V>, SnapshotOutput<V>>;

impl<V: Clone + Eq + Hash> Specification for Snapshot<V> {
    type State = Box<[V]>;
    type Input = SnapshotInput<V>;
    type Output = SnapshotOutput<V>;
    type Part = ();

    fn initial(&self) -> Box<[V]> {
        self.initial.clone()
    }

    fn apply(
        &self,
        state: &mut Box<[V]>,
        input: &SnapshotInput<V>,
        output: Option<&SnapshotOutput<V>>,
    ) -> bool {
        match (input, output) {
            (SnapshotInput::Scan, _) => self.allows(state, input, output),
            (SnapshotInput::Update { segment, value }, None | Some(SnapshotOutput::Updated)) => {
                match state.get_mut(segment.index()) {
                    Some(current) => {
                        current.clone_from(value);
                        true
                    }
                    None => false,
                }
            }
            (SnapshotInput::Update { .. }, Some(_)) => false,
        }
    }

    fn part(&self, _: &SnapshotInput<V>) {}

    fn is_query(&self, input: &SnapshotInput<V>, _: Option<&SnapshotOutput<V>>) -> bool {
        matches!(input, SnapshotInput::Scan)
    }

    fn allows(
        &self,
        state: &Box<[V]>,
        _: &SnapshotInput<V>,
        output: Option<&SnapshotOutput<V>>,
    ) -> bool {
        match output {
            None => true,
            Some(SnapshotOutput::Scanned(values)) => values == state,
            Some(SnapshotOutput::PartlyScanned(entries)) => {
                entries.iter().all(|(segment, value)| state.get(segment.index()) == Some(value))
            }
            Some(SnapshotOutput::Updated) => false,
        }
    }

    fn bytes(&self, state: &Box<[V]>) -> usize {
        size_of_val(state) + state.len() * size_of::<V>()
    }
}

impl Snapshot<u32> {
    /// A snapshot object and its history, with values numbered in the order in
    /// which they first occur. Operations keep their numbers.
    ///
    /// A pending update whose value no scan returned need not take effect: here
    /// it failed.
    pub fn of<V: Clone + Eq + Hash>(history: &history::History<V>) -> (Self, SnapshotHistory<u32>) {
        let mut numbers: SeededMap<&V, u32> = SeededMap::default();
        let mut number = |value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        };
        let segments = (0..history.segments()).map(Segment::from_index);
        let initial = segments.map(|segment| number(history.initial_value(segment))).collect();
        let mut seen: SeededSet<(Segment, u32)> = SeededSet::default();
        let has_pending = history.operations().iter().any(history::Operation::is_pending);
        let mut operations: Vec<Operation<SnapshotInput<u32>, SnapshotOutput<u32>>> =
            Vec::with_capacity(history.operations().len());
        for operation in history.operations() {
            let (input, output) = match operation.segment() {
                Some(segment) => {
                    let value = number(history.update_value(operation));
                    (SnapshotInput::Update { segment, value }, SnapshotOutput::Updated)
                }
                None if operation.is_partial() => {
                    let entries = history.entries(operation);
                    let entries: Box<[(Segment, u32)]> =
                        entries.map(|(segment, value)| (segment, number(value))).collect();
                    seen.extend(entries.iter().copied());
                    (SnapshotInput::Scan, SnapshotOutput::PartlyScanned(entries))
                }
                None if operation.is_complete() => {
                    let values = history.scan_values(operation).iter().map(&mut number);
                    let values: Box<[u32]> = values.collect();
                    if has_pending {
                        let entries = values.iter().enumerate();
                        seen.extend(entries.map(|(k, value)| (Segment::from_index(k), *value)));
                    }
                    (SnapshotInput::Scan, SnapshotOutput::Scanned(values))
                }
                None => (SnapshotInput::Scan, SnapshotOutput::Updated),
            };
            let ending = match operation.outcome() {
                history::Outcome::Complete { response } => Ending::Complete { response, output },
                history::Outcome::Failed { event } => Ending::Failed { event },
                history::Outcome::Unknown { .. } | history::Outcome::Pending => Ending::Pending,
            };
            let (process, invocation) = (operation.process(), operation.invocation());
            operations.push(Operation { process, input, invocation, ending });
        }
        for operation in &mut operations {
            if let (Ending::Pending, SnapshotInput::Update { segment, value }) =
                (&operation.ending, &operation.input)
                && !seen.contains(&(*segment, *value))
            {
                operation.ending = Ending::Failed { event: operation.invocation };
            }
        }
        (Self { initial }, History::new(operations, history.len()))
    }
}
