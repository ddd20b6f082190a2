//! States on a disk: a search whose states outgrow the memory.
//!
//! Duplicates are found late (delayed duplicate detection: Stern and Dill, *Using magnetic disk
//! instead of main memory in the Murphi verifier*, CAV 1998; Korf 2004). When the store has taken
//! its part of the memory, all threads leave the level, and the store is written out, sorted:
//! what was *visited* on levels before, once, and the *candidates* for the next level. The store
//! begins again without any state, and takes more candidates. At the end of the level all runs
//! are merged. Of the candidates those remain that no visited state, and no other candidate,
//! equals or dominates: they are the next level, which is one more run of visited states, and is
//! read from the disk while it is explored.
//!
//! So the levels are those of a search in memory: its store keeps the maximal states of all that
//! arrived, and a level is what of these arrived last. Whether a candidate is compared with
//! visited states when it arrives or later makes no difference to which are maximal; that visited
//! states stay which newer ones dominate makes none, since what they dominate is dominated by the
//! newer ones, too.
//!
//! Each level costs one reading of all that was visited.

mod run;

use std::fmt;
use std::io::{self, Read, Write};

use super::budget::Supervisor;
use super::layout::Monotone;
use super::store::{CHUNK, Chunk, Frontier, SHARDS, Store};
use super::worker::BATCH;
use run::{Merge, Order, Writer};
pub use run::{Reader, Run};

/// The number of a file.
pub type FileId = u32;

/// A place for files that are written once, and read.
pub trait Disk: fmt::Debug + Sync {
    /// A new file.
    ///
    /// # Errors
    /// If there can be none.
    fn create(&self) -> io::Result<(FileId, Box<dyn Write + Send>)>;

    /// A file that was written.
    ///
    /// # Errors
    /// If it cannot be read.
    fn open(&self, file: FileId) -> io::Result<Box<dyn Read + Send>>;

    /// Removes a file.
    fn remove(&self, file: FileId);

    /// Removes all files: the search has ended.
    fn clear(&self);
}

/// So many runs of visited states are merged into one.
const MOST_RUNS: usize = 64;

/// The bytes of all buffers together are this part of the memory at most.
const BUFFERS: u64 = 8;

/// So many successors of a state in memory are allowed for, when states go to the disk.
const SUCCESSORS: usize = 16;

/// A shard that grows has two tables for a while: such a part of the memory.
const GROWTH: u64 = 64;

/// The clock is looked at after this many states.
const LOOK_EVERY: u64 = 1 << 14;

/// With how many bytes in use states go to the disk. The rest of the memory is for buffers, and for
/// what threads have begun when it is full: the chunks that they explore, and what waits to be
/// handed to the store.
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
    let left = memory.checked_sub(begun + memory / BUFFERS + memory / GROWTH);
    // An eighth and a 64th of it are taken off.
    left.filter(|left| *left >= least).ok_or((least + begun).saturating_mul(5) / 4)
}

/// What of a search is on the disk.
pub(super) struct Spill<'a> {
    disk: &'a dyn Disk,
    order: Order<'a>,
    memory: u64,
    watch: &'a Supervisor<'a>,
    visited: Vec<Run>,
    /// The runs of `visited` that are no levels: nothing else needs them.
    merged: Vec<FileId>,
    candidates: Vec<Run>,
    /// Whether visited states are on the disk, and not in the store.
    has_begun: bool,
}

impl<'a> Spill<'a> {
    /// Nothing yet, of a search with this memory.
    pub(super) fn new(
        disk: &'a dyn Disk,
        monotone: &'a Monotone,
        memory: u64,
        watch: &'a Supervisor<'a>,
    ) -> Self {
        let (order, visited, merged) = (Order::new(monotone), Vec::new(), Vec::new());
        let (candidates, has_begun) = (Vec::new(), false);
        Self { disk, order, memory, watch, visited, merged, candidates, has_begun }
    }

    /// Whether visited states are on the disk.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The bytes of each of so many buffers.
    fn buffer(&self, files: usize) -> usize {
        let each = self.memory / BUFFERS / files.max(1) as u64;
        each.clamp(1 << 9, 1 << 20) as usize
    }

