//! Graph of the states that a client reaches, breadth-first up to a budget: the one graph of
//! coverage ([`crate::exercise`]), of progress ([`crate::progress`]) and of strong linearizability
//! ([`crate::strong`]).
//!
//! A state consists of the interpreter's ([`crate::product`]), the situation of the client
//! ([`Situation`]), and a number of a [`Player`], who answers the responses of operations: several
//! answers lead to several states.
//!
//! Invariant: a state numbered below [`Graph::expanded`] has all its edges, except moves that are
//! faults; the edges of other states are unknown.
//!
//! | file | content |
//! | --- | --- |
//! | `environment` | operations that may begin, and waiting of the object itself |
//! | `expand` | edges of a state |
//! | `edges` | edges, packed |
//! | `label` | moves, packed |
//! | `player` | answers to responses |
//! | `incoming` | edges by their targets |
//! | `components` | strongly connected components |

mod components;
mod edges;
mod environment;
mod expand;
mod incoming;
mod label;
mod player;

use rustc_hash::FxHashSet;
use snapshot_core::Process;

use crate::interpret::{Call, Fault, Machine, Move, MoveKind, State};
use crate::product::{Batch, EventId, Prospect, States, Table};
pub use components::Components;
pub use edges::Edge;
use edges::Edges;
pub use environment::{Environment, Situation};
pub use incoming::Incoming;
pub use label::{Kind, Label, Labels, MOST_PROCESSES};
pub use player::{Nobody, Player};

/// Columns beside the state.
const BESIDE: usize = 3;

/// States expanded between two questions about memory and time.
const QUESTION: usize = 64;

/// Target of a response without an answer.
pub const LOST: u32 = u32::MAX;

/// Limits on the cost of a graph.
pub struct Limits<'a> {
    /// Most states.
    pub states: usize,
    /// Approximate maximum of the bytes.
    pub memory: usize,
    /// Called periodically; `false` ends the exploration.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// Identifications of states, and omitted moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Techniques {
    /// Identifies states up to the names of values; the program must be data-independent.
    pub values: bool,
    /// Identifies states that differ only in locals that no step will read.
    pub forgetting: bool,
    /// Explores only a step that no other process can interfere with, if there is one: for
    /// properties of events.
    pub partial_order: bool,
}

#[derive(Debug)]
pub struct Graph<'m, 'p> {
    states: States<'m, 'p>,
    means: Techniques,
    table: Table,
    labels: Labels,
    edges: Edges,
    /// Targets of the states being expanded, not yet numbered.
    targets: Batch,
    /// Edges of these states, to positions in `targets`; and the number of edges up to each state.
    new: Vec<Edge>,
    ends: Vec<usize>,
    /// States with a step that exceeds a limit of the interpreter.
    limited: FxHashSet<u32>,
    /// First faulty move: its state, and the fault.
    fault: Option<(u32, Option<Move>, Fault)>,
    is_incomplete: bool,
    /// True if some response has no answer.
    has_lost: bool,
    from: Vec<u32>,
    to: Vec<u32>,
    answers: Vec<u32>,
}

impl<'m, 'p> Graph<'m, 'p> {
    /// Creates the graph of an initial state, without edges.
    ///
    /// # Panics
    /// If there are more than [`MOST_PROCESSES`] processes.
    pub fn new(
        states: States<'m, 'p>,
        means: Techniques,
        (first, situation): (&State, Situation),
        player: &mut impl Player,
    ) -> Self {
        let machine = states.machine();
        assert!(machine.processes() <= MOST_PROCESSES, "labels have room for few processes");
        let width = states.width() + BESIDE;
        let mut graph = Self {
            states,
            means,
            table: Table::new(width, 1),
            labels: Labels::default(),
            edges: Edges::new(),
            targets: Batch::new(width),
            new: Vec::new(),
            ends: Vec::new(),
            limited: FxHashSet::default(),
            fault: None,
            is_incomplete: false,
            has_lost: false,
            from: vec![0; width],
            to: vec![0; width],
            answers: Vec::new(),
        };
        graph.states.write(&mut graph.to, first);
        let columns = [situation.progress(), situation.possibilities(), player.first()];
        graph.to[width - BESIDE..].copy_from_slice(&columns);
        graph.table.insert(&graph.to, &[0]);
        graph
    }

