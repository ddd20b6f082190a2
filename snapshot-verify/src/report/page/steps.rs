//! Executions of an algorithm as steps of a page, with the effect of each step.

use std::collections::HashMap;

use snapshot_core::Process;
use snapshot_picture::page::{Change, Step, Steps};

use crate::counterexample::{legend, named_deeds};
use crate::interpret::{Execution, Fault, Holding, Machine, Move, MoveErrorKind, Owner, State};
use crate::language::{Source, Span};

/// Maximum number of steps that a page shows one by one.
const MOST_STEPS: usize = 10_000;

/// Maximum work, in memory places compared over all steps.
const MOST_WORK: usize = 4_000_000;

/// Text for a variable of a procedure that is not running.
const ABSENT: &str = "-";

/// An execution repeated for a page.
pub(super) struct Walked {
    pub steps: Steps,
    /// Effects of its moves, except of a faulty one.
    pub execution: Execution,
    pub moves: usize,
    /// Remarks on omitted parts.
    pub notes: Vec<String>,
}

/// Order of places in a table: shared memory, then for each process its position, private variables
/// and locals.
type Rank = (usize, usize, usize);

/// Places by name, with their present and initial contents.
#[derive(Default)]
struct Places {
    numbers: HashMap<String, usize>,
    rank: Vec<Rank>,
    names: Vec<String>,
    first: Vec<String>,
    now: Vec<String>,
}

impl Places {
    /// Replaces the state and returns the changes. Places missing from `state` are absent.
    fn update(&mut self, state: Vec<(Rank, String, String)>) -> Vec<Change> {
        let mut next: Vec<Option<String>> = vec![None; self.names.len()];
        for (rank, name, held) in state {
            let number = match self.numbers.get(&name) {
                Some(&number) => number,
                None => {
                    self.numbers.insert(name.clone(), self.names.len());
                    self.rank.push(rank);
                    self.names.push(name);
                    self.first.push(ABSENT.to_owned());
                    self.now.push(ABSENT.to_owned());
                    next.push(None);
                    self.names.len() - 1
                }
            };
            next[number] = Some(held);
        }
        let mut changes = Vec::new();
        for (number, held) in next.into_iter().enumerate() {
            let held = held.unwrap_or_else(|| ABSENT.to_owned());
            if held != self.now[number] {
                let old = std::mem::replace(&mut self.now[number], held.clone());
                changes.push(Change { name: self.names[number].clone(), old, new: held });
            }
        }
        changes
    }

    /// Returns every place with its initial content, in the order of the table.
    fn start(&self) -> Vec<(String, String)> {
        let mut numbers: Vec<usize> = (0..self.names.len()).collect();
        numbers.sort_by_key(|&number| (self.rank[number], number));
        numbers.into_iter().map(|k| (self.names[k].clone(), self.first[k].clone())).collect()
    }
}

fn rank(owner: &Owner) -> Rank {
    match owner {
        Owner::Shared => (0, 0, 0),
        Owner::Private(process) => (process.index() + 1, 1, 0),
        Owner::Local { process, depth, .. } => (process.index() + 1, 2, *depth),
    }
}

/// Returns a name such as `r[1]`, `p0: seq`, `p0 in scan: copy`.
fn name(holding: &Holding) -> String {
    match holding.owner {
        Owner::Shared => holding.name.clone(),
        _ => format!("{}: {}", holding.owner, holding.name),
    }
}

/// Returns the line of a place in the text, from 1.
pub(crate) fn line(source: &Source, span: Span) -> usize {
    source.position(span).0
}

/// Returns the position of a process: `idle`, `before line 7: a[me] := v`, `about to return`.
pub(crate) fn position(
    machine: &Machine<'_>,
    source: &Source,
    state: &State,
    process: Process,
) -> String {
    if state.is_idle(process.index()) {
        return "idle".to_owned();
    }
    match machine.next_text(state, process) {
        Some(span) => {
            let words: Vec<&str> = source.slice(span).split_whitespace().collect();
            format!("before line {}: {}", line(source, span), words.join(" "))
        }
        None => "about to return".to_owned(),
    }
}

/// Describes a faulty step.
pub(crate) fn faulty(fault: &Fault) -> String {
    format!("goes wrong: {fault}")
}

fn all(machine: &Machine<'_>, source: &Source, state: &State) -> Vec<(Rank, String, String)> {
    let holdings = machine.holdings(state).into_iter();
    let mut all: Vec<(Rank, String, String)> =
        holdings.map(|one| (rank(&one.owner), name(&one), one.to_string())).collect();
    for process in (0..machine.processes()).map(Process::from_index) {
        let at = position(machine, source, state, process);
        all.push(((process.index() + 1, 0, 0), format!("p{process}"), at));
    }
    all
}

/// Returns the places of a state with their contents, in the order of the table.
pub(crate) fn table(
    machine: &Machine<'_>,
    source: &Source,
    state: &State,
) -> Vec<(String, String)> {
    let mut rows = all(machine, source, state);
    rows.sort_by_key(|(rank, ..)| *rank);
    rows.into_iter().map(|(_, name, held)| (name, held)).collect()
}

/// Makes the moves. Stops at a faulty move, which becomes the last step. Impossible moves are the
/// caller's mistake: the first of them and all later moves are omitted.
pub(super) fn walk(machine: &Machine<'_>, source: &Source, moves: &[Move]) -> Walked {
    let mut state = machine.initial().clone();
    let mut places = Places::default();
    let first = all(machine, source, &state);
    let most = MOST_STEPS.min(MOST_WORK / first.len().max(1)).max(1);
    places.update(first);
    places.first.clone_from(&places.now);
    let (mut steps, mut reports, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut wrong = None;
    for (number, &made) in (1..).zip(moves) {
        match machine.make(&mut state, made) {
            Ok(report) => {
                if number <= most {
                    let changes = places.update(all(machine, source, &state));
                    let line = report.span.map_or(0, |span| line(source, span));
                    let process = report.process.index();
                    steps.push(Step { process, text: String::new(), line, changes });
                }
                reports.push(report);
            }
            Err(MoveErrorKind::Fault(fault)) => {
                wrong = Some(Step {
                    process: made.process.index(),
                    text: faulty(&fault),
                    line: line(source, fault.span),
                    changes: Vec::new(),
                });
                break;
            }
            Err(_) => break,
        }
    }
    let execution = Execution { processes: machine.processes(), reports, last: state };
    for (step, text) in steps.iter_mut().zip(named_deeds(&execution)) {
        step.text = text;
    }
    let made = execution.reports.len() + usize::from(wrong.is_some());
    if made > most {
        notes.push(format!(
            "The execution has {made} steps; the first {most} are shown one by one."
        ));
    } else {
        steps.extend(wrong);
    }
    notes.extend(legend(&execution).map(|legend| format!("{legend}.")));
    let lines = source.text().lines().map(str::to_owned).collect();
    let steps = Steps { steps, source: lines, start: places.start() };
    Walked { steps, execution, moves: made, notes }
}
