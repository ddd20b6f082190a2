//! Random executions, for graphs that are too large: they exercise statements, and lead far away
//! from the initial state.

use super::endings::{Hangs, Questions};
use super::{Budget, Operation, Seen, Stuck, explore};
use crate::graph::{Environment, Situation};
use crate::interpret::{Client, Event, Machine, Move, MoveKind, Scheduler, State};

/// Most moves of one walk.
const WALK: usize = 500;

/// Number of walks; operations that cannot end are searched for from their ends.
const PROBES: u64 = 8;

/// Most states explored from the end of a walk.
const PROBE: usize = 1_000;

struct Walk {
    last: State,
    situation: Situation,
    moves: Vec<Move>,
}

/// Makes one walk; `None` if it meets a fault, or is cut off. Its coverage is added in any case.
fn walk(
    machine: &Machine<'_>,
    client: &Client,
    environment: &mut Environment<'_>,
    seed: u64,
    seen: &mut Seen,
    budget: &mut Budget<'_>,
) -> Option<Walk> {
    let n = machine.processes();
    let scheduler = Scheduler::new(*client, n, seed);
    let is_even = seed.is_multiple_of(2);
    let mut scheduler = if is_even { scheduler } else { scheduler.with_long_pauses() };
    let mut state = machine.initial().clone();
    let mut situation = environment.first();
    let (mut open, mut moves) = (vec![None; n], Vec::new());
    while moves.len() < WALK && (budget.proceed)() {
        let outcomes = |process| machine.outcomes(&state, process);
        let next = scheduler.next_taking(&state, outcomes, |_, _, process| {
            let choices = environment.choices(situation, process);
            choices.map_or_else(|_| Vec::new(), |all| all.iter().map(|(call, _)| *call).collect())
        });
        let Some(made) = next else { break };
        let (process, coverage) = (made.process, &mut seen.coverage);
        let action = match made.kind {
            MoveKind::Begin(call) => {
                let choices = environment.choices(situation, process).ok()?;
                situation = situation.begun(choices.iter().find(|(choice, _)| *choice == call)?.1);
                open[process.index()] = Some(Operation::from(call));
                Some(machine.begin_covered(&mut state, process, call, Some(coverage)).ok()?)
            }
            MoveKind::Step | MoveKind::Take(_) => {
                let outcome = made.outcome();
                let action = machine.advance_covered(&mut state, process, outcome, coverage);
                let action = action.ok()?;
                if action.is_some()
                    && let Some(operation) = open[process.index()].take()
                {
                    seen.note_return(process, operation);
                }
                action
            }
        };
        if let Some(action) = action {
            situation = environment.after(situation, &Event { process, action }).ok()??;
        }
        moves.push(made);
    }
    (budget.proceed)().then_some(Walk { last: state, situation, moves })
}

/// Makes walks until everything is covered or the moves are used up.
pub fn cover(
    machine: &Machine<'_>,
    client: &Client,
    environment: &mut Environment<'_>,
    seen: &mut Seen,
    is_complete: &dyn Fn(&Seen) -> bool,
    budget: &mut Budget<'_>,
) {
    for seed in 0..(budget.moves / WALK) as u64 {
        if is_complete(seen) || !(budget.proceed)() {
            return;
        }
        walk(machine, client, environment, seed, seen, budget);
    }
}

/// Finds operations that cannot end, in graphs explored from the ends of random executions.
pub fn hangs(
    machine: &Machine<'_>,
    client: &Client,
    environment: &mut Environment<'_>,
    budget: &mut Budget<'_>,
) -> Hangs {
    // Coverage of the unbounded client is out of bounds.
    let mut unseen = Seen { coverage: machine.no_coverage(), returned: Vec::new() };
    let mut found = Hangs::default();
    for seed in 0..PROBES {
        let walked = walk(machine, client, environment, seed, &mut unseen, budget);
        let Some(Walk { last, situation, moves }) = walked else { continue };
        let proceed = &mut *budget.proceed;
        let mut probe = Budget { states: PROBE, memory: budget.memory, moves: 0, proceed };
        let mut graph = explore(machine, environment, (&last, situation), &mut unseen, &mut probe);
        let after = |stuck: Stuck| Stuck { moves: [&*moves, &*stuck.moves].concat(), ..stuck };
        let hangs = Questions::new(&mut graph).hangs(environment);
        found.waiting = found.waiting.or(hangs.waiting.map(after));
        if hangs.stuck.is_some() {
            found.stuck = hangs.stuck.map(after);
            break;
        }
    }
    found
}