    /// Creates the interner of the states of a graph.
    pub fn states_of(machine: &'m Machine<'p>, means: Techniques) -> States<'m, 'p> {
        let states = States::new(machine, means.forgetting, false);
        if means.values { states.naming_values() } else { states }
    }

    /// Expands states until this many are expanded, all are, or the limits are reached.
    pub fn grow(
        &mut self,
        environment: &mut Environment<'_>,
        player: &mut impl Player,
        until: usize,
        limits: &mut Limits<'_>,
    ) {
        while self.expanded() < self.len().min(until) {
            let has_room =
                self.len() <= limits.states.min(edges::MOST) && self.edges() <= edges::MOST;
            let is_questioned = self.expanded().is_multiple_of(QUESTION);
            let mut goes_on = || {
                self.bytes() + environment.bytes() + player.bytes() <= limits.memory
                    && (limits.proceed)()
            };
            if !has_room || (is_questioned && !goes_on()) {
                self.is_incomplete = true;
                return;
            }
            let first = self.expanded();
            let next_question = (first / QUESTION + 1) * QUESTION;
            let end = self.len().min(until).min(next_question);
            let room = limits.states.min(edges::MOST) - self.len();
            for number in first..end {
                self.expand(number as u32, environment, player);
                if self.targets.len() >= Batch::ROWS.min(room) {
                    break;
                }
            }
            self.number_targets();
        }
    }

    /// Returns the number of reached states.
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of states with all their edges.
    pub const fn expanded(&self) -> usize {
        self.edges.sources()
    }

    /// Returns the number of edges.
    pub const fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Returns true if the graph has all states and all moves.
    pub const fn is_exhaustive(&self) -> bool {
        self.expanded() == self.len() && self.fault.is_none()
    }

    /// Returns true if the graph has all states and all moves, and each response has an answer, so
    /// that all continuations were explored.
    pub const fn is_complete(&self) -> bool {
        self.is_exhaustive() && !self.has_lost
    }

    /// Returns true if the limits ended the exploration.
    pub const fn is_cut_off(&self) -> bool {
        self.is_incomplete
    }

    /// Returns the first faulty move, if any, with the moves before it: of the program; or of the
    /// object, without a move.
    pub const fn fault(&self) -> Option<&(u32, Option<Move>, Fault)> {
        self.fault.as_ref()
    }

    /// Returns true if some response has no answer.
    pub const fn has_lost(&self) -> bool {
        self.has_lost
    }

    pub const fn machine(&self) -> &'m Machine<'p> {
        self.states.machine()
    }

    pub const fn states(&mut self) -> &mut States<'m, 'p> {
        &mut self.states
    }

    /// Returns the edges of a state; none if it was not expanded.
    pub fn from(&self, number: u32) -> impl ExactSizeIterator<Item = Edge> + Clone {
        self.edges.of(number).map(|edge| self.edges.get(edge))
    }

    /// Returns the edge of a state at this position.
    pub fn edge(&self, number: u32, position: usize) -> Edge {
        self.edges.get(self.edges.of(number).start + position as u32)
    }

    /// Returns the targets of a state's edges, each with true if it is another answer to the same
    /// response as the edge before.
    pub fn targets(&self, number: u32) -> impl ExactSizeIterator<Item = (u32, bool)> + Clone {
        self.edges.of(number).map(|edge| self.edges.target(edge))
    }

