//! Coverage of a program's executions. A proof about executions that do nothing is vacuous.
//!
//! Beer, Ben-David, Eisner and Rodeh, *Efficient detection of vacuity in temporal model checking*,
//! FMSD 2001, call a proof vacuous if a part of the formula or the model does not matter for it.
//! For the atomic snapshot, and for objects that a text declares, these questions suffice:
//!
//! * which statements of the text are executed;
//! * which operations of which processes return;
//! * whether an operation can always still end: whether from each reachable state some continuation
//!   returns it (`AG (open -> EF returned)`, in CTL). If no continuation returns any operation, the
//!   state is a deadlock. Processes wait by spinning, so there is always a step, and never a state
//!   without successors;
//! * whether an operation ends if only its own process makes steps, in each reachable state:
//!   obstruction-freedom (Herlihy, Luchangco and Moir, ICDCS 2003). An algorithm with a lock
//!   blocks.
//!
//! An operation of an object may have to wait (`await`), and possibly no continuation of the object
//! itself returns it: for example, if two processes both take from an empty queue. This is not a
//! fault of the algorithm, and is reported apart ([`Exercise::waiting`]).
//!
//! **Reductions do not preserve these properties**: slicing drops statements, fused steps and
//! ample sets drop states, and the reduced program does not tell which operations can still return.
//! So this module runs the unreduced text in the interpreter, under a client that writes one value
//! only: a data-independent program does not look at values, so it takes the same branches for all
//! of them. For an object, the client is the client of the proof.
//!
//! The state graph may be too large, or infinite. So answers have three values. *Seen* rests on an
//! execution. *Never* rests on all states: it requires a graph that was explored to its end.
//! Otherwise the answer is [`Occurrence::Open`]. An operation that cannot end is found in a partial
//! graph, too: it is reported only if its future is closed and explored.
//!
//! With a bound on operations, statements and returns concern executions within the bound. Whether
//! an operation can end is decided without a bound: it might wait for an operation that the bound
//! forbids.
//!
//! | file | content |
//! | --- | --- |
//! | `graph` | states and steps of the interpreter, breadth-first |
//! | `environment` | operations that may begin, and whether an object itself makes processes wait |
//! | `endings` | which operations can still end, backwards over a graph |
//! | `walks` | random executions, where the graph is too large |

mod endings;
mod walks;

use snapshot_core::Process;

use crate::graph::{Environment, Graph, Label, Limits, Nobody, Situation, Techniques};
pub use crate::interpret::Operation;
use crate::interpret::{Call, Client, Coverage, Machine, Move, Sequential, State};
use crate::language::Span;
use endings::{Hangs, Questions};

/// Limits on the cost. All but `proceed` are counts, so that answers are the same on every machine.
pub struct Budget<'a> {
    /// Most states of a graph.
    pub states: usize,
    /// Approximate maximum of the bytes of a graph.
    pub memory: usize,
    /// Most moves of random executions.
    pub moves: usize,
    /// Called periodically; `false` ends the work, and all remaining answers are open.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Occurrence {
    /// In some execution.
    Seen,
    /// In no execution.
    Never,
    /// Not established.
    Open,
}

/// Coverage of a program's executions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exercise {
    /// Statements of the text with an effect, in its order, and whether they are executed.
    pub statements: Vec<(Span, Occurrence)>,
    /// Operations that the client begins, and whether they return.
    pub returns: Vec<(Process, Operation, Occurrence)>,
    /// Whether an operation can always still end, if the object lets it.
    pub ending: Ending,
    /// Whether an operation ends if only its process makes steps: obstruction-freedom.
    pub alone: Ending,
    /// An operation that the object itself keeps waiting for ever (`await`), if one was found.
    pub waiting: Option<Stuck>,
    /// Names of the declared operations; empty for a snapshot.
    pub names: Vec<String>,
    /// Number of states of the largest explored graph.
    pub states: usize,
}

/// Whether an operation can always still end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// In every state, each open operation returns in some continuation.
    Possible,
    /// In some state, an open operation returns in no such continuation.
    Impossible(Stuck),
    /// No such state was found, but some states were not explored.
    Open,
}

