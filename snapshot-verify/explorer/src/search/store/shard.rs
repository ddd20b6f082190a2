//! One shard of the store: open addressing with linear probing.
//!
//! The search for a state starts at its hash scaled to the number of places. So any number of
//! places will do, and growing walks the old and the new table in the same order. A place of all
//! zeros is empty; no packed state is all zeros (see [`crate::search::layout`]).
//!
//! # The antichain
//!
//! With dominance, states are compared by their [`Monotone`] part, and by equality in all other
//! bits. A state is *dominated* by a state that is equal in the other bits and has at least as much
//! in the monotone part. The shard keeps the maximal states among all states ever inserted: a
//! dominated state is dropped when it arrives, and stored dominated states are overwritten when a
//! dominating one arrives. Overwriting several leaves copies of one state. These are harmless: they
//! are equal, so they are overwritten together, and growing drops them.
//!
//! The stored set does not depend on the order of insertions: it is the set of maximal states.
//! Hence the result of [`Shard::take_new`], which leaves out states overwritten in the meantime,
//! does not depend on the order either.
//!
//! Exploring the maximal states suffices, see [`crate::search`].

use std::cmp::Ordering;
use std::hint::black_box;

use super::frontier::{Chunk, Frontier};
use super::hash;
use crate::search::budget::{Exhausted, Memory};
use crate::search::layout::Monotone;

/// The number of places of an empty shard.
const LEAST_PLACES: usize = 64;

/// The greatest filled share of the places: beyond it, probing gets long.
const FULL: (usize, usize) = (4, 5);

/// A part of the set of reached states.
#[derive(Debug)]
pub struct Shard<'a, const W: usize> {
    /// A table of states; an empty place is all zeros.
    places: Vec<[u64; W]>,
    /// The number of occupied places: at most four fifths.
    taken: usize,
    /// The states that are new since they were last taken, in order of arrival.
    new: Frontier<W>,
    monotone: &'a Monotone,
    /// The mask of the monotone part.
    dominance: u64,
}

/// The result of probing for a state.
enum Met {
    /// The state itself, or a state that dominates it.
    Better,
    /// An empty place.
    Free(usize),
    /// Dominated states; all of them were overwritten.
    Worse,
}

impl<'a, const W: usize> Shard<'a, W> {
    pub(super) const LEAST_BYTES: usize = LEAST_PLACES * size_of::<[u64; W]>();

    /// The number of places in a cache line, usually 64 bytes.
    const PLACES_IN_LINE: usize = 64usize.div_ceil(size_of::<[u64; W]>());

    pub(super) fn new(memory: &Memory, monotone: &'a Monotone) -> Result<Self, Exhausted> {
        memory.take(Self::LEAST_BYTES)?;
        let places = vec![[0; W]; LEAST_PLACES];
        let dominance = monotone.mask();
        Ok(Self { places, taken: 0, new: Frontier::new(), monotone, dominance })
    }

    /// Adds states, and records the new ones.
    pub(super) fn insert(&mut self, batch: &[[u64; W]], memory: &Memory) -> Result<(), Exhausted> {
        while (self.taken + batch.len()) * FULL.1 > self.places.len() * FULL.0 {
            self.grow(memory)?;
        }
        // These loads do not depend on each other, so their cache misses overlap, and the
        // insertions below find their first places in the cache.
        let touched = batch.iter().fold(0, |touched, state| {
            let home = self.home(state);
            let next = (home + Self::PLACES_IN_LINE).min(self.places.len() - 1);
            touched ^ self.places[home][0] ^ self.places[next][0]
        });
        black_box(touched);
        for state in batch {
            match self.meet(state) {
                Met::Better => continue,
                Met::Free(place) => {
                    self.places[place] = *state;
                    self.taken += 1;
                }
                Met::Worse => {}
            }
            self.new.push(*state, memory)?;
        }
        Ok(())
    }

    /// See [`super::Store::reserve`].
    pub(super) fn reserve(&mut self, states: usize, memory: &Memory) -> Result<(), Exhausted> {
        let places = states.saturating_mul(FULL.1).div_ceil(FULL.0);
        if places > self.places.len() { self.resize(places, memory) } else { Ok(()) }
    }

    /// See [`super::Store::restore`].
    pub(super) fn restore(
        &mut self,
        batch: &[[u64; W]],
        is_new: bool,
        memory: &Memory,
    ) -> Result<(), Exhausted> {
        if is_new {
            return batch.iter().try_for_each(|state| self.new.push(*state, memory));
        }
        while (self.taken + batch.len()) * FULL.1 > self.places.len() * FULL.0 {
            self.grow(memory)?;
        }
        batch.iter().for_each(|state| self.place(state));
        Ok(())
    }

