//! Properties of a program's text that a layout depends on.

use rustc_hash::FxHashSet;
use snapshot_language::program::{
    Bound, Expression, ExpressionKind, Place, ProcedureId, Program, Projection, Statement,
    StatementKind, Type, linearization,
};
use snapshot_semantics::interpret::code::{self, Instruction};

use super::Unsupported;
use crate::claim::Ghosts;

/// Returns true if a program has operations that may go wrong.
pub fn may_fail(program: &Program) -> bool {
    let locals = program.procedures.iter().flat_map(|one| &one.locals);
    let mut may = locals.map(|local| &local.initial).any(any_may_fail);
    for procedure in &program.procedures {
        Statement::each(&procedure.body, &mut |statement| {
            each_expression(statement, &mut |expression| may |= may_fail_itself(expression));
        });
    }
    may
}

/// Returns true if a first value of a variable, other than a local, may go wrong: no step computes
/// it.
pub fn may_begin_wrong(program: &Program) -> bool {
    let shared = program.shared.iter().map(|variable| &variable.initial);
    let private = program.private.iter().map(|variable| &variable.initial);
    shared.chain(private).any(any_may_fail)
}

fn any_may_fail(expression: &Expression) -> bool {
    may_fail_itself(expression) || expression.operands().into_iter().any(any_may_fail)
}

fn may_fail_itself(expression: &Expression) -> bool {
    let is_checked = matches!(
        expression.kind,
        ExpressionKind::Unwrap(_) | ExpressionKind::Checked(_) | ExpressionKind::List(..)
    );
    is_checked || may_be_outside(expression)
}

/// Returns true if a number in the text may be out of the range of its type for some n.
pub fn may_be_outside(expression: &Expression) -> bool {
    match (&expression.kind, &expression.content) {
        (ExpressionKind::Integer(bound), Type::Integer { low, high }) => {
            !(is_at_most(*low, *bound) && is_at_most(*bound, *high))
        }
        (ExpressionKind::Integer(_), _) => true,
        (ExpressionKind::Process(bound) | ExpressionKind::Segment(bound), _) => {
            !are_of_processes(*bound, *bound)
        }
        (ExpressionKind::Remainder(_, modulus) | ExpressionKind::Quotient(_, modulus), _) => {
            !is_at_most(Bound::constant(1), *modulus)
        }
        _ => false,
    }
}

/// Returns true if all values of a type are numbers of processes, for each n >= 2.
pub fn numbers_processes(content: &Type) -> bool {
    matches!(content, Type::Integer { low, high } if are_of_processes(*low, *high))
}

fn are_of_processes(low: Bound, high: Bound) -> bool {
    let last = Bound { times_n: 1, plus: -1 };
    is_at_most(Bound::constant(0), low) && is_at_most(high, last)
}

/// Returns true if one number is at most another for each n >= 2. It checks two processes; the
/// difference does not shrink.
fn is_at_most(one: Bound, another: Bound) -> bool {
    let difference = |n: i64| {
        let of = |bound: Bound| i64::from(bound.times_n) * n + i64::from(bound.plus);
        of(another) - of(one)
    };
    difference(2) >= 0 && difference(3) >= difference(2)
}

/// Calls `act` on each expression of a statement, except those in its blocks.
pub fn each_expression<'a>(statement: &'a Statement, act: &mut dyn FnMut(&'a Expression)) {
    fn down<'a>(of: &'a Expression, act: &mut dyn FnMut(&'a Expression)) {
        act(of);
        of.operands().into_iter().for_each(|operand| down(operand, act));
    }
    let place = |place: &'a Place, act: &mut dyn FnMut(&'a Expression)| {
        for projection in &place.path {
            if let Projection::Index(index) = projection {
                down(index, act);
            }
        }
    };
    match &statement.kind {
        StatementKind::Assign { place: into, value } => {
            place(into, act);
            down(value, act);
        }
        StatementKind::Access { access, into } => {
            access.operands().into_iter().for_each(|operand| down(operand, act));
            into.iter().for_each(|into| place(into, act));
        }
        StatementKind::Call { arguments, into, .. } => {
            arguments.iter().for_each(|argument| down(argument, act));
            into.iter().for_each(|into| place(into, act));
        }
        StatementKind::If { condition, .. } => down(condition, act),
        StatementKind::For { except, .. } => except.iter().for_each(|except| down(except, act)),
        StatementKind::Return(result) => result.iter().for_each(|result| down(result, act)),
        // Only objects have nodes, choices and blocks, and objects are refused.
        StatementKind::New { .. }
        | StatementKind::Free(_)
        | StatementKind::Choose { .. }
        | StatementKind::Together => {}
        StatementKind::Loop { .. }
        | StatementKind::Break
        | StatementKind::Atomic(_)
        | StatementKind::Point(_) => {}
    }
}