    /// Returns true if the moves from a state are unknown.
    pub fn is_unknown(&self, number: u32) -> bool {
        number as usize >= self.expanded() || self.limited.contains(&number)
    }

    /// Returns the state of the interpreter in a state.
    pub fn state(&self, number: u32) -> State {
        self.states.state(&self.row(number))
    }

    pub fn situation(&self, number: u32) -> Situation {
        let first = self.states.width();
        Situation::of_numbers(self.table.get(number, first), self.table.get(number, first + 1))
    }

    /// Returns the state of the player in a state.
    pub fn answer(&self, number: u32) -> u32 {
        self.table.get(number, self.states.width() + 2)
    }

    fn row(&self, number: u32) -> Box<[u32]> {
        let mut row = vec![0; self.from.len()].into_boxed_slice();
        self.table.copy(number, &mut row);
        row
    }

    /// Returns the event of an edge from a state.
    pub fn event(&mut self, number: u32, label: Label) -> Option<EventId> {
        let made = self.labels.made(label);
        let row = self.row(number);
        let step = match made.kind {
            MoveKind::Begin(call) => self.states.begin(&row, made.process, call),
            MoveKind::Step | MoveKind::Take(_) => {
                self.states.step(&row, made.process, made.outcome())
            }
        };
        step.ok()?.event
    }

    /// Returns the prospect of the next step of a process.
    pub fn prospect(&mut self, number: u32, process: Process) -> Prospect {
        let row = self.row(number);
        self.states.prospect(&row, process)
    }

    /// Returns the processes with an open operation in each state, as bit sets.
    pub fn open(&mut self) -> Vec<u64> {
        let n = self.machine().processes();
        let open = (0..self.len() as u32).map(|number| {
            let is_open = |process: &usize| {
                let process = Process::from_index(*process);
                !self.prospect(number, process).is_idle
            };
            (0..n).filter(is_open).fold(0, |all, process| all | 1_u64 << process)
        });
        open.collect()
    }

    /// Returns the states that lead to a state first, from the first state to it.
    fn way(&self, mut number: u32) -> Vec<u32> {
        let mut way = vec![number];
        while number > 0 {
            number = self.table.parent(number);
            way.push(number);
        }
        way.reverse();
        way
    }

    /// Returns the edges from the first state to this one.
    pub fn steps_to(&self, number: u32) -> Vec<(u32, Edge)> {
        let way = self.way(number);
        let steps = way.windows(2).map(|pair| {
            let edge = self.from(pair[0]).find(|edge| edge.to == pair[1]);
            (pair[0], edge.expect("states follow each other"))
        });
        steps.collect()
    }

    /// Returns the moves from the first state to this one.
    pub fn path(&mut self, number: u32) -> Vec<Move> {
        let steps = self.steps_to(number);
        self.along(&steps, &mut |call| call)
    }

    /// Returns the moves along edges, given with their sources, from the first state; `renamed`
    /// gives calls their values. Only the last edge may be [`LOST`].
    pub fn along(
        &mut self,
        steps: &[(u32, Edge)],
        renamed: &mut dyn FnMut(Call) -> Call,
    ) -> Vec<Move> {
        let moves = steps.iter().map(|(_, edge)| match self.labels.made(edge.label) {
            Move { process, kind: MoveKind::Begin(call) } => {
                Move { process, kind: MoveKind::Begin(renamed(call)) }
            }
            made => made,
        });
        let mut moves: Vec<Move> = moves.collect();
        if self.machine().program().frees() {
            let first = self.state(0);
            let known = steps.iter().filter(|(_, edge)| edge.to != LOST);
            let rows: Vec<Box<[u32]>> = known.map(|(_, edge)| self.row(edge.to)).collect();
            let rows: Vec<&[u32]> = rows.iter().map(|row| &**row).collect();
            self.states.take_outcomes(&first, &mut moves, &rows);
        }
        moves
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.table.bytes() + self.states.bytes() + self.edges.bytes()
    }
}
