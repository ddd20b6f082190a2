//! A Boolean cell that processes take and give back names who took it.
//!
//! A lock is taken by `CAS(X, false, true)`, `TAS(X)` or `SC(X, true)`, and given back by `X := false`.
//! That the lock is held says nothing of who holds it, so a view of a third process cannot exclude
//! that it does. In the rewritten program the cell holds `none` for false, and for true the
//! process that made it so.
//!
//! **Simulation.** Contents are related if one is false and the other `none`, or one is true and the other
//! any process. Each access keeps them so:
//! 1. what is read is turned into a Boolean at once: it is not `none`;
//! 2. a write of e writes `none` if e is false, and the writer if it is true; a TAS of a cell that is taken
//!    leaves it as it is, and so does one of the rewritten program, which has no links to break;
//! 3. SC and VL depend on links only;
//! 4. a CAS compares with `false` literally, which only `none` is related to: it succeeds in both
//!    or in neither.
//!
//! So the control, the results and the faults are the same whichever processes are named, and whoever gives the
//! cell back. A CAS that expects anything but the literal `false` is outside of the form, as is a cell that
//! is `true` at first, which no process has taken.

use super::{Change, Form};
use crate::language::Span;
use crate::program::{
    Access, Binary, CellKind, Expression, ExpressionKind, Local, LocalId, Place, Program, Root,
    SharedId, SharedVariable, Statement, StatementKind, Type,
};

/// Rewrites all cells of the form.
pub(super) fn rewrite(program: &Program) -> Option<(Program, Vec<Change>)> {
    let ids = (0..program.shared.len() as u32).map(SharedId);
    let owned: Vec<SharedId> = ids.filter(|id| is_lock(program, *id)).collect();
    let change = |id: &SharedId| {
        let variable = program.shared(*id);
        Change { form: Form::Owner, variable: variable.name.clone(), span: variable.span }
    };
    let changes: Vec<Change> = owned.iter().map(change).collect();
    if changes.is_empty() {
        return None;
    }
    let mut rewritten = program.clone();
    for id in &owned {
        let variable = &mut rewritten.shared[id.0 as usize];
        variable.content = owner();
        variable.initial = none(variable.initial.span);
    }
    for procedure in &mut rewritten.procedures {
        let locals = &mut procedure.locals;
        let mut rewriting = Rewriting { owned: &owned, shared: &program.shared, locals };
        procedure.body = rewriting.block(std::mem::take(&mut procedure.body), false);
    }
    Some((rewritten, changes))
}

/// Whether a variable is a family of Boolean cells that are free at first, are taken and given
/// back, and of which no CAS expects anything but false.
fn is_lock(program: &Program, id: SharedId) -> bool {
    let variable = program.shared(id);
    let is_free = matches!(variable.initial.kind, ExpressionKind::Bool(false));
    if variable.content != Type::Bool || variable.cell == CellKind::Register || !is_free {
        return false;
    }
    let (mut is_taken, mut is_given_back, mut fits) = (false, false, true);
    let bodies = program.procedures.iter().flat_map(|procedure| &procedure.body);
    Statement::each(bodies, &mut |statement| {
        let block = match &statement.kind {
            StatementKind::Atomic(block) => block.as_slice(),
            StatementKind::Access { .. } => std::slice::from_ref(statement),
            _ => return,
        };
        let mut was_read = false;
        for access in block.iter().filter_map(|one| access_to(one, id)) {
            match access {
                Access::Read(_) => was_read = true,
                Access::CompareAndSwap(_, old, new) => {
                    fits &= is_literal(old, false);
                    is_taken |= is_literal(new, true);
                }
                Access::StoreConditional(_, value) => is_taken |= is_literal(value, true),
                Access::Write(_, value) => {
                    is_taken |= was_read && is_literal(value, true);
                    is_given_back |= is_literal(value, false);
                }
                Access::LoadLinked(_) | Access::Validate(_) => {}
            }
        }
    });
    fits && is_taken && is_given_back
}

/// The access that a statement makes to this variable.
fn access_to(statement: &Statement, id: SharedId) -> Option<&Access> {
    match &statement.kind {
        StatementKind::Access { access, .. } if access.place().variable == id => Some(access),
        _ => None,
    }
}

const fn is_literal(value: &Expression, truth: bool) -> bool {
    matches!(value.kind, ExpressionKind::Bool(one) if one == truth)
}

fn owner() -> Type {
    Type::Optional(Box::new(Type::Process))
}

const fn of_owner(kind: ExpressionKind, content: Type, span: Span) -> Expression {
    Expression { kind, content, span }
}

