//! The operations of a proof, ready to be shown.

use std::fmt::Display;

use crate::history::{Declaration, History, Writers};
use crate::verdict::{Reason, Refutation, Witness};
use crate::{Names, OperationId, Process, Segment};

/// One operation of a proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProofOperation<V> {
    /// Number of the operation, in the order of invocations.
    pub id: OperationId,
    /// The process of the operation.
    pub process: Process,
    /// Number of the event that invoked the operation.
    pub invocation: usize,
    /// The end of the operation.
    pub ending: Ending,
    /// The effect of the operation.
    pub deed: Deed<V>,
}

impl<V> ProofOperation<V> {
    /// Returns true if the operation is a scan.
    pub const fn is_scan(&self) -> bool {
        matches!(self.deed, Deed::Scan { .. })
    }
}

/// The end of an operation, as far as a proof knows, with the event's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The operation responded.
    Response(usize),
    /// The operation certainly had no effect.
    Failure(usize),
    /// The outcome was lost.
    Unknown(usize),
    /// The operation did not end before the proof was complete.
    None,
}

impl Ending {
    /// Number of the event at which the operation ended.
    pub const fn event(self) -> Option<usize> {
        match self {
            Self::Response(event) | Self::Failure(event) | Self::Unknown(event) => Some(event),
            Self::None => None,
        }
    }
}

/// The effect of an operation of a proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deed<V> {
    /// The operation wrote a value.
    Update {
        /// The segment written.
        segment: Segment,
        /// The value written.
        value: V,
    },
    /// The operation returned these entries (and others, which do not matter).
    Scan {
        /// Segments, ascending, with the values returned for them.
        entries: Vec<(Segment, V)>,
    },
}

impl<V: Display> Deed<V> {
    /// Returns a label: `update(s0: 5)`, or `scan [s0: 5, s2: 0]`, with the names of segments.
    pub fn label(&self, names: &Names) -> String {
        match self {
            Self::Update { segment, value } => {
                format!("update({}: {value})", names.segment_label(*segment))
            }
            Self::Scan { entries } if entries.is_empty() => "scan".to_owned(),
            Self::Scan { entries } => {
                let entry =
                    |(k, value): &(Segment, V)| format!("{}: {value}", names.segment_label(*k));
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("scan [{}]", entries.join(", "))
            }
        }
    }
}

/// A witness with all the data to describe and check it, without the history that it was found in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Explanation<V> {
    /// The witness.
    pub witness: Witness,
    /// The segments that matter, ascending, with their initial values.
    pub initial: Vec<(Segment, V)>,
    /// The operations of the witness, in the order of their invocations.
    pub operations: Vec<ProofOperation<V>>,
    /// Run numbers of the updates, as far as the renaming needs them.
    pub(super) numbers: Vec<(OperationId, u64)>,
    /// The derivation of a contradiction from them, if it was found that way.
    pub refutation: Option<Refutation>,
    /// The names of processes and segments, for texts.
    pub names: Names,
}

/// One end of an operation of a proof.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Moment {
    event: usize,
    operation: usize,
    is_end: bool,
}

impl<V: Clone + Eq> Explanation<V> {
    /// Takes the operations of a witness, with their effects, from a history.
    ///
    /// # Panics
    /// If the history lacks one of the operations or segments.
    pub fn new(history: &History<V>, witness: Witness) -> Self {
        let operations = witness.operations.iter().map(|&id| {
            let operation = history.operation(id);
            let deed = match operation.segment() {
                Some(segment) => {
                    Deed::Update { segment, value: history.update_value(operation).clone() }
                }
                None => {
                    let entry = |k: &Segment| Some((*k, history.entry(operation, *k)?.clone()));
                    Deed::Scan { entries: witness.segments.iter().filter_map(entry).collect() }
                }
            };
            let ending = match operation.outcome() {
                crate::history::Outcome::Complete { response } => Ending::Response(response),
                crate::history::Outcome::Failed { event } => Ending::Failure(event),
                crate::history::Outcome::Unknown { event } => Ending::Unknown(event),
                crate::history::Outcome::Pending => Ending::None,
            };
            let (process, invocation) = (operation.process(), operation.invocation());
            ProofOperation { id, process, invocation, ending, deed }
        });
        let operations = operations.collect();
        let initial = |k: &Segment| (*k, history.initial_value(*k).clone());
        let initial = witness.segments.iter().map(initial).collect();
        Self {
            witness,
            initial,
            operations,
            numbers: Vec::new(),
            refutation: None,
            names: Names::default(),
        }
    }

    /// Returns the explanation with other values in the place of equal ones.
    pub fn map<W>(&self, value: impl Fn(&V) -> W) -> Explanation<W> {
        let entry = |(segment, one): &(Segment, V)| (*segment, value(one));
        let operation = |operation: &ProofOperation<V>| ProofOperation {
            id: operation.id,
            process: operation.process,
            invocation: operation.invocation,
            ending: operation.ending,
            deed: match &operation.deed {
                Deed::Update { segment, value: one } => {
                    Deed::Update { segment: *segment, value: value(one) }
                }
                Deed::Scan { entries } => {
                    Deed::Scan { entries: entries.iter().map(entry).collect() }
                }
            },
        };
        Explanation {
            witness: self.witness.clone(),
            initial: self.initial.iter().map(entry).collect(),
            operations: self.operations.iter().map(operation).collect(),
            numbers: self.numbers.clone(),
            refutation: self.refutation.clone(),
            names: self.names.clone(),
        }
    }

