//! What the executions of a program exercise: a proof about executions in which
//! nothing happens says nothing.
//!
//! Beer, Ben-David, Eisner and Rodeh, *Efficient detection of vacuity in temporal
//! model checking*, FMSD 2001, call a proof vacuous if a part of the formula or the
//! model does not matter for it. For the atomic snapshot, and for objects that a text declares,
//! these questions are enough:
//!
//! * which statements of the text are executed;
//! * which operations of which processes return;
//! * whether an operation can always still end: whether from each reachable state
//!   some continuation returns it (`AG (open -> EF returned)`, in CTL). If no
//!   continuation returns any operation at all, that is a deadlock; as processes wait
//!   by spinning, there is always a step, and never a state without successors;
//! * whether it ends if only its own process goes on, in each reachable state: obstruction-freedom
//!   (Herlihy, Luchangco and Moir, ICDCS 2003). An algorithm with a lock blocks.
//!
//! An operation of an object may have to wait (`await`), and no continuation of the object
//! itself may return it: two processes both take from an empty queue. That is no fault of the
//! algorithm, and told apart ([`Exercise::waiting`]).
//!
//! **Reductions preserve none of these**: slicing drops statements, fused steps and
//! ample sets drop states, and what is left for the observer says nothing of what each process can
//! still return. So this module asks the interpreter, which runs the text as it is, and
//! the state graph of a client that writes one value only: a data-independent program
//! does not look at values, so it takes the same ways whatever they are. Of an object, the client
//! is that of the proof.
//!
//! That graph may be too large, or infinite. So answers have three values. *Seen* rests
//! on an execution. *Never* rests on all states: it is only said of a graph that was
//! explored to its end. All else is [`Occurrence::Open`]. An operation that cannot end is
//! found in a partial graph, too: its future is closed, and explored, or it is not
//! reported.
//!
//! With a bound on operations, statements and returns are those of executions within
//! the bound. That an operation cannot end is asked without a bound: it might be
//! waiting for one that the bound forbids.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `graph` | states and steps of the interpreter, breadth-first |
//! | `environment` | what may begin where, and whether an object itself makes processes wait |
//! | `endings` | which operations can still end, backwards over a graph |
//! | `walks` | random executions, where the graph is too large |

mod endings;
mod environment;
mod graph;
mod walks;

use snapshot_core::Process;

use crate::interpret::{Call, Client, Coverage, Machine, Move, Sequential};
use crate::language::Span;
use crate::program::OperationId;
use endings::Hangs;
use environment::Environment;
use graph::{Node, StateGraph};

/// What may be spent. All but `proceed` is counted, so that answers are the same
/// everywhere.
pub struct Budget<'a> {
    /// The most states of a graph.
    pub states: usize,
    /// About the most bytes of a graph.
    pub memory: usize,
    /// The most moves of random executions.
    pub moves: usize,
    /// Asked from time to time; `false` ends everything, and what is not known by then
    /// is open.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// Whether something happens.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Occurrence {
    /// It does, in some execution.
    Seen,
    /// It does not, in any execution.
    Never,
    /// Neither is established.
    Open,
}

/// An operation, whatever its arguments.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// `update`
    Update,
    /// `scan`
    Scan,
    /// One of an object that the text declares.
    Declared(OperationId),
}

/// What executions exercise.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exercise {
    /// The statements of the text that do something, in its order: whether they are
    /// executed.
    pub statements: Vec<(Span, Occurrence)>,
    /// The operations that the client begins: whether they return.
    pub returns: Vec<(Process, Operation, Occurrence)>,
    /// Whether an operation can always still end, where the object lets it.
    pub ending: Ending,
    /// Whether an operation ends if only its process goes on: obstruction-freedom.
    pub alone: Ending,
    /// An operation that the object itself keeps waiting for ever (`await`), if one was found.
    pub waiting: Option<Stuck>,
    /// The names of the operations, if the text declares an object.
    pub names: Vec<String>,
    /// The states of the largest graph that was explored.
    pub states: usize,
}

/// Whether an operation can always still end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// In every state, each open operation returns in some continuation.
    Possible,
    /// There is a state in which an open operation returns in no such continuation.
    Impossible(Stuck),
    /// No such state was found, but not all were explored.
    Open,
}

/// An operation that returns in no continuation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stuck {
    /// An execution that leads there.
    pub moves: Vec<Move>,
    /// The process of the operation.
    pub process: Process,
    /// Which one.
    pub operation: Operation,
    /// The access that the process is about to make.
    pub at: Option<Span>,
    /// Whether no continuation returns any operation, of any process: a deadlock.
    pub is_deadlock: bool,
}

impl Occurrence {
    /// Its name, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Never => "never",
            Self::Open => "open",
        }
    }
}

