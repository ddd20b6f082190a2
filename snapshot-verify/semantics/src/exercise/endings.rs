//! Operations that can still return, computed backwards over a graph.
//!
//! One least fixed point of `EF returned` covers all processes together. Another, of `AF returned`,
//! is taken for each process over its own steps.
//!
//! Invariant: unless a process is found to be stuck in a state, a path leads from there to its
//! return or to an unexpanded state. Unless it is found to wait there, the same holds of every path
//! of its own steps. So findings are certain even if only a part of the graph was explored.

use snapshot_core::Process;

use super::environment::Environment;
use super::graph::StateGraph;
use super::{Operation, Stuck};

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

impl StateGraph<'_, '_> {
    /// Finds the operations that return in no continuation.
    pub fn hangs(&self, environment: &mut Environment<'_>) -> Hangs {
        let able = self.able();
        let mut hangs = Hangs::default();
        for (number, able) in able.into_iter().enumerate() {
            let stuck = self.open(number) & !able;
            let is_deadlock = able == 0;
            let is_needed = match (&hangs.stuck, &hangs.waiting) {
                (Some(known), _) if known.is_deadlock => break,
                (Some(_), Some(_)) => is_deadlock,
                _ => true,
            };
            if stuck == 0 || !is_needed {
                continue;
            }
            let found = match environment.keeps_waiting(self.nodes[number].situation, stuck) {
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
    pub fn waits_for_others(&self) -> Option<Stuck> {
        let ends = self.ends_alone();
        let numbers = 0..self.nodes.len();
        let mut waiting = numbers.map(|number| (number, self.open(number) & !ends[number]));
        let (number, processes) = waiting.find(|(_, processes)| *processes != 0)?;
        Some(self.stuck_at(number, processes, false))
    }

    /// Describes the first of these processes in a state.
    fn stuck_at(&self, number: usize, processes: u64, is_deadlock: bool) -> Stuck {
        let node = &self.nodes[number];
        let index = processes.trailing_zeros() as usize;
        let process = Process::from_index(index);
        let operation = node.open[index].unwrap_or(Operation::Update);
        let at = self.machine.next_text(&node.state, process);
        Stuck { moves: self.path(number as u32), process, operation, at, is_deadlock }
    }

    /// Returns the processes with an open operation in a state, as a bit set.
    fn open(&self, number: usize) -> u64 {
        let open = self.nodes[number].open.iter().enumerate();
        open.filter(|(_, open)| open.is_some()).fold(0, |all, (process, _)| all | 1 << process)
    }

    /// Returns true if the steps from a state are unknown.
    fn is_unknown(&self, number: usize) -> bool {
        number >= self.expanded || self.nodes[number].is_limited
    }

    /// Returns the processes that return in some continuation, as a bit set per state.
    fn able(&self) -> Vec<u64> {
        let mut able = vec![0; self.nodes.len()];
        (0..able.len())
            .filter(|&number| self.is_unknown(number))
            .for_each(|number| able[number] = u64::MAX);
        for edge in self.edges.iter().filter(|edge| edge.returns) {
            able[edge.from as usize] |= 1 << edge.process.index();
        }
        let incoming = self.incoming();
        let mut work: Vec<usize> =
            (0..self.nodes.len()).filter(|&state| able[state] != 0).collect();
        while let Some(state) = work.pop() {
            for &edge in incoming.of(state) {
                let from = self.edges[edge as usize].from as usize;
                let more = able[from] | able[state];
                if more != able[from] {
                    able[from] = more;
                    work.push(from);
                }
            }
        }
        able
    }

    /// Returns, as a bit set per state, the processes whose operation returns after enough steps of
    /// their own, for any outcomes. Idle processes are included.
    fn ends_alone(&self) -> Vec<u64> {
        let n = self.machine.processes();
        let incoming = self.incoming();
        let mut ends: Vec<u64> = (0..self.nodes.len())
            .map(|number| if self.is_unknown(number) { u64::MAX } else { !self.open(number) })
            .collect();
        for process in (0..n).map(Process::from_index) {
            let bit = 1 << process.index();
            // Number of outcomes of the next step that may run for ever.
            let mut left = vec![0_u32; self.nodes.len()];
            let own = |edge: u32| {
                let edge = &self.edges[edge as usize];
                let is_step = self.nodes[edge.from as usize].open[process.index()].is_some();
                (edge.process == process && is_step).then_some(edge)
            };
            let mut has_step = vec![false; self.nodes.len()];
            for edge in (0..self.edges.len() as u32).filter_map(own) {
                has_step[edge.from as usize] = true;
                left[edge.from as usize] += u32::from(!edge.returns);
            }
            for number in 0..self.nodes.len() {
                // A state without a step is a fault.
                if !has_step[number] || left[number] == 0 {
                    ends[number] |= bit;
                }
            }
            let mut work: Vec<usize> =
                (0..self.nodes.len()).filter(|&number| ends[number] & bit != 0).collect();
            while let Some(state) = work.pop() {
                for edge in incoming.of(state).iter().filter_map(|edge| own(*edge)) {
                    let from = edge.from as usize;
                    if edge.returns || ends[from] & bit != 0 {
                        continue;
                    }
                    left[from] -= 1;
                    if left[from] == 0 {
                        ends[from] |= bit;
                        work.push(from);
                    }
                }
            }
        }
        ends
    }

    /// Groups the edges by target state.
    fn incoming(&self) -> Incoming {
        let mut begins = vec![0; self.nodes.len() + 1];
        self.edges.iter().for_each(|edge| begins[edge.to as usize + 1] += 1);
        (0..self.nodes.len()).for_each(|state| begins[state + 1] += begins[state]);
        let mut places = begins.clone();
        let mut edges = vec![0; self.edges.len()];
        for (number, edge) in (0..).zip(&self.edges) {
            edges[places[edge.to as usize]] = number;
            places[edge.to as usize] += 1;
        }
        Incoming { begins, edges }
    }
}

/// Numbers of the edges to each state, grouped by state.
struct Incoming {
    begins: Vec<usize>,
    edges: Vec<u32>,
}

impl Incoming {
    fn of(&self, state: usize) -> &[u32] {
        &self.edges[self.begins[state]..self.begins[state + 1]]
    }
}
