//! From which counters to which values flow, and which are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::{
    Base, Index, Location, Origin, Spot, Step, Target, each, indices_of, leaves, origins,
};
use crate::program::{
    Access, Binary, CellPlace, Expression, ExpressionKind, LocalId, PrivateId, ProcedureId,
    Program, SharedId, Statement, StatementKind, Type,
};

/// A store of a counter.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Target of the flow.
    pub to: Spot,
    /// Origin of the value.
    pub from: Origin,
}

/// A comparison of two counters.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The two.
    pub sides: [Origin; 2],
}

/// What a program does with its counters.
#[derive(Debug, Default)]
pub struct Flows {
    /// The stores.
    pub flows: Vec<Flow>,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// All counters.
    locations: BTreeSet<Location>,
}

impl Flows {
    /// Of a program, as far as it copies, increases and compares counters; and whether it does no more
    /// with them.
    pub fn within(program: &Program) -> (Self, bool) {
        let mut flows = Self::default();
        let mut fits = flows.declarations(program);
        for (number, procedure) in (0..).zip(&program.procedures) {
            let procedure_id = ProcedureId(number);
            Statement::each(&procedure.body, &mut |statement| {
                let parts = statement.operands().into_iter();
                fits &= parts.fold(true, |fits, part| fits & flows.expression(procedure_id, part));
                fits &= flows.statement(program, procedure_id, statement);
            });
        }
        (flows, fits)
    }

    /// Of a program; `None` if it does more with counters than to copy, increase and compare
    /// them.
    pub fn new(program: &Program) -> Option<Self> {
        let (flows, fits) = Self::within(program);
        fits.then_some(())?;
        let is_foreign = |origin: &Origin| matches!(origin, Origin::Foreign);
        let stores = flows.flows.iter().any(|flow| is_foreign(&flow.from));
        let plain = |origin: &Origin| matches!(origin, Origin::Zero | Origin::Copy(_));
        let compares = flows.comparisons.iter().all(|one| one.sides.iter().all(plain));
        (!stores && compares).then_some(flows)
    }

    /// The declared variables; `false`: a counter in them is not 0 at first.
    fn declarations(&mut self, program: &Program) -> bool {
        let mut add = |base: Base, dimensions: usize, content: &Type| {
            for path in leaves(content) {
                let path = [vec![Step::Index; dimensions], path].concat();
                self.locations.insert(Location { base, path });
            }
        };
        for (id, variable) in (0..).map(SharedId).zip(&program.shared) {
            add(Base::Shared(id), variable.dimensions.len(), &variable.content);
        }
        for (id, variable) in (0..).map(PrivateId).zip(&program.private) {
            add(Base::Private(id), 0, &variable.content);
        }
        for (id, procedure) in (0..).map(ProcedureId).zip(&program.procedures) {
            for (local, declared) in (0..).map(LocalId).zip(&procedure.locals) {
                add(Base::Local(id, local), 0, &declared.content);
            }
            procedure.returns.iter().for_each(|content| add(Base::Result(id), 0, content));
        }
        let is_zero = |value: &Expression| {
            leaves(&value.content).iter().all(|path| {
                let found = origins(ProcedureId(0), value, path, &each(indices_of(path)));
                found.iter().all(|origin| *origin == Origin::Zero)
            })
        };
        program.initial_values().all(is_zero)
    }

    /// Notes the comparisons in an expression; `false`: it does something else with a counter.
    fn expression(&mut self, procedure: ProcedureId, value: &Expression) -> bool {
        let mut fits = true;
        value.each(&mut |part| match &part.kind {
            ExpressionKind::Binary(Binary::Equal | Binary::NotEqual, left, right) => {
                for path in leaves(&left.content) {
                    let indices = each(indices_of(&path));
                    let of = |side| origins(procedure, side, &path, &indices);
                    self.compare(&of(left), &of(right));
                }
            }
            ExpressionKind::Binary(_, left, right) => {
                fits &= !left.content.has_counters() && !right.content.has_counters();
            }
            ExpressionKind::Remainder(of, _) => fits &= !of.content.has_counters(),
            ExpressionKind::Counter(number) => fits &= *number == 0,
            _ => {}
        });
        fits
    }

    fn compare(&mut self, left: &[Origin], right: &[Origin]) {
        for one in left {
            for other in right {
                self.comparisons.push(Comparison { sides: [one.clone(), other.clone()] });
            }
        }
    }

