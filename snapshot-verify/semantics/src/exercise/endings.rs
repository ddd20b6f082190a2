//! Which operations can still end: the least fixed point of `EF returned`, for all
//! processes at once, backwards over a graph.
//!
//! Invariant: the bit of a process is set in a state iff a path leads from there to a
//! return of the process, or to a state that was not expanded. So a bit that is not set
//! is certain, however little was explored.

use snapshot_core::Process;

use super::graph::StateGraph;
use super::{Operation, Stuck};

impl StateGraph<'_, '_> {
    /// An operation that returns in no continuation, if there is one: that of a
    /// deadlock, if there is one, after the fewest moves.
    pub fn stuck(&self) -> Option<Stuck> {
        let able = self.able();
        let is_stuck = |number: usize, process: usize| {
            self.nodes[number].open[process].is_some() && able[number] & (1 << process) == 0
        };
        let n = self.machine.processes();
        let find = |is_deadlock: bool| {
            let states = (0..self.nodes.len()).filter(|&state| !is_deadlock || able[state] == 0);
            let mut all = states.flat_map(|state| (0..n).map(move |process| (state, process)));
            all.find(|&(state, process)| is_stuck(state, process))
                .map(|(state, process)| (state, process, is_deadlock))
        };
        let (state, process, is_deadlock) = find(true).or_else(|| find(false))?;
        let node = &self.nodes[state];
        let operation = node.open[process].unwrap_or(Operation::Update);
        let process = Process::from_index(process);
        let at = self.machine.next_text(&node.state, process);
        let moves = self.path(state as u32);
        Some(Stuck { moves, process, operation, at, is_deadlock })
    }

    /// Per state, a bit for each process that returns in some continuation.
    fn able(&self) -> Vec<u64> {
        let mut able = vec![0; self.nodes.len()];
        able[self.expanded..].fill(u64::MAX);
        // The edges to each state, one state after the other.
        let mut begins = vec![0; self.nodes.len() + 1];
        self.edges.iter().for_each(|edge| begins[edge.to as usize + 1] += 1);
        (0..self.nodes.len()).for_each(|state| begins[state + 1] += begins[state]);
        let mut places = begins.clone();
        let mut incoming = vec![0; self.edges.len()];
        for edge in &self.edges {
            incoming[places[edge.to as usize]] = edge.from;
            places[edge.to as usize] += 1;
            let returns = edge.returns.map_or(0, |process| 1 << process.index());
            able[edge.from as usize] |= returns;
        }
        let mut work: Vec<usize> =
            (0..self.nodes.len()).filter(|&state| able[state] != 0).collect();
        while let Some(state) = work.pop() {
            for &from in &incoming[begins[state]..begins[state + 1]] {
                let more = able[from as usize] | able[state];
                if more != able[from as usize] {
                    able[from as usize] = more;
                    work.push(from as usize);
                }
            }
        }
        able
    }
}
