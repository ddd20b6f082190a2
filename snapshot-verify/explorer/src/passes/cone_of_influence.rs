//! Which slots matter at all.
//!
//! A slot is relevant if a branch, a response, or the condition of a reaction
//! reads it, or if it is read by the value or the index of an assignment that
//! may go to a relevant slot. What remains influences no event and no relevant
//! slot, ever: without it every execution is the same.

use fixedbitset::FixedBitSet;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, SlotId, Target, Term};

/// The slots that do not matter.
///
/// # Errors
/// If the deadline comes first.
pub(super) fn irrelevant(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<FixedBitSet, Stopped> {
    let mut relevant = FixedBitSet::with_capacity(instance.slots.len());
    let mut open: Vec<SlotId> = Vec::new();
    let mut flows: Vec<Vec<SlotId>> = vec![Vec::new(); instance.slots.len()];
    for graph in &instance.graphs {
        for block in &graph.blocks {
            deadline.check()?;
            block.end.terms().into_iter().for_each(|term| read(term, &mut open));
            for assignment in &block.assignments {
                let mut sources = Vec::new();
                read(&assignment.value, &mut sources);
                if let Target::Element { index, .. } = &assignment.target {
                    read(index, &mut sources);
                }
                assignment.target.slots(&mut |slot| flows[slot.index()].extend(&sources));
            }
        }
        let reactions = graph.locations.iter().flat_map(|standing| &standing.reactions);
        reactions.for_each(|reaction| read(&reaction.when, &mut open));
    }
    while let Some(slot) = open.pop() {
        if !relevant.put(slot.index()) {
            open.append(&mut flows[slot.index()]);
        }
    }
    relevant.toggle_range(..);
    Ok(relevant)
}

fn read(term: &Term, slots: &mut Vec<SlotId>) {
    term.slots(&mut |slot| slots.push(slot));
}