    /// Sets the lines that derive a contradiction, if any.
    pub(crate) fn derived_by(self, refutation: Option<Refutation>) -> Self {
        Self { refutation, ..self }
    }

    /// Forgets the ends of operations after an event.
    pub(crate) fn up_to(mut self, event: usize) -> Self {
        for operation in &mut self.operations {
            if operation.ending.event().is_some_and(|end| end > event) {
                operation.ending = Ending::None;
            }
        }
        self
    }

    /// Renumbers the operations of the run numbers; order is kept.
    pub(crate) fn renumber(&mut self, number: impl Fn(OperationId) -> OperationId) {
        self.numbers.iter_mut().for_each(|(id, _)| *id = number(*id));
    }

    /// Returns the operation with this number, if the proof has it.
    pub fn operation(&self, id: OperationId) -> Option<&ProofOperation<V>> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// Returns the starts and ends of the operations, in the order of time.
    fn moments(&self) -> Vec<Moment> {
        let mut moments: Vec<Moment> = Vec::new();
        for (at, operation) in self.operations.iter().enumerate() {
            moments.push(Moment { event: operation.invocation, operation: at, is_end: false });
            if let Some(event) = operation.ending.event() {
                moments.push(Moment { event, operation: at, is_end: true });
            }
        }
        moments.sort_unstable();
        moments
    }

    /// Returns the proof's operations as a separate history: segments are numbered from 0 in the
    /// order of [`Self::initial`], processes are kept.
    pub fn history(&self) -> History<V> {
        let initial: Vec<V> = self.initial.iter().map(|(_, value)| value.clone()).collect();
        let segments: Vec<Segment> = self.initial.iter().map(|(segment, _)| *segment).collect();
        self.replay(&segments, initial, |operation, segment| match &operation.deed {
            Deed::Update { value, .. } => Some(value.clone()),
            Deed::Scan { entries } => Some(entries.iter().find(|(k, _)| *k == segment)?.1.clone()),
        })
    }

    /// Returns the proof's operations after the renaming: a simple history of two segments (i, j),
    /// or of one, in which only 0 and 1 occur. `None` if the witness has no renaming.
    pub fn renamed(&self) -> Option<History<u8>> {
        let renaming = self.witness.renaming?;
        let from = |segment: Segment| {
            if segment == renaming.i { renaming.from_i } else { renaming.from_j }
        };
        let value = |operation: &ProofOperation<V>, segment: Segment| match operation.deed {
            Deed::Update { .. } => {
                let number = self.numbers.iter().find(|(id, _)| *id == operation.id);
                Some(u8::from(number.is_some_and(|(_, number)| *number >= from(segment))))
            }
            Deed::Scan { .. } => Some(u8::from(self.sees(operation.id, segment))),
        };
        let segments: Vec<Segment> = [Some(renaming.i), renaming.j].into_iter().flatten().collect();
        Some(self.replay(&segments, vec![0; segments.len()], value))
    }

    /// Returns true if, by the reason, the scan saw an update that is renamed to 1.
    fn sees(&self, scan: OperationId, segment: Segment) -> bool {
        if self.witness.segments.binary_search(&segment).is_err() {
            return false;
        }
        let segment_of = |update: OperationId| {
            self.operation(update).and_then(|operation| match operation.deed {
                Deed::Update { segment, .. } => Some(segment),
                Deed::Scan { .. } => None,
            })
        };
        match self.witness.reason {
            Reason::NeverWritten { .. }
            | Reason::FailedUpdateSeen { .. }
            | Reason::Future { .. } => true,
            Reason::Stale { .. } | Reason::Cycle | Reason::Ordering | Reason::NoOrder => false,
            Reason::Decrease { earlier, .. } => scan == earlier,
            Reason::Inversion { first, i, j, .. } => segment == if scan == first { i } else { j },
            Reason::Missing { seen, .. } => segment_of(seen) == Some(segment),
        }
    }

    /// Returns the proof's operations as a history of these segments, with the values that `value`
    /// gives for updates (always) and for entries of scans (or a gap).
    fn replay<W: Clone>(
        &self,
        segments: &[Segment],
        initial: Vec<W>,
        value: impl Fn(&ProofOperation<V>, Segment) -> Option<W>,
    ) -> History<W> {
        let declaration = Declaration::new(initial[0].clone())
            .with_segments(initial.len())
            .with_initial(initial)
            .with_writers(Writers::Many);
        let mut builder =
            History::builder(declaration).expect("an explanation names one segment at least");
        let place = |segment: Segment| {
            let at = segments.iter().position(|other| *other == segment);
            at.expect("operations concern the explanation's segments")
        };
        for moment in self.moments() {
            let operation = &self.operations[moment.operation];
            let process = operation.process.index();
            let pushed = match (&operation.deed, moment.is_end, operation.ending) {
                (Deed::Update { segment, .. }, false, _) => {
                    let value = value(operation, *segment).expect("an update wrote a value");
                    builder.invoke_update(process, place(*segment), value)
                }
                (Deed::Scan { .. }, false, _) => builder.invoke_scan(process),
                (_, true, Ending::Failure(_)) => builder.fail(process),
                (_, true, Ending::Unknown(_)) => builder.unknown(process),
                (Deed::Update { .. }, true, _) => builder.respond_update(process),
                (Deed::Scan { .. }, true, _) => {
                    let entry = |(k, segment)| Some((k, value(operation, segment)?));
                    let entries: Vec<(usize, W)> =
                        segments.iter().copied().enumerate().filter_map(entry).collect();
                    builder.respond_partial_scan(process, &entries)
                }
            };
            pushed.expect("a part of a history is a history");
        }
        builder.finish()
    }
}
