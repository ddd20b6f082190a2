//! Operations as intervals on a timeline, and their forced order.

use std::fmt::Display;

use snapshot_core::explanation::{Ending, Explanation, ProofOperation};
use snapshot_core::history::{Operation, OperationKind, Outcome};
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, Names, OperationId, Process, Segment};

use crate::columns::GAP;
use crate::forced::{Cause, Forced, forced};

/// One operation, from its invocation to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bar {
    /// Number of the operation in the history.
    pub operation: OperationId,
    /// Short name: `U1`, `S1`.
    pub name: String,
    /// Description of the operation and its result: `update(5)`, `scan [0, 1]`.
    pub deed: String,
    /// Process of the operation.
    pub process: Process,
    /// True for scans.
    pub is_scan: bool,
    /// Number of the invocation event.
    pub begin: usize,
    /// Number of the ending event, if any.
    pub end: Option<usize>,
    /// True if the operation has not ended, or its outcome is unknown: it may take effect later.
    pub is_pending: bool,
    /// True if the operation certainly had no effect.
    pub is_failed: bool,
    /// Position in the linearization, from 0, if it has one.
    pub rank: Option<usize>,
}

impl Bar {
    /// `U1: update(5)`.
    pub fn label(&self) -> String {
        format!("{}: {}", self.name, self.deed)
    }
}

/// An arrow of a diagram, between two of its bars.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Arrow {
    /// Index of the earlier bar.
    pub before: usize,
    /// Index of the later bar.
    pub after: usize,
    /// Kind of the reason.
    pub cause: Cause,
    /// The reason, as text.
    pub why: String,
    /// Number of the arrow in the argument, from 1.
    pub number: usize,
}

/// A few operations, ready to be drawn.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Diagram {
    /// Operations, in the order of their invocations.
    pub bars: Vec<Bar>,
    /// Forced order of the operations.
    pub arrows: Vec<Arrow>,
    /// Names of processes, for the rows.
    pub names: Names,
}

/// Counter for names: U1, U2, ..., S1, S2, ...
#[derive(Debug, Default)]
struct Counter {
    scans: usize,
    updates: usize,
}

impl Counter {
    fn next(&mut self, is_scan: bool) -> String {
        let (letter, count) =
            if is_scan { ('S', &mut self.scans) } else { ('U', &mut self.updates) };
        *count += 1;
        format!("{letter}{count}")
    }
}

impl Diagram {
    /// Returns all operations of a history, whose processes and segments have these names.
    pub fn of_history<V: Display>(history: &History<V>, names: &Names) -> Self {
        let mut counter = Counter::default();
        let bars = history.operation_ids().map(|id| {
            let operation = history.operation(id);
            let name = counter.next(operation.is_scan());
            bar(id, operation, name, deed(history, operation, names))
        });
        Self { bars: bars.collect(), arrows: Vec::new(), names: names.clone() }
    }

    /// Returns all operations of a linearizable history, each with its position in the order.
    pub fn of_linearization<V: Display>(
        history: &History<V>,
        order: &Linearization,
        names: &Names,
    ) -> Self {
        let mut diagram = Self::of_history(history, names);
        for (rank, id) in order.order.iter().enumerate() {
            diagram.bars[id.index()].rank = Some(rank);
        }
        diagram
    }

    /// Returns the operations of a violation, with their forced order.
    pub fn of_explanation<V: Clone + Display + Eq>(explanation: &Explanation<V>) -> Self {
        let mut counter = Counter::default();
        let operations = explanation.operations.iter();
        let names = operations.map(|one| counter.next(one.is_scan()));
        Self::with_names(explanation, names.collect())
    }

    /// As [`Self::of_explanation`], with given names of operations.
    pub fn of_explanation_named<V: Clone + Display + Eq>(
        explanation: &Explanation<V>,
        name: impl Fn(OperationId) -> String,
    ) -> Self {
        let names = explanation.operations.iter().map(|operation| name(operation.id));
        Self::with_names(explanation, names.collect())
    }

    fn with_names<V: Clone + Display + Eq>(
        explanation: &Explanation<V>,
        names: Vec<String>,
    ) -> Self {
        let operations = explanation.operations.iter().zip(names);
        let bars: Vec<Bar> = operations
            .map(|(operation, name)| exhibited(operation, name, &explanation.names))
            .collect();
        let find = |id: OperationId| bars.iter().position(|bar| bar.operation == id);
        let name = |id: OperationId| {
            find(id).map_or_else(|| format!("operation {id}"), |at| bars[at].name.clone())
        };
        let arrow = |f: Forced| {
            Some(Arrow {
                before: find(f.before)?,
                after: find(f.after)?,
                cause: f.cause,
                why: f.why,
                number: f.number,
            })
        };
        let arrows = forced(explanation, name).into_iter().filter_map(arrow).collect();
        Self { bars, arrows, names: explanation.names.clone() }
    }

