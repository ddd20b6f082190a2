//! Cone of influence: the slots that may influence an event.
//!
//! A slot is relevant if a branch, a response, or the condition of a reaction reads it, or if the
//! value or the index of an assignment that may go to a relevant slot reads it (Clarke, Grumberg
//! and Peled, Model Checking, 1999, section 13.1; a slice in the sense of Weiser). The other slots
//! never influence an event or a relevant slot: without them every execution is the same.

use fixedbitset::FixedBitSet;

use super::closure;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Assignment, Instance, SlotId, Target, Term};

/// By slot, the slots that its assigned values are computed from.
pub(crate) struct Sources(Vec<Vec<SlotId>>);

impl Sources {
    /// Collects the sources in the assignments of all processes.
    pub(crate) fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        Self::read_by(instance, |term, visit| term.slots(&mut |slot| visit(slot)), deadline)
    }

    /// Collects the sources in the assignments of all processes, counting only slots of values and
    /// indices that `read` visits.
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

    /// Returns these slots and all slots that their contents may be computed from, by way of slots
    /// that `through` admits.
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
