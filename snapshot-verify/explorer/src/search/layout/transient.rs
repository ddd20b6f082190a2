//! Slots that hold something only while a step runs.
//!
//! A state is packed between steps. A slot of one process that holds the same scalar
//! whenever a step ends (because it is assigned before it is used in every step, and
//! reset after that) needs no bits.
//!
//! By induction over the steps: every own slot is supposed to hold its initial scalar
//! where a step begins; what a step may leave in it is found by going over its blocks
//! once in every way; slots for which that is anything else are not transient.
//!
//! Only slots of operations: what processes keep may differ from process to process
//! at first, and where processes change places so would that.

use std::collections::BTreeSet;

use crate::instance::{Block, BlockId, End, Graph, Instance, Scalar, Slot, SlotId, Target, Term};

/// By slot, what it holds between steps, if that is always the same and the slot is
/// private. O(blocks * private slots).
pub(super) fn transient(instance: &Instance) -> Vec<Option<Scalar>> {
    let mut found: Vec<Option<Scalar>> = instance.slots.iter().map(Slot::meaningless).collect();
    for graph in &instance.graphs {
        for slot in left_otherwise(instance, graph) {
            found[slot.index()] = None;
        }
    }
    found
}

/// The slots in which some step of the graph may leave anything else.
fn left_otherwise(instance: &Instance, graph: &Graph) -> BTreeSet<SlotId> {
    let mut left = BTreeSet::new();
    // Per block, what may hold something else where it begins.
    let mut entries: Vec<Option<BTreeSet<SlotId>>> = vec![None; graph.blocks.len()];
    let mut open: Vec<BlockId> = graph.beginnings();
    for begin in &open {
        entries[begin.index()] = Some(BTreeSet::new());
    }
    if let (Some(argument), Some(entry)) =
        (graph.argument, &mut entries[graph.invocations.update.index()])
    {
        entry.insert(argument);
    }
    while let Some(id) = open.pop() {
        let block = graph.block(id);
        let changed = after(instance, block, entries[id.index()].clone().unwrap_or_default());
        match &block.end {
            End::Pause(_) => left.extend(changed),
            // What operations own is reset.
            End::Respond(_) => {}
            End::Jump(_) | End::Branch { .. } | End::Fault { .. } => {
                for next in block.end.blocks() {
                    let entry = &mut entries[next.index()];
                    if entry.as_ref().is_none_or(|entry| !changed.is_subset(entry)) {
                        entry.get_or_insert_default().extend(&changed);
                        open.push(next);
                    }
                }
            }
        }
    }
    left
}

/// What may hold something else after the assignments of a block.
fn after(instance: &Instance, block: &Block, mut changed: BTreeSet<SlotId>) -> BTreeSet<SlotId> {
    for assignment in &block.assignments {
        match &assignment.target {
            Target::Slot(slot) => {
                let first = instance.slot(*slot).meaningless();
                let is_reset = match assignment.value {
                    Term::Constant(scalar) | Term::Process(scalar) => first == Some(scalar),
                    _ => false,
                };
                if is_reset {
                    changed.remove(slot);
                } else {
                    changed.insert(*slot);
                }
            }
            Target::Element { of, .. } => changed.extend(of),
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use snapshot_core::Process;

    use super::*;
    use crate::instance::{Assignment, Domain, Invocations, Location, Owner, Standing};
    use crate::language::Span;

    /// A process whose operations assign to four slots: the first is reset, the second
    /// on one way only, the third holds the argument, the fourth is shared.
    fn instance() -> Instance {
        let slot = |owner, name: &str| Slot {
            name: name.to_owned(),
            owner,
            domain: Domain::BIT,
            initial: 0,
        };
        let own = Owner::Operation(Process::from_index(0));
        let assign = |slot, value| Assignment {
            target: Target::Slot(SlotId(slot)),
            value: Term::Constant(value),
        };
        let block = |assignments: Vec<Assignment>, end| Block { accesses: 0, assignments, end };
        let (then, otherwise) = (BlockId(1), BlockId(2));
        let branch = End::Branch { condition: Term::Slot(SlotId(3)), then, otherwise };
        let standing = |step| Standing {
            step,
            span: Span::default(),
            label: String::new(),
            updating: false,
            reactions: vec![],
        };
        let reset = assign(0, 0);
        let graph = Graph {
            blocks: vec![
                block(vec![assign(0, 1), assign(1, 1), assign(3, 1)], branch),
                block(vec![reset.clone(), assign(1, 0)], End::Pause(Location(1))),
                block(vec![reset], End::Pause(Location(1))),
            ],
            locations: vec![standing(None), standing(Some(BlockId(0)))],
            invocations: Invocations { update: BlockId(0), scan: BlockId(0) },
            argument: Some(SlotId(2)),
        };
        Instance {
            processes: 1,
            pair: [0, 1].map(Process::from_index),
            slots: vec![
                slot(own, "reset"),
                slot(own, "sometimes"),
                slot(own, "argument"),
                slot(Owner::Shared, "cell"),
            ],
            graphs: vec![graph],
        }
    }

    #[test]
    fn what_every_way_resets_is_transient() {
        assert_eq!(transient(&instance()), [Some(0), None, None, None]);
    }
}
