//! Random executions, where the graph of all is too large: they show what happens, and
//! lead far away from the initial state.

use super::graph::{Node, StateGraph};
use super::{Budget, Operation, Seen, Stuck};
use crate::interpret::{Client, Machine, Move, MoveKind, Scheduler, State};

/// The moves of one walk, at most.
const WALK: usize = 500;

/// Walks; from their ends, operations that cannot end are searched for.
const PROBES: u64 = 8;

/// The most states from the end of a walk on.
const PROBE: usize = 1_000;

/// A random execution.
struct Walk {
    last: State,
    /// What each process has open.
    open: Vec<Option<Operation>>,
    moves: Vec<Move>,
}

/// One walk; `None` if it goes wrong, or has to end.
fn walk(
    machine: &Machine<'_>,
    client: &Client,
    seed: u64,
    seen: &mut Seen,
    budget: &mut Budget<'_>,
) -> Option<Walk> {
    let n = machine.processes();
    let scheduler = Scheduler::new(*client, n, seed);
    let is_even = seed.is_multiple_of(2);
    let mut scheduler = if is_even { scheduler } else { scheduler.with_long_pauses() };
    let mut state = machine.initial().clone();
    let (mut open, mut moves) = (vec![None; n], Vec::new());
    while moves.len() < WALK && (budget.proceed)() {
        let Some(made) = scheduler.next(&state) else { break };
        let (process, coverage) = (made.process, &mut seen.coverage);
        match made.kind {
            MoveKind::Begin(call) => {
                open[process.index()] = Some(Operation::from(call));
                machine.begin_covered(&mut state, process, call, Some(coverage)).ok()?;
            }
            MoveKind::Step | MoveKind::Take(_) => {
                if machine.advance_covered(&mut state, process, coverage).ok()?.is_some()
                    && let Some(operation) = open[process.index()].take()
                {
                    seen.note_return(process, operation);
                }
            }
        }
        moves.push(made);
    }
    (budget.proceed)().then_some(Walk { last: state, open, moves })
}

/// Walks until all is covered or the moves are used up.
pub fn cover(
    machine: &Machine<'_>,
    client: &Client,
    seen: &mut Seen,
    is_complete: &dyn Fn(&Seen) -> bool,
    budget: &mut Budget<'_>,
) {
    for seed in 0..(budget.moves / WALK) as u64 {
        if is_complete(seen) || walk(machine, client, seed, seen, budget).is_none() {
            return;
        }
    }
}

/// An operation that cannot end, in what comes after random executions.
pub fn stuck(machine: &Machine<'_>, client: &Client, budget: &mut Budget<'_>) -> Option<Stuck> {
    // What is executed after an execution out of bounds is out of bounds.
    let mut unseen = Seen { coverage: machine.no_coverage(), returned: Vec::new() };
    (0..PROBES).find_map(|seed| {
        let Walk { last, open, mut moves } = walk(machine, client, seed, &mut unseen, budget)?;
        let proceed = &mut *budget.proceed;
        let mut probe = Budget { states: PROBE, memory: budget.memory, moves: 0, proceed };
        let first = Node::first(machine, client, &last, open);
        let graph = StateGraph::explore(machine, client, first, &mut unseen, &mut probe);
        let stuck = graph.stuck()?;
        moves.extend(stuck.moves);
        Some(Stuck { moves, ..stuck })
    })
}
