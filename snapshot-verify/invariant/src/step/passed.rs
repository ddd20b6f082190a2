//! Jumps and loops that a step passes, and those that it may pass for ever.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::Outcome;

/// Jumps and loops that a step passes between two accesses.
#[derive(Default)]
pub(super) struct Passed {
    /// Each with the whole outcome so far, in the order of their discovery.
    all: Vec<Outcome>,
    places: HashTable<usize>,
    /// Edges between them.
    next: Vec<FxHashSet<usize>>,
}

impl Passed {
    /// Adds an edge from another place to a branch; returns the branch's number, and true if it is
    /// new.
    pub fn come(&mut self, branch: &Outcome, from: Option<usize>) -> (usize, bool) {
        let end = self.all.len();
        let hash = FxBuildHasher.hash_one(branch);
        let at = match self.places.find(hash, |at| self.all[*at] == *branch) {
            Some(at) => *at,
            None => {
                let of = |at: &usize| FxBuildHasher.hash_one(&self.all[*at]);
                self.places.insert_unique(hash, end, of);
                self.all.push(branch.clone());
                self.next.push(FxHashSet::default());
                end
            }
        };
        if let Some(from) = from {
            self.next[from].insert(at);
        }
        (at, at == end)
    }

    /// Returns the branches from which the step may never reach an end.
    pub fn endless(mut self) -> impl Iterator<Item = Outcome> {
        let mut left: FxHashSet<usize> = (0..self.all.len()).collect();
        loop {
            let before = left.len();
            for at in (0..self.all.len()).rev() {
                if !self.next[at].iter().any(|next| left.contains(next)) {
                    left.remove(&at);
                }
            }
            if left.len() == before {
                break;
            }
        }
        let all = std::mem::take(&mut self.all).into_iter().enumerate();
        all.filter(move |(at, _)| left.contains(at)).map(|(_, branch)| branch)
    }
}
