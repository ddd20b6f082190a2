//! Checks that each increase stores the successor of the root's present content.
//!
//! The analysis computes, per point of a procedure, the locals that certainly hold the present
//! content of the root, or its successor. The present content is known from the kind of store:
//! * a cell in which only its owner stores holds the owner's latest read since its last store;
//! * within one step, the cell holds the value read in that step;
//! * at an SC, the cell holds the value of the latest LL, or the SC stores nothing;
//! * at a CAS, the cell holds the expected value, or the CAS stores nothing.
//!
//! It is a must-analysis of structured statements: a join keeps the facts of all ways, and a loop
//! the greatest set of facts that its body keeps.

use std::collections::BTreeSet;

use super::root::{Root, RootKind};
use crate::program::counters::flows::target;
use crate::program::counters::origin::{
    Base, Index, Location, Origin, Spot, Target, each, indices_of, leaves, origins,
};
use crate::program::{
    Access, Expression, ProcedureId, Program, SharedId, Statement, StatementKind,
};

/// Returns true if each increase of a root stores the successor of its present content.
pub fn holds(program: &Program, root: &Root) -> bool {
    let Base::Shared(variable) = root.location.base else {
        // A private variable is increased where it is.
        return true;
    };
    let touching = touching(program, variable);
    (0..program.procedures.len() as u32).map(ProcedureId).all(|procedure| {
        let mut walk = Walk {
            program,
            root,
            variable,
            procedure,
            touching: &touching,
            is_atomic: false,
            breaks: Vec::new(),
            fits: true,
        };
        walk.block(&program.procedure(procedure).body, Some(Known::default()));
        walk.fits
    })
}

/// Per procedure, whether a call of it may store in a variable or link to it.
fn touching(program: &Program, variable: SharedId) -> Vec<bool> {
    let mut touching = vec![false; program.procedures.len()];
    loop {
        let before = touching.clone();
        for (number, procedure) in program.procedures.iter().enumerate() {
            Statement::each(&procedure.body, &mut |statement| match &statement.kind {
                StatementKind::Access { access, .. } => {
                    let links = matches!(access, Access::LoadLinked(_));
                    let touches = access.writes() || links;
                    touching[number] |= touches && access.place().variable == variable;
                }
                StatementKind::Call { procedure, .. } => {
                    touching[number] |= touching[procedure.0 as usize];
                }
                _ => {}
            });
        }
        if touching == before {
            return touching;
        }
    }
}

/// Facts about the locals of a procedure.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Known {
    /// Locals that hold the present content of the root.
    current: BTreeSet<Location>,
    /// Locals that hold its successor.
    next: BTreeSet<Location>,
    /// Locals that hold the value of the latest LL.
    linked: BTreeSet<Location>,
    /// Locals that hold its successor.
    next_linked: BTreeSet<Location>,
}

impl Known {
    fn sets(&mut self) -> [&mut BTreeSet<Location>; 4] {
        [&mut self.current, &mut self.next, &mut self.linked, &mut self.next_linked]
    }

    /// Returns the facts that both have.
    fn meet(mut self, mut other: Self) -> Self {
        for (mine, other) in self.sets().into_iter().zip(other.sets()) {
            mine.retain(|location| other.contains(location));
        }
        self
    }

    /// Forgets the content that was seen.
    fn forget_content(&mut self) {
        self.current.clear();
        self.next.clear();
    }

    fn forget_links(&mut self) {
        self.linked.clear();
        self.next_linked.clear();
    }

    /// Forgets a part of a variable.
    fn overwrite(&mut self, to: &Target) {
        let overlaps = |location: &Location| {
            location.base == to.base && location.path.iter().zip(&to.path).all(|(a, b)| a == b)
        };
        self.sets().into_iter().for_each(|set| set.retain(|location| !overlaps(location)));
    }
}

/// Returns the facts behind two ways; `None` is a way that no execution takes.
fn join(one: Option<Known>, other: Option<Known>) -> Option<Known> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.meet(other)),
        (known, None) | (None, known) => known,
    }
}

struct Walk<'a> {
    program: &'a Program,
    root: &'a Root,
    variable: SharedId,
    procedure: ProcedureId,
    touching: &'a [bool],
    is_atomic: bool,
    /// Facts at the end of each enclosing loop.
    breaks: Vec<Option<Known>>,
    fits: bool,
}

