//! Coverage of a proof, as text and as JSON.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Case, TextPosition};
use crate::exercise::{Ending, Exercise, Occurrence, Operation, Stuck};
use crate::interpret::{Move, MoveKind};
use crate::language::Span;
use crate::verify::Operations;

/// Maximum number of places listed in the text.
const MOST_PLACES: usize = 8;

/// Maximum length of an execution shown on one line, in runs of moves.
const MOST_RUNS: usize = 12;

/// Returns the coverage in a line, and below it a note for each event that never happens. `with` is
/// the number of processes, if it is not shown elsewhere.
pub fn human_exercised(case: &Case<'_>, exercise: &Exercise, with: &str) -> String {
    let within = match case.request.operations {
        Operations::AtMost(1) => " with at most 1 operation by each process",
        Operations::AtMost(_) => " within the bound on operations",
        Operations::Unbounded | Operations::Grow => "",
    };
    let mut text = format!(
        "  exercised{with}{within}: {}; {}; {}\n",
        statements(exercise),
        returns(exercise),
        ending(exercise)
    );
    let place = |span: Span| case.source.place(span);
    let mut note = |note: String| text.push_str(&format!("  note: {note}\n"));
    for span in exercise.unexecuted().take(MOST_PLACES) {
        note(format!("never executed: {}: `{}`", place(span), one_line(case, span)));
    }
    let more = exercise.unexecuted().count().saturating_sub(MOST_PLACES);
    if more > 0 {
        note(format!("never executed: {more} more statements (--report json lists them)"));
    }
    for operation in operations(exercise) {
        let processes = processes(exercise, operation, Occurrence::Never);
        if !processes.is_empty() {
            let name = exercise.name_of(operation);
            note(format!("no {name} by {} ever returns", processes.join(", ")));
        }
    }
    match (&exercise.ending, &exercise.alone) {
        (Ending::Impossible(stuck), _) => note(describe(exercise, stuck, place)),
        (_, Ending::Impossible(stuck)) => note(describe_blocked(exercise, stuck, place)),
        _ => {}
    }
    if let Some(waiting) = &exercise.waiting {
        note(describe_waiting(exercise, waiting, place));
    }
    text
}

/// Returns the operations, in the order of the text.
fn operations(exercise: &Exercise) -> Vec<Operation> {
    let all: BTreeSet<Operation> =
        exercise.returns.iter().map(|(_, operation, _)| *operation).collect();
    all.into_iter().collect()
}

/// Returns text such as `all 9 statements` or `8 of 9 statements (1 not established)`.
fn statements(exercise: &Exercise) -> String {
    let count =
        |wanted| exercise.statements.iter().filter(|(_, standing)| *standing == wanted).count();
    let (all, seen, open) =
        (exercise.statements.len(), count(Occurrence::Seen), count(Occurrence::Open));
    let unknown = match open {
        0 => String::new(),
        open => format!(" ({open} not established)"),
    };
    if seen == all {
        format!("all {all} statements")
    } else {
        format!("{seen} of {all} statements{unknown}")
    }
}

/// Returns text such as `updates and scans of all processes return`.
fn returns(exercise: &Exercise) -> String {
    let count =
        |wanted| exercise.returns.iter().filter(|(.., standing)| *standing == wanted).count();
    match (count(Occurrence::Never), count(Occurrence::Open)) {
        (0, 0) if exercise.names.is_empty() => {
            "updates and scans of all processes return".to_owned()
        }
        (0, 0) => "all operations return".to_owned(),
        (0, _) => "it is not established that all operations return".to_owned(),
        _ => "not all operations return".to_owned(),
    }
}

/// Returns text such as `no operation can hang; each returns if it runs alone (obstruction-free)`.
fn ending(exercise: &Exercise) -> String {
    let hangs = match &exercise.ending {
        Ending::Impossible(_) => return "an operation can hang".to_owned(),
        Ending::Possible if exercise.waiting.is_some() => {
            "no operation can hang, save where the object itself waits"
        }
        Ending::Possible => "no operation can hang",
        Ending::Open => "no hang was found (not established)",
    };
    let alone = match &exercise.alone {
        Ending::Possible => "; each returns if it runs alone (obstruction-free)",
        Ending::Impossible(_) => "; one can wait for another process (blocking)",
        Ending::Open => "",
    };
    format!("{hangs}{alone}")
}

fn processes(exercise: &Exercise, operation: Operation, wanted: Occurrence) -> Vec<String> {
    let returns = exercise.returns.iter();
    let such = returns.filter(|(_, one, standing)| *one == operation && *standing == wanted);
    such.map(|(process, ..)| format!("p{process}")).collect()
}

