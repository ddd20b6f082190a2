//! Contribution of each statement to a proof: the program is verified once more without it.
//!
//! A proof says that an algorithm is right, not why. So each statement is replaced by `skip`, each
//! condition by one that always or never holds, each `atomic` block is split into its steps, and
//! the changed program is verified again. A violation says what the statement prevents; a proof
//! says that the statement does nothing for linearizability. This is mutation analysis (DeMillo,
//! Lipton and Sayward, 1978) with a verifier for the tests: a mutant that survives is equivalent
//! with respect to the question.
//!
//! The answers come from [`verify`], so each violation was replayed by the interpreter and judged.
//! A change that is not decided within a number of states is reported as open.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Operations, Outcome, Request, Verdict, VerifyError, Watch, exercised, verify};
use crate::exercise::{Ending, Occurrence};
use crate::language::tree::{Expression, Statement, StatementKind};
use crate::language::{Algorithm, Diagnostics, Span, parse};
use crate::program::independence;

/// Maximum number of changes. In longer texts the first ones are tried, in order.
const MOST: usize = 400;

/// Number of states for the search of a changed program.
const STATES: u64 = 200_000;

/// A change of the text, and its consequence.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub span: Span,
    pub change: Change,
    /// Verdict on the changed program.
    pub without: Without,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// The statement is replaced by `skip`.
    LeftOut,
    AlwaysTrue,
    AlwaysFalse,
    /// The `atomic` block is split into its steps.
    Apart,
}

/// Verdict on a program without a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Without {
    /// The text is invalid, or cannot be verified; the first error.
    NoProgram(String),
    /// Linearizability is violated, in an execution of this many steps.
    Violation(usize),
    /// The program has a run-time fault.
    Fault(String),
    /// The program is verified, but an operation can hang, or no operation returns.
    Hangs,
    /// The program is verified as before.
    Verified,
    /// The program looks at values, so simple executions are not representative.
    Refused,
    /// Not decided within the states or the time given.
    Open,
}

impl Change {
    const fn replacement(self) -> &'static str {
        match self {
            Self::LeftOut => "skip",
            Self::AlwaysTrue => "true",
            Self::AlwaysFalse => "false",
            Self::Apart => "if true:",
        }
    }
}

/// Returns the contribution of each statement and condition of a verified algorithm, in the order
/// of the text. `time` limits all of them together; each has the same number of states.
///
/// If the number of operations is unbounded, the changed programs are searched by growing bounds,
/// which finds violations soon.
///
/// # Errors
/// If this program turns out to be wrong.
pub fn contributions(
    algorithm: &Algorithm,
    request: &Request,
    time: Option<Duration>,
    watch: &dyn Watch,
) -> Result<Vec<Contribution>, VerifyError> {
    let Ok(tree) = algorithm.tree(None) else { return Ok(Vec::new()) };
    let mut changes = Vec::new();
    for procedure in &tree.procedures {
        collect(&procedure.body, &mut changes);
    }
    changes.sort_by_key(|(span, change)| (*span, *change as u8));
    changes.truncate(MOST);
    let end = time.and_then(|time| Instant::now().checked_add(time));
    let mut found = Vec::with_capacity(changes.len());
    for (span, change) in changes {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let is_late = left.is_some_and(|left| left.is_zero());
        let is_over = is_late || watch.stop().load(Ordering::Relaxed);
        let without = match is_over {
            true => Without::Open,
            false => match changed(algorithm, span, change) {
                Err(why) => Without::NoProgram(why),
                Ok(changed) => without(&changed, request, left, watch)?,
            },
        };
        found.push(Contribution { span, change, without });
    }
    Ok(found)
}

