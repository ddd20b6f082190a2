//! Diagrams of an immediate snapshot: exchanges, their blocks, and the forced order of a violation.
//!
//! The operations of a block have one rank: they take effect at one instant.

use std::fmt::Display;

use snapshot_core::history::Outcome;
use snapshot_core::immediate::{History, SetLinearization, Violation};
use snapshot_core::{Names, OperationId, Segment};

use crate::diagram::{Arrow, Bar, Diagram};
use crate::forced::Cause;

impl Diagram {
    /// Returns all operations of an execution, with the numbers of their blocks if known.
    pub fn of_exchanges<V: Display>(
        history: &History<V>,
        blocks: Option<&SetLinearization>,
        names: &Names,
    ) -> Self {
        let bars = history.operation_ids().map(|id| bar(history, id, id.index() + 1));
        let names = names.clone();
        let mut diagram = Self { bars: bars.collect(), arrows: Vec::new(), names };
        for (rank, block) in blocks.into_iter().flat_map(SetLinearization::blocks).enumerate() {
            for id in block {
                diagram.bars[id.index()].rank = Some(rank);
            }
        }
        diagram
    }

    /// Returns the one or two operations of a violation, with the order that they force, in which
    /// each would have to be first. Bars are in the order of their invocations; names are those of
    /// the argument, E1 and E2 in the order of [`Violation::operations`].
    pub fn of_exchange_violation<V: Display>(
        history: &History<V>,
        violation: &Violation,
        names: &Names,
    ) -> Self {
        let mut named: Vec<(OperationId, usize)> =
            violation.operations().into_iter().zip(1..).collect();
        named.sort_unstable();
        let bars: Vec<Bar> = named.iter().map(|&(id, number)| bar(history, id, number)).collect();
        let find = |id: OperationId| bars.iter().position(|bar| bar.operation == id);
        let name = |id: OperationId| find(id).map_or_else(String::new, |at| bars[at].name.clone());
        let older = |one, other, segment| {
            format!(
                "for {}, {} returned what is older than what {} returned",
                names.segment(Segment::from_index(segment)),
                name(one),
                name(other)
            )
        };
        let values = |before, after, why| (before, after, Cause::Values, why);
        let forced = match *violation {
            Violation::OwnValue { .. } | Violation::Validity { writer: None, .. } => Vec::new(),
            Violation::Containment { first, second, i, j } => vec![
                values(second, first, older(second, first, i)),
                values(first, second, older(first, second, j)),
            ],
            Violation::Immediacy { viewer, seen, newer } => vec![
                values(
                    seen,
                    viewer,
                    format!(
                        "{} returned what {} wrote, so that this takes effect in the block of {0} \
                         or in one before it",
                        name(viewer),
                        name(seen)
                    ),
                ),
                values(viewer, seen, older(viewer, seen, newer)),
            ],
            Violation::Validity { writer: Some(writer), .. }
                if history.operation(writer).is_failed() =>
            {
                Vec::new()
            }
            Violation::Validity { operation, writer: Some(writer), .. } => {
                let why = format!("{} returned what {} wrote", name(operation), name(writer));
                let time = format!("{} had ended before {} began", name(operation), name(writer));
                vec![values(writer, operation, why), (operation, writer, Cause::Time, time)]
            }
        };
        let arrows =
            forced.into_iter().zip(1..).filter_map(|((before, after, cause, why), number)| {
                Some(Arrow { before: find(before)?, after: find(after)?, cause, why, number })
            });
        let arrows = arrows.collect();
        Self { bars, arrows, names: names.clone() }
    }
}

fn bar<V: Display>(history: &History<V>, id: OperationId, number: usize) -> Bar {
    let operation = history.operation(id);
    let (end, is_pending, is_failed) = match operation.outcome {
        Outcome::Complete { response } => (Some(response), false, false),
        Outcome::Failed { event } => (Some(event), false, true),
        Outcome::Unknown { .. } | Outcome::Pending => (None, true, false),
    };
    let mut deed = format!("exchange({})", history.written(id));
    if let Some(returned) = history.returned(id) {
        let values: Vec<String> = returned.iter().map(V::to_string).collect();
        deed += &format!(" [{}]", values.join(", "));
    }
    Bar {
        operation: id,
        name: format!("E{number}"),
        deed,
        process: operation.process,
        is_scan: false,
        begin: operation.invocation,
        end,
        is_pending,
        is_failed,
        rank: None,
    }
}
