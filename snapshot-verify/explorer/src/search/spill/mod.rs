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

/// This many runs of visited states are merged into one.
const MOST_RUNS: usize = 64;

/// Of this many runs of candidates the smaller half is merged into one: all of them are open when the
/// next level is made. With a large memory there are fewer.
const MOST_PARTS: usize = 16;

/// The bytes of all buffers together are this part of the memory at most.
const BUFFERS: u64 = 8;

/// The successors of a state for which there is room in memory, when states go to the disk.
const SUCCESSORS: usize = 16;

/// A shard that grows has two tables for a while: such a part of the memory.
const GROWTH: u64 = 64;

/// What is written out is freed in small blocks, of which the allocator holds some back: such a part
/// of the memory.
const HELD_BACK: u64 = 16;

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
    let left = memory
        .checked_sub(begun + memory / BUFFERS + memory / GROWTH + memory / HELD_BACK)
        .filter(|left| *left >= least);
    // An eighth, a 16th and a 64th of it are taken off: a fifth, and little more.
    left.ok_or((least + begun).saturating_mul(64) / 51 + 64)
}

/// What of a search is on the disk.
pub(super) struct Spill<'a> {
    files: Files<'a>,
    order: Order<'a>,
    watch: &'a Supervisor<'a>,
    /// The first is no level: nothing else needs it.
    visited: Vec<Run>,
    candidates: Vec<Run>,
}

impl<'a> Spill<'a> {
    /// Nothing yet.
    pub(super) fn new(files: Files<'a>, monotone: &'a Monotone, watch: &'a Supervisor<'a>) -> Self {
        let (visited, candidates) = (Vec::new(), Vec::new());
        Self { files, order: Order::new(monotone), watch, visited, candidates }
    }

    /// Whether visited states are on the disk, and not in the store.
    pub(super) const fn has_begun(&self) -> bool {
        !self.visited.is_empty()
    }

    /// Writes the store out; it has no states then. Where the watch ends the search, what is
    /// left is not written.
    pub(super) fn spill<const W: usize>(&mut self, store: &Store<'_, W>) -> io::Result<()> {
        let order = self.order;
        let buffer = self.files.buffer(2);
        let mut candidates = self.files.create(buffer)?;
        // Once visited states are on the disk, all that the store holds is new.
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

    /// Makes one run of all visited states. Those of a level stay on the disk, for the counterexample.
    fn merge_visited<const W: usize>(&mut self) -> io::Result<()> {
        let run = self.merged::<W>(&self.visited)?;
        let levels = std::mem::replace(&mut self.visited, vec![run]);
        self.files.remove(levels[0]);
        Ok(())
    }

    /// The states of several runs in one, each once. Where the watch ends the search, some of them.
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
