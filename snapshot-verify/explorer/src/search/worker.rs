//! One thread's work: makes the successors of states, and passes them to the store in batches.

use super::budget::{Exhausted, Memory, Supervisor, Unfinished};
use super::product::{Move, Product, Scratch, Stop, Successor, TransitionCache};
use super::self_check::{Defect, Examined, Examiner};
use super::store::{Chunk, SHARDS, Store, shard_of};

/// The number of states passed to a shard at a time.
pub(super) const BATCH: usize = 128;

/// The clock is checked after this many moves: a move takes up to milliseconds, and the number of
/// moves of a state is unbounded.
const LOOK_EVERY: u64 = 64;

/// A move without successor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<const W: usize> {
    pub(super) state: [u64; W],
    pub(super) by: Move,
    pub(super) stop: Stop,
}

impl<const W: usize> Found<W> {
    /// Returns the least violation or fault. So the reported one does not depend on threads.
    pub(super) fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|found| (found.state, found.by))
    }
}

/// One thread's part of a search.
#[derive(Debug)]
pub(super) struct Worker<'a, const W: usize> {
    scratch: Scratch,
    /// The cache of transitions, if it applies.
    cache: Option<TransitionCache<W>>,
    /// By shard, the states still to be passed to the store: always fewer than [`BATCH`].
    buffers: Vec<Vec<[u64; W]>>,
    /// The number of transitions since the last [`Self::take_transitions`].
    transitions: u64,
    found: Option<Found<W>>,
    /// Examines some of the states, if the self-check is on.
    examiner: Option<Examiner<'a, W>>,
}

impl<'a, const W: usize> Worker<'a, W> {
    /// The bytes of a worker's buffers and cache.
    pub(super) const BYTES: usize =
        SHARDS * BATCH * size_of::<[u64; W]>() + TransitionCache::<W>::BYTES;

    pub(super) fn new(
        product: &Product<'_>,
        memory: &Memory,
        examiner: Option<Examiner<'a, W>>,
    ) -> Result<Self, Exhausted> {
        memory.take(Self::BYTES)?;
        Ok(Self {
            scratch: Scratch::new(product),
            cache: TransitionCache::new(product),
            buffers: (0..SHARDS).map(|_| Vec::with_capacity(BATCH)).collect(),
            transitions: 0,
            found: None,
            examiner,
        })
    }

    /// Explores some states of a level with this many states. Returns false if the watch ended the
    /// search before all were explored; transitions of an incompletely explored chunk are not
    /// counted.
    pub(super) fn explore(
        &mut self,
        chunk: &Chunk<W>,
        product: &Product<'_>,
        store: &Store<'_, W>,
        watch: &Supervisor<'_>,
        level: u64,
    ) -> bool {
        self.explore_to(chunk, product, watch, level, |buffers, next| {
            buffer(store.hash(&next), next, buffers, store, watch);
        })
    }

    /// Like [`Self::explore`], but passes the successors to `to`, with the buffers for the store.
    #[inline]
    pub(super) fn explore_to(
        &mut self,
        chunk: &Chunk<W>,
        product: &Product<'_>,
        watch: &Supervisor<'_>,
        level: u64,
        mut to: impl FnMut(&mut Vec<Vec<[u64; W]>>, [u64; W]),
    ) -> bool {
        let Self { scratch, cache, buffers, transitions: counted, found, examiner } = self;
        let mut transitions = *counted;
        let rate = examiner.as_ref().map_or(1, |examiner| examiner.rate(level));
        for state in chunk {
            if let Some(examiner) = examiner {
                examiner.look(state, rate);
            }
            if watch.cause().is_some() {
                return false;
            }
            let each = |by, successor: Successor<W>| {
                transitions += 1;
                if transitions.is_multiple_of(LOOK_EVERY) {
                    watch.look();
                }
                if let Some(next) = successor.state {
                    to(buffers, next);
                }
                if successor.stop == Some(Stop::TooNarrow) {
                    watch.end(Unfinished::TooNarrow);
                    watch.lose();
                } else if let Some(stop) = successor.stop {
                    *found = Found::first(*found, Some(Found { state: *state, by, stop }));
                }
            };
            match cache {
                Some(cache) => product.successors_cached(state, scratch, cache, each),
                None => product.successors(state, scratch, each),
            }
        }
        *counted = transitions;
        true
    }

    /// Takes a state that another worker has reached.
    pub(super) fn receive(
        &mut self,
        state: [u64; W],
        store: &Store<'_, W>,
        watch: &Supervisor<'_>,
    ) {
        buffer(store.hash(&state), state, &mut self.buffers, store, watch);
    }

    /// Passes all states in the buffers to the store.
    pub(super) fn finish(&mut self, store: &Store<'_, W>, watch: &Supervisor<'_>) {
        for (shard, buffer) in self.buffers.iter_mut().enumerate() {
            if !buffer.is_empty() {
                hand_over(shard, buffer, store, watch);
            }
        }
    }

    pub(super) fn take_transitions(&mut self) -> u64 {
        std::mem::take(&mut self.transitions)
    }

    /// Checks that the store holds the required states, once all workers have finished. Only states
    /// that belong to this store are checked.
    pub(super) fn examine(&mut self, store: &Store<'_, W>, belongs: impl Fn(&[u64; W]) -> bool) {
        if let Some(examiner) = &mut self.examiner {
            examiner.finish(store, belongs);
        }
    }

    pub(super) fn take_examined(&mut self) -> Examined {
        self.examiner.as_mut().map_or_else(Examined::default, Examiner::take_examined)
    }

    /// Takes the defect that the self-check found, with its state.
    pub(super) fn take_defect(&mut self) -> Option<([u64; W], Defect)> {
        self.examiner.as_mut().and_then(Examiner::take_defect)
    }

    pub(super) fn take_found(&mut self) -> Option<Found<W>> {
        self.found.take()
    }
}

/// Buffers a state with this hash until there are enough for its shard.
#[inline]
pub(super) fn buffer<const W: usize>(
    hash: u64,
    state: [u64; W],
    buffers: &mut [Vec<[u64; W]>],
    store: &Store<'_, W>,
    watch: &Supervisor<'_>,
) {
    let shard = shard_of(hash);
    let buffer = &mut buffers[shard];
    buffer.push(state);
    if buffer.len() == BATCH {
        hand_over(shard, buffer, store, watch);
    }
}

fn hand_over<const W: usize>(
    shard: usize,
    buffer: &mut Vec<[u64; W]>,
    store: &Store<'_, W>,
    watch: &Supervisor<'_>,
) {
    if store.insert(shard, buffer).is_err() {
        watch.end(Unfinished::Memory);
        watch.lose();
    }
    buffer.clear();
}
