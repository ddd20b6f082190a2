//! Progress of operations: wait-freedom, lock-freedom, obstruction-freedom, and under weak fairness
//! freedom from deadlock and from starvation, decided on the finite graph of a client's executions.
//!
//! Definitions, with proofs in `docs/progress.md`; a step *within* an operation is neither its
//! invocation nor its response:
//!
//! * an operation of process p is *obstruction-free* if no cycle consists of steps of p within it;
//! * the object is *lock-free* if no cycle consists of steps within operations;
//! * an operation of p is *wait-free* if no cycle on which it is open has a step of p;
//! * the object is *deadlock-free* if no cycle of steps within operations has steps of all processes
//!   with an open operation; an operation of p is *starvation-free* if no cycle on which it is open
//!   has a step of p and of each process with an open operation there.
//!
//! The outcomes of `choose` belong to the scheduler. A property that only they violate holds with
//! fair choices ([`Standing::WithFairChoices`]). Cycles through states in which the object itself
//! lets the operation wait (`await`) are no violations; they are reported separately.
//!
//! | file | content |
//! | --- | --- |
//! | `cycles` | cycles of a part of a graph |
//! | `bound` | most accesses of wait-free operations |
//! | `lasso` | infinite executions, for replay |

mod bound;
mod cycles;
mod lasso;

use snapshot_core::Process;

use crate::graph::{Edge, Environment, Graph, Kind, Limits as GraphLimits, Nobody, Techniques};
use crate::interpret::{Client, ClientError, Fault, Machine, Move, Operation, Sequential};
use cycles::{Component, Cycles, Part};
pub use lasso::Lasso;

/// Limits on the cost of the graph.
pub type Limits<'a> = GraphLimits<'a>;

/// Whether a property holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    Holds,
    /// The property holds if each outcome of a `choose` that is made for ever is taken again and
    /// again; without this, the execution violates it.
    WithFairChoices(Lasso),
    Fails(Lasso),
    /// No violation was found, but some executions were not explored.
    Open,
}

/// Progress of one operation, by all processes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OperationProgress {
    pub operation: Operation,
    pub wait_free: Standing,
    pub starvation_free: Standing,
    pub obstruction_free: Standing,
    /// An execution in which the object itself lets the operation wait for ever.
    pub waits: Option<Lasso>,
    /// Most shared accesses; an atomic block counts once. `None` unless every execution of the
    /// operation ends.
    pub accesses: Option<u32>,
}

/// Part of the executions that was explored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Extent {
    Complete,
    /// The limits ended the exploration.
    CutOff,
    /// After these moves, a step of the program, or the object, is faulty: its continuations are
    /// unknown.
    Faulty {
        moves: Vec<Move>,
        fault: Fault,
    },
}

/// Progress of an algorithm.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Progress {
    pub operations: Vec<OperationProgress>,
    pub lock_free: Standing,
    pub deadlock_free: Standing,
    /// True if the operations of processes are bounded.
    pub is_bounded: bool,
    pub extent: Extent,
    /// Names of the declared operations; empty for a snapshot.
    pub names: Vec<String>,
    pub states: usize,
    pub edges: usize,
}