/// An operation that returns in no continuation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stuck {
    /// Execution that leads to the state.
    pub moves: Vec<Move>,
    pub process: Process,
    pub operation: Operation,
    /// Access that the process is about to make.
    pub at: Option<Span>,
    /// True if no continuation returns an operation of any process: a deadlock.
    pub is_deadlock: bool,
}

impl Occurrence {
    /// Name for machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Never => "never",
            Self::Open => "open",
        }
    }
}

impl Ending {
    /// Name for machine-readable output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Impossible(_) => "impossible",
            Self::Open => "open",
        }
    }
}

impl Exercise {
    /// Returns true if the executions certainly leave something unexercised, so that a proof says
    /// less than it seems to.
    pub fn is_vacuous(&self) -> bool {
        matches!(self.ending, Ending::Impossible(_))
            || self.unexecuted().next().is_some()
            || self.returns.iter().any(|(.., standing)| *standing == Occurrence::Never)
    }

    pub fn name_of(&self, operation: Operation) -> &str {
        match operation {
            Operation::Update => "update",
            Operation::Scan => "scan",
            Operation::Declared(id) => self.names.get(id.0 as usize).map_or("?", String::as_str),
        }
    }

    /// Returns the statements that are never executed.
    pub fn unexecuted(&self) -> impl Iterator<Item = Span> {
        let statements = self.statements.iter();
        statements.filter(|(_, standing)| *standing == Occurrence::Never).map(|(span, _)| *span)
    }
}

/// Coverage so far.
#[derive(Clone, Debug)]
struct Seen {
    coverage: Coverage,
    returned: Vec<(Process, Operation)>,
}

impl Seen {
    fn note_return(&mut self, process: Process, operation: Operation) {
        if !self.returned.contains(&(process, operation)) {
            self.returned.push((process, operation));
        }
    }
}

/// Determines the coverage of a client's executions, for at most 64 processes.
///
/// If the program does not look at values, the client should write a single value.
pub fn exercise(machine: &Machine<'_>, client: &Client, budget: &mut Budget<'_>) -> Exercise {
    let n = machine.processes();
    let environment = |client| Environment::of_snapshot(client, n);
    let calls = |process| client.calls(&client.start(n), process, n);
    exercised(machine, client, &environment, &calls, budget)
}

/// Determines the coverage for an object that the text declares. Of the client, only the values,
/// the operations and the participating processes count.
///
/// # Panics
/// If the machine and the object differ in the number of processes.
pub fn exercise_object<'p>(
    machine: &Machine<'_>,
    sequential: &Sequential<'p>,
    client: &Client,
    budget: &mut Budget<'_>,
) -> Exercise {
    let n = machine.processes();
    assert_eq!(n, sequential.processes(), "one n for both");
    let environment = |client| Environment::of_object(client, sequential);
    let calls = |process| client.calls_of_object(sequential, &client.start(n), process);
    exercised(machine, client, &environment, &calls, budget)
}

