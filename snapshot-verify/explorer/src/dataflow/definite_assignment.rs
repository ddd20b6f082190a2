//! Definite assignment: the slots of operations that are assigned before they are read.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;

use super::Forward;
use crate::dataflow;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, End, Graph, SlotId, Target, Term};

/// The analysis of slots that may be unassigned.
struct Unassigned;

impl Unassigned {
    /// Follows a block; `read` is called on its terms with the slots that may be unassigned.
    fn follow(
        block: &Block,
        unassigned: &mut FixedBitSet,
        read: &mut dyn FnMut(&Term, &FixedBitSet),
    ) {
        for assignment in &block.assignments {
            read(&assignment.value, unassigned);
            match &assignment.target {
                Target::Slot(slot) if slot.index() < unassigned.len() => {
                    unassigned.set(slot.index(), false);
                }
                Target::Slot(_) => {}
                Target::Element { index, .. } => read(index, unassigned),
            }
        }
        block.end.terms().into_iter().for_each(|term| read(term, unassigned));
    }
}

impl Forward for Unassigned {
    type Fact = FixedBitSet;

    fn block(&mut self, block: &Block, unassigned: &mut FixedBitSet) {
        Self::follow(block, unassigned, &mut |_, _| ());
    }

    fn pause<'f>(&self, after: &'f FixedBitSet) -> Option<Cow<'f, FixedBitSet>> {
        Some(Cow::Borrowed(after))
    }
}

impl Graph {
    /// Returns the slots of interest that an operation may read before it assigns them. An
    /// assignment by index does not count.
    pub(crate) fn used_unassigned(
        &self,
        of_interest: &impl Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Vec<SlotId>, Stopped> {
        let mut everything = FixedBitSet::new();
        self.terms(&mut |term| {
            term.slots(&mut |slot| {
                if of_interest(slot) {
                    everything.grow_and_insert(slot.index());
                }
            });
        });
        let mut given = everything.clone();
        if let Some(argument) = self.argument.filter(|slot| slot.index() < given.len()) {
            given.set(argument.index(), false);
        }
        let mut used = FixedBitSet::with_capacity(everything.len());
        let begin = [(self.invocations.update, given), (self.invocations.scan, everything)];
        let before = dataflow::forward(self, &mut Unassigned, begin, deadline)?;
        for (block, before) in self.blocks.iter().zip(before.blocks) {
            let Some(mut unassigned) = before else { continue };
            let mut read = |term: &Term, unassigned: &FixedBitSet| {
                term.slots(&mut |slot| {
                    if unassigned.contains(slot.index()) {
                        used.insert(slot.index());
                    }
                });
            };
            Unassigned::follow(block, &mut unassigned, &mut read);
            if let End::Pause(location) = block.end {
                let reactions = &self.standing(location).reactions;
                reactions.iter().for_each(|reaction| read(&reaction.when, &unassigned));
            }
        }
        Ok(used.ones().map(|slot| SlotId(slot as u32)).collect())
    }
}
