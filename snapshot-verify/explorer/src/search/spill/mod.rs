//! A search on disk, for states that exceed the memory.
//!
//! Duplicates are found late (delayed duplicate detection: Stern and Dill, *Using magnetic disk
//! instead of main memory in the Murphi verifier*, CAV 1998; Korf 2004). When the store has taken
//! its share of the memory, all threads leave the level and the store is written out, sorted: once
//! the states *visited* on earlier levels, and each time the *candidates* for the next level. The
//! store restarts empty and takes more candidates. At the end of the level all runs are merged. The
//! next level consists of the candidates that no visited state and no other candidate equals or
//! dominates. It is another run of visited states, read from the disk while it is explored.
//!
//! The levels are the same as in memory. There, the store keeps the maximal states among all
//! arrivals, and a level consists of the maximal states among the latest arrivals. It does not
//! matter for maximality whether a candidate is compared with visited states when it arrives or
//! later. Nor does it matter that visited states stay although newer ones dominate them: every
//! state they dominate is dominated by the newer ones, too.
//!
//! Each level costs one pass over all visited states.

mod run;

use std::cmp::Reverse;
use std::fmt;
use std::io::{self, Read, Write};

use super::budget::Supervisor;
use super::layout::Monotone;
use super::store::{CHUNK, Frontier, SHARDS, Store};
use super::worker::BATCH;
pub(super) use run::Files;
use run::{Merge, Order};
pub use run::{Reader, Run};

pub type FileId = u32;

/// A store of files that are written once and then read.
pub trait Disk: fmt::Debug + Sync {
    /// Creates a file.
    fn create(&self) -> io::Result<(FileId, Box<dyn Write + Send>)>;

    /// Opens a written file.
    fn open(&self, file: FileId) -> io::Result<Box<dyn Read + Send>>;

    fn remove(&self, file: FileId);

    /// Removes all files at the end of a search.
    fn clear(&self);
}

/// If there are more runs of visited states than this, they are merged into one.
const MOST_RUNS: usize = 64;

/// If there are more runs of candidates than this, the smaller ones, about half, are merged into
/// one: all runs are open while the next level is made. A large memory makes fewer runs.
const MOST_PARTS: usize = 16;

/// All buffers together take at most this fraction (1/n) of the memory.
const BUFFERS: u64 = 8;

/// The number of successors per state for which memory is reserved when states go to the disk.
const SUCCESSORS: usize = 16;

/// A growing shard briefly has two tables, which take this fraction (1/n) of the memory.
const GROWTH: u64 = 64;

/// Memory of written states is freed in small blocks, of which the allocator holds some back: this
/// fraction (1/n) of the memory.
const HELD_BACK: u64 = 16;

/// The clock is checked after this many states.
const LOOK_EVERY: u64 = 1 << 14;

/// Returns the number of bytes in use above which states go to the disk. The rest of the memory is
/// for buffers, and for the work of threads at that moment: the chunks they explore, and the states
/// not handed to the store yet.
///
/// # Errors
/// If too little is left: the least memory, where a search in memory needs `least`.
pub(super) fn share<const W: usize>(memory: u64, threads: usize, least: u64) -> Result<u64, u64> {
    let state = size_of::<[u64; W]>();
    let waiting = threads * BATCH;
    let chunks = (waiting.div_ceil(CHUNK) + 1) * Frontier::<W>::CHUNK_BYTES;
    let explored = threads * CHUNK * SUCCESSORS * 3 * state;
    let begun = (SHARDS * (chunks + 2 * waiting * state) + explored) as u64;
    let least = least + begun;
    let left = memory
        .checked_sub(begun + memory / BUFFERS + memory / GROWTH + memory / HELD_BACK)
        .filter(|left| *left >= least);
    // An eighth, a 16th and a 64th are subtracted: slightly more than a fifth.
    left.ok_or((least + begun).saturating_mul(64) / 51 + 64)
}

/// The part of a search that is on the disk.
pub(super) struct Spill<'a> {
    files: Files<'a>,
    order: Order<'a>,
    watch: &'a Supervisor<'a>,
    /// The first run is not a level and is needed only for comparison.
    visited: Vec<Run>,
    candidates: Vec<Run>,
}

impl<'a> Spill<'a> {
    /// Starts without runs.
    pub(super) fn new(files: Files<'a>, monotone: &'a Monotone, watch: &'a Supervisor<'a>) -> Self {
        let (visited, candidates) = (Vec::new(), Vec::new());
        Self { files, order: Order::new(monotone), watch, visited, candidates }
    }

    /// Returns true if visited states are on the disk, and not in the store.
    pub(super) const fn has_begun(&self) -> bool {
        !self.visited.is_empty()
    }

