//! Semantics of accesses to shared cells.
//!
//! LL links the caller. SC writes and breaks all links to the cell iff the caller's link is
//! unbroken. VL returns whether it is unbroken. Every write breaks all links, the writer's own
//! included, even a plain write. CAS writes iff the cell holds the expected value.

use std::sync::Arc;

use super::data::{Data, indexed, offset};
use super::fault::{Fault, FaultKind};
use super::machine::Machine;
use super::report::{AccessReport, Deed};
use super::run::Run;
use super::state::Cell;
use crate::language::Span;
use crate::program::{
    Access, CellPlace, Expression, IndexSet, NodeId, Place, SharedId, Statement, Type,
};

/// Cell of an access.
struct Target<'p> {
    /// Number of the cell among all cells.
    number: usize,
    indices: Vec<(i64, Span)>,
    /// Type of the content.
    content: &'p Type,
}

/// Effect of an access; inapplicable parts are `None`.
#[derive(Debug, Default)]
struct Effect {
    seen: Option<Data>,
    expected: Option<Data>,
    /// Written value, kept only if it is to be reported.
    written: Option<Data>,
    success: bool,
}

impl Target<'_> {
    /// Returns `a[1]` or `Node 1.next`.
    fn named(&self, machine: &Machine<'_>, variable: SharedId) -> String {
        let declared = &machine.program.shared(variable).name;
        match (machine.program.node_of_field(variable), &self.indices[..]) {
            (Some(node), [(number, _)]) => {
                let field = &declared[machine.program.node(node).name.len()..];
                format!("{}{field}", machine.heap.named(node, *number as u32))
            }
            _ => indexed(declared, self.indices.iter().map(|(index, _)| index)),
        }
    }
}

impl Cell {
    pub(super) fn write(&mut self, content: Data) {
        self.content = content;
        self.links.fill(false);
    }
}

impl<'p> Run<'_, 'p, '_> {
    /// Allocates a node at the chosen address.
    pub fn allocate(
        &mut self,
        statement: &Statement,
        node: NodeId,
        fields: &[Expression],
        into: &Place,
    ) -> Result<(), Fault> {
        let mut scope = self.scope();
        let content = fields.iter().map(|field| scope.evaluate(field));
        let content = content.collect::<Result<Vec<_>, _>>()?;
        let machine = self.machine;
        let declared = &machine.program.node(node).fields;
        let shown = self.accesses.is_some().then(|| {
            let fields = content.iter().zip(declared);
            let shown = |(data, field): (&Data, &SharedId)| {
                data.shown(&machine.program.shared(*field).content)
            };
            fields.map(shown).collect()
        });
        let allocated = machine.heap.allocate(self.cells, node, self.choice, content);
        let number = allocated.map_err(|kind| kind.at(statement.span))?;
        self.report_node(statement, (node, number), shown.map(|fields| Deed::Allocate { fields }));
        self.store(into, Data::Node { id: node, number })
    }

    /// Takes the chosen element of a set.
    pub fn choose(
        &mut self,
        statement: &Statement,
        over: IndexSet,
        into: &Place,
    ) -> Result<(), Fault> {
        let (low, high) = over.bounds(self.machine.n);
        let number = i64::from(low) + i64::from(self.choice);
        if number > i64::from(high) {
            return Err(FaultKind::NothingToChoose.at(statement.span));
        }
        let chosen = Data::Number(number);
        if let Some(accesses) = &mut self.accesses {
            accesses.push(AccessReport {
                span: statement.span,
                cell: over.plural(),
                deed: Deed::Choose { chosen: chosen.shown(&over.index_type()) },
                linearizes: false,
            });
        }
        self.store(into, chosen)
    }

    pub fn free(&mut self, statement: &Statement, pointer: &Expression) -> Result<(), Fault> {
        let (node, number) = self.scope().node(pointer)?;
        let freed = self.machine.heap.free(self.cells, node, number);
        freed.map_err(|kind| kind.at(pointer.span))?;
        self.report_node(statement, (node, number), Some(Deed::Free));
        Ok(())
    }

    fn report_node(
        &mut self,
        statement: &Statement,
        (node, number): (NodeId, u32),
        deed: Option<Deed>,
    ) {
        if let (Some(accesses), Some(deed)) = (&mut self.accesses, deed) {
            accesses.push(AccessReport {
                span: statement.span,
                cell: self.machine.heap.named(node, number),
                deed,
                linearizes: false,
            });
        }
    }

