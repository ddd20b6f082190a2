//! Accesses to shared memory.

use super::body::Body;
use super::place::Selection;
use super::tree::Tree;
use crate::instance::{InstanceError, SlotId, Term};
use crate::language::Span;
use crate::program::{Access, Expression, Place};

impl Body<'_> {
    /// Compiles an access: a separate step, unless it is part of an atomic statement.
    pub(super) fn access(
        &mut self,
        access: &Access,
        into: Option<&Place>,
        span: Span,
    ) -> Result<(), InstanceError> {
        if !self.atomic {
            let label = format!("{}: {}", self.path(), self.label(access, into));
            self.pause(label, span, 1)?;
        }
        let Some(cell) = self.cell(access.place())? else { return Ok(()) };
        match access {
            Access::Read(_) => self.read(&cell, into, span),
            Access::Write(_, value) => self.write(&cell, value, span),
            Access::LoadLinked(_) => {
                self.read(&cell, into, span)?;
                let link = self.link(&cell, self.me.index()).targets();
                self.assign(&link, &Tree::Leaf(Term::TRUE), span)
            }
            Access::StoreConditional(_, value) => {
                let linked = self.link(&cell, self.me.index()).terms().into_leaf();
                self.conditional(linked, &cell, value, into, span)
            }
            Access::Validate(_) => {
                let linked = self.link(&cell, self.me.index()).terms();
                into.map_or(Ok(()), |into| self.put(into, &linked, span))
            }
            Access::CompareAndSwap(_, old, new) => {
                let old = self.evaluate(old, false)?;
                let held = self.content(&cell).terms();
                let pairs = held.leaves().into_iter().zip(old.leaves());
                let holds = Term::and(pairs.map(|(a, b)| self.equal(a.clone(), b.clone())));
                self.conditional(holds, &cell, new, into, span)
            }
        }
    }

    fn read(
        &mut self,
        cell: &Selection<usize>,
        into: Option<&Place>,
        span: Span,
    ) -> Result<(), InstanceError> {
        let content = self.content(cell).terms();
        into.map_or(Ok(()), |into| self.put(into, &content, span))
    }

    /// Writes the cell and breaks all links to it.
    fn write(
        &mut self,
        cell: &Selection<usize>,
        value: &Expression,
        span: Span,
    ) -> Result<(), InstanceError> {
        let value = self.evaluate(value, true)?;
        self.assign(&self.content(cell).targets(), &value, span)?;
        let linked = cell.alternatives.iter().flat_map(|tree| tree.leaves());
        if linked.into_iter().all(|cell| self.memory.cells[*cell].links.is_empty()) {
            return Ok(());
        }
        for process in 0..self.size.0 {
            let link = self.link(cell, process).targets();
            self.assign(&link, &Tree::Leaf(Term::FALSE), span)?;
        }
        Ok(())
    }

    /// Writes the cell if the bit is 1, and returns the bit.
    fn conditional(
        &mut self,
        bit: Term,
        cell: &Selection<usize>,
        value: &Expression,
        into: Option<&Place>,
        span: Span,
    ) -> Result<(), InstanceError> {
        let tell = |body: &mut Self, done: Term| {
            into.map_or(Ok(()), |into| body.put(into, &Tree::Leaf(done), span))
        };
        self.choice(
            bit,
            |body| {
                body.write(cell, value, span)?;
                tell(body, Term::TRUE)
            },
            |body| tell(body, Term::FALSE),
        )
    }

    /// Returns the slots of the cells.
    fn content(&self, cell: &Selection<usize>) -> Selection<SlotId> {
        let content =
            |tree: &Tree<usize>| self.memory.cells[tree.clone().into_leaf()].content.clone();
        Selection {
            index: cell.index.clone(),
            alternatives: cell.alternatives.iter().map(content).collect(),
        }
    }

    /// Returns the links of a process to the cells.
    ///
    /// # Panics
    /// If the cells have no links: the program is not well-typed.
    fn link(&self, cell: &Selection<usize>, process: usize) -> Selection<SlotId> {
        let link = |tree: &Tree<usize>| {
            Tree::Leaf(self.memory.cells[tree.clone().into_leaf()].links[process])
        };
        Selection {
            index: cell.index.clone(),
            alternatives: cell.alternatives.iter().map(link).collect(),
        }
    }
}
