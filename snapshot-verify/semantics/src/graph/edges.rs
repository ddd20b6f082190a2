//! Edges of expanded states, packed.

use std::ops::Range;

use super::label::Label;
use crate::product::Rows;

/// Move from one state to another. The answers to a response follow each other, with equal labels.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Target; [`LOST`](super::LOST): there is no answer.
    pub to: u32,
    pub label: Label,
}

/// Edges by their sources. A row stores twice the target plus one (0: [`LOST`](super::LOST)), with 1 added for
/// another answer to the same response; and the label.
#[derive(Debug)]
pub struct Edges {
    all: Rows,
    /// First edge of each source, and the end.
    begins: Rows,
}

/// Most states and edges.
pub const MOST: usize = 1 << 30;

impl Edges {
    pub fn new() -> Self {
        let mut begins = Rows::new(1);
        begins.push([0]);
        Self { all: Rows::new(2), begins }
    }

    /// Adds the edges of the next state.
    pub fn push(&mut self, edges: &[Edge]) {
        let mut before = None;
        for edge in edges {
            let is_further = edge.label.returns() && before == Some(edge.label);
            before = Some(edge.label);
            let to = edge.to.wrapping_add(1) << 1 | u32::from(is_further);
            self.all.push([to, edge.label.number()]);
        }
        self.begins.push([self.all.len() as u32]);
    }

    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of states whose edges are known.
    pub const fn sources(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns the numbers of the edges of a state; none if they are unknown.
    pub fn of(&self, number: u32) -> Range<u32> {
        if (number as usize) < self.sources() {
            self.begins.get(number, 0)..self.begins.get(number + 1, 0)
        } else {
            0..0
        }
    }

    /// Returns the target of an edge, and true if it is another answer to the same response as the
    /// edge before.
    pub fn target(&self, edge: u32) -> (u32, bool) {
        let to = self.all.get(edge, 0);
        ((to >> 1).wrapping_sub(1), to & 1 == 1)
    }

    pub fn get(&self, edge: u32) -> Edge {
        Edge { to: self.target(edge).0, label: Label::of_number(self.all.get(edge, 1)) }
    }

    /// Approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.all.bytes() + self.begins.bytes()
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::Process;

    use super::*;
    use crate::graph::{Kind, LOST, Labels};
    use crate::interpret::Move;

    #[test]
    fn edges_are_found_by_their_sources() {
        let process = Process::from_index(1);
        let label = |kind| Labels::default().label(Move::step(process), kind, false);
        let (step, response) = (label(Kind::Step), label(Kind::Response));
        let edge = |to, label| Edge { to, label };
        let mut edges = Edges::new();
        edges.push(&[edge(1, step), edge(2, step), edge(0, response), edge(3, response)]);
        edges.push(&[]);
        edges.push(&[edge(LOST, response)]);
        let found = |number| edges.of(number).map(|edge| edges.target(edge)).collect::<Vec<_>>();
        assert_eq!(found(0), [(1, false), (2, false), (0, false), (3, true)]);
        assert_eq!((found(1), found(2), found(3)), (vec![], vec![(LOST, false)], vec![]));
        assert_eq!((edges.len(), edges.sources()), (5, 3));
        let last = edges.get(4);
        assert!(last.to == LOST && last.label == response);
    }
}