/// Returns the locals that are variables of loops, arrays or quantifiers: they are always kept.
pub(super) fn bound<'a>(statements: impl Iterator<Item = &'a Statement>) -> FxHashSet<usize> {
    let mut indices = FxHashSet::default();
    Statement::each(statements, &mut |statement| {
        if let StatementKind::For { variable, .. } = &statement.kind {
            indices.insert(variable.0 as usize);
        }
        each_expression(statement, &mut |expression| {
            if let ExpressionKind::Each { variable, .. }
            | ExpressionKind::Quantified { variable, .. } = &expression.kind
            {
                indices.insert(variable.0 as usize);
            }
        });
    });
    indices
}

/// Contexts in which procedures run, by number.
pub(super) struct Runs {
    /// True if the procedure's calls are ghost scans.
    pub is_ghost: Vec<bool>,
    /// True if it may run in a ghost scan.
    pub ghostly: Vec<bool>,
    /// True if it may run outside of ghost scans.
    pub outside: Vec<bool>,
}

/// Returns the contexts in which the procedures of a program run.
pub(super) fn runs(program: &Program, ghosts: Ghosts) -> Result<Runs, Unsupported> {
    let count = program.procedures.len();
    let (mut is_ghost, mut ghostly) = (vec![false; count], vec![false; count]);
    match ghosts {
        Ghosts::Scans | Ghosts::Rounds => is_ghost[program.scan().0 as usize] = true,
        Ghosts::Calls => {
            let calls = code::compile(program);
            for operation in [program.update(), program.scan()] {
                for instruction in &calls[operation.0 as usize].instructions {
                    if let Instruction::Call { procedure, .. } = instruction {
                        let view = Some(Type::view());
                        is_ghost[procedure.0 as usize] |=
                            program.procedure(*procedure).returns == view;
                    }
                }
            }
        }
    }
    let reached =
        |from: usize| linearization::reached(&program.procedures, ProcedureId(from as u32));
    for ghost in (0..count).filter(|ghost| is_ghost[*ghost]) {
        ghostly.iter_mut().zip(reached(ghost)).for_each(|(all, one)| *all |= one);
    }
    // A procedure that runs both within and outside of ghost scans calls no ghost scan.
    let mut outside = vec![false; count];
    let mut waiting = match ghosts {
        Ghosts::Scans | Ghosts::Rounds => vec![program.update().0 as usize],
        Ghosts::Calls => vec![program.update().0 as usize, program.scan().0 as usize],
    };
    while let Some(procedure) = waiting.pop() {
        if std::mem::replace(&mut outside[procedure], true) {
            continue;
        }
        Statement::each(&program.procedures[procedure].body, &mut |statement| {
            if let StatementKind::Call { procedure, .. } = statement.kind
                && !is_ghost[procedure.0 as usize]
            {
                waiting.push(procedure.0 as usize);
            }
        });
    }
    let calls_one =
        |from: usize| reached(from).iter().zip(&is_ghost).any(|(one, two)| *one && *two);
    let is_mixed = (0..count).any(|one| outside[one] && ghostly[one] && calls_one(one));
    if !is_ghost.contains(&true) || is_mixed {
        return Err(Unsupported("ghost scans of this kind"));
    }
    Ok(Runs { is_ghost, ghostly, outside })
}
