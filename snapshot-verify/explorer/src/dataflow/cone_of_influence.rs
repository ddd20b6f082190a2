//! Cone of influence: the slots that what happens may depend on.
//!
//! A slot is relevant if a branch, a response, or the condition of a reaction
//! reads it, or if it is read by the value or the index of an assignment that
//! may go to a relevant slot (Clarke, Grumberg and Peled, Model Checking, 1999, section
//! 13.1; a slice in the sense of Weiser). What remains influences no event and no relevant
//! slot, ever: without it every execution is the same.

use fixedbitset::FixedBitSet;

use super::closure;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Assignment, Instance, SlotId, Target, Term};

/// By slot, the slots from which what it is assigned is computed.
pub(crate) struct Sources(Vec<Vec<SlotId>>);

impl Sources {
    /// Of the assignments of all processes.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub(crate) fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        Self::read_by(instance, |term, visit| term.slots(&mut |slot| visit(slot)), deadline)
    }

    /// Of the assignments of all processes, of the slots of values and indices those that
    /// `read` visits.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub(crate) fn read_by(
        instance: &Instance,
        read: impl Fn(&Term, &mut dyn FnMut(SlotId)),
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let mut all: Vec<Vec<SlotId>> = vec![Vec::new(); instance.slots.len()];
        for block in instance.graphs.iter().flat_map(|graph| &graph.blocks) {
            deadline.check()?;
            for Assignment { target, value } in &block.assignments {
                let mut sources = Vec::new();
                read(value, &mut |slot| sources.push(slot));
                if let Target::Element { index, .. } = target {
                    read(index, &mut |slot| sources.push(slot));
                }
                target.slots(&mut |slot| all[slot.index()].extend(&sources));
            }
        }
        Ok(Self(all))
    }

    /// These slots, and those that what they hold may be computed from, by way of slots
    /// that `through` admits.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub(crate) fn cone(
        &self,
        of: impl IntoIterator<Item = SlotId>,
        through: impl Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<FixedBitSet, Stopped> {
        let edges = |slot: usize, visit: &mut dyn FnMut(usize)| {
            if through(SlotId(slot as u32)) {
                self.0[slot].iter().for_each(|source| visit(source.index()));
            }
        };
        closure(self.0.len(), of.into_iter().map(SlotId::index), edges, deadline)
    }
}

/// The slots that do not matter.
///
/// # Errors
/// If the deadline comes first.
pub(crate) fn irrelevant(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<FixedBitSet, Stopped> {
    let mut observed: Vec<SlotId> = instance.watched().into_iter().collect();
    for block in instance.graphs.iter().flat_map(|graph| &graph.blocks) {
        let terms = block.end.terms().into_iter();
        terms.for_each(|term| term.slots(&mut |slot| observed.push(slot)));
    }
    let mut cone = Sources::new(instance, deadline)?.cone(observed, |_| true, deadline)?;
    cone.toggle_range(..);
    Ok(cone)
}