impl Ending {
    /// Its name, for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Impossible(_) => "impossible",
            Self::Open => "open",
        }
    }
}

impl From<Call> for Operation {
    fn from(call: Call) -> Self {
        match call {
            Call::Update(_) => Self::Update,
            Call::Scan => Self::Scan,
            Call::Operation(call) => Self::Declared(call.operation),
        }
    }
}

impl Exercise {
    /// Whether something is certainly not exercised, so that a proof says less than it
    /// seems to.
    pub fn is_vacuous(&self) -> bool {
        matches!(self.ending, Ending::Impossible(_))
            || self.unexecuted().next().is_some()
            || self.returns.iter().any(|(.., standing)| *standing == Occurrence::Never)
    }

    /// The name of an operation.
    pub fn name_of(&self, operation: Operation) -> &str {
        match operation {
            Operation::Update => "update",
            Operation::Scan => "scan",
            Operation::Declared(id) => self.names.get(id.0 as usize).map_or("?", String::as_str),
        }
    }

    /// The statements that are never executed.
    pub fn unexecuted(&self) -> impl Iterator<Item = Span> {
        let statements = self.statements.iter();
        statements.filter(|(_, standing)| *standing == Occurrence::Never).map(|(span, _)| *span)
    }
}

/// What has been seen so far.
#[derive(Clone, Debug)]
struct Seen {
    coverage: Coverage,
    /// The operations that returned.
    returned: Vec<(Process, Operation)>,
}

impl Seen {
    fn note_return(&mut self, process: Process, operation: Operation) {
        if !self.returned.contains(&(process, operation)) {
            self.returned.push((process, operation));
        }
    }
}

/// What the executions of a client exercise. At most 64 processes.
///
/// The client is to write a single value, if the program does not look at values.
pub fn exercise(machine: &Machine<'_>, client: &Client, budget: &mut Budget<'_>) -> Exercise {
    let n = machine.processes();
    let environment = |client| Environment::of_snapshot(client, n);
    let calls = |process| client.calls(&client.start(n), process, n);
    exercised(machine, client, &environment, &calls, budget)
}

/// The same, of an object that the text declares. Of the client, the values, the operations and the
/// processes that take part count.
///
/// # Panics
/// If the object is not that of the machine's program, for as many processes.
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

/// `environment`: that of a client; `calls`: what a process may begin at first, were it not for
/// the state of the object.
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
    let first = Node::initial(machine, &bounded);
    let graph = StateGraph::explore(machine, &mut bounded, first, &mut seen, budget);
    let begun: Vec<(Process, Operation)> = (0..n)
        .map(Process::from_index)
        .flat_map(|process| {
            let mut operations: Vec<_> = calls(process).into_iter().map(Operation::from).collect();
            operations.dedup();
            operations.into_iter().map(move |operation| (process, operation))
        })
        .collect();
    let unbounded = Client { operations: None, ..*client };
    let endings = match client.operations {
        None => Endings::of(&graph, &unbounded, &mut bounded, budget),
        Some(_) => {
            // What it executes is out of bounds.
            let mut unseen = seen.clone();
            let mut environment = environment(unbounded);
            let first = Node::initial(machine, &environment);
            let environment = &mut environment;
            let graph = StateGraph::explore(machine, environment, first, &mut unseen, budget);
            Endings::of(&graph, &unbounded, environment, budget)
        }
    };
    if !graph.is_exhaustive() {
        let is_complete = |seen: &Seen| {
            let statements = machine.statements(&seen.coverage);
            statements.iter().all(|(_, executed)| *executed) && seen.returned.len() == begun.len()
        };
        walks::cover(machine, client, &mut bounded, &mut seen, &is_complete, budget);
    }
    let otherwise = if graph.is_exhaustive() { Occurrence::Never } else { Occurrence::Open };
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
        states: endings.states.max(graph.states()),
    }
}

/// Whether operations can end.
struct Endings {
    ending: Ending,
    alone: Ending,
    waiting: Option<Stuck>,
    /// The states from which it is known.
    states: usize,
}

impl Endings {
    /// In all executions of a client without a bound, as far as they were explored.
    fn of(
        graph: &StateGraph<'_, '_>,
        client: &Client,
        environment: &mut Environment<'_>,
        budget: &mut Budget<'_>,
    ) -> Self {
        let Hangs { mut stuck, mut waiting, mut is_open } = graph.hangs(environment);
        let is_exhaustive = graph.is_exhaustive();
        if stuck.is_none() && !is_exhaustive {
            let after = walks::hangs(graph.machine, client, environment, budget);
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
            alone: ending(graph.waits_for_others(), !is_exhaustive),
            waiting,
            states: graph.states(),
        }
    }
}
