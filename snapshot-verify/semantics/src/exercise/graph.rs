//! The states that a client reaches from a state of the interpreter, and the steps
//! between them, breadth-first up to a budget.
//!
//! Invariant: a state whose number is below `expanded` has all its edges; of the others
//! nothing is known. States are distinguished up to the names of versions, as
//! [`State::key`] has it.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::{Budget, Operation, Seen};
use crate::interpret::{Client, Machine, Move, MoveKind, Progress, State};

/// Bytes of a state per byte of its key, about, and of what comes with it.
const BYTES_PER_KEY: usize = 32;
const BYTES_PER_STATE: usize = 512;

/// A step from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// The process whose operation returns.
    pub returns: Option<Process>,
}

/// A state, and how it was reached.
#[derive(Clone, Debug)]
pub struct Node {
    pub state: State,
    /// What each process has open.
    pub open: Vec<Option<Operation>>,
    progress: Progress,
    /// The first edge to it; of the first state, itself and nothing.
    parent: (u32, Option<Move>),
}

/// States and the steps between them.
#[derive(Debug)]
pub struct StateGraph<'m, 'p> {
    pub machine: &'m Machine<'p>,
    client: Client,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// How many states have all their edges.
    pub expanded: usize,
    numbers: FxHashMap<Vec<u8>, u32>,
    /// About how many bytes it takes, if states share nothing.
    bytes: usize,
    has_fault: bool,
}

impl Node {
    /// A first state, in which these operations are open.
    pub fn first(
        machine: &Machine<'_>,
        client: &Client,
        state: &State,
        open: Vec<Option<Operation>>,
    ) -> Self {
        let progress = client.start(machine.processes());
        Self { state: state.clone(), open, progress, parent: (0, None) }
    }

    /// The initial state.
    pub fn initial(machine: &Machine<'_>, client: &Client) -> Self {
        Self::first(machine, client, machine.initial(), vec![None; machine.processes()])
    }
}

impl<'m, 'p> StateGraph<'m, 'p> {
    /// All states that are reached from one, as far as the budget goes. What steps
    /// execute is added to what has been seen.
    pub fn explore(
        machine: &'m Machine<'p>,
        client: &Client,
        first: Node,
        seen: &mut Seen,
        budget: &mut Budget<'_>,
    ) -> Self {
        let mut graph = Self {
            machine,
            client: *client,
            nodes: Vec::new(),
            edges: Vec::new(),
            expanded: 0,
            numbers: FxHashMap::default(),
            bytes: 0,
            has_fault: false,
        };
        graph.number(first);
        while graph.expanded < graph.nodes.len() {
            let has_room = graph.nodes.len() <= budget.states && graph.bytes <= budget.memory;
            if !has_room || !(budget.proceed)() {
                break;
            }
            graph.expand(graph.expanded as u32, seen);
            graph.expanded += 1;
        }
        graph
    }

    /// How many states were reached.
    pub const fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Whether these are all states and all steps.
    pub const fn is_exhaustive(&self) -> bool {
        self.expanded == self.nodes.len() && !self.has_fault
    }

    /// The moves from the first state to this one.
    pub fn path(&self, mut number: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        while let (parent, Some(made)) = self.nodes[number as usize].parent {
            moves.push(made);
            number = parent;
        }
        moves.reverse();
        moves
    }

    fn expand(&mut self, from: u32, seen: &mut Seen) {
        let n = self.machine.processes();
        for process in (0..n).map(Process::from_index) {
            let node = &self.nodes[from as usize];
            if node.state.is_idle(process.index()) {
                for call in self.client.calls(&node.progress, process, n) {
                    let mut node = self.nodes[from as usize].clone();
                    node.open[process.index()] = Some(Operation::from(call));
                    self.client.begin(&mut node.progress, process, call);
                    let coverage = Some(&mut seen.coverage);
                    let state = &mut node.state;
                    let begun = self.machine.begin_covered(state, process, call, coverage);
                    let made = Move { process, kind: MoveKind::Begin(call) };
                    self.lead(from, node, made, begun.map(|_| None));
                }
            } else {
                let mut node = node.clone();
                let coverage = &mut seen.coverage;
                let action = self.machine.advance_covered(&mut node.state, process, coverage);
                let returns = action.map(|action| action.map(|_| process));
                if let Ok(Some(_)) = returns
                    && let Some(operation) = node.open[process.index()].take()
                {
                    seen.note_return(process, operation);
                }
                self.lead(from, node, Move::step(process), returns);
            }
        }
    }

    fn lead<E>(
        &mut self,
        from: u32,
        mut node: Node,
        made: Move,
        returns: Result<Option<Process>, E>,
    ) {
        let Ok(returns) = returns else {
            self.has_fault = true;
            return;
        };
        node.parent = (from, Some(made));
        let to = self.number(node);
        self.edges.push(Edge { from, to, returns });
    }

    fn number(&mut self, node: Node) -> u32 {
        let mut key = node.state.key();
        key.extend(node.progress.key());
        let number = self.nodes.len() as u32;
        match self.numbers.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                self.bytes += place.key().len() * BYTES_PER_KEY + BYTES_PER_STATE;
                place.insert(number);
                self.nodes.push(node);
                number
            }
        }
    }
}
