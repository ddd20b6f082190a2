//! Sorted runs of states on a disk: written once, read in order, and merged.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Write};

use super::{BUFFERS, Disk, FileId};
use crate::search::layout::Monotone;
use crate::search::store::{Chunk, hash, shard_of};

/// The order of states in a run: by shard, then by the bits compared for equality, then by the
/// monotone part. So states of which one can dominate another are adjacent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<'a> {
    monotone: &'a Monotone,
    dominance: u64,
}

/// The common part of states of which one can dominate another.
pub(super) type Key<const W: usize> = (usize, [u64; W]);

impl<'a> Order<'a> {
    pub(super) fn new(monotone: &'a Monotone) -> Self {
        Self { monotone, dominance: monotone.mask() }
    }

    pub(super) fn key<const W: usize>(self, state: &[u64; W]) -> Key<W> {
        let shard = shard_of(hash(state, self.dominance));
        let mut masked = *state;
        masked[0] &= !self.dominance;
        (shard, masked)
    }

    /// Compares two states of one shard.
    pub(super) fn in_shard<const W: usize>(self, one: &[u64; W], other: &[u64; W]) -> Ordering {
        let word = |state: &[u64; W]| state[0] & !self.dominance;
        let equal = word(one).cmp(&word(other)).then_with(|| one[1..].cmp(&other[1..]));
        equal.then_with(|| one[0].cmp(&other[0]))
    }

    /// Returns true if the first of two states with equal keys dominates the second.
    pub(super) fn dominates<const W: usize>(self, one: &[u64; W], other: &[u64; W]) -> bool {
        self.monotone.is_at_least(one[0], other[0])
    }
}

/// A run of states in a file.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    file: FileId,
    states: u64,
}

impl Run {
    pub const fn states(self) -> u64 {
        self.states
    }
}

/// Files for runs. Their buffers take a part of the search's memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Files<'a> {
    disk: &'a dyn Disk,
    memory: u64,
}

impl<'a> Files<'a> {
    pub(in crate::search) const fn new(disk: &'a dyn Disk, memory: u64) -> Self {
        Self { disk, memory }
    }

    /// Returns the size in bytes of each of this many buffers.
    pub(super) fn buffer(self, files: usize) -> usize {
        let each = self.memory / BUFFERS / files.max(1) as u64;
        each.clamp(1 << 9, 1 << 20) as usize
    }

    /// Creates a run to be written, with a buffer of this many bytes.
    pub(super) fn create<const W: usize>(self, buffer: usize) -> io::Result<Writer<'a, W>> {
        Writer::new(self.disk, buffer)
    }

    /// Writes states in any order.
    pub(in crate::search) fn write<const W: usize>(self, chunks: &[Chunk<W>]) -> io::Result<Run> {
        let mut writer = self.create(self.buffer(1))?;
        chunks.iter().flatten().try_for_each(|state| writer.push(state))?;
        writer.finish()
    }

    pub(in crate::search) fn read<const W: usize>(self, run: Run) -> io::Result<Reader<W>> {
        Reader::new(self.disk, run, self.buffer(1))
    }

    pub(super) fn remove(self, run: Run) {
        self.disk.remove(run.file);
    }
}

pub(super) struct Writer<'a, const W: usize> {
    disk: &'a dyn Disk,
    run: Run,
    out: Option<BufWriter<Box<dyn Write + Send>>>,
}

impl<'a, const W: usize> Writer<'a, W> {
    fn new(disk: &'a dyn Disk, buffer: usize) -> io::Result<Self> {
        let (file, out) = disk.create()?;
        let out = Some(BufWriter::with_capacity(buffer, out));
        Ok(Self { disk, run: Run { file, states: 0 }, out })
    }