    /// Writes the store out and empties it. If the watch ends the search, the remaining shards are
    /// not written.
    pub(super) fn spill<const W: usize>(&mut self, store: &Store<'_, W>) -> io::Result<()> {
        let order = self.order;
        let buffer = self.files.buffer(2);
        let mut candidates = self.files.create(buffer)?;
        // Once visited states are on the disk, all states in the store are new.
        let mut visited = (!self.has_begun()).then(|| self.files.create(buffer)).transpose()?;
        for shard in self.shards() {
            let compare = |one: &[u64; W], other: &[u64; W]| order.in_shard(one, other);
            store.drain(shard, compare, |all, new| {
                let mut new = new.iter().peekable();
                for state in all {
                    match (new.next_if(|next| *next == state), &mut visited) {
                        (None, Some(visited)) => visited.push(state)?,
                        _ => candidates.push(state)?,
                    }
                }
                debug_assert!(new.next().is_none(), "what is new was inserted");
                Ok::<(), io::Error>(())
            })?;
        }
        if let Some(visited) = visited {
            self.visited.push(visited.finish()?);
        }
        self.candidates.push(candidates.finish()?);
        if self.candidates.len() > MOST_PARTS {
            self.candidates.sort_unstable_by_key(|run| Reverse(run.states()));
            let smaller = self.candidates.split_off(MOST_PARTS / 2);
            self.candidates.push(self.merged::<W>(&smaller)?);
            smaller.into_iter().for_each(|run| self.files.remove(run));
        }
        Ok(())
    }

    /// Returns the shards, until the watch ends the search.
    fn shards(&self) -> impl Iterator<Item = usize> + use<'a> {
        let watch = self.watch;
        (0..SHARDS).take_while(move |_| {
            watch.look();
            watch.cause().is_none()
        })
    }

    /// Returns true if the watch ends the search; checks only now and then.
    fn is_over(&self, states: &mut u64) -> bool {
        *states += 1;
        if !states.is_multiple_of(LOOK_EVERY) {
            return false;
        }
        self.watch.look();
        self.watch.cause().is_some()
    }

    /// Returns the next level, once this one was explored: all undominated candidates. Empties the
    /// store. If the watch ends the search, the level is incomplete.
    pub(super) fn next_level<const W: usize>(&mut self, store: &Store<'_, W>) -> io::Result<Run> {
        self.spill(store)?;
        if self.visited.len() > MOST_RUNS {
            self.merge_visited::<W>()?;
        }
        let buffer = self.files.buffer(self.visited.len() + self.candidates.len() + 1);
        let mut candidates = Merge::<W>::new(self.order, self.files, &self.candidates, buffer)?;
        let mut visited = Merge::<W>::new(self.order, self.files, &self.visited, buffer)?;
        let mut level = self.files.create(buffer)?;
        let (mut group, mut known, mut passed) = (Vec::new(), Vec::new(), 0);
        while let Some(&key) = candidates.peek()
            && !self.is_over(&mut passed)
        {
            candidates.take_group(&key, &mut group)?;
            visited.skip_to(&key, || self.is_over(&mut passed))?;
            visited.take_group(&key, &mut known)?;
            for state in &group {
                let is_better = |other: &[u64; W]| self.order.dominates(other, state);
                let is_maximal = !known.iter().any(is_better)
                    && !group.iter().any(|other| other != state && is_better(other));
                if is_maximal {
                    level.push(state)?;
                }
            }
        }
        let level = level.finish()?;
        drop((candidates, visited));
        self.candidates.drain(..).for_each(|run| self.files.remove(run));
        self.visited.push(level);
        Ok(level)
    }

    /// Merges all visited states into one run. Runs of levels stay on the disk, for the
    /// counterexample.
    fn merge_visited<const W: usize>(&mut self) -> io::Result<()> {
        let run = self.merged::<W>(&self.visited)?;
        let levels = std::mem::replace(&mut self.visited, vec![run]);
        self.files.remove(levels[0]);
        Ok(())
    }

    /// Merges several runs without duplicates. If the watch ends the search, the result is
    /// incomplete.
    fn merged<const W: usize>(&self, runs: &[Run]) -> io::Result<Run> {
        let buffer = self.files.buffer(runs.len() + 1);
        let mut merge = Merge::<W>::new(self.order, self.files, runs, buffer)?;
        let mut writer = self.files.create(buffer)?;
        let (mut last, mut passed) = (None, 0);
        while let Some(state) = merge.next()?
            && !self.is_over(&mut passed)
        {
            if last != Some(state) {
                writer.push(&state)?;
            }
            last = Some(state);
        }
        writer.finish()
    }
}