impl Walk<'_> {
    fn block(&mut self, statements: &[Statement], known: Option<Known>) -> Option<Known> {
        statements.iter().try_fold(known?, |known, statement| self.statement(statement, known))
    }

    fn is_owned(&self) -> bool {
        self.root.kind == RootKind::Owned
    }

    fn statement(&mut self, statement: &Statement, mut known: Known) -> Option<Known> {
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                self.assign(&Target::new(self.procedure, place), value, &mut known);
            }
            StatementKind::Access { access, into } => {
                let into = into.as_ref().map(|place| Target::new(self.procedure, place));
                self.access(access, into.as_ref(), &mut known);
            }
            StatementKind::Call { procedure, into, .. } => {
                if self.touching[procedure.0 as usize] {
                    known = Known::default();
                }
                let into = into.as_ref().map(|place| Target::new(self.procedure, place));
                into.iter().for_each(|to| known.overwrite(to));
            }
            StatementKind::If { then, otherwise, .. } => {
                let then = self.block(then, Some(known.clone()));
                return join(then, self.block(otherwise, Some(known)));
            }
            StatementKind::Loop { body } => return self.repeated(body, known, false),
            StatementKind::For { body, .. } => return self.repeated(body, known, true),
            StatementKind::Break => {
                if self.is_atomic && !self.is_owned() {
                    known.forget_content();
                }
                if let Some(left) = self.breaks.last_mut() {
                    *left = join(left.take(), Some(known));
                }
                return None;
            }
            StatementKind::Return(_) => return None,
            StatementKind::Atomic(body) => return self.atomic(body, known),
            StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Choose { .. }
            | StatementKind::Point(_)
            | StatementKind::Together => {}
        }
        Some(known)
    }

    /// Walks a block in one step: the values that it reads are present until its end.
    fn atomic(&mut self, body: &[Statement], mut known: Known) -> Option<Known> {
        let is_outermost = !std::mem::replace(&mut self.is_atomic, true);
        let forgets = is_outermost && !self.is_owned();
        if forgets {
            known.forget_content();
        }
        let mut behind = self.block(body, Some(known));
        if is_outermost {
            self.is_atomic = false;
        }
        if forgets {
            behind.iter_mut().for_each(Known::forget_content);
        }
        behind
    }

    /// Walks a loop to the facts at each beginning of its body. A loop over indices may end there,
    /// any other only by `break`.
    fn repeated(&mut self, body: &[Statement], known: Known, may_end: bool) -> Option<Known> {
        let mut at_begin = known;
        loop {
            let fits = self.fits;
            // A `break` within a `for` leaves the loop around it.
            if !may_end {
                self.breaks.push(None);
            }
            let behind = self.block(body, Some(at_begin.clone()));
            let left = if may_end { None } else { self.breaks.pop().flatten() };
            let next =
                behind.map_or_else(|| at_begin.clone(), |behind| at_begin.clone().meet(behind));
            if next == at_begin {
                return if may_end { Some(at_begin) } else { left };
            }
            // With fewer facts at the beginning, the body is judged again.
            (self.fits, at_begin) = (fits, next);
        }
    }

    /// The origins of the counter of the root in the value of an expression, by the paths to all counters.
    fn origins(&self, value: &Expression) -> Vec<(Vec<super::Step>, Vec<Origin>)> {
        let of = |path: Vec<super::Step>| {
            let found = origins(self.procedure, value, &path, &each(indices_of(&path)));
            (path, found)
        };
        leaves(&value.content).into_iter().map(of).collect()
    }

    fn assign(&mut self, to: &Target, value: &Expression, known: &mut Known) {
        let before = known.clone();
        let all = self.origins(value);
        known.overwrite(to);
        for (path, found) in all {
            let spot = to.leaf(&path, &each(indices_of(&path)));
            let is_pending = self.root.pending.contains(&spot.location);
            let mut is_next = false;
            if let ([origin], true) = (found.as_slice(), spot.indices.is_empty()) {
                let held = match origin {
                    Origin::Copy(from) => [
                        (&before.current, &mut known.current, from),
                        (&before.next, &mut known.next, from),
                        (&before.linked, &mut known.linked, from),
                        (&before.next_linked, &mut known.next_linked, from),
                    ]
                    .into_iter()
                    .collect::<Vec<_>>(),
                    Origin::Successor(from) => vec![
                        (&before.current, &mut known.next, from),
                        (&before.linked, &mut known.next_linked, from),
                    ],
                    Origin::Zero | Origin::Foreign => Vec::new(),
                };
                for (before, after, from) in held {
                    if is_plain(from) && before.contains(&from.location) {
                        after.insert(spot.location.clone());
                        is_next |= matches!(origin, Origin::Successor(_));
                    }
                }
            }
            self.fits &= !is_pending || is_next;
        }
    }

    fn access(&mut self, access: &Access, into: Option<&Target>, known: &mut Known) {
        let place = access.place();
        if place.variable != self.variable {
            into.iter().for_each(|to| known.overwrite(to));
            return;
        }
        let cell = target(place);
        match access {
            Access::Read(_) | Access::LoadLinked(_) => {
                let links = matches!(access, Access::LoadLinked(_));
                if links {
                    known.forget_links();
                }
                let Some(to) = into else { return };
                known.overwrite(to);
                // The counter of the root within the value read.
                let within = self.root.location.path[place.indices.len()..].to_vec();
                let spot = to.leaf(&within, &each(indices_of(&within)));
                let is_own = self.is_owned() && cell.indices == [Index::Me];
                if !is_plain(&spot) || (self.is_owned() && !is_own) {
                    return;
                }
                if is_own || self.is_atomic {
                    known.current.insert(spot.location.clone());
                }
                if links {
                    known.linked.insert(spot.location);
                }
            }
            Access::Write(_, value) => self.write(value, known),
            Access::StoreConditional(_, value) => {
                let stored = self.stored(value);
                let by_link = stored.iter().all(|origin| {
                    !self.is_owned() && is_of(origin, [&known.linked, &known.next_linked])
                });
                if !by_link {
                    self.write(value, known);
                }
                known.forget_content();
                known.forget_links();
                into.iter().for_each(|to| known.overwrite(to));
            }
            Access::CompareAndSwap(_, old, new) => {
                let (expected, stored) = (self.stored(old), self.stored(new));
                let by_content = stored.iter().all(|origin| match (origin, expected.as_slice()) {
                    (Origin::Copy(spot) | Origin::Successor(spot), [Origin::Copy(held)]) => {
                        spot == held
                    }
                    _ => false,
                });
                if !by_content {
                    self.write(new, known);
                }
                known.forget_content();
                into.iter().for_each(|to| known.overwrite(to));
            }
            Access::Validate(_) => into.iter().for_each(|to| known.overwrite(to)),
        }
    }

    /// Returns the origins of the root's counter in a value stored in one of its cells.
    fn stored(&self, value: &Expression) -> Vec<Origin> {
        let dimensions = self.program.shared(self.variable).dimensions.len();
        let within = &self.root.location.path[dimensions..];
        origins(self.procedure, value, within, &each(indices_of(within)))
    }

    /// Walks an unconditional store: the content must be known, so no other process may store in
    /// between.
    fn write(&mut self, value: &Expression, known: &mut Known) {
        let stored = self.stored(value);
        self.fits &= stored.iter().all(|origin| is_of(origin, [&known.current, &known.next]));
        let keeps = |origin: &Origin| matches!(origin, Origin::Copy(spot) if known.current.contains(&spot.location));
        if stored.is_empty() || !stored.iter().all(keeps) {
            known.forget_content();
            if let [Origin::Copy(spot)] = stored.as_slice() {
                known.current.insert(spot.location.clone());
            }
        }
    }
}

/// Returns true if a counter lies in a local outside of arrays.
fn is_plain(spot: &Spot) -> bool {
    spot.indices.is_empty() && matches!(spot.location.base, Base::Local(..))
}

/// Returns true if an origin is a copy of a content, or its successor, given the locals that hold
/// the content and the locals that hold its successor.
fn is_of(origin: &Origin, [held, next]: [&BTreeSet<Location>; 2]) -> bool {
    match origin {
        Origin::Copy(spot) => {
            is_plain(spot) && (held.contains(&spot.location) || next.contains(&spot.location))
        }
        Origin::Successor(spot) => is_plain(spot) && held.contains(&spot.location),
        Origin::Zero | Origin::Foreign => false,
    }
}