fn none(span: Span) -> Expression {
    of_owner(ExpressionKind::None, owner(), span)
}

fn me(span: Span) -> Expression {
    let me = of_owner(ExpressionKind::Me, Type::Process, span);
    of_owner(ExpressionKind::Some(Box::new(me)), owner(), span)
}

/// Whether the executing process takes the cell, whatever it holds.
const fn is_me(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Some(_))
}

/// Whether a local names a process.
fn is_taken(local: LocalId, span: Span) -> Expression {
    let held = of_owner(ExpressionKind::Local(local), owner(), span);
    let kind = ExpressionKind::Binary(Binary::NotEqual, Box::new(held), Box::new(none(span)));
    of_owner(kind, Type::Bool, span)
}

fn choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    let span = condition.span;
    let kind = ExpressionKind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
    of_owner(kind, owner(), span)
}

/// The owner of a cell that becomes this truth value.
fn owner_of(value: Expression) -> Expression {
    let span = value.span;
    match value.kind {
        ExpressionKind::Bool(false) => none(span),
        ExpressionKind::Bool(true) => me(span),
        _ => choice(value, me(span), none(span)),
    }
}

/// A statement that is executed only if a local names no process.
fn unless_taken(local: LocalId, statement: Statement) -> Statement {
    let span = statement.span;
    let condition = ExpressionKind::Not(Box::new(is_taken(local, span)));
    let condition = of_owner(condition, Type::Bool, span);
    let kind = StatementKind::If { condition, then: vec![statement], otherwise: Vec::new() };
    Statement { kind, span, mark: None }
}

/// Rewrites the statements of a procedure.
struct Rewriting<'a> {
    owned: &'a [SharedId],
    /// The shared variables.
    shared: &'a [SharedVariable],
    locals: &'a mut Vec<Local>,
}

impl Rewriting<'_> {
    fn block(&mut self, statements: Vec<Statement>, is_step: bool) -> Vec<Statement> {
        // Of TAS and its like: the cell that was read at the beginning of the step, and what it held.
        let mut held: Option<(SharedId, LocalId)> = None;
        let mut block = Vec::new();
        for mut statement in statements {
            match &mut statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    for part in [then, otherwise] {
                        *part = self.block(std::mem::take(part), false);
                    }
                }
                StatementKind::Loop { body } | StatementKind::For { body, .. } => {
                    *body = self.block(std::mem::take(body), false);
                }
                StatementKind::Atomic(body) => *body = self.block(std::mem::take(body), true),
                StatementKind::Access { access, into }
                    if self.owned.contains(&access.place().variable) =>
                {
                    let before = held.take();
                    let (cell, value) = (access.place().variable, self.access(access));
                    let is_taking = matches!(access, Access::Write(_, value) if is_me(value));
                    // A write to an LL/SC cell breaks links, whatever it writes.
                    let is_single = access.place().indices.is_empty()
                        && self.shared[cell.0 as usize].cell == CellKind::Swappable;
                    if let Some(value) = value {
                        held = (is_step && is_single).then_some((cell, value));
                        let span = statement.span;
                        let place =
                            into.replace(Place { root: Root::Local(value), path: Vec::new() });
                        block.push(statement);
                        block.extend(place.map(|place| Statement {
                            kind: StatementKind::Assign { place, value: is_taken(value, span) },
                            span,
                            mark: None,
                        }));
                        continue;
                    }
                    if let Some((_, local)) = before.filter(|(one, _)| *one == cell && is_taking) {
                        block.push(unless_taken(local, statement));
                        continue;
                    }
                }
                // What a cell held is no longer known behind anything but local computation.
                StatementKind::Assign { .. } => {}
                _ => held = None,
            }
            block.push(statement);
        }
        block
    }

    /// Rewrites an access; of one that reads the cell, the local that gets what it holds.
    fn access(&mut self, access: &mut Access) -> Option<LocalId> {
        let variable = access.place().variable;
        let take = |value: &mut Expression| {
            let span = value.span;
            *value = owner_of(std::mem::replace(value, none(span)));
        };
        match access {
            Access::Read(place) | Access::LoadLinked(place) => {
                let span = place.span;
                return Some(self.hidden(variable, span));
            }
            Access::Write(_, value) | Access::StoreConditional(_, value) => take(value),
            Access::CompareAndSwap(_, old, new) => {
                *old = none(old.span);
                take(new);
            }
            Access::Validate(_) => {}
        }
        None
    }

    fn hidden(&mut self, variable: SharedId, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        let name = self.shared[variable.0 as usize].name.clone();
        let (content, initial) = (owner(), none(span));
        self.locals.push(Local { name, span, content, initial, hidden: true });
        id
    }
}