    pub(super) fn push(&mut self, state: &[u64; W]) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        for word in state {
            out.write_all(&word.to_le_bytes())?;
        }
        self.run.states += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<Run> {
        if let Some(mut out) = self.out.take() {
            // If a `Writer` is dropped before it is complete, its file is removed.
            let flushed = out.flush();
            if flushed.is_err() {
                let _ = out.into_parts();
                self.disk.remove(self.run.file);
            }
            flushed?;
        }
        Ok(self.run)
    }
}

impl<const W: usize> Drop for Writer<'_, W> {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // The buffer is discarded: the drop must not write it.
            let _ = out.into_parts();
            self.disk.remove(self.run.file);
        }
    }
}

pub struct Reader<const W: usize> {
    input: BufReader<Box<dyn Read + Send>>,
    left: u64,
}

impl<const W: usize> Reader<W> {
    fn new(disk: &dyn Disk, run: Run, buffer: usize) -> io::Result<Self> {
        let input = BufReader::with_capacity(buffer, disk.open(run.file)?);
        Ok(Self { input, left: run.states })
    }

    /// Returns the number of states left.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Returns the next states, at most `most`.
    ///
    /// # Errors
    /// If the file cannot be read, or ends early.
    pub fn next_chunk(&mut self, most: usize) -> io::Result<Vec<[u64; W]>> {
        let mut chunk = Vec::with_capacity(most);
        while chunk.len() < most
            && let Some(state) = self.read()?
        {
            chunk.push(state);
        }
        Ok(chunk)
    }

    fn read(&mut self) -> io::Result<Option<[u64; W]>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut state = [0; W];
        for word in &mut state {
            let mut bytes = [0; 8];
            self.input.read_exact(&mut bytes)?;
            *word = u64::from_le_bytes(bytes);
        }
        Ok(Some(state))
    }
}

/// Merges several runs in order.
pub(super) struct Merge<'a, const W: usize> {
    order: Order<'a>,
    readers: Vec<Reader<W>>,
    /// The next state of each run: its key, word 0, and the run's index.
    heads: BinaryHeap<Reverse<(Key<W>, u64, usize)>>,
}

impl<'a, const W: usize> Merge<'a, W> {
    pub(super) fn new(
        order: Order<'a>,
        files: Files<'_>,
        runs: &[Run],
        buffer: usize,
    ) -> io::Result<Self> {
        let readers = runs.iter().map(|run| Reader::new(files.disk, *run, buffer));
        let readers: Vec<Reader<W>> = readers.collect::<io::Result<_>>()?;
        let mut merge = Self { order, readers, heads: BinaryHeap::new() };
        (0..runs.len()).try_for_each(|source| merge.advance(source))?;
        Ok(merge)
    }

    fn advance(&mut self, source: usize) -> io::Result<()> {
        if let Some(state) = self.readers[source].read()? {
            self.heads.push(Reverse((self.order.key(&state), state[0], source)));
        }
        Ok(())
    }

    /// Returns the key of the next state.
    pub(super) fn peek(&self) -> Option<&Key<W>> {
        self.heads.peek().map(|Reverse((key, ..))| key)
    }

    pub(super) fn next(&mut self) -> io::Result<Option<[u64; W]>> {
        let Some(Reverse(((_, mut state), word, source))) = self.heads.pop() else {
            return Ok(None);
        };
        self.advance(source)?;
        state[0] = word;
        Ok(Some(state))
    }

    /// Takes all states with this key, if they are next.
    pub(super) fn take_group(&mut self, key: &Key<W>, group: &mut Vec<[u64; W]>) -> io::Result<()> {
        group.clear();
        while self.peek() == Some(key) {
            group.extend(self.next()?);
        }
        group.dedup();
        Ok(())
    }

    /// Skips all states before this key, until `is_over` returns true.
    pub(super) fn skip_to(
        &mut self,
        key: &Key<W>,
        mut is_over: impl FnMut() -> bool,
    ) -> io::Result<()> {
        while self.peek().is_some_and(|next| next < key) && !is_over() {
            self.next()?;
        }
        Ok(())
    }
}