    /// Returns the operations of a violation after its renaming: only the values 0 and 1 are left,
    /// and operations keep their names and their times. `None` if the violation has no renaming.
    pub fn of_renamed<V: Clone + Display + Eq>(explanation: &Explanation<V>) -> Option<Self> {
        let renamed = explanation.renamed()?;
        let mut diagram = Self::of_explanation(explanation);
        if renamed.operations().len() != diagram.bars.len() {
            return None;
        }
        for (bar, operation) in diagram.bars.iter_mut().zip(renamed.operations()) {
            bar.deed = deed(&renamed, operation, &Names::default());
        }
        diagram.arrows.clear();
        Some(diagram)
    }

    /// Returns true if the arrows that hold without supposition form a cycle.
    pub fn has_circle(&self) -> bool {
        let leads = |a: usize| {
            let held = self.arrows.iter().filter(|arrow| arrow.cause != Cause::Supposed);
            held.filter(move |arrow| arrow.before == a).map(|arrow| arrow.after)
        };
        (0..self.bars.len()).any(|start| {
            let mut is_reached = vec![false; self.bars.len()];
            let mut next: Vec<usize> = leads(start).collect();
            while let Some(at) = next.pop() {
                if !std::mem::replace(&mut is_reached[at], true) {
                    next.extend(leads(at));
                }
            }
            is_reached[start]
        })
    }

    /// Returns the times of all invocations and ends, ascending, each once.
    pub fn moments(&self) -> Vec<usize> {
        let ends = self.bars.iter().flat_map(|bar| [Some(bar.begin), bar.end]);
        let mut moments: Vec<usize> = ends.flatten().collect();
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Returns the label of a process's row.
    pub fn row_label(&self, process: Process) -> String {
        self.names.process_label(process).to_string()
    }

    /// Returns the participating processes, ascending.
    pub fn processes(&self) -> Vec<Process> {
        let mut processes: Vec<Process> = self.bars.iter().map(|bar| bar.process).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}

fn bar(operation: OperationId, from: &Operation, name: String, deed: String) -> Bar {
    let (end, is_pending, is_failed) = match from.outcome() {
        Outcome::Complete { response } => (Some(response), false, false),
        Outcome::Failed { event } => (Some(event), false, true),
        Outcome::Unknown { .. } | Outcome::Pending => (None, true, false),
    };
    Bar {
        operation,
        name,
        deed,
        process: from.process(),
        is_scan: from.is_scan(),
        begin: from.invocation(),
        end,
        is_pending,
        is_failed,
        rank: None,
    }
}

/// Describes an operation: `update(1)`, `scan [0, 1]`, `scan` if it has not returned. The segment
/// is named if it has a name, or a number other than the process's; so are those of a scan, if they
/// have names.
pub(crate) fn deed<V: Display>(
    history: &History<V>,
    operation: &Operation,
    names: &Names,
) -> String {
    match operation.kind() {
        OperationKind::Update { segment } => {
            let value = history.update_value(operation);
            if names.segments().is_empty() && segment.index() == operation.process().index() {
                format!("update({value})")
            } else {
                format!("update({}: {value})", names.segment_label(segment))
            }
        }
        OperationKind::Scan if operation.is_complete() => {
            let segments = (0..history.segments()).map(Segment::from_index);
            let entries = segments.map(|segment| (segment, history.entry(operation, segment)));
            let values: Vec<String> = if names.segments().is_empty() {
                let shown = |entry: Option<&V>| entry.map_or_else(|| GAP.to_owned(), V::to_string);
                entries.map(|(_, entry)| shown(entry)).collect()
            } else {
                let returned = entries.filter_map(|(segment, entry)| Some((segment, entry?)));
                returned.map(|(k, value)| format!("{}: {value}", names.segment_label(k))).collect()
            };
            format!("scan [{}]", values.join(", "))
        }
        OperationKind::Scan => "scan".to_owned(),
    }
}

fn exhibited<V: Display>(operation: &ProofOperation<V>, name: String, names: &Names) -> Bar {
    let deed = operation.deed.label(names);
    let (end, is_pending, is_failed) = match operation.ending {
        Ending::Response(event) => (Some(event), false, false),
        Ending::Failure(event) => (Some(event), false, true),
        Ending::Unknown(_) | Ending::None => (None, true, false),
    };
    Bar {
        operation: operation.id,
        name,
        deed,
        process: operation.process,
        is_scan: operation.is_scan(),
        begin: operation.invocation,
        end,
        is_pending,
        is_failed,
        rank: None,
    }
}