    /// Makes an access, and stores its result, if any.
    pub fn perform(
        &mut self,
        access: &'p Access,
        statement: &Statement,
        into: Option<&Place>,
    ) -> Result<(), Fault> {
        let place = access.place();
        let target = self.target(place)?;
        let effect = self.affect(access, &target)?;
        let happens = effect.happens(access);
        if let Some(accesses) = &mut self.accesses {
            accesses.push(AccessReport {
                span: statement.span,
                cell: target.named(self.machine, place.variable),
                deed: effect.deed(access, target.content),
                linearizes: false,
            });
        }
        let result = match access {
            Access::Read(_) | Access::LoadLinked(_) => effect.seen,
            Access::Write(..) => None,
            Access::StoreConditional(..) | Access::Validate(_) | Access::CompareAndSwap(..) => {
                Some(Data::Bool(effect.success))
            }
        };
        if let (Some(place), Some(data)) = (into, result) {
            self.store(place, data)?;
        }
        if happens && self.machine.is_at_points() {
            statement.mark.into_iter().for_each(|mark| self.pass(mark));
        }
        Ok(())
    }

    fn affect(&mut self, access: &'p Access, target: &Target<'p>) -> Result<Effect, Fault> {
        let me = self.me;
        let mut effect = Effect::default();
        match access {
            Access::Read(_) => effect.seen = Some(self.cells[target.number].content.clone()),
            Access::LoadLinked(_) => {
                let cell = &mut Arc::make_mut(self.cells)[target.number];
                cell.links[me] = true;
                effect.seen = Some(cell.content.clone());
            }
            Access::Write(_, value) => effect.written = self.write(target, value)?,
            Access::StoreConditional(_, value) => {
                effect.success = self.cells[target.number].links[me];
                if effect.success {
                    effect.written = self.write(target, value)?;
                }
            }
            Access::Validate(_) => effect.success = self.cells[target.number].links[me],
            Access::CompareAndSwap(_, old, new) => {
                let expected = self.scope().evaluate(old)?;
                let seen = self.cells[target.number].content.clone();
                effect.success = seen == expected;
                (effect.seen, effect.expected) = (Some(seen), Some(expected));
                if effect.success {
                    effect.written = self.write(target, new)?;
                }
            }
        }
        Ok(effect)
    }

    /// Writes a cell; returns the value if it is to be reported.
    fn write(&mut self, target: &Target<'p>, value: &Expression) -> Result<Option<Data>, Fault> {
        let data = self.scope().evaluate(value)?;
        let fits = data.fits(target.content, self.machine.n);
        debug_assert!(fits, "the front end checks what is written");
        let reported = self.accesses.is_some().then(|| data.clone());
        Arc::make_mut(self.cells)[target.number].write(data);
        Ok(reported)
    }

    fn target(&mut self, place: &CellPlace) -> Result<Target<'p>, Fault> {
        let machine = self.machine;
        let variable = machine.program.shared(place.variable);
        let mut scope = self.scope();
        let mut indices = Vec::with_capacity(place.indices.len());
        for index in &place.indices {
            indices.push((scope.index(index)?, index.span));
        }
        if let Some(node) = machine.program.node_of_field(place.variable)
            && let [(number, span)] = indices[..]
        {
            let may = machine.heap.check(self.cells, node, number);
            may.map_err(|kind| kind.at(span))?;
        }
        let first = machine.first_cells[place.variable.0 as usize];
        let number = first + row_major(&indices, &variable.dimensions, machine.n)?;
        Ok(Target { number, indices, content: &variable.content })
    }
}

impl Effect {
    /// Returns true if an operation can take effect at this access: a write that does not happen is
    /// not a linearization point.
    const fn happens(&self, access: &Access) -> bool {
        match access {
            Access::StoreConditional(..) | Access::CompareAndSwap(..) => self.success,
            Access::Read(_) | Access::Write(..) | Access::LoadLinked(_) | Access::Validate(_) => {
                true
            }
        }
    }

    /// Describes the effect for a report.
    fn deed(&self, access: &Access, content: &Type) -> Deed {
        let shown = |data: &Option<Data>| data.as_ref().map(|data| data.shown(content));
        let seen = shown(&self.seen).unwrap_or_default();
        let written = shown(&self.written);
        match access {
            Access::Read(_) => Deed::Read { seen },
            Access::Write(..) => Deed::Write { written: written.unwrap_or_default() },
            Access::LoadLinked(_) => Deed::LoadLinked { seen },
            Access::StoreConditional(..) => Deed::StoreConditional { written },
            Access::Validate(_) => Deed::Validate { linked: self.success },
            Access::CompareAndSwap(..) => {
                let expected = shown(&self.expected).unwrap_or_default();
                Deed::CompareAndSwap { expected, seen, written }
            }
        }
    }
}

/// Returns the position of a cell within its variable of these dimensions.
fn row_major(indices: &[(i64, Span)], dimensions: &[IndexSet], n: usize) -> Result<usize, Fault> {
    let mut cell = 0;
    for (&(index, span), &over) in indices.iter().zip(dimensions) {
        let (low, high) = over.bounds(n);
        let offset = offset(index, (low, high)).ok_or_else(|| {
            FaultKind::OutOfRange { given: index, low: low.into(), high: high.into() }.at(span)
        })?;
        cell = cell * (high - low + 1) as usize + offset;
    }
    Ok(cell)
}