    /// See [`super::Store::drain`].
    pub(super) fn drain<E>(
        &mut self,
        compare: impl Fn(&[u64; W], &[u64; W]) -> Ordering,
        take: impl FnOnce(&[[u64; W]], &[[u64; W]]) -> Result<(), E>,
        memory: &Memory,
    ) -> Result<(), E> {
        let chunks = self.take_new(memory);
        memory.give(chunks.len() * Frontier::<W>::CHUNK_BYTES);
        let mut new = chunks.concat();
        new.sort_unstable_by(&compare);
        new.dedup();
        let mut all = std::mem::replace(&mut self.places, vec![[0; W]; LEAST_PLACES]);
        self.taken = 0;
        memory.give((all.len() - LEAST_PLACES) * size_of::<[u64; W]>());
        all.retain(|state| *state != [0; W]);
        all.sort_unstable_by(&compare);
        all.dedup();
        take(&all, &new)
    }

    /// Returns the number of states of [`Self::visited`].
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Returns all stored states.
    pub fn visited(&self) -> impl Iterator<Item = &[u64; W]> {
        self.places.iter().filter(|state| **state != [0; W])
    }

    /// Returns the states that arrived since they were last taken, including overwritten ones.
    pub fn new_states(&self) -> impl Iterator<Item = &[u64; W]> {
        self.new.states()
    }

    /// Returns the place where the search for a state starts.
    #[inline]
    fn home(&self, state: &[u64; W]) -> usize {
        let rest = hash(state, self.dominance) << super::SHARDS.trailing_zeros();
        ((u128::from(rest) * self.places.len() as u128) >> u64::BITS) as usize
    }

    /// Probes for a state, overwriting states that it dominates.
    #[inline]
    fn meet(&mut self, state: &[u64; W]) -> Met {
        let mut place = self.home(state);
        let mut met_worse = false;
        loop {
            #[cfg(test)]
            tests::PROBES.set(tests::PROBES.get() + 1);
            let other = self.places[place];
            if other == *state {
                return Met::Better;
            }
            if other == [0; W] {
                return if met_worse { Met::Worse } else { Met::Free(place) };
            }
            if self.dominance != 0 && self.differ_in_dominance_only(state, &other) {
                if self.monotone.is_at_least(other[0], state[0]) {
                    return Met::Better;
                }
                if self.monotone.is_at_least(state[0], other[0]) {
                    self.places[place] = *state;
                    met_worse = true;
                }
            }
            place += 1;
            if place == self.places.len() {
                place = 0;
            }
        }
    }

    fn differ_in_dominance_only(&self, one: &[u64; W], other: &[u64; W]) -> bool {
        (one[0] ^ other[0]) & !self.dominance == 0 && one[1..] == other[1..]
    }

    /// Grows by a quarter.
    fn grow(&mut self, memory: &Memory) -> Result<(), Exhausted> {
        self.resize(self.places.len() + self.places.len().div_ceil(4), memory)
    }

    /// Moves all states to a larger table.
    fn resize(&mut self, places: usize, memory: &Memory) -> Result<(), Exhausted> {
        memory.take(places.saturating_mul(size_of::<[u64; W]>()))?;
        let old = std::mem::replace(&mut self.places, vec![[0; W]; places]);
        self.taken = 0;
        old.iter().filter(|state| **state != [0; W]).for_each(|state| self.place(state));
        memory.give(old.len() * size_of::<[u64; W]>());
        Ok(())
    }

    /// Places a state from another table. Copies of a state that overwrote several are merged.
    fn place(&mut self, state: &[u64; W]) {
        if let Met::Free(place) = self.meet(state) {
            self.places[place] = *state;
            self.taken += 1;
        }
    }

    /// See [`super::Store::take_new`].
    pub(super) fn take_new(&mut self, memory: &Memory) -> Vec<Chunk<W>> {
        let mut chunks = self.new.take();
        if self.dominance == 0 {
            return chunks;
        }
        for chunk in &mut chunks {
            chunk.retain(|state| self.holds(state));
        }
        chunks.retain(|chunk| {
            if chunk.is_empty() {
                memory.give(Frontier::<W>::CHUNK_BYTES);
            }
            !chunk.is_empty()
        });
        chunks
    }

    /// See [`super::Store::any_alike`].
    pub(super) fn any_alike(
        &self,
        state: &[u64; W],
        mut holds: impl FnMut(&[u64; W]) -> bool,
    ) -> bool {
        let mut place = self.home(state);
        loop {
            let other = &self.places[place];
            if *other == [0; W] {
                return false;
            }
            if self.differ_in_dominance_only(state, other) && holds(other) {
                return true;
            }
            place = (place + 1) % self.places.len();
        }
    }

