//! Search for static linearization points: statements at which operations take effect.
//!
//! For a snapshot, only updates have points. A point must have an effect visible to others, so the
//! candidates are the accesses that write, in the procedures that `update` reaches and `scan` does
//! not (in a procedure that both reach, it would be a point of both). The text does not tell which
//! of them are valid: each set of up to [`MOST_TOGETHER`] candidates is marked, and refinement
//! checks that every update passes exactly one of them and scans can take effect anywhere
//! (docs/verification.md). The smallest sets that hold are the answer; larger ones are not tried
//! then.
//!
//! A set that holds shows that the algorithm is linearizable in the explored executions. If no set
//! holds, nothing follows: not every algorithm has static points (those of Herlihy and Wing's
//! queue, TOPLAS 1990, depend on later events).
//!
//! For an object, each operation has points (`object`).

mod object;

pub use object::{ObjectPoints, OperationPoints, find_object_points};

use std::time::{Duration, Instant};

use super::{Measures, Method, Operations, Request, Verdict, VerifyError, Watch, verify};
use crate::deadline::Deadline;
use crate::language::Span;
use crate::program::linearization::reached;
use crate::program::{Mark, ProcedureId, Program, Statement, StatementKind};
use crate::refine::Techniques;

/// Maximum size of a set of statements among which an update passes one.
pub const MOST_TOGETHER: usize = 3;

/// Maximum number of candidates; of more, the first of the text are tried.
pub const MOST_CANDIDATES: usize = 16;

/// Budget and bounds of the trials.
#[derive(Clone, Debug)]
pub struct Trials {
    /// Numbers of processes; each is tried only with sets that held for those before.
    pub sizes: Vec<usize>,
    /// Operations that each process begins.
    pub operations: Operations,
    /// For an object, the number of values passed to operations.
    pub values: Option<u32>,
    /// Memory limit of a search in bytes.
    pub memory: u64,
    /// Time limit for all searches together.
    pub time: Option<Duration>,
}

impl Trials {
    /// Returns the deadline.
    fn end(&self) -> Option<Instant> {
        self.time.map(|time| Instant::now() + time)
    }
}

/// A set of statements, and its results.
#[derive(Clone, Debug)]
pub struct Trial {
    /// In the order of the text.
    pub statements: Vec<Span>,
    /// Per number of processes, as far as tried.
    pub answers: Vec<(usize, PointsAnswer)>,
}

/// Whether updates take effect at a set of statements.
#[derive(Clone, Debug)]
pub enum PointsAnswer {
    /// They do in all explored executions.
    Hold(Measures),
    /// They do not in one execution; as a sentence.
    Misplaced(String),
    Open,
    /// The algorithm itself is wrong.
    Wrong,
}

impl Trial {
    /// Returns true if the set holds for all requested numbers of processes.
    pub fn holds(&self) -> bool {
        self.answers.iter().all(|(_, answer)| matches!(answer, PointsAnswer::Hold(_)))
    }

    /// Returns true if the set was not decided.
    pub fn is_open(&self) -> bool {
        self.answers.iter().any(|(_, answer)| matches!(answer, PointsAnswer::Open))
    }

    /// Returns true if an execution shows that the algorithm itself is wrong.
    pub fn is_wrong(&self) -> bool {
        self.answers.iter().any(|(_, answer)| matches!(answer, PointsAnswer::Wrong))
    }
}

/// Returns the statements that write, in procedures that updates reach and scans do not.
///
/// # Panics
/// If the program is not a snapshot.
pub fn candidates(program: &Program) -> Vec<Span> {
    accesses(program, program.update(), writes)
}

/// Returns the first [`MOST_CANDIDATES`] statements of one operation, in procedures that no other
/// operation reaches, in the order of the text.
fn accesses(
    program: &Program,
    operation: ProcedureId,
    accepts: fn(&Statement) -> bool,
) -> Vec<Span> {
    let mut found = Vec::new();
    for (procedure, owner) in program.procedures.iter().zip(owners(program)) {
        if owner != Some(operation) {
            continue;
        }
        Statement::each(&procedure.body, &mut |statement| {
            if accepts(statement) && !found.contains(&statement.span) {
                found.push(statement.span);
            }
        });
    }
    found.sort_by_key(|span| span.begin);
    found.truncate(MOST_CANDIDATES);
    found
}

