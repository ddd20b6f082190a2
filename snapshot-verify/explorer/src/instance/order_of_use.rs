//! Slots of operations, assigned before they are used?

use std::collections::BTreeSet;

use super::{BlockId, End, Graph, SlotId, Target, Term};

impl Graph {
    /// The slots among these that an operation may read before it assigned them.
    /// An assignment by index counts for none of the slots that it chooses from.
    pub(crate) fn used_unassigned(&self, of_interest: &impl Fn(SlotId) -> bool) -> Vec<SlotId> {
        // Per block, what may be unassigned where it begins.
        let everything: BTreeSet<SlotId> = self.own_slots(of_interest);
        let mut missing: Vec<BTreeSet<SlotId>> = vec![BTreeSet::new(); self.blocks.len()];
        let mut visited = vec![false; self.blocks.len()];
        let mut open = Vec::new();
        for (begin, updating) in [(self.invocations.update, true), (self.invocations.scan, false)] {
            let argument = self.argument.filter(|_| updating);
            let entry = everything.iter().copied().filter(|slot| Some(*slot) != argument);
            missing[begin.index()].extend(entry);
            open.push(begin);
        }
        let mut used = BTreeSet::new();
        while let Some(block) = open.pop() {
            visited[block.index()] = true;
            let mut unassigned = missing[block.index()].clone();
            let mut read = |term: &Term, unassigned: &BTreeSet<SlotId>| {
                term.slots(&mut |slot| {
                    if unassigned.contains(&slot) {
                        used.insert(slot);
                    }
                });
            };
            for assignment in &self.block(block).assignments {
                read(&assignment.value, &unassigned);
                match &assignment.target {
                    Target::Slot(slot) => {
                        unassigned.remove(slot);
                    }
                    Target::Element { index, .. } => read(index, &unassigned),
                }
            }
            let end = &self.block(block).end;
            end.terms().into_iter().for_each(|term| read(term, &unassigned));
            let mut next: Vec<BlockId> = end.blocks().collect();
            if let End::Pause(location) = end {
                let standing = self.standing(*location);
                next.extend(standing.step);
                for reaction in &standing.reactions {
                    read(&reaction.when, &unassigned);
                    next.push(reaction.then);
                }
            }
            for next in next {
                let known = missing[next.index()].len();
                missing[next.index()].extend(&unassigned);
                if missing[next.index()].len() > known || !visited[next.index()] {
                    open.push(next);
                }
            }
        }
        used.into_iter().collect()
    }

    fn own_slots(&self, of_interest: &impl Fn(SlotId) -> bool) -> BTreeSet<SlotId> {
        let mut slots = BTreeSet::new();
        self.terms(&mut |term| {
            term.slots(&mut |slot| {
                slots.insert(slot);
            });
        });
        slots.retain(|slot| of_interest(*slot));
        slots
    }
}
