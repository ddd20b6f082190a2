//! Graph of the states that a client reaches from a state of the interpreter, breadth-first up to a
//! budget.
//!
//! Invariant: a state numbered below `expanded` has all its edges, except steps that are faults;
//! the edges of other states are unknown. States are distinguished up to the names of versions and
//! the numbers of nodes, as by [`Machine::key`].

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::environment::{Environment, Situation};
use super::{Budget, Operation, Seen};
use crate::interpret::{Action, Event, Fault, Machine, Move, MoveKind, State};

/// Approximate bytes of a state per byte of its key, and fixed bytes per state.
const BYTES_PER_KEY: usize = 32;
const BYTES_PER_STATE: usize = 512;

/// Step from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// Process that makes the step.
    pub process: Process,
    /// True if the step returns the operation of the process.
    pub returns: bool,
}

/// State with a path to it.
#[derive(Clone, Debug)]
pub struct Node {
    pub state: State,
    /// Open operation of each process.
    pub open: Vec<Option<Operation>>,
    pub situation: Situation,
    /// True if some step from here exceeds a limit of the interpreter: its successors are unknown.
    pub is_limited: bool,
    /// First edge to this state; the initial state has itself and `None`.
    parent: (u32, Option<Move>),
}

pub struct StateGraph<'m, 'p> {
    pub machine: &'m Machine<'p>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Number of states with all their edges.
    pub expanded: usize,
    numbers: FxHashMap<Vec<u8>, u32>,
    /// Approximate memory use in bytes, without sharing between states.
    bytes: usize,
    has_fault: bool,
}

impl Node {
    /// Creates a first state with these open operations.
    pub const fn first(state: State, open: Vec<Option<Operation>>, situation: Situation) -> Self {
        Self { state, open, situation, is_limited: false, parent: (0, None) }
    }

    pub fn initial(machine: &Machine<'_>, environment: &Environment<'_>) -> Self {
        let open = vec![None; machine.processes()];
        Self::first(machine.initial().clone(), open, environment.first())
    }
}

impl<'m, 'p> StateGraph<'m, 'p> {
    /// Explores the states reachable from one, as far as the budget allows. Adds the executed
    /// statements and returns to `seen`.
    pub fn explore(
        machine: &'m Machine<'p>,
        environment: &mut Environment<'_>,
        first: Node,
        seen: &mut Seen,
        budget: &mut Budget<'_>,
    ) -> Self {
        let mut graph = Self {
            machine,
            nodes: Vec::new(),
            edges: Vec::new(),
            expanded: 0,
            numbers: FxHashMap::default(),
            bytes: 0,
            has_fault: false,
        };
        graph.number(first);
        while graph.expanded < graph.nodes.len() {
            let bytes = graph.bytes + environment.bytes();
            let has_room = graph.nodes.len() <= budget.states && bytes <= budget.memory;
            if !has_room || !(budget.proceed)() {
                break;
            }
            graph.expand(graph.expanded as u32, environment, seen);
            graph.expanded += 1;
        }
        graph
    }

    /// Returns the number of reached states.
    pub const fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the graph has all states and all steps.
    pub const fn is_exhaustive(&self) -> bool {
        self.expanded == self.nodes.len() && !self.has_fault
    }

    /// Returns the moves from the first state to this one.
    pub fn path(&self, mut number: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        while let (parent, Some(made)) = self.nodes[number as usize].parent {
            moves.push(made);
            number = parent;
        }
        moves.reverse();
        moves
    }

    fn expand(&mut self, from: u32, environment: &mut Environment<'_>, seen: &mut Seen) {
        let machine = self.machine;
        for process in (0..machine.processes()).map(Process::from_index) {
            let before = &self.nodes[from as usize];
            if before.state.is_idle(process.index()) {
                let Some(choices) = environment.choices(before.situation, process) else {
                    self.has_fault = true;
                    continue;
                };
                for (call, situation) in choices {
                    let mut node = self.nodes[from as usize].clone();
                    node.open[process.index()] = Some(Operation::from(call));
                    node.situation = situation;
                    let coverage = Some(&mut seen.coverage);
                    let begun = machine.begin_covered(&mut node.state, process, call, coverage);
                    let made = Move { process, kind: MoveKind::Begin(call) };
                    self.lead(from, node, made, begun.map(Some), environment);
                }
                continue;
            }
            for outcome in 0..machine.outcomes(&before.state, process) {
                let mut node = self.nodes[from as usize].clone();
                let coverage = &mut seen.coverage;
                let state = &mut node.state;
                let action = machine.advance_covered(state, process, outcome, coverage);
                if let Ok(Some(_)) = action
                    && let Some(operation) = node.open[process.index()].take()
                {
                    seen.note_return(process, operation);
                }
                self.lead(from, node, Move::taking(process, outcome), action, environment);
            }
        }
    }

    /// Adds the target state of a move.
    fn lead(
        &mut self,
        from: u32,
        mut node: Node,
        made: Move,
        action: Result<Option<Action>, Fault>,
        environment: &mut Environment<'_>,
    ) {
        let process = made.process;
        let action = match action {
            Ok(action) => action,
            Err(fault) => {
                self.has_fault = true;
                self.nodes[from as usize].is_limited |= fault.kind.is_limit();
                return;
            }
        };
        let returns = action.as_ref().is_some_and(Action::is_response);
        if let Some(action) = action {
            match environment.after(node.situation, &Event { process, action }) {
                Some(after) => node.situation = after,
                None => {
                    self.has_fault = true;
                    return;
                }
            }
        }
        node.parent = (from, Some(made));
        node.is_limited = false;
        let to = self.number(node);
        self.edges.push(Edge { from, to, process, returns });
    }

    fn number(&mut self, node: Node) -> u32 {
        let mut key = self.machine.key(&node.state);
        key.extend(node.situation.key());
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
