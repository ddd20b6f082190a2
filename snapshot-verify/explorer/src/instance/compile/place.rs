//! Selection of parts of variables, by constant or computed indices, and assignments to them.

use std::collections::BTreeSet;

use super::body::Body;
use super::tree::Tree;
use crate::instance::{Domain, InstanceError, Operator, Scalar, SlotId, Target, Term};
use crate::language::Span;
use crate::program::{CellPlace, Expression, IndexSet, Place, Projection, Root, Type};

/// A part of a variable: one of several alternatives of the same shape.
#[derive(Clone)]
pub(super) struct Selection<T> {
    /// The index of the alternative; without an index, there is only one.
    pub(super) index: Option<Term>,
    /// The alternatives in the order of the index.
    pub(super) alternatives: Vec<Tree<T>>,
}

impl<T: Clone> Selection<T> {
    /// Selects a whole variable.
    pub(super) fn whole(tree: Tree<T>) -> Self {
        Self { index: None, alternatives: vec![tree] }
    }

    fn field(&mut self, field: usize) {
        for alternative in &mut self.alternatives {
            *alternative = alternative.parts()[field].clone();
        }
    }

    /// Selects an element, by an index from 0 that is in range.
    fn element(&mut self, index: Term, domain: &impl Fn(SlotId) -> Domain) {
        if let Some(position) = index.constant() {
            return self.field(position as usize);
        }
        let size = self.alternatives.first().map_or(0, |array| array.parts().len());
        self.index = Some(match self.index.take() {
            None => index,
            Some(outer) => {
                // Two indices are combined to a number, so names must be converted.
                let begins = (0..self.alternatives.len()).map(|k| (k * size) as Scalar);
                let begin = Term::element(outer, begins.map(Term::Constant).collect());
                Term::apply(Operator::Add, vec![begin, index.into_number(domain)])
            }
        });
        self.alternatives =
            self.alternatives.iter().flat_map(|array| array.parts().to_vec()).collect();
    }
}

impl Selection<SlotId> {
    /// Returns the content of the selected part.
    pub(super) fn terms(&self) -> Tree<Term> {
        self.combined(|index, slots| match index {
            None => Term::Slot(slots[0]),
            Some(index) => {
                Term::element(index.clone(), slots.into_iter().map(Term::Slot).collect())
            }
        })
    }

    /// Returns the selected part as a target.
    pub(super) fn targets(&self) -> Tree<Target> {
        self.combined(|index, of| match index {
            None => Target::Slot(of[0]),
            Some(index) => Target::Element { index: index.clone(), of },
        })
    }

    fn combined<U>(&self, make: impl Fn(Option<&Term>, Vec<SlotId>) -> U) -> Tree<U> {
        let alternatives: Vec<&Tree<SlotId>> = self.alternatives.iter().collect();
        Tree::zip(&alternatives, &mut |slots| {
            make(self.index.as_ref(), slots.iter().map(|slot| **slot).collect())
        })
    }
}

impl<'a> Body<'a> {
    /// Selects a part of a local or private variable; `None` if every index is out of range.
    pub(super) fn place(
        &mut self,
        place: &Place,
    ) -> Result<Option<Selection<SlotId>>, InstanceError> {
        let (tree, mut content) = match place.root {
            Root::Private(id) => {
                (self.private[id.0 as usize].clone(), self.program.private(id).content.clone())
            }
            Root::Local(id) => {
                let procedure = self.frame().procedure;
                let content = self.program.procedure(procedure).local(id).content.clone();
                (self.locals[&(procedure, id)].clone(), content)
            }
        };
        let mut selection = Selection::whole(tree);
        for projection in &place.path {
            match (projection, content) {
                (Projection::Field(field), Type::Record(mut fields)) => {
                    selection.field(*field);
                    content = fields.swap_remove(*field).content;
                }
                (Projection::Index(index), Type::Array { index: set, element }) => {
                    let Some(index) = self.index(index, set)? else { return Ok(None) };
                    selection.element(index, &|slot| self.slots.all[slot.index()].domain);
                    content = *element;
                }
                (_, content) => panic!("a well-typed program takes no such part of {content}"),
            }
        }
        Ok(Some(selection))
    }

    /// Selects the cells of an access, by number; `None` if every index is out of range.
    pub(super) fn cell(
        &mut self,
        cell: &CellPlace,
    ) -> Result<Option<Selection<usize>>, InstanceError> {
        let variable = self.program.shared(cell.variable);
        let mut selection =
            Selection::whole(self.memory.variables[cell.variable.0 as usize].clone());
        for (index, set) in cell.indices.iter().zip(&variable.dimensions) {
            let Some(index) = self.index(index, *set)? else { return Ok(None) };
            selection.element(index, &|slot| self.slots.all[slot.index()].domain);
        }
        Ok(Some(selection))
    }

