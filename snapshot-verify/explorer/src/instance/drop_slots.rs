//! Removal of slots from instances.
//!
//! A slot can be removed if it always holds one scalar, or if no term reads it. Assignments to it
//! are removed, too. If the target of an assignment is selected by an index among removed and
//! remaining slots, it becomes an assignment to the remaining slots, behind a branch on the index.

use rayon::prelude::*;

use crate::deadline::{Deadline, Stopped};

use super::fold::SlotValues;
use super::scalars::Scalars;
use super::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Scalar, SlotId, Target, Term,
};

impl Instance {
    /// Removes the slots for which `removed` returns a term, a constant that replaces the slot
    /// wherever it is read.
    pub(crate) fn without(
        &self,
        removed: &(impl Fn(SlotId) -> Option<Term> + Sync),
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let ids = || (0..self.slots.len() as u32).map(SlotId);
        let mut number = vec![None; self.slots.len()];
        let kept: Vec<SlotId> = ids().filter(|slot| removed(*slot).is_none()).collect();
        for (position, slot) in kept.iter().enumerate() {
            number[slot.index()] = Some(SlotId(position as u32));
        }
        let renaming = Renaming { instance: self, number, removed };
        let graphs = self.graphs_parallel().map(|graph| renaming.graph(graph, deadline));
        Ok(Self {
            processes: self.processes,
            pair: self.pair,
            slots: kept.iter().map(|slot| self.slot(*slot).clone()).collect(),
            graphs: graphs.collect::<Result<_, _>>()?,
        })
    }
}

/// New numbers for the remaining slots, terms for the removed ones.
struct Renaming<'a, F> {
    instance: &'a Instance,
    number: Vec<Option<SlotId>>,
    removed: &'a F,
}

impl<F: Fn(SlotId) -> Option<Term> + Sync> Renaming<'_, F> {
    fn graph(&self, graph: &Graph, deadline: Deadline<'_>) -> Result<Graph, Stopped> {
        let mut renamed = graph.clone();
        renamed.argument = graph.argument.and_then(|slot| self.number[slot.index()]);
        for standing in &mut renamed.locations {
            for reaction in &mut standing.reactions {
                reaction.when = self.term(&reaction.when);
            }
        }
        for (position, block) in graph.blocks.iter().enumerate() {
            deadline.check()?;
            self.block(block, BlockId(position as u32), &mut renamed.blocks);
        }
        deadline.check()?;
        Ok(renamed.tidied())
    }

    /// Writes a block, split at the assignments that need a branch.
    fn block(&self, block: &Block, at: BlockId, blocks: &mut Vec<Block>) {
        let mut at = at;
        let mut accesses = block.accesses;
        let mut assignments = Vec::new();
        for assignment in &block.assignments {
            match self.assignment(assignment) {
                Kept::Nothing => {}
                Kept::Always(assignment) => assignments.push(assignment),
                Kept::If(condition, assignment) => {
                    let (then, next) =
                        (BlockId(blocks.len() as u32), BlockId(blocks.len() as u32 + 1));
                    let end = End::Branch { condition, then, otherwise: next };
                    let assignments = std::mem::take(&mut assignments);
                    blocks[at.index()] = Block { accesses, assignments, end };
                    let end = End::Jump(next);
                    blocks.push(Block { accesses: 0, assignments: vec![assignment], end });
                    blocks.push(Block {
                        accesses: 0,
                        assignments: Vec::new(),
                        end: End::Jump(next),
                    });
                    (at, accesses) = (next, 0);
                }
            }
        }
        let end = block.end.map(&mut |term| self.term(term));
        blocks[at.index()] = Block { accesses, assignments, end };
    }

    fn assignment(&self, assignment: &Assignment) -> Kept {
        let value = || self.term(&assignment.value);
        match &assignment.target {
            Target::Slot(slot) => match self.number[slot.index()] {
                Some(slot) => {
                    Kept::Always(Assignment { target: Target::Slot(slot), value: value() })
                }
                None => Kept::Nothing,
            },
            Target::Element { index, of } => {
                let numbers: Vec<Option<SlotId>> =
                    of.iter().map(|slot| self.number[slot.index()]).collect();
                let staying = || numbers.iter().enumerate().filter(|(_, slot)| slot.is_some());
                let Some(filler) = numbers.iter().flatten().next() else { return Kept::Nothing };
                let names_processes = index.names_processes(&|slot| self.domain(slot));
                let index = self.term(index);
                let conditions = staying().map(|(position, _)| {
                    let position = position as Scalar;
                    let constant = if names_processes { Term::Process } else { Term::Constant };
                    index.clone().equal(constant(position))
                });
                let condition = Term::or(conditions);
                let target = match (index.constant(), staying().count()) {
                    (Some(position), _) => match numbers[position as usize] {
                        Some(slot) => Target::Slot(slot),
                        None => return Kept::Nothing,
                    },
                    (None, 1) => Target::Slot(*filler),
                    (None, _) => {
                        let of = numbers.iter().map(|slot| slot.unwrap_or(*filler)).collect();
                        Target::Element { index, of }
                    }
                };
                let assignment = Assignment { target, value: value() };
                if matches!(assignment.target, Target::Slot(_)) && condition == Term::TRUE
                    || staying().count() == numbers.len()
                {
                    return Kept::Always(assignment);
                }
                Kept::If(condition, assignment)
            }
        }
    }

    fn term(&self, term: &Term) -> Term {
        match term {
            Term::Constant(_) | Term::Process(_) | Term::Fresh => term.clone(),
            Term::Slot(slot) => match self.number[slot.index()] {
                Some(slot) => Term::Slot(slot),
                None => (self.removed)(*slot).unwrap_or(Term::NONE),
            },
            Term::Successor(slot) => match self.number[slot.index()] {
                Some(slot) => Term::Successor(slot),
                None => {
                    let number = (self.removed)(*slot).and_then(|term| term.constant());
                    Term::Constant(number.unwrap_or(0).saturating_add(1))
                }
            },
            Term::Element { index, of } => {
                let of = of.iter().map(|term| self.term(term)).collect();
                Term::element(self.term(index), of)
            }
            Term::Apply(operator, arguments) => {
                let arguments = arguments.iter().map(|term| self.term(term)).collect();
                Term::apply(*operator, arguments)
            }
        }
    }
}

impl<F> SlotValues for Renaming<'_, F> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        Scalars::of_domain(self.domain(slot))
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.instance.slot(slot).domain
    }
}

/// The remainder of an assignment.
enum Kept {
    Nothing,
    /// The unconditional assignment.
    Always(Assignment),
    /// The assignment, if the term is 1.
    If(Term, Assignment),
}
