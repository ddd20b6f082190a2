//! Operations that can still return, computed backwards over a graph.
//!
//! One least fixed point of `EF returned` covers all processes together. Another, of `AF returned`,
//! is taken for each process over its own steps.
//!
//! Invariant: unless a process is found to be stuck in a state, a path leads from there to its
//! return or to an unexpanded state. Unless it is found to wait there, the same holds of every path
//! of its own steps. So findings are certain even if only a part of the graph was explored.

use snapshot_core::Process;

use super::{Operation, Stuck};
use crate::graph::{Environment, Graph, Incoming};

/// Operations that return in no continuation.
#[derive(Debug, Default)]
pub struct Hangs {
    /// Operation that hangs though the object lets it return. Prefers a deadlock, then the fewest
    /// moves.
    pub stuck: Option<Stuck>,
    /// Operation that the object itself keeps waiting, after the fewest moves.
    pub waiting: Option<Stuck>,
    /// True if the cause of some operation is unknown: the algorithm or the object.
    pub is_open: bool,
}

/// Graph with what the searches for hanging operations need.
pub struct Questions<'g, 'm, 'p> {
    graph: &'g mut Graph<'m, 'p>,
    /// Processes with an open operation in each state, as bit sets.
    open: Vec<u64>,
    incoming: Incoming,
}

impl<'g, 'm, 'p> Questions<'g, 'm, 'p> {
    pub fn new(graph: &'g mut Graph<'m, 'p>) -> Self {
        let (open, incoming) = (graph.open(), Incoming::new(graph));
        Self { graph, open, incoming }
    }

    /// Finds the operations that return in no continuation.
    pub fn hangs(&mut self, environment: &mut Environment<'_>) -> Hangs {
        let able = self.able();
        let mut hangs = Hangs::default();
        for (number, able) in (0..).zip(able) {
            let stuck = self.open[number as usize] & !able;
            let is_deadlock = able == 0;
            let is_needed = match (&hangs.stuck, &hangs.waiting) {
                (Some(known), _) if known.is_deadlock => break,
                (Some(_), Some(_)) => is_deadlock,
                _ => true,
            };
            if stuck == 0 || !is_needed {
                continue;
            }
            let found = match environment.keeps_waiting(self.graph.situation(number), stuck) {
                Some(true) => &mut hangs.waiting,
                Some(false) => &mut hangs.stuck,
                None => {
                    hangs.is_open = true;
                    continue;
                }
            };
            if found.as_ref().is_none_or(|known| is_deadlock && !known.is_deadlock) {
                *found = Some(self.stuck_at(number, stuck, is_deadlock));
            }
        }
        hangs
    }

    /// Finds an operation that does not return if only its process makes steps, after the fewest
    /// moves.
    pub fn waits_for_others(&mut self) -> Option<Stuck> {
        let ends = self.ends_alone();
        let mut waiting = self.open.iter().zip(&ends).map(|(open, ends)| open & !ends);
        let number = waiting.position(|processes| processes != 0)?;
        let processes = self.open[number] & !ends[number];
        Some(self.stuck_at(number as u32, processes, false))
    }

    /// Describes the first of these processes in a state.
    fn stuck_at(&mut self, number: u32, processes: u64, is_deadlock: bool) -> Stuck {
        let process = Process::from_index(processes.trailing_zeros() as usize);
        let operation = self.graph.prospect(number, process).operation;
        let state = self.graph.state(number);
        let at = self.graph.machine().next_text(&state, process);
        Stuck {
            moves: self.graph.path(number),
            process,
            operation: operation.unwrap_or(Operation::Update),
            at,
            is_deadlock,
        }
    }

    /// Returns the processes that return in some continuation, as a bit set per state.
    fn able(&self) -> Vec<u64> {
        let states = 0..self.graph.len() as u32;
        let able = states.clone().map(|number| match self.graph.is_unknown(number) {
            true => u64::MAX,
            false => {
                let returning = self.graph.from(number).filter(|edge| edge.label.returns());
                returning.fold(0, |able, edge| able | 1 << edge.label.process().index())
            }
        });
        let mut able: Vec<u64> = able.collect();
        let mut work: Vec<u32> = states.filter(|state| able[*state as usize] != 0).collect();
        while let Some(state) = work.pop() {
            for &(from, _) in self.incoming.of(state) {
                let more = able[from as usize] | able[state as usize];
                if more != able[from as usize] {
                    able[from as usize] = more;
                    work.push(from);
                }
            }
        }
        able
    }

    /// Returns, as a bit set per state, the processes whose operation returns after enough steps of
    /// their own, for any outcomes. Idle processes are included.
    fn ends_alone(&self) -> Vec<u64> {
        let states = 0..self.graph.len() as u32;
        let ends = states.clone().map(|number| match self.graph.is_unknown(number) {
            true => u64::MAX,
            false => !self.open[number as usize],
        });
        let mut ends: Vec<u64> = ends.collect();
        for process in (0..self.graph.machine().processes()).map(Process::from_index) {
            let bit = 1 << process.index();
            let is_open = |from: u32| self.open[from as usize] & bit != 0;
            // Number of outcomes of the next step that may run for ever.
            let mut left = vec![0_u32; ends.len()];
            for number in states.clone().filter(|number| is_open(*number)) {
                let own = self.graph.from(number).filter(|edge| edge.label.process() == process);
                left[number as usize] = own.filter(|edge| !edge.label.returns()).count() as u32;
                // A state without a step is a fault.
                if left[number as usize] == 0 {
                    ends[number as usize] |= bit;
                }
            }
            let ending = states.clone().filter(|number| ends[*number as usize] & bit != 0);
            let mut work: Vec<u32> = ending.collect();
            while let Some(state) = work.pop() {
                for &(from, label) in self.incoming.of(state) {
                    let is_own = label.process() == process && is_open(from) && !label.returns();
                    if !is_own || ends[from as usize] & bit != 0 {
                        continue;
                    }
                    left[from as usize] -= 1;
                    if left[from as usize] == 0 {
                        ends[from as usize] |= bit;
                        work.push(from);
                    }
                }
            }
        }
        ends
    }
}