    /// Returns an index as a position from 0, with a check of its range. Returns `None` if it is
    /// always out of range.
    pub(super) fn index(
        &mut self,
        index: &Expression,
        set: IndexSet,
    ) -> Result<Option<Term>, InstanceError> {
        let (low, high) = self.size.bounds(set)?;
        let term = self.scalar(index)?;
        let term = match set.is_of_names() {
            true => term.into_name(&|slot| self.slots.all[slot.index()].domain),
            false => self.number(term),
        };
        self.check_range(&term, (low, high), index.span, "an index is out of range")?;
        if low > high || term.constant().is_some_and(|index| !(low..=high).contains(&index)) {
            return Ok(None);
        }
        let position = match low {
            0 => term,
            low => Term::apply(Operator::Subtract, vec![term, Term::Constant(low)]),
        };
        let positions = self.scalars_of(&position);
        let total = positions.within(0, high - low) && !positions.contains(crate::instance::NONE);
        if self.guards.is_empty() || total {
            return Ok(Some(position));
        }
        let domain = Domain::Range {
            low: 0,
            high: high - low,
            optional: false,
            names_processes: set.is_of_names(),
        };
        Ok(Some(Term::choose(self.guard(), position, Term::scalar(0, domain))))
    }

    /// Assigns all scalars simultaneously.
    pub(super) fn assign(
        &mut self,
        targets: &Tree<Target>,
        values: &Tree<Term>,
        span: Span,
    ) -> Result<(), InstanceError> {
        let targets = targets.leaves().into_iter().cloned();
        let values = values.leaves().into_iter().cloned();
        let mut moves: Vec<(Target, Term)> = targets.zip(values).collect();
        moves.retain(|(target, value)| match (target, value) {
            (Target::Slot(to), Term::Slot(from)) => to != from,
            _ => true,
        });
        for (target, value) in &moves {
            if let Domain::Range { low, high, .. } = self.domain_of(target) {
                self.check_range(value, (low, high), span, "a number is out of its range")?;
            }
        }
        self.fix_indices(&mut moves)?;
        if are_apart(&moves) {
            moves.into_iter().for_each(|(target, value)| self.emit(target, value));
            return Ok(());
        }
        while !moves.is_empty() {
            self.tick()?;
            let free = (0..moves.len()).find(|first| {
                let others = moves.iter().enumerate().filter(|(other, _)| other != first);
                let written = moves[*first].0.choices();
                !others.into_iter().any(|(_, other)| reads(other, written))
            });
            match free {
                Some(first) => {
                    let (target, value) = moves.remove(first);
                    self.emit(target, value);
                }
                None => {
                    let domain = self.domain_of(&moves[0].0);
                    let slot = self.temporary(domain)?;
                    let value = std::mem::replace(&mut moves[0].1, Term::Slot(slot));
                    self.emit(Target::Slot(slot), value);
                }
            }
        }
        Ok(())
    }

    /// Computes indices beforehand if one of several simultaneous assignments changes a slot that
    /// an index reads.
    fn fix_indices(&mut self, moves: &mut [(Target, Term)]) -> Result<(), InstanceError> {
        let written: Vec<SlotId> =
            moves.iter().flat_map(|(target, _)| target.choices().to_vec()).collect();
        if moves.len() < 2 {
            return Ok(());
        }
        for (target, _) in moves {
            let Target::Element { index, of } = target else { continue };
            if term_reads(index, &written) {
                let names_processes =
                    index.names_processes(&|slot| self.slots.all[slot.index()].domain);
                let high = of.len() as Scalar - 1;
                let domain = Domain::Range { low: 0, high, optional: false, names_processes };
                *index = self.hoisted(index.clone(), domain)?;
            }
        }
        Ok(())
    }

    fn domain_of(&self, target: &Target) -> Domain {
        let slot = target.choices()[0];
        self.slots.all[slot.index()].domain
    }
}

/// Returns true if no assignment reads a slot that one of them writes: then any order is right.
fn are_apart(moves: &[(Target, Term)]) -> bool {
    let written = moves.iter().flat_map(|(target, _)| target.choices());
    let written: BTreeSet<SlotId> = written.copied().collect();
    let mut are_apart = true;
    let mut look = |term: &Term| term.slots(&mut |slot| are_apart &= !written.contains(&slot));
    for (target, value) in moves {
        look(value);
        if let Target::Element { index, .. } = target {
            look(index);
        }
    }
    are_apart
}

/// Returns true if a move reads any of these slots.
fn reads((target, value): &(Target, Term), slots: &[SlotId]) -> bool {
    let index = match target {
        Target::Element { index, .. } => term_reads(index, slots),
        Target::Slot(_) => false,
    };
    index || term_reads(value, slots)
}

fn term_reads(term: &Term, slots: &[SlotId]) -> bool {
    let mut reads = false;
    term.slots(&mut |slot| reads |= slots.contains(&slot));
    reads
}