/// Returns, per procedure, the only operation that reaches it.
fn owners(program: &Program) -> Vec<Option<ProcedureId>> {
    let operations: Vec<(ProcedureId, Vec<bool>)> = (0..program.procedures.len() as u32)
        .map(ProcedureId)
        .filter(|procedure| program.is_operation(*procedure))
        .map(|operation| (operation, reached(&program.procedures, operation)))
        .collect();
    let owner = |procedure: usize| {
        let mut reaching = operations.iter().filter(|(_, reached)| reached[procedure]);
        let (operation, _) = reaching.next()?;
        reaching.next().is_none().then_some(*operation)
    };
    (0..program.procedures.len()).map(owner).collect()
}

fn writes(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Access { access, .. } if access.writes())
}

/// Tries the sets of candidates, smaller ones first, until some of one size hold. Returns all sets
/// tried, in order.
///
/// # Errors
/// If the request cannot be met, or this program turns out to be wrong.
///
/// # Panics
/// If the program is not a snapshot.
pub fn find_points(
    program: &Program,
    trials: &Trials,
    watch: &dyn Watch,
) -> Result<Vec<Trial>, VerifyError> {
    let candidates = candidates(program);
    let end = trials.end();
    let mut tried = Vec::new();
    for size in 1..=MOST_TOGETHER.min(candidates.len()) {
        for statements in subsets(&candidates, size) {
            let trial = attempt(program, statements, writes, trials, end, watch)?;
            let is_last = trial.is_wrong() || trial.is_open() && is_over(end, watch);
            tried.push(trial);
            if is_last {
                return Ok(tried);
            }
        }
        if tried.iter().any(Trial::holds) {
            break;
        }
    }
    Ok(tried)
}

/// Returns true if time is up: sets not yet tried are open.
fn is_over(end: Option<Instant>, watch: &dyn Watch) -> bool {
    Deadline::new(end, Some(watch.stop())).is_over()
}

fn attempt(
    program: &Program,
    statements: Vec<Span>,
    accepts: fn(&Statement) -> bool,
    trials: &Trials,
    end: Option<Instant>,
    watch: &dyn Watch,
) -> Result<Trial, VerifyError> {
    let program = marked(program, &statements, accepts);
    let mut answers = Vec::new();
    for &processes in &trials.sizes {
        if is_over(end, watch) {
            answers.push((processes, PointsAnswer::Open));
            break;
        }
        let means = Techniques { points: true, ..Techniques::ALL };
        let request = Request {
            method: Method::Refinement(means),
            operations: trials.operations,
            values: trials.values,
            memory: trials.memory,
            time: end.map(|end| end.saturating_duration_since(Instant::now())),
            ..Request::new(processes)
        };
        let outcomes = verify(&program, true, &request, watch)?;
        let answer = together(outcomes.into_iter().map(|one| (one.verdict, one.measures)));
        let holds = matches!(answer, PointsAnswer::Hold(_));
        answers.push((processes, answer));
        if !holds {
            break;
        }
    }
    Ok(Trial { statements, answers })
}

/// Combines the outcomes of all pairs; a refutation takes precedence.
fn together(outcomes: impl Iterator<Item = (Verdict, Measures)>) -> PointsAnswer {
    let mut all = Measures::default();
    let mut is_open = false;
    let mut misplaced = None;
    for (verdict, measures) in outcomes {
        match verdict {
            Verdict::Verified | Verdict::Refused => {
                all.states += measures.states;
                all.transitions += measures.transitions;
                all.explorations += measures.explorations;
            }
            Verdict::Misplaced(found) => {
                misplaced.get_or_insert_with(|| found.argument());
            }
            Verdict::Unknown(_) => is_open = true,
            Verdict::Violation(_) | Verdict::ObjectViolation(_) | Verdict::Fault(_) => {
                return PointsAnswer::Wrong;
            }
        }
    }
    match misplaced {
        Some(why) => PointsAnswer::Misplaced(why),
        None if is_open => PointsAnswer::Open,
        None => PointsAnswer::Hold(all),
    }
}

/// Marks these statements as linearization points in a program without points.
fn marked(program: &Program, points: &[Span], accepts: fn(&Statement) -> bool) -> Program {
    let owners = owners(program);
    let mut program = program.clone();
    for (procedure, owner) in program.procedures.iter_mut().zip(owners) {
        Statement::each_mut(&mut procedure.body, &mut |statement| {
            let is_point = owner.is_some() && points.contains(&statement.span);
            statement.mark = (is_point && accepts(statement)).then_some(Mark::Always);
        });
    }
    program
}

/// Returns all subsets of this size, in order.
fn subsets(of: &[Span], size: usize) -> Vec<Vec<Span>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with_first = |(first, span): (usize, &Span)| {
        let rest = subsets(&of[first + 1..], size - 1);
        rest.into_iter().map(|rest| [vec![*span], rest].concat()).collect::<Vec<_>>()
    };
    of.iter().enumerate().flat_map(with_first).collect()
}
