//! One worker's share of a level, during the search and during trace reconstruction.

use super::super::level::Level;
use super::super::product::{Move, Product, Scratch};
use super::super::self_check::Defect;
use super::super::store::{Chunk, Frontier, SHARDS, Store};
use super::super::worker::Worker;
use super::report::Report;
use super::{Place, SharedSearch};

/// Returns the worker that owns a state with this hash. All bits of the hash decide, so each
/// worker's states are spread evenly over shards and over the places in a shard.
#[inline]
pub(super) fn owner(hash: u64, workers: usize) -> usize {
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let mixed = (hash ^ hash >> 32).wrapping_mul(FACTOR) >> 32;
    ((mixed * workers as u64) >> 32) as usize
}

/// A worker with the store of its states.
pub(super) struct Rooms<'a, const W: usize> {
    pub(super) store: Store<'a, W>,
    pub(super) worker: Worker<'a, W>,
}

pub(super) struct AtLevel<'a, const W: usize> {
    /// `None` if the memory does not suffice to begin.
    pub(super) rooms: Option<Box<Rooms<'a, W>>>,
    pub(super) level: Level<'a, W>,
    /// The number of states of the level in all parts.
    pub(super) states: u64,
    pub(super) next: Vec<Chunk<W>>,
}

impl<const W: usize> AtLevel<'_, W> {
    /// Returns the part's report on the level, now that all parts have finished it. Takes out the
    /// next level.
    pub(super) fn report(
        &mut self,
        shared: &SharedSearch<'_, W>,
        place: Place,
        levels: Option<&mut Vec<Vec<Chunk<W>>>>,
        defect: &mut Option<Defect>,
    ) -> Report<W> {
        let Some(Rooms { store, worker }) = self.rooms.as_deref_mut() else {
            return Report { is_exhausted: true, ..Report::default() };
        };
        worker.finish(store, shared.watch);
        if shared.watch.cause().is_none() {
            let belongs =
                |state: &[u64; W]| owner(store.hash(state), place.workers) == place.worker;
            worker.examine(store, belongs);
        }
        *defect = worker.take_defect().map(|(_, defect)| defect);
        self.next = (0..SHARDS).flat_map(|shard| store.take_new(shard)).collect();
        let done = Level::new(Vec::new(), false, store.memory());
        if let (Some(levels), Some(level)) =
            (levels, std::mem::replace(&mut self.level, done).into_kept())
        {
            levels.push(level);
        }
        Report {
            states: self.next.iter().map(|chunk| chunk.len() as u64).sum(),
            bytes: (self.next.len() * Frontier::<W>::CHUNK_BYTES) as u64,
            transitions: worker.take_transitions(),
            examined: worker.take_examined(),
            has_defect: defect.is_some(),
            by: worker.take_found().map(|found| (found.state, found.by)),
            ..Report::default()
        }
    }
}

/// The search for the predecessor of a state on a level.
pub(super) struct Trace<const W: usize> {
    pub(super) target: [u64; W],
    /// Levels of this part; the last one is searched.
    pub(super) levels: Vec<Vec<Chunk<W>>>,
    pub(super) least: Option<([u64; W], Move)>,
}

impl<const W: usize> Trace<W> {
    /// Examines the next chunk of states and drops it. Returns true once all were examined.
    pub(super) fn look_at_chunk(&mut self, product: &Product<'_>) -> bool {
        let Some(chunk) = self.levels.last_mut().and_then(Vec::pop) else { return true };
        let mut scratch = Scratch::new(product);
        for state in &chunk {
            product.successors_dyn(state, &mut scratch, &mut |by, successor| {
                if successor.state == Some(self.target) {
                    self.least = self.least.into_iter().chain([(*state, by)]).min();
                }
            });
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::store::{hash, shard_of};
    use super::*;

    /// For any number of workers, all have about the same number of states, and so have all shards
    /// of all workers.
    #[test]
    fn states_are_distributed_evenly() {
        for workers in [1, 2, 3, 4, 7] {
            let mut counts = vec![[0_u32; SHARDS]; workers];
            let states = (0..200_000_u64).map(|number| [number | 1 << 63]);
            for state in states {
                let hash = hash(&state, 0);
                counts[owner(hash, workers)][shard_of(hash)] += 1;
            }
            let expected = 200_000 / (workers * SHARDS) as u32;
            for part in &counts {
                let total: u32 = part.iter().sum();
                assert!(total.abs_diff(200_000 / workers as u32) < 2_000, "{workers}: {total}");
                assert!(part.iter().all(|&count| count < 2 * expected + 20), "{workers}");
            }
        }
    }
}
