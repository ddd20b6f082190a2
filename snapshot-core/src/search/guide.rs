//! Facts about every linearization of a history, for a search to respect.
//!
//! A [`Guide`] comes from the saturated relation (`crate::saturation`): the order of some
//! operations, and the updates from which each entry can have been read. It concerns the history's
//! linearizations as a whole, so it may be used together with the memory of states: by every path,
//! a state left without success has no completion that is a linearization.

use super::problem::{NEVER, Problem};
use crate::{OperationId, Segment};

/// The updates that an entry can have been read from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Source {
    /// A complete scan.
    pub scan: OperationId,
    /// The segment of the entry.
    pub segment: Segment,
    /// The updates; `None` stands for the initial value.
    pub updates: Vec<Option<OperationId>>,
}

/// Facts that hold in every linearization of a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guide {
    /// For each operation its chain, and its number there, from 1. The operations of a chain are
    /// ordered in time.
    pub(crate) places: Vec<(u32, u32)>,
    /// For each operation and chain, the number of the last operation that precedes it.
    pub(crate) clocks: Vec<Vec<u32>>,
    pub(crate) sources: Vec<Source>,
}

/// An entry with its possible sources.
#[derive(Clone, Debug)]
struct Entry {
    segment: u16,
    /// Indices into the problem's operations; the initial value has none.
    updates: Vec<u32>,
}

/// The state of a guide during a search.
#[derive(Debug)]
pub(super) struct Progress<'g> {
    guide: &'g Guide,
    /// For each operation of the problem, its number in the history.
    ids: Vec<u32>,
    /// For each chain, the numbers of its operations that are in the problem.
    chains: Vec<Vec<u32>>,
    /// For each chain, the number of operations taken.
    taken: Vec<usize>,
    /// For each operation of the problem, its entries if it is a scan.
    entries: Vec<Vec<Entry>>,
}

impl<'g> Progress<'g> {
    pub fn new(problem: &Problem, guide: &'g Guide) -> Self {
        let ids: Vec<u32> = problem.operations.iter().map(|operation| operation.id).collect();
        let mut indices = vec![NEVER; guide.places.len()];
        let mut chains = Vec::new();
        for (index, &id) in (0..).zip(&ids) {
            indices[id as usize] = index;
            let (chain, number) = guide.places[id as usize];
            if chains.len() <= chain as usize {
                chains.resize_with(chain as usize + 1, Vec::new);
            }
            chains[chain as usize].push(number);
        }
        let mut entries = vec![Vec::new(); ids.len()];
        for Source { scan, segment, updates } in &guide.sources {
            let known = updates.iter().flatten().map(|update| indices[update.index()]);
            let updates = known.filter(|index| *index != NEVER).collect();
            let segment = segment.index() as u16;
            entries[indices[scan.index()] as usize].push(Entry { segment, updates });
        }
        Self { guide, ids, taken: vec![0; chains.len()], chains, entries }
    }

    /// Returns true if all predecessors of an operation are taken.
    pub fn is_ready(&self, index: usize) -> bool {
        let clock = &self.guide.clocks[self.ids[index] as usize];
        (0..).zip(clock).all(|(chain, number): (usize, _)| {
            let of_chain = self.chains.get(chain).zip(self.taken.get(chain));
            let next = of_chain.and_then(|(numbers, taken)| numbers.get(*taken));
            next.is_none_or(|next| next > number)
        })
    }

    /// Returns true if a scan can follow the next update of a segment: some update that the scan
    /// can have read is not taken yet.
    pub fn can_follow(&self, scan: usize, segment: u16, is_taken: &[bool]) -> bool {
        let mut entries = self.entries[scan].iter().filter(|entry| entry.segment == segment);
        entries.all(|entry| entry.updates.iter().any(|update| !is_taken[*update as usize]))
    }

    pub fn take(&mut self, index: usize) {
        self.taken[self.guide.places[self.ids[index] as usize].0 as usize] += 1;
    }

    pub fn give_back(&mut self, index: usize) {
        self.taken[self.guide.places[self.ids[index] as usize].0 as usize] -= 1;
    }
}