impl Standing {
    /// Name for machine-readable output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::WithFairChoices(_) => "with fair choices",
            Self::Fails(_) => "fails",
            Self::Open => "open",
        }
    }

    /// Returns the execution that violates the property.
    pub const fn lasso(&self) -> Option<&Lasso> {
        match self {
            Self::WithFairChoices(lasso) | Self::Fails(lasso) => Some(lasso),
            Self::Holds | Self::Open => None,
        }
    }

    /// Returns the weaker standing.
    fn and(self, other: Self) -> Self {
        let rank = |standing: &Self| match standing {
            Self::Holds => 0,
            Self::Open => 1,
            Self::WithFairChoices(_) => 2,
            Self::Fails(_) => 3,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

impl Progress {
    pub fn name_of(&self, operation: Operation) -> &str {
        match operation {
            Operation::Update => "update",
            Operation::Scan => "scan",
            Operation::Declared(id) => self.names.get(id.0 as usize).map_or("?", String::as_str),
        }
    }

    /// Returns true if each property was established or refuted.
    pub fn is_established(&self) -> bool {
        self.standings().all(|standing| *standing != Standing::Open)
    }

    /// Returns all standings.
    pub fn standings(&self) -> impl Iterator<Item = &Standing> {
        let operations = self.operations.iter().flat_map(OperationProgress::standings);
        operations.chain([&self.lock_free, &self.deadlock_free])
    }
}

/// Decides the progress of a snapshot, for at most 64 processes.
///
/// # Errors
/// If the client does not suit the number of processes.
pub fn progress(
    machine: &Machine<'_>,
    client: &Client,
    limits: &mut Limits<'_>,
) -> Result<Progress, ClientError> {
    client.validate(machine.processes())?;
    let environment = Environment::of_snapshot(*client, machine.processes());
    Ok(Judging::new(machine, environment, limits).judge(client))
}

/// Decides the progress of an object that the text declares. Of the client, only the values, the
/// operations and the participating processes count.
///
/// # Errors
/// As [`progress`], or if the client does not suit the object.
///
/// # Panics
/// If the machine and the object differ in the number of processes.
pub fn progress_object(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    client: &Client,
    limits: &mut Limits<'_>,
) -> Result<Progress, ClientError> {
    assert_eq!(machine.processes(), sequential.processes(), "one n for both");
    client.validate(machine.processes())?;
    client.validate_object(sequential)?;
    let environment = Environment::of_object(*client, sequential);
    Ok(Judging::new(machine, environment, limits).judge(client))
}

/// A graph being judged.
struct Judging<'m, 'p, 'e> {
    graph: Graph<'m, 'p>,
    environment: Environment<'e>,
    /// Processes with an open operation in each state, as bit sets.
    open: Vec<u64>,
    is_exhaustive: bool,
    has_choices: bool,
}

impl<'m, 'p, 'e> Judging<'m, 'p, 'e> {
    fn new(
        machine: &'m Machine<'p>,
        environment: Environment<'e>,
        limits: &mut Limits<'_>,
    ) -> Self {
        let mut environment = environment;
        // The contents of nodes that are only compared may differ between the ends of a loop.
        let forgetting = machine.program().nodes.is_empty();
        let means = Techniques { forgetting, ..Techniques::default() };
        let states = Graph::states_of(machine, means);
        let first = (machine.initial(), environment.first());
        let mut graph = Graph::new(states, means, first, &mut Nobody);
        graph.grow(&mut environment, &mut Nobody, usize::MAX, limits);
        let (open, is_exhaustive) = (graph.open(), graph.is_complete());
        let has_choices = (0..graph.expanded() as u32)
            .any(|number| graph.from(number).any(|edge| edge.label.kind() == Kind::Choice));
        Self { graph, environment, open, is_exhaustive, has_choices }
    }

    fn judge(mut self, client: &Client) -> Progress {
        let mut operations: Vec<OperationProgress> = Vec::new();
        for process in (0..self.graph.machine().processes()).map(Process::from_index) {
            for one in self.of_process(process) {
                match operations.iter_mut().find(|known| known.operation == one.operation) {
                    None => operations.push(one),
                    Some(known) => known.merge(one),
                }
            }
        }
        operations.sort_by_key(|one| one.operation);
        let (lock_free, deadlock_free) = (self.of_all(false), self.of_all(true));
        let graph = &mut self.graph;
        let extent = match graph.fault().cloned() {
            Some((number, made, fault)) => {
                let mut moves = graph.path(number);
                moves.extend(made);
                Extent::Faulty { moves, fault }
            }
            None if graph.is_complete() => Extent::Complete,
            None => Extent::CutOff,
        };
        Progress {
            operations,
            lock_free,
            deadlock_free,
            is_bounded: client.is_bounded(),
            extent,
            names: graph.machine().program().operation_names(),
            states: graph.len(),
            edges: graph.edges(),
        }
    }

    /// Judges steps within operations of all processes: lock-freedom, or with `fair` freedom from
    /// deadlock.
    fn of_all(&mut self, fair: bool) -> Standing {
        let (open, environment) = (&self.open, &mut self.environment);
        let graph = &self.graph;
        let part = Part { keeps_state: &|_| true, keeps_edge: &|_, edge| edge.label.is_within() };
        let mut find = |fair_choices| {
            let cycles = Cycles::new(graph, &part, fair_choices);
            let found = cycles.components(graph, &part, open).into_iter().find(|one| {
                // Without events, the situation is the same in the whole component.
                let is_fair = !fair || one.open & !one.within == 0;
                is_fair && !environment.lets_wait(graph.situation(one.state), one.within)
            })?;
            let processes = if fair { found.open } else { 1 << found.within.trailing_zeros() };
            Some(cycles.walk(graph, &part, found.state, processes))
        };
        let found = match find(true) {
            Some(walk) => Some((walk, true)),
            None if self.has_choices => find(false).map(|walk| (walk, false)),
            None => None,
        };
        self.standing(found, None)
    }

    /// Judges the operations of a process.
    fn of_process(&mut self, process: Process) -> Vec<OperationProgress> {
        let bit = 1_u64 << process.index();
        let mut operations: Vec<Operation> = Vec::new();
        let of_state: Vec<Option<Operation>> = (0..self.graph.len() as u32)
            .map(|number| self.graph.prospect(number, process).operation)
            .collect();
        for operation in of_state.iter().flatten() {
            if !operations.contains(operation) {
                operations.push(*operation);
            }
        }
        let mut waits: Vec<bool> = Vec::new();
        for number in 0..self.graph.len() as u32 {
            let is_open = self.open[number as usize] & bit != 0;
            let situation = self.graph.situation(number);
            waits.push(is_open && self.environment.lets_wait(situation, bit));
        }
        let within =
            |_: u32, edge: &Edge| edge.label.process() == process && edge.label.is_within();
        let all = |_: u32, edge: &Edge| edge.label.process() != process || edge.label.is_within();
        let mut found = Vec::new();
        for operation in operations {
            let is_it = |number: u32| of_state[number as usize] == Some(operation);
            let may_not_wait = |number: u32| is_it(number) && !waits[number as usize];
            let alone = Part { keeps_state: &may_not_wait, keeps_edge: &within };
            let others = Part { keeps_state: &may_not_wait, keeps_edge: &all };
            let any = Part { keeps_state: &is_it, keeps_edge: &all };
            let steps = |one: &Component| one.within & bit != 0;
            let is_fair = |one: &Component| steps(one) && one.open & !one.moving == 0;
            let wait_free = self.find(&others, process, &steps);
            let (mut obstruction_free, mut starvation_free) =
                (wait_free.clone(), wait_free.clone());
            if wait_free.lasso().is_some() {
                obstruction_free = self.find(&alone, process, &steps);
                starvation_free = self.find(&others, process, &is_fair);
            }
            let ever = match waits.contains(&true) {
                true => self.find(&any, process, &steps),
                false => wait_free.clone(),
            };
            let mut accesses = None;
            if matches!(ever, Standing::Holds) || (ever == Standing::Open) {
                let cycles = Cycles::new(&self.graph, &any, false);
                let most = bound::most_accesses(&mut self.graph, &any, &cycles, process);
                accesses = most.get(&operation).copied();
            }
            let waits = match (&wait_free, ever) {
                (Standing::Holds | Standing::Open, Standing::Fails(lasso)) => Some(lasso),
                _ => None,
            };
            found.push(OperationProgress {
                operation,
                wait_free,
                starvation_free,
                obstruction_free,
                waits,
                accesses,
            });
        }
        found
    }

    /// Judges by the components of a part that satisfy a condition, all of which have a step of the
    /// process.
    fn find(
        &mut self,
        part: &Part<'_>,
        process: Process,
        is_bad: &dyn Fn(&Component) -> bool,
    ) -> Standing {
        let (graph, open) = (&self.graph, &self.open);
        let find = |fair_choices| {
            let cycles = Cycles::new(graph, part, fair_choices);
            let mut components = cycles.components(graph, part, open).into_iter();
            let found = components.find(is_bad)?;
            // All processes with steps within operations take part: under fairness, they must.
            let processes = found.within;
            Some(cycles.walk(graph, part, found.state, processes))
        };
        let found = match find(true) {
            Some(walk) => Some((walk, true)),
            None if self.has_choices => find(false).map(|walk| (walk, false)),
            None => None,
        };
        self.standing(found, Some(process))
    }

    /// Returns the standing by a closed walk that violates a property: with fair choices or
    /// without; of the operation of a process, or of all.
    fn standing(
        &mut self,
        found: Option<(Vec<cycles::Step>, bool)>,
        process: Option<Process>,
    ) -> Standing {
        match found {
            Some((walk, fair)) => {
                let lasso = Lasso::new(&mut self.graph, &walk, process);
                if fair { Standing::Fails(lasso) } else { Standing::WithFairChoices(lasso) }
            }
            None if self.is_exhaustive => Standing::Holds,
            None => Standing::Open,
        }
    }
}

impl OperationProgress {
    fn standings(&self) -> [&Standing; 3] {
        [&self.wait_free, &self.starvation_free, &self.obstruction_free]
    }

    /// Adds the progress of the same operation by another process.
    fn merge(&mut self, other: Self) {
        let and = |one: &mut Standing, other| {
            *one = std::mem::replace(one, Standing::Open).and(other);
        };
        and(&mut self.wait_free, other.wait_free);
        and(&mut self.starvation_free, other.starvation_free);
        and(&mut self.obstruction_free, other.obstruction_free);
        self.accesses = self.accesses.zip(other.accesses).map(|(one, other)| one.max(other));
        self.waits = self.waits.take().or(other.waits);
    }
}
