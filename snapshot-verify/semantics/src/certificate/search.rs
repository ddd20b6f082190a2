//! A list of states, closed under moves: breadth-first from the initial state, with what
//! is covered left out.

use std::collections::VecDeque;

use super::rows::Rows;
use super::system::{Successor, System};
use super::{Budget, Coverage, Unfinished};
use crate::interpret::{Fault, Move};

/// How often the budget is asked: each this many states.
const PERIOD: u64 = 256;

/// The list: rows, and for each the sets of states of the automata that come with it.
#[derive(Debug)]
pub struct List {
    coverage: Coverage,
    /// The rows.
    pub rows: Rows,
    /// By row.
    pub sets: Vec<Vec<u32>>,
}

/// Why there is no list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// An accepting state is reached by this move.
    Accepting(Move),
    /// This move is a fault.
    Fault(Move, Fault),
    /// The budget ran out.
    Unknown(Unfinished),
}

impl List {
    /// Without states.
    pub fn new(coverage: Coverage, width: usize) -> Self {
        Self { coverage, rows: Rows::new(width), sets: Vec::new() }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }

    /// Adds a state.
    pub fn push(&mut self, row: &[u32], set: u32) -> usize {
        let number = self.rows.find(row).unwrap_or_else(|| {
            self.sets.push(Vec::new());
            self.rows.push(row)
        });
        self.sets[number].push(set);
        number
    }

    /// Whether a state is covered.
    pub fn covers(&self, system: &mut System<'_, '_>, row: &[u32], set: u32) -> bool {
        (0..system.permutations()).any(|permutation| {
            if permutation == 0 {
                return self.covers_plainly(system, row, set);
            }
            let (row, set) = system.renamed(row, set, permutation);
            self.covers_plainly(system, &row, set)
        })
    }

    fn covers_plainly(&self, system: &System<'_, '_>, row: &[u32], set: u32) -> bool {
        let Some(number) = self.rows.find(row) else { return false };
        let covers = |&other: &u32| match self.coverage.antichain {
            true => system.judge.includes(other, set),
            false => other == set,
        };
        self.sets[number].iter().any(covers)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        // A list of a few sets: its place, and that on the heap.
        self.rows.bytes() + self.sets.capacity() * size_of::<Vec<u32>>() + self.rows.len() * 32
    }
}

/// All that can be reached, up to what is covered.
///
/// # Errors
/// If an accepting state or a fault is reached, or the budget runs out.
pub fn search(
    system: &mut System<'_, '_>,
    coverage: Coverage,
    budget: &mut Budget<'_>,
) -> Result<List, Obstacle> {
    let mut list = List::new(coverage, system.width());
    let mut waiting = VecDeque::new();
    let (row, set) = system.initial();
    waiting.push_back((list.push(&row, set), set));
    let mut after: Vec<Successor> = Vec::new();
    let mut expanded = 0_u64;
    while let Some((number, set)) = waiting.pop_front() {
        if expanded.is_multiple_of(PERIOD) {
            let queue = waiting.capacity() * size_of::<(usize, u32)>();
            budget.spend(list.bytes() + system.bytes() + queue).map_err(Obstacle::Unknown)?;
        }
        expanded += 1;
        if !list.sets[number].contains(&set) {
            // Something that dominates it has come since.
            continue;
        }
        let row = list.rows.get(number).to_vec();
        for permutation in 0..system.permutations() {
            let (row, set) = system.renamed(&row, set, permutation);
            let moves = system.successors(&row, set, &mut after);
            moves.map_err(|(made, fault)| Obstacle::Fault(made, fault))?;
            for Successor { made, row, set } in after.drain(..) {
                if system.judge.is_accepting(set) {
                    return Err(Obstacle::Accepting(made));
                }
                if list.covers(system, &row, set) {
                    continue;
                }
                let number = list.push(&row, set);
                if coverage.antichain {
                    let judge = &system.judge;
                    list.sets[number].retain(|other| *other == set || !judge.includes(set, *other));
                }
                waiting.push_back((number, set));
            }
        }
    }
    Ok(list)
}