/// Determines the coverage. `environment` creates the environment of a client; `calls` returns the
/// operations of a process in the initial state, guards of the object disregarded.
fn exercised<'p>(
    machine: &Machine<'_>,
    client: &Client,
    environment: &dyn Fn(Client) -> Environment<'p>,
    calls: &dyn Fn(Process) -> Vec<Call>,
    budget: &mut Budget<'_>,
) -> Exercise {
    let n = machine.processes();
    let mut seen = Seen { coverage: machine.no_coverage(), returned: Vec::new() };
    let mut bounded = environment(*client);
    let first = (machine.initial(), bounded.first());
    let mut graph = explore(machine, &mut bounded, first, &mut seen, budget);
    let begun: Vec<(Process, Operation)> = (0..n)
        .map(Process::from_index)
        .flat_map(|process| {
            let mut operations: Vec<_> = calls(process).into_iter().map(Operation::from).collect();
            operations.dedup();
            operations.into_iter().map(move |operation| (process, operation))
        })
        .collect();
    let unbounded = Client { operations: None, each: None, ..*client };
    let endings = match client.is_bounded() {
        false => Endings::new(&mut graph, &unbounded, &mut bounded, budget),
        true => {
            // Coverage of the unbounded client is out of bounds.
            let mut unseen = seen.clone();
            let mut environment = environment(unbounded);
            let first = (machine.initial(), environment.first());
            let environment = &mut environment;
            let mut graph = explore(machine, environment, first, &mut unseen, budget);
            Endings::new(&mut graph, &unbounded, environment, budget)
        }
    };
    if !graph.is_complete() {
        let is_complete = |seen: &Seen| {
            let statements = machine.statements(&seen.coverage);
            statements.iter().all(|(_, executed)| *executed) && seen.returned.len() == begun.len()
        };
        walks::cover(machine, client, &mut bounded, &mut seen, &is_complete, budget);
    }
    let otherwise = if graph.is_complete() { Occurrence::Never } else { Occurrence::Open };
    let standing = |is_seen| if is_seen { Occurrence::Seen } else { otherwise };
    let statements = machine.statements(&seen.coverage).into_iter();
    let statements = statements.map(|(span, executed)| (span, standing(executed))).collect();
    let returns = begun.into_iter().map(|(process, operation)| {
        (process, operation, standing(seen.returned.contains(&(process, operation))))
    });
    Exercise {
        statements,
        returns: returns.collect(),
        ending: endings.ending,
        alone: endings.alone,
        waiting: endings.waiting,
        names: machine.program().operation_names(),
        states: endings.states.max(graph.len()),
    }
}

/// Explores the states reachable from one, as far as the budget allows. Adds the executed statements
/// and returns to `seen`.
fn explore<'m, 'p>(
    machine: &'m Machine<'p>,
    environment: &mut Environment<'_>,
    first: (&State, Situation),
    seen: &mut Seen,
    budget: &mut Budget<'_>,
) -> Graph<'m, 'p> {
    let means = Techniques::default();
    let states = Graph::states_of(machine, means).covering(seen.coverage.clone());
    let mut graph = Graph::new(states, means, first, &mut Nobody);
    let Budget { states, memory, proceed, .. } = budget;
    let mut limits = Limits { states: *states, memory: *memory, proceed: &mut **proceed };
    graph.grow(environment, &mut Nobody, usize::MAX, &mut limits);
    if let Some(coverage) = graph.states().take_coverage() {
        seen.coverage = coverage;
    }
    for number in 0..graph.expanded() as u32 {
        let labels: Vec<Label> = graph.from(number).map(|edge| edge.label).collect();
        for label in labels {
            if label.returns()
                && let Some(operation) = graph.prospect(number, label.process()).operation
            {
                seen.note_return(label.process(), operation);
            }
        }
    }
    graph
}

/// Answers whether operations can end.
struct Endings {
    ending: Ending,
    alone: Ending,
    waiting: Option<Stuck>,
    /// Number of explored states.
    states: usize,
}

impl Endings {
    /// Answers for a client without a bound, from the explored executions.
    fn new(
        graph: &mut Graph<'_, '_>,
        client: &Client,
        environment: &mut Environment<'_>,
        budget: &mut Budget<'_>,
    ) -> Self {
        let (is_exhaustive, states, machine) = (graph.is_complete(), graph.len(), graph.machine());
        let mut questions = Questions::new(graph);
        let Hangs { mut stuck, mut waiting, mut is_open } = questions.hangs(environment);
        let alone = questions.waits_for_others();
        if stuck.is_none() && !is_exhaustive {
            let after = walks::hangs(machine, client, environment, budget);
            (stuck, waiting) = (after.stuck, waiting.or(after.waiting));
            is_open = true;
        }
        let ending = |found: Option<Stuck>, is_open| match found {
            Some(stuck) => Ending::Impossible(stuck),
            None if is_open => Ending::Open,
            None => Ending::Possible,
        };
        Self {
            ending: ending(stuck, is_open),
            alone: ending(alone, !is_exhaustive),
            waiting,
            states,
        }
    }
}
