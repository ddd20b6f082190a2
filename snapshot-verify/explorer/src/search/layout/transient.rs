//! Slots that are used only while a step runs.
//!
//! A state is packed between steps. A slot of one process needs no bits if it holds the same scalar
//! whenever a step ends, because every step assigns it before use and resets it after use.
//!
//! Proof by induction over the steps. Assume that every own slot holds its initial scalar where a
//! step begins. A traversal of all paths through the step's blocks finds the slots that may hold
//! another scalar at its end; these are not transient.
//!
//! Only slots of operations are considered. Initial values of process slots may differ from process
//! to process, and then an exchange of processes would change them.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;

use crate::dataflow::{self, Forward};
use crate::deadline::Deadline;
use crate::instance::{Block, End, Instance, Scalar, Slot, SlotId, Target, Term};

/// Returns by slot the scalar that it holds between steps, if that is always the same and the slot
/// is private. O(blocks * private slots).
pub(super) fn transient(instance: &Instance) -> Vec<Option<Scalar>> {
    let mut found: Vec<Option<Scalar>> = instance.slots.iter().map(Slot::meaningless).collect();
    let mut analysis = Changed { initial: found.clone() };
    for graph in &instance.graphs {
        let nothing = FixedBitSet::with_capacity(instance.slots.len());
        let mut argument = nothing.clone();
        argument.extend(graph.argument.map(SlotId::index));
        let begin = graph.beginnings().into_iter().map(|block| (block, nothing.clone()));
        let begin = begin.chain([(graph.invocations.update, argument)]);
        let Ok(entries) = dataflow::forward(graph, &mut analysis, begin, Deadline::NEVER) else {
            return vec![None; instance.slots.len()];
        };
        for (block, entry) in graph.blocks.iter().zip(entries.blocks) {
            // Slots that operations own are reset at the response.
            if let (End::Pause(_), Some(mut changed)) = (&block.end, entry) {
                analysis.block(block, &mut changed);
                changed.ones().for_each(|slot| found[slot] = None);
            }
        }
    }
    found
}

/// Dataflow within a step: the slots that may differ from their value at its start.
struct Changed {
    /// By slot, the value between steps, if the slot is transient.
    initial: Vec<Option<Scalar>>,
}

impl Forward for Changed {
    type Fact = FixedBitSet;

    fn block(&mut self, block: &Block, changed: &mut FixedBitSet) {
        for assignment in &block.assignments {
            match (&assignment.target, &assignment.value) {
                (Target::Slot(slot), Term::Constant(scalar) | Term::Process(scalar)) => {
                    changed.set(slot.index(), self.initial[slot.index()] != Some(*scalar));
                }
                (target, _) => target.slots(&mut |slot| changed.insert(slot.index())),
            }
        }
    }

    fn pause<'f>(&self, _: &'f FixedBitSet) -> Option<Cow<'f, FixedBitSet>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::Process;

    use super::*;
    use crate::instance::{
        Assignment, BlockId, Domain, Graph, Invocations, Location, Owner, Standing,
    };
    use crate::language::Span;

    /// Creates a process whose operations assign to five slots. The first is reset, the second on
    /// one path only, the third holds the argument, the fourth is shared, the fifth is selected by
    /// an index.
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
        let index = Term::Slot(SlotId(3));
        let chosen = Assignment {
            target: Target::Element { index, of: vec![SlotId(4)] },
            value: Term::TRUE,
        };
        let graph = Graph {
            blocks: vec![
                block(vec![assign(0, 1), assign(1, 1), chosen, assign(3, 1)], branch),
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
                slot(own, "chosen"),
            ],
            graphs: vec![graph],
        }
    }

    #[test]
    fn slots_reset_on_every_path_are_transient() {
        assert_eq!(transient(&instance()), [Some(0), None, None, None, None]);
    }
}
