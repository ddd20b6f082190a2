//! Which operations can still end, backwards over a graph: the least fixed point of `EF returned`,
//! for all processes at once, and for each process alone that of `AF returned` over its own steps.
//!
//! Invariant: of a process, a path leads from a state to its return, or to a state that was not
//! expanded, unless it is found to be stuck there; and so does every path of its own steps,
//! unless it is found to wait. So what is found is certain, however little was explored.

use snapshot_core::Process;

use super::environment::Environment;
use super::graph::StateGraph;
use super::{Operation, Stuck};

/// Operations that return in no continuation.
#[derive(Debug, Default)]
pub struct Hangs {
    /// One that the object lets return: that of a deadlock, if there is one, after the fewest
    /// moves.
    pub stuck: Option<Stuck>,
    /// One that the object itself keeps waiting, after the fewest moves.
    pub waiting: Option<Stuck>,
    /// Whether there is one of which it is not known which of the two it is.
    pub is_open: bool,
}

impl StateGraph<'_, '_> {
    /// The operations that return in no continuation.
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

    /// An operation that does not return if only its process makes steps, after the fewest moves.
    pub fn waits_for_others(&self) -> Option<Stuck> {
        let ends = self.ends_alone();
        let numbers = 0..self.nodes.len();
        let mut waiting = numbers.map(|number| (number, self.open(number) & !ends[number]));
        let (number, processes) = waiting.find(|(_, processes)| *processes != 0)?;
        Some(self.stuck_at(number, processes, false))
    }

    /// The first of some processes in a state.
    fn stuck_at(&self, number: usize, processes: u64, is_deadlock: bool) -> Stuck {
        let node = &self.nodes[number];
        let index = processes.trailing_zeros() as usize;
        let process = Process::from_index(index);
        let operation = node.open[index].unwrap_or(Operation::Update);
        let at = self.machine.next_text(&node.state, process);
        Stuck { moves: self.path(number as u32), process, operation, at, is_deadlock }
    }

    /// A bit for each process that has an operation open in a state.
    fn open(&self, number: usize) -> u64 {
        let open = self.nodes[number].open.iter().enumerate();
        open.filter(|(_, open)| open.is_some()).fold(0, |all, (process, _)| all | 1 << process)
    }

    /// Whether the steps from a state are unknown.
    fn is_unknown(&self, number: usize) -> bool {
        number >= self.expanded || self.nodes[number].is_limited
    }

    /// Per state, a bit for each process that returns in some continuation.
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

    /// Per state, a bit for each process whose operation returns after enough steps of its own,
    /// whatever their outcomes; or that has none open.
    fn ends_alone(&self) -> Vec<u64> {
        let n = self.machine.processes();
        let incoming = self.incoming();
        let mut ends: Vec<u64> = (0..self.nodes.len())
            .map(|number| if self.is_unknown(number) { u64::MAX } else { !self.open(number) })
            .collect();
        for process in (0..n).map(Process::from_index) {
            let bit = 1 << process.index();
            // Outcomes of its next step after which it may go on for ever.
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
                // Without a step, it goes wrong.
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

    /// The edges to each state.
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

/// The edges to each state, by number, one state after the other.
struct Incoming {
    begins: Vec<usize>,
    edges: Vec<u32>,
}

impl Incoming {
    fn of(&self, state: usize) -> &[u32] {
        &self.edges[self.begins[state]..self.begins[state + 1]]
    }
}
