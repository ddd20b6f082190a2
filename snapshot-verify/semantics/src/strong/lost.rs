//! Lost positions: the least fixed point; and its losing choices, by the sizes of their trees.
//!
//! A *choice* is a move of the scheduler with its answers: one target for a move that is no
//! response. A position is lost if all answers of one of its choices lead to lost positions; a
//! response without an answer is lost at once.
//!
//! A bit per position suffices for the fixed point: positions are visited from the last to the
//! first, again and again until none is lost that a position visited before leads to. Breadth-first,
//! most edges lead to larger numbers, so that few rounds are needed. Positions that are lost in a
//! part of the graph are lost in the whole, so the next search begins with them.
//!
//! Choices are found among lost positions only, by counters, each edge counted once: when its target
//! is lost. The queue is ordered by size, as in Knuth's generalisation of Dijkstra's algorithm
//! (Information Processing Letters, 1977): so each lost position gets the choice with the smallest
//! tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Graph, LOST};

/// Lost positions of a graph.
#[derive(Debug, Default)]
pub struct Lost {
    /// A bit per position.
    words: Vec<u64>,
    count: usize,
}

impl Lost {
    /// Adds the positions that are lost in this graph, which has grown. Positions without edges
    /// count as not lost.
    pub fn find(&mut self, graph: &Graph<'_, '_>) {
        self.words.resize(graph.len().div_ceil(64), 0);
        let mut awaited = vec![0; self.words.len()];
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for position in (0..graph.expanded() as u32).rev() {
                if has(&self.words, position) {
                    continue;
                }
                if self.has_lost_choice(graph, position, &mut awaited) {
                    set(&mut self.words, position);
                    self.count += 1;
                    is_done &= !has(&awaited, position);
                }
            }
        }
    }

    /// Returns true if some choice of a position is lost. Else marks its targets that are visited
    /// later.
    fn has_lost_choice(&self, graph: &Graph<'_, '_>, position: u32, awaited: &mut [u64]) -> bool {
        let mut is_lost = false;
        for (to, is_further) in graph.targets(position) {
            if is_lost && !is_further {
                return true;
            }
            let is_answer_lost = self.is_lost(to);
            if !is_answer_lost && to < position {
                set(awaited, to);
            }
            is_lost = (is_lost || !is_further) && is_answer_lost;
        }
        is_lost
    }

    fn is_lost(&self, to: u32) -> bool {
        to == LOST || self.contains(to)
    }

    /// Returns true if a position was found to be lost.
    pub fn contains(&self, position: u32) -> bool {
        has(&self.words, position)
    }

    /// Returns the number of lost positions.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of lost positions before each word.
    fn ranks(&self) -> Vec<u32> {
        let mut before = 0;
        let next = |word: &u64| {
            before += word.count_ones();
            before - word.count_ones()
        };
        self.words.iter().map(next).collect()
    }

    /// Returns the number of lost positions before this one.
    fn rank(&self, ranks: &[u32], position: u32) -> u32 {
        let below = self.words[position as usize / 64] & ((1 << (position % 64)) - 1);
        ranks[position as usize / 64] + below.count_ones()
    }

    /// Approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Returns the choice with the smallest tree at each lost position.
    pub fn choices(&self, graph: &Graph<'_, '_>) -> Choices {
        let all = (0..graph.len() as u32).filter(|position| self.contains(*position));
        let positions: Vec<u32> = all.collect();
        let mut firsts = vec![u32::MAX; positions.len()];
        let mut counters = Counters::new(graph, self, &positions);
        while let Some(Reverse((size, member, choice))) = counters.queue.pop() {
            let first = &mut firsts[member as usize];
            if *first == u32::MAX {
                *first = counters.firsts[choice as usize];
                counters.lose(member, size);
            }
        }
        Choices { positions, firsts }
    }
}

fn has(words: &[u64], position: u32) -> bool {
    words.get(position as usize / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
}

fn set(words: &mut [u64], position: u32) {
    words[position as usize / 64] |= 1 << (position % 64);
}

/// Losing choices.
#[derive(Debug)]
pub struct Choices {
    /// Lost positions, ascending.
    positions: Vec<u32>,
    /// First edge of the choice of each, among the edges of the position.
    firsts: Vec<u32>,
}

impl Choices {
    /// Returns the number, among the edges of a lost position, of the first edge of a choice whose
    /// answers are all lost.
    pub fn of(&self, position: u32) -> Option<usize> {
        let member = self.positions.binary_search(&position).ok()?;
        Some(self.firsts[member] as usize)
    }
}

/// Choices with their counters. Lost positions are given by their rank among them.
struct Counters {
    /// Position of each choice, and its first edge among those of the position.
    members: Vec<u32>,
    firsts: Vec<u32>,
    /// Number of answers that are not counted yet.
    left: Vec<u32>,
    /// Size of the trees of the counted answers, and the move itself.
    sizes: Vec<u64>,
    /// Choices by target, one entry per edge.
    begins: Vec<u32>,
    incoming: Vec<u32>,
    /// Choices whose answers are all counted: size, position, choice.
    queue: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Counters {
    /// Collects the choices whose answers are all lost.
    fn new(graph: &Graph<'_, '_>, lost: &Lost, positions: &[u32]) -> Self {
        let mut new = Self {
            members: Vec::new(),
            firsts: Vec::new(),
            left: Vec::new(),
            sizes: Vec::new(),
            begins: vec![0; positions.len() + 1],
            incoming: Vec::new(),
            queue: BinaryHeap::new(),
        };
        let ranks = lost.ranks();
        let mut answers: Vec<(u32, u32)> = Vec::new();
        for (member, position) in positions.iter().enumerate() {
            let targets: Vec<(u32, bool)> = graph.targets(*position).collect();
            let mut first = 0;
            for choice in targets.chunk_by(|_, (_, is_further)| *is_further) {
                if choice.iter().all(|(to, _)| lost.is_lost(*to)) {
                    let number = new.members.len() as u32;
                    let known = answers.len();
                    let inner = choice.iter().filter(|(to, _)| *to != LOST);
                    answers.extend(inner.map(|(to, _)| (lost.rank(&ranks, *to), number)));
                    new.members.push(member as u32);
                    new.firsts.push(first);
                    new.left.push((answers.len() - known) as u32);
                    new.sizes.push(1);
                    if answers.len() == known {
                        new.queue.push(Reverse((1, member as u32, number)));
                    }
                }
                first += choice.len() as u32;
            }
        }
        answers.iter().for_each(|(to, _)| new.begins[*to as usize + 1] += 1);
        (0..positions.len()).for_each(|member| new.begins[member + 1] += new.begins[member]);
        let mut places = new.begins.clone();
        new.incoming = vec![0; answers.len()];
        for (to, choice) in answers {
            let place = &mut places[to as usize];
            new.incoming[*place as usize] = choice;
            *place += 1;
        }
        new
    }

    /// Counts the edges to a position that is lost, with a tree of this size.
    fn lose(&mut self, member: u32, size: u64) {
        for edge in self.begins[member as usize]..self.begins[member as usize + 1] {
            let choice = self.incoming[edge as usize];
            let at = choice as usize;
            self.left[at] -= 1;
            self.sizes[at] = self.sizes[at].saturating_add(size);
            if self.left[at] == 0 {
                self.queue.push(Reverse((self.sizes[at], self.members[at], choice)));
            }
        }
    }
}