    fn statement(&mut self, program: &Program, procedure: ProcedureId, one: &Statement) -> bool {
        match &one.kind {
            StatementKind::Assign { place, value } => {
                self.store(procedure, &Target::new(procedure, place), value);
            }
            StatementKind::Access { access, into } => {
                let cell = target(access.place());
                let content = &program.shared(access.place().variable).content;
                match access {
                    Access::Read(_) | Access::LoadLinked(_) => {
                        let place = into.iter().map(|place| Target::new(procedure, place));
                        place.for_each(|to| self.copy(&to, &cell, content));
                    }
                    Access::Write(_, value) | Access::StoreConditional(_, value) => {
                        self.store(procedure, &cell, value);
                    }
                    Access::CompareAndSwap(_, old, new) => {
                        for path in leaves(content) {
                            let indices = each(indices_of(&path));
                            let held = [Origin::Copy(cell.leaf(&path, &indices))];
                            self.compare(&held, &origins(procedure, old, &path, &indices));
                        }
                        self.store(procedure, &cell, new);
                    }
                    Access::Validate(_) => {}
                }
            }
            StatementKind::Call { procedure: callee, arguments, into } => {
                for (local, argument) in (0..).map(LocalId).zip(arguments) {
                    let to = Target::whole(Base::Local(*callee, local));
                    self.store(procedure, &to, argument);
                }
                let result = Target::whole(Base::Result(*callee));
                if let (Some(place), Some(content)) = (into, &program.procedure(*callee).returns) {
                    self.copy(&Target::new(procedure, place), &result, content);
                }
            }
            StatementKind::Return(Some(value)) => {
                self.store(procedure, &Target::whole(Base::Result(procedure)), value);
            }
            StatementKind::New { .. } | StatementKind::Choose { .. } | StatementKind::Free(_) => {
                return false;
            }
            _ => {}
        }
        true
    }

    /// The value of an expression is stored.
    fn store(&mut self, procedure: ProcedureId, to: &Target, value: &Expression) {
        let is_elsewhere = match to.base {
            Base::Local(callee, _) | Base::Result(callee) => callee != procedure,
            Base::Shared(_) | Base::Private(_) => false,
        };
        for path in leaves(&value.content) {
            let indices = each(indices_of(&path));
            for mut from in origins(procedure, value, &path, &indices) {
                if is_elsewhere && let Origin::Copy(spot) | Origin::Successor(spot) = &mut from {
                    let mine = std::mem::take(&mut spot.indices);
                    spot.indices = mine.into_iter().map(Index::elsewhere).collect();
                }
                let to = to.leaf(&path, &indices);
                self.flows.push(Flow { to, from });
            }
        }
    }

    /// What lies in one place is stored in another.
    fn copy(&mut self, to: &Target, from: &Target, content: &Type) {
        for path in leaves(content) {
            let indices = each(indices_of(&path));
            self.flows.push(Flow {
                to: to.leaf(&path, &indices),
                from: Origin::Copy(from.leaf(&path, &indices)),
            });
        }
    }

    /// The classes of counters between which values flow, or that are compared.
    pub fn classes(&self) -> Vec<BTreeSet<Location>> {
        let mut class: BTreeMap<&Location, usize> = self.locations.iter().zip(0..).collect();
        let location = |origin: &Origin| match origin {
            Origin::Copy(spot) | Origin::Successor(spot) => Some(spot.location.clone()),
            Origin::Zero | Origin::Foreign => None,
        };
        let mut pairs: Vec<[Location; 2]> = Vec::new();
        for flow in &self.flows {
            pairs.extend(location(&flow.from).map(|from| [flow.to.location.clone(), from]));
        }
        for one in &self.comparisons {
            let [left, right] = one.sides.each_ref().map(location);
            pairs.extend(left.zip(right).map(|(left, right)| [left, right]));
        }
        for [one, other] in &pairs {
            let (Some(&into), Some(&from)) = (class.get(one), class.get(other)) else { continue };
            class.values_mut().filter(|of| **of == from).for_each(|of| *of = into);
        }
        let mut classes: BTreeMap<usize, BTreeSet<Location>> = BTreeMap::new();
        for (location, number) in class {
            classes.entry(number).or_default().insert(location.clone());
        }
        classes.into_values().collect()
    }
}

/// A cell.
pub fn target(place: &CellPlace) -> Target {
    let indices: Vec<Index> = place.indices.iter().map(Index::new).collect();
    Target { base: Base::Shared(place.variable), path: vec![Step::Index; indices.len()], indices }
}