/// Collects the changes of statements and conditions.
fn collect(statements: &[Statement], changes: &mut Vec<(Span, Change)>) {
    let condition = |condition: &Expression, changes: &mut Vec<(Span, Change)>| {
        changes.push((condition.span, Change::AlwaysTrue));
        changes.push((condition.span, Change::AlwaysFalse));
    };
    for statement in statements {
        let whole =
            statement.mark.as_ref().map_or(statement.span, |mark| statement.span.to(mark.span));
        match &statement.kind {
            StatementKind::Assign(..)
            | StatementKind::TakeApart(..)
            | StatementKind::Do(_)
            | StatementKind::Exit
            | StatementKind::Free(_)
            | StatementKind::Together
            | StatementKind::Choose(..)
            | StatementKind::Return(_) => changes.push((whole, Change::LeftOut)),
            StatementKind::If(branches, otherwise) => {
                for (test, body) in branches {
                    condition(test, changes);
                    collect(body, changes);
                }
                collect(otherwise.as_deref().unwrap_or_default(), changes);
            }
            StatementKind::Repeat(body, until) => {
                collect(body, changes);
                changes.push((until.span, Change::AlwaysTrue));
            }
            StatementKind::While(test, body) => {
                changes.push((test.span, Change::AlwaysFalse));
                collect(body, changes);
            }
            StatementKind::Loop(body) | StatementKind::For(_, body) => collect(body, changes),
            StatementKind::Atomic(body) => {
                changes.push((statement.span, Change::Apart));
                collect(body, changes);
            }
            StatementKind::Skip => {}
        }
    }
}

/// Returns the changed algorithm without its bugs and expectations, which may no longer fit; or the
/// error in its text.
fn changed(original: &Algorithm, span: Span, change: Change) -> Result<Algorithm, String> {
    let source = original.source();
    let text = source.text();
    let (begin, end) = (span.begin as usize, span.end as usize);
    let (Some(before), Some(after)) = (text.get(..begin), text.get(end..)) else {
        return Err("it is no part of the text".to_owned());
    };
    let changed = format!("{before}{}{after}", change.replacement());
    let mut is_left_out = false;
    let mut kept = String::with_capacity(changed.len());
    for line in changed.lines() {
        if !line.starts_with([' ', '#']) && !line.is_empty() {
            is_left_out = line.starts_with("bug ") || line.starts_with("expect ");
        }
        if !is_left_out {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    let mut algorithm = parse(source.name(), &kept).map_err(|found| first(&found))?;
    if let Some(size) = original.size() {
        algorithm = algorithm.with_size(size).map_err(|found| first(&found))?;
    }
    algorithm.program(None).map_err(|found| first(&found))?;
    Ok(algorithm)
}

fn first(found: &Diagnostics) -> String {
    found.iter().next().map_or_else(String::new, ToString::to_string)
}

/// Verifies a changed algorithm, as the original one was.
fn without(
    changed: &Algorithm,
    request: &Request,
    time: Option<Duration>,
    watch: &dyn Watch,
) -> Result<Without, VerifyError> {
    let program = match request.method.program(changed, None) {
        Ok(program) => program,
        Err(found) => return Ok(Without::NoProgram(first(&found))),
    };
    let operations = match request.operations {
        Operations::Unbounded => Operations::Grow,
        bounded => bounded,
    };
    let began = Instant::now();
    let request =
        Request { operations, time, states: Some(STATES), keep_going: false, ..request.clone() };
    let is_data_independent = independence::check(&program).is_ok();
    let outcomes = match verify(&program, is_data_independent, &request, watch) {
        Ok(outcomes) => outcomes,
        Err(error) if error.is_ours() => return Err(error),
        // The program is too large, for instance.
        Err(error) => return Ok(Without::NoProgram(error.to_string())),
    };
    let wrong = outcomes.iter().find_map(|outcome| match &outcome.verdict {
        Verdict::Violation(counterexample) => {
            Some(Without::Violation(counterexample.moves().len()))
        }
        Verdict::ObjectViolation(counterexample) => {
            Some(Without::Violation(counterexample.moves().len()))
        }
        Verdict::Fault(fault) => Some(Without::Fault(fault.fault.to_string())),
        _ => None,
    });
    if let Some(wrong) = wrong {
        return Ok(wrong);
    }
    let all = |is: fn(&Verdict) -> bool| outcomes.iter().all(|one: &Outcome| is(&one.verdict));
    if all(|verdict| matches!(verdict, Verdict::Refused)) {
        return Ok(Without::Refused);
    }
    if !all(|verdict| matches!(verdict, Verdict::Verified)) {
        return Ok(Without::Open);
    }
    let left = time.map(|time| time.saturating_sub(began.elapsed()));
    let exercise = exercised(&program, &request, left, watch)?;
    let never = exercise.returns.iter().any(|(.., standing)| *standing == Occurrence::Never);
    match (&exercise.ending, never) {
        (Ending::Impossible(_), _) | (_, true) => Ok(Without::Hangs),
        _ => Ok(Without::Verified),
    }
}