    /// Returns true if the shard holds exactly this state.
    fn holds(&self, state: &[u64; W]) -> bool {
        let mut place = self.home(state);
        loop {
            let other = self.places[place];
            if other == *state || other == [0; W] {
                return other == *state;
            }
            place = (place + 1) % self.places.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::{BTreeSet, HashMap};

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::search::layout::Field;

    const ALWAYS_SET: u64 = 1 << 63;

    thread_local! {
        /// Number of places that this thread has probed.
        pub(super) static PROBES: Cell<u64> = const { Cell::new(0) };
    }

    /// Returns batches of states, many of them equal.
    fn batches(seed: u64) -> impl Iterator<Item = Vec<[u64; 2]>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..60).map(move |_| {
            let mut state = || {
                let word = |random: &mut ChaCha8Rng| random.random_range(0..60);
                [word(&mut random), word(&mut random) | ALWAYS_SET]
            };
            (0..100).map(|_| state()).collect()
        })
    }

    fn used(shard: &Shard<'_, 2>) -> u64 {
        (shard.places.len() * size_of::<[u64; 2]>()) as u64
    }

    #[test]
    fn states_are_new_once_and_memory_is_counted() {
        let memory = Memory::new(1 << 30);
        let nothing = Monotone::default();
        let mut shard = Shard::<2>::new(&memory, &nothing).unwrap();
        let mut expected = BTreeSet::new();
        for batch in batches(1) {
            shard.insert(&batch, &memory).unwrap();
            let new: BTreeSet<_> = batch.into_iter().filter(|s| !expected.contains(s)).collect();
            let chunks = shard.take_new(&memory);
            assert_eq!(memory.used(), used(&shard) + chunks.len() as u64 * 4096);
            memory.give(chunks.len() * Frontier::<2>::CHUNK_BYTES);
            let taken: Vec<_> = chunks.concat();
            assert_eq!(taken.len(), new.len());
            assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), new);
            expected.extend(new);
        }
        assert_eq!(shard.taken, expected.len());
        assert!(shard.taken * 5 <= shard.places.len() * 4, "at most four fifths are taken");
        assert!(shard.taken * 2 >= shard.places.len(), "and at least a half");
    }

    #[test]
    fn maximal_states_are_kept_in_any_order() {
        // The monotone part has three bits, and a number of three bits.
        let number = Field::range(0, 8, false).at(0, 3);
        let monotone = Monotone::new(0b111, [number]);
        let is_at_least = |more: u64, less: u64| less & !more & 7 == 0 && more >> 3 >= less >> 3;
        let memory = Memory::new(1 << 30);
        let mut shard = Shard::<2>::new(&memory, &monotone).unwrap();
        let mut kept: HashMap<u64, BTreeSet<u64>> = HashMap::new();
        for batch in batches(2) {
            shard.insert(&batch, &memory).unwrap();
            let mut expected = BTreeSet::new();
            for [bits, rest] in batch {
                let kept = kept.entry(rest).or_default();
                if kept.iter().all(|&old| !is_at_least(old, bits)) {
                    kept.retain(|&old| !is_at_least(bits, old));
                    kept.insert(bits);
                    expected.insert([bits, rest]);
                }
            }
            expected.retain(|[bits, rest]| kept[rest].contains(bits));
            let taken: Vec<_> = shard.take_new(&memory).concat();
            assert_eq!(taken.len(), expected.len());
            assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }

    /// Returns the number of probes that `work` makes.
    fn probes(work: impl FnOnce()) -> u64 {
        let before = PROBES.get();
        work();
        PROBES.get() - before
    }

    /// A checkpoint restores states in the order of places: in a table that grows as they arrive,
    /// each state would pass all earlier ones.
    #[test]
    fn restoring_takes_fewer_probes_than_inserting() {
        let memory = Memory::new(1 << 30);
        let nothing = Monotone::default();
        let states: Vec<_> = (0..20_000_u64).map(|number| [number, ALWAYS_SET]).collect();
        let mut shard = Shard::new(&memory, &nothing).unwrap();
        let inserting = probes(|| {
            states.chunks(128).for_each(|batch| shard.insert(batch, &memory).unwrap());
        });
        let visited: Vec<[u64; 2]> = shard.visited().copied().collect();
        let restored = |reserved| {
            let mut shard = Shard::new(&memory, &nothing).unwrap();
            let probes = probes(|| {
                shard.reserve(reserved, &memory).unwrap();
                visited.chunks(128).for_each(|batch| shard.restore(batch, false, &memory).unwrap());
            });
            assert_eq!(shard.visited().collect::<BTreeSet<_>>(), visited.iter().collect());
            probes
        };
        let [restoring, growing] = [visited.len(), 0].map(restored);
        assert!(restoring < inserting, "{restoring} after {inserting}");
        assert!(growing > 10 * restoring, "{growing} without a reservation, {restoring} with one");
    }

    #[test]
    fn exhausted_memory_is_an_error() {
        let memory = Memory::new(20_000);
        let nothing = Monotone::default();
        let mut shard = Shard::<2>::new(&memory, &nothing).unwrap();
        assert!(batches(3).any(|batch| shard.insert(&batch, &memory).is_err()));
        assert!(memory.peak() <= 20_000);
    }
}
