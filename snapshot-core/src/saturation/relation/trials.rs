//! Supposing that one scan comes before another one, and taking it back.
//!
//! Between [`Relation::begin_trial`] and [`Relation::undo_trial`], old clock
//! entries are kept on a trail, and undone with the edges, last ones first.

use super::{Cycle, NONE, Relation, Stands};

/// What a trial has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// Node, chain, and the entry before.
    pub clocks: Vec<(u32, u32, u32)>,
    /// Where the new edges begin.
    pub edges: Vec<u32>,
    pub first_edge: usize,
}

impl Relation {
    /// Supposes, or states, that one scan comes before another one.
    pub fn order(&mut self, first: u32, second: u32) -> Result<(), Cycle> {
        let (from, to) = (self.operation(first).node, self.operation(second).node);
        self.add_edge(from, to, (NONE, NONE));
        self.saturate()
    }

    /// Whether an order of two scans makes no cycle; changes nothing.
    pub fn can_order(&mut self, first: u32, second: u32) -> bool {
        self.begin_trial();
        let result = self.order(first, second);
        self.undo_trial();
        result.is_ok()
    }

    /// What follows can be undone.
    pub fn begin_trial(&mut self) {
        let first_edge = self.edges.len();
        self.trials.push(Trail { first_edge, ..Trail::default() });
    }

    /// The operations whose clocks have risen since the last trial began; some repeatedly.
    pub fn each_risen(&self, mut visit: impl FnMut(u32)) {
        let Some(trail) = self.trials.last() else { return };
        for &(node, _, _) in &trail.clocks {
            if let Stands::Operation(operation) = self.nodes[node as usize].stands {
                visit(operation);
            }
        }
    }

    /// Undoes what was done since the trial began; a cycle is gone with it.
    pub fn undo_trial(&mut self) {
        let Some(trail) = self.trials.pop() else { return };
        for (node, chain, before) in trail.clocks.into_iter().rev() {
            self.nodes[node as usize].clock[chain as usize] = before;
        }
        for (edge, from) in (trail.first_edge..self.edges.len()).zip(&trail.edges).rev() {
            self.nodes[*from as usize].edges = self.edges[edge].next;
        }
        self.edges.truncate(trail.first_edge);
        self.cycle = None;
    }

    /// Makes what was done since the trial began part of what was before.
    pub fn keep_trial(&mut self) {
        let Some(mut trail) = self.trials.pop() else { return };
        if let Some(outer) = self.trials.last_mut() {
            outer.clocks.append(&mut trail.clocks);
            outer.edges.append(&mut trail.edges);
        }
    }
}
