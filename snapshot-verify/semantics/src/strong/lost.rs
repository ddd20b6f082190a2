//! Lost positions: the least fixed point, by counters, in the order of the sizes of their trees.
//!
//! A *choice* is a move of the scheduler with its answers: one target for a move that is no
//! response. A position is lost if all answers of one of its choices lead to lost positions; a
//! response without an answer is lost at once. Each choice counts its answers that are not lost
//! yet, and each edge is counted once: when its target is lost. So the work is linear in the number
//! of edges, up to the queue.
//!
//! The queue is ordered by size, as in Knuth's generalisation of Dijkstra's algorithm (Information
//! Processing Letters, 1977): so each lost position knows the choice with the smallest tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Graph, LOST};

/// Lost positions of a graph.
#[derive(Debug)]
pub struct Lost {
    /// First edge of the losing choice of each position; `None`: not lost.
    choices: Vec<Option<u32>>,
    count: usize,
}

impl Lost {
    /// Finds the lost positions. Positions without edges count as not lost, so in a graph that was
    /// not explored completely, the lost positions are lost all the same.
    pub fn new(graph: &Graph<'_, '_>) -> Self {
        let mut counters = Counters::new(graph);
        let mut lost = Self { choices: vec![None; graph.len()], count: 0 };
        while let Some(Reverse((size, position, choice))) = counters.queue.pop() {
            let place = &mut lost.choices[position as usize];
            if place.is_some() {
                continue;
            }
            *place = Some(counters.firsts[choice as usize]);
            lost.count += 1;
            counters.lose(position, size);
        }
        lost
    }

    /// Returns the number of lost positions.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the number, among the edges of a lost position, of the first edge of a choice whose
    /// answers are all lost.
    pub fn choice(&self, position: u32) -> Option<usize> {
        self.choices.get(position as usize)?.map(|first| first as usize)
    }
}

/// Choices with their counters.
struct Counters {
    /// Position of each choice, and its first edge among those of the position.
    positions: Vec<u32>,
    firsts: Vec<u32>,
    /// Number of answers that are not lost yet.
    left: Vec<u32>,
    /// Size of the trees of lost answers, and the move itself.
    sizes: Vec<u64>,
    /// Choices by target, one entry per edge.
    begins: Vec<usize>,
    incoming: Vec<u32>,
    /// Lost choices: size, position, choice.
    queue: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Counters {
    fn new(graph: &Graph<'_, '_>) -> Self {
        let mut new = Self {
            positions: Vec::new(),
            firsts: Vec::new(),
            left: Vec::new(),
            sizes: Vec::new(),
            begins: vec![0; graph.len() + 1],
            incoming: vec![0; graph.edges()],
            queue: BinaryHeap::new(),
        };
        let mut targets: Vec<(u32, u32)> = Vec::with_capacity(graph.edges());
        for position in 0..graph.expanded() as u32 {
            let edges = graph.from(position);
            for (at, edge) in edges.iter().enumerate() {
                let is_further =
                    at > 0 && edge.label.returns() && edges[at - 1].label == edge.label;
                if !is_further {
                    new.positions.push(position);
                    new.firsts.push(at as u32);
                    new.left.push(0);
                    new.sizes.push(1);
                }
                let choice = new.positions.len() as u32 - 1;
                if edge.to == LOST {
                    new.queue.push(Reverse((1, position, choice)));
                } else {
                    new.left[choice as usize] += 1;
                    new.begins[edge.to as usize + 1] += 1;
                    targets.push((edge.to, choice));
                }
            }
        }
        (0..graph.len()).for_each(|position| new.begins[position + 1] += new.begins[position]);
        let mut places = new.begins.clone();
        for (to, choice) in targets {
            new.incoming[places[to as usize]] = choice;
            places[to as usize] += 1;
        }
        new
    }

    /// Counts the edges to a position that is lost, with a tree of this size.
    fn lose(&mut self, position: u32, size: u64) {
        let range = self.begins[position as usize]..self.begins[position as usize + 1];
        for edge in range {
            let choice = self.incoming[edge];
            let at = choice as usize;
            self.left[at] -= 1;
            self.sizes[at] = self.sizes[at].saturating_add(size);
            if self.left[at] == 0 {
                self.queue.push(Reverse((self.sizes[at], self.positions[at], choice)));
            }
        }
    }
}