    /// Writes states in any order.
    pub(super) fn write<const W: usize>(&self, chunks: &[Chunk<W>]) -> io::Result<Run> {
        let mut writer = Writer::new(self.disk, self.buffer(1))?;
        chunks.iter().flatten().try_for_each(|state| writer.push(state))?;
        writer.finish()
    }

    /// Reads a run.
    pub(super) fn read<const W: usize>(&self, run: Run) -> io::Result<Reader<W>> {
        Reader::new(self.disk, run, self.buffer(1))
    }

    /// Writes the store out; it has no states then. Where the watch ends the search, what is
    /// left is not written.
    pub(super) fn spill<const W: usize>(&mut self, store: &Store<'_, W>) -> io::Result<()> {
        let order = self.order;
        let mut candidates = Writer::new(self.disk, self.buffer(2))?;
        if self.has_begun {
            for shard in self.shards() {
                let compare = |one: &[u64; W], other: &[u64; W]| order.in_shard(one, other);
                store.drain(shard, compare, |all, _| {
                    all.iter().try_for_each(|state| candidates.push(state))
                })?;
            }
            self.candidates.push(candidates.finish()?);
            return Ok(());
        }
        let mut visited = Writer::new(self.disk, self.buffer(2))?;
        for shard in self.shards() {
            let compare = |one: &[u64; W], other: &[u64; W]| order.in_shard(one, other);
            store.drain(shard, compare, |all, new| {
                let mut new = new.iter().peekable();
                for state in all {
                    match new.next_if(|next| *next == state) {
                        Some(_) => candidates.push(state)?,
                        None => visited.push(state)?,
                    }
                }
                debug_assert!(new.next().is_none(), "what is new was inserted");
                Ok::<(), io::Error>(())
            })?;
        }
        let visited = visited.finish()?;
        self.merged.push(visited.file);
        self.visited.push(visited);
        self.candidates.push(candidates.finish()?);
        self.has_begun = true;
        Ok(())
    }

    /// The shards, until the watch ends the search.
    fn shards(&self) -> impl Iterator<Item = usize> + use<'a> {
        let watch = self.watch;
        (0..SHARDS).take_while(move |_| {
            watch.look();
            watch.cause().is_none()
        })
    }

    /// Whether the watch ends the search, asked now and then.
    fn is_over(&self, states: &mut u64) -> bool {
        *states += 1;
        if !states.is_multiple_of(LOOK_EVERY) {
            return false;
        }
        self.watch.look();
        self.watch.cause().is_some()
    }

    /// The next level, once this one was explored: all candidates that nothing dominates. The
    /// store has no states then. Where the watch ends the search, a part of the level.
    pub(super) fn next_level<const W: usize>(&mut self, store: &Store<'_, W>) -> io::Result<Run> {
        self.spill(store)?;
        if self.visited.len() > MOST_RUNS {
            self.merge_visited::<W>()?;
        }
        let buffer = self.buffer(self.visited.len() + self.candidates.len() + 1);
        let mut candidates = Merge::<W>::new(self.order, self.disk, &self.candidates, buffer)?;
        let mut visited = Merge::<W>::new(self.order, self.disk, &self.visited, buffer)?;
        let mut level = Writer::new(self.disk, buffer)?;
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
        for run in self.candidates.drain(..) {
            self.disk.remove(run.file);
        }
        self.visited.push(level);
        Ok(level)
    }

    /// Makes one run of all visited states.
    fn merge_visited<const W: usize>(&mut self) -> io::Result<()> {
        let buffer = self.buffer(self.visited.len() + 1);
        let mut merge = Merge::<W>::new(self.order, self.disk, &self.visited, buffer)?;
        let mut writer = Writer::new(self.disk, buffer)?;
        let mut passed = 0;
        while let Some(state) = merge.next()?
            && !self.is_over(&mut passed)
        {
            writer.push(&state)?;
        }
        let run = writer.finish()?;
        drop(merge);
        self.visited = vec![run];
        for file in self.merged.drain(..) {
            self.disk.remove(file);
        }
        self.merged.push(run.file);
        Ok(())
    }
}
