//! Closes a list of states under moves: breadth-first from the initial state, without covered
//! states.

use std::collections::VecDeque;

use super::rows::Rows;
use super::system::{Successor, System};
use super::{Budget, Coverage, Unfinished};
use crate::interpret::{Fault, Move};

/// Interval between calls of the budget, in states.
const PERIOD: u64 = 256;

/// The listed states: rows, each with its sets of automaton states.
#[derive(Debug)]
pub struct List {
    coverage: Coverage,
    pub rows: Rows,
    /// Sets of each row.
    pub sets: Vec<Vec<u32>>,
}

/// Reason for a missing list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// This move reaches an accepting state.
    Accepting(Move),
    Fault(Move, Fault),
    Unknown(Unfinished),
}

impl List {
    pub fn new(coverage: Coverage, width: usize) -> Self {
        Self { coverage, rows: Rows::new(width), sets: Vec::new() }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }

    /// Adds a state and returns the number of its row.
    pub fn push(&mut self, row: &[u32], set: u32) -> usize {
        let number = self.rows.find(row).unwrap_or_else(|| {
            self.sets.push(Vec::new());
            self.rows.push(row)
        });
        self.sets[number].push(set);
        number
    }

    /// Returns true if the list covers a state.
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

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        // A row with a few sets: the vector itself and its allocation.
        self.rows.bytes() + self.sets.capacity() * size_of::<Vec<u32>>() + self.rows.len() * 32
    }
}

/// Lists the reachable states; successors of covered states are not explored.
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
            // A state listed since then dominates this one.
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
