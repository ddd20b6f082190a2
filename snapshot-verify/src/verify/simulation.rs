//! A rewriting tried on random executions.
//!
//! The program of the text and the one that it is rewritten to make each step with each other: a walk of
//! one is made again by the other, move by move, in both directions. At each move the same
//! statement is executed, the same operation begins, or the same result is returned, and a fault of the one is
//! one of the other at the same place. Only what cells hold differs. The interpreter knows nothing of rewritings.

use snapshot_core::Process;

use super::schedule::Effort;
use super::subject::Subject;
use crate::interpret::{
    Client, Event, Machine, MachineError, Move, MoveError, MoveErrorKind, Roles, StepReport,
    Values, Walk, walk,
};
use crate::language::Span;
use crate::program::Program;
use crate::search::SelfCheck;

/// Walks per number of processes in a self-check, and how many moves they have.
const WALKS: u64 = 12;
const MOVES: usize = 120;

/// How far two programs were compared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Compared {
    /// Moves that both have made.
    pub moves: usize,
    /// Faults of both.
    pub faults: usize,
}

/// A move at which two programs differ.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The moves up to it.
    pub moves: Vec<String>,
    pub what: String,
}

/// Compares the two programs of a subject in random executions of 2 to 4 processes.
///
/// # Errors
/// If a program is too large for so many.
pub fn check(
    subject: &Subject<'_>,
    options: SelfCheck,
) -> Result<Result<Compared, Difference>, MachineError> {
    let mut all = Compared::default();
    for processes in 2..=4 {
        for seed in 0..WALKS {
            match compare(subject, processes, options.seed ^ seed, MOVES)? {
                Ok(compared) => {
                    all.moves += compared.moves;
                    all.faults += compared.faults;
                }
                Err(difference) => return Ok(Err(difference)),
            }
        }
    }
    Ok(Ok(all))
}

/// Compares the two programs of a subject in one random execution of each.
///
/// # Errors
/// If a program is too large for so many processes.
pub fn compare(
    subject: &Subject<'_>,
    processes: usize,
    seed: u64,
    moves: usize,
) -> Result<Result<Compared, Difference>, MachineError> {
    let machine = |program| Machine::new(program, processes);
    let [written, rewritten] = [machine(subject.written)?, machine(&subject.program)?];
    let effort = Effort { operations: None, barriers: None, active: processes };
    let pair = [0, 1].map(Process::from_index);
    let client = Client {
        values: Values::Simple(pair[0], pair[1]),
        operations: effort.most_operations(),
        each: None,
        roles: Roles::Few { first: pair, others: processes - 2 },
        updater: None,
        barriers: None,
    };
    let mut all = Compared::default();
    for [one, other] in [[&written, &rewritten], [&rewritten, &written]] {
        let made = walk(one, &client, seed, moves);
        match again(&made, other) {
            Ok(compared) => {
                all.moves += compared.moves;
                all.faults += compared.faults;
            }
            Err(difference) => return Ok(Err(difference)),
        }
    }
    Ok(Ok(all))
}

/// Makes a walk again by another program.
fn again(made: &Walk, other: &Machine<'_>) -> Result<Compared, Difference> {
    let faulty = made.faulty.as_ref();
    let moves: Vec<Move> =
        made.moves.iter().copied().chain(faulty.map(|(last, _)| *last)).collect();
    let difference = |number: usize, what: String| {
        let moves = moves.iter().take(number + 1).map(ToString::to_string).collect();
        Difference { moves, what }
    };
    let mut compared = Compared::default();
    let mut replay = other.replay(&moves);
    for (number, report) in made.execution.reports.iter().enumerate() {
        let found = match replay.next() {
            Some(Ok(scene)) => Ok(scene.report),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("nothing".to_owned()),
        };
        if !found.as_ref().is_ok_and(|found| visible(found) == visible(report)) {
            let found = found.map_or_else(|error| error, |found| format!("{:?}", visible(&found)));
            return Err(difference(number, format!("{:?}, but {found}", visible(report))));
        }
        compared.moves += 1;
    }
    if let Some((_, fault)) = faulty {
        match replay.next() {
            Some(Err(MoveError { kind: MoveErrorKind::Fault(found), .. })) if found == *fault => {
                compared.faults += 1;
            }
            other => {
                let what = format!("{fault}, but {:?}", other.map(|scene| scene.map(|_| ())));
                return Err(difference(made.execution.reports.len(), what));
            }
        }
    }
    Ok(compared)
}

/// Returns the parts of a step that both programs share.
const fn visible(report: &StepReport) -> (Process, Option<Span>, Option<&Event>) {
    (report.process, report.span, report.event.as_ref())
}

/// Whether a program is rewritten at all, and to what.
pub fn rewritten(program: &Program) -> Option<Subject<'_>> {
    Subject::all(program).into_iter().find(|subject| !subject.changes.is_empty())
}