/// Describes a hang, such as `after p0 update 0, the scan by p1 never ends,
/// whatever is done, at mine.snapshot:3:5`.
fn describe(exercise: &Exercise, stuck: &Stuck, place: impl Fn(Span) -> String) -> String {
    let (after, operation, at) = located(exercise, stuck, place);
    match stuck.is_deadlock {
        true => {
            format!(
                "deadlock: {after}, no operation ever ends, whatever is done; {operation} spins{at}"
            )
        }
        false => format!("{after}, {operation} never ends, whatever is done{at}"),
    }
}

/// Describes an operation that hangs unless another process takes steps.
fn describe_blocked(exercise: &Exercise, stuck: &Stuck, place: impl Fn(Span) -> String) -> String {
    let (after, operation, at) = located(exercise, stuck, place);
    format!("{after}, {operation} never ends unless another process goes on{at}")
}

/// Describes an operation that waits forever because the object requires it.
fn describe_waiting(exercise: &Exercise, stuck: &Stuck, place: impl Fn(Span) -> String) -> String {
    let (after, operation, at) = located(exercise, stuck, place);
    format!("{after}, {operation} waits for ever, as the object has it (`await`){at}")
}

/// Returns parts such as `after p0 scan, p1 scan`, `the scan by p1`, `, at mine.snapshot:3:5`.
fn located(
    exercise: &Exercise,
    stuck: &Stuck,
    place: impl Fn(Span) -> String,
) -> (String, String, String) {
    let at = stuck.at.map_or_else(String::new, |span| format!(", at {}", place(span)));
    let runs = runs(exercise, &stuck.moves);
    let after = match runs.len() {
        0..=MOST_RUNS => runs.join(", "),
        _ => format!("{} moves (--report json lists them)", stuck.moves.len()),
    };
    let (process, operation) = (stuck.process, exercise.name_of(stuck.operation));
    (format!("after {after}"), format!("the {operation} by p{process}"), at)
}

/// Returns the moves in the form of traces, with runs of steps by one process joined.
fn runs(exercise: &Exercise, moves: &[Move]) -> Vec<String> {
    let same = |a: &Move, b: &Move| a == b && a.kind == MoveKind::Step;
    let run = |run: &[Move]| match run.len() {
        1 => run[0].named(&exercise.names).to_string(),
        count => format!("{} {count}", run[0]),
    };
    moves.chunk_by(same).map(run).collect()
}

/// Returns the text of a statement, without its line ends.
fn one_line(case: &Case<'_>, span: Span) -> String {
    let words: Vec<&str> = case.source.slice(span).split_whitespace().collect();
    words.join(" ")
}

/// Coverage of a proof, as JSON.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Exercised {
    vacuous: bool,
    statements: usize,
    never_executed: Vec<TextPosition>,
    not_established: Vec<TextPosition>,
    returns: Vec<Return>,
    ending: &'static str,
    stuck: Option<StuckAt>,
    alone: &'static str,
    blocked: Option<StuckAt>,
    waiting: Option<StuckAt>,
    states: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Return {
    process: usize,
    operation: String,
    returns: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct StuckAt {
    process: usize,
    operation: String,
    deadlock: bool,
    moves: Vec<String>,
    line: Option<usize>,
    column: Option<usize>,
}

impl Exercised {
    pub fn new(case: &Case<'_>, exercise: &Exercise) -> Self {
        let places = |wanted: Occurrence| {
            let statements = exercise.statements.iter();
            let such = statements.filter(|(_, standing)| *standing == wanted);
            such.map(|(span, _)| TextPosition::new(case.source, *span, one_line(case, *span)))
                .collect()
        };
        let returns = exercise.returns.iter().map(|(process, operation, standing)| Return {
            process: process.index(),
            operation: exercise.name_of(*operation).to_owned(),
            returns: standing.name(),
        });
        let stuck = |ending: &Ending| match ending {
            Ending::Impossible(stuck) => Some(StuckAt::new(case, exercise, stuck)),
            Ending::Possible | Ending::Open => None,
        };
        Self {
            vacuous: exercise.is_vacuous(),
            statements: exercise.statements.len(),
            never_executed: places(Occurrence::Never),
            not_established: places(Occurrence::Open),
            returns: returns.collect(),
            ending: exercise.ending.name(),
            stuck: stuck(&exercise.ending),
            alone: exercise.alone.name(),
            blocked: stuck(&exercise.alone),
            waiting: exercise.waiting.as_ref().map(|stuck| StuckAt::new(case, exercise, stuck)),
            states: exercise.states,
        }
    }
}

impl StuckAt {
    fn new(case: &Case<'_>, exercise: &Exercise, stuck: &Stuck) -> Self {
        let position = stuck.at.map(|span| case.source.position(span));
        let moves = stuck.moves.iter().map(|made| made.named(&exercise.names).to_string());
        Self {
            process: stuck.process.index(),
            operation: exercise.name_of(stuck.operation).to_owned(),
            deadlock: stuck.is_deadlock,
            moves: moves.collect(),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
        }
    }
}
