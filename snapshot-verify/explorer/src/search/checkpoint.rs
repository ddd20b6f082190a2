//! Checkpoints: writes the progress of a search as bytes, and reads it back.
//!
//! The search knows no file. A [`CheckpointStore`] stores each record under the [`Key`] of its search, and
//! returns complete records.
//!
//! A checkpoint is written between two chunks of a level, when all threads are at rest. The
//! progress then consists of three sets of states: the *visited* states; among them the *new*
//! states, which form the next level as far as it is known; and the *waiting* states of this level,
//! still to be explored. The record adds only counts, limits, and the move to a violation or fault
//! if one was found. The continuation depends on nothing else, so a resumed search has the counts,
//! the verdict and the shortest trace of an uninterrupted one. Explored levels are not saved: the
//! trace of a violation found after resuming costs a second search.
//!
//! A finished search is saved as its counts and the moves to its violation or fault. Reading the
//! record replays these moves: their outcome is checked, not trusted.
//!
//! The key covers the instance, its layout, the reductions and the bounds. Two searches with one
//! key are the same search.

use std::fmt;
use std::io::{self, Read, Write};

use snapshot_core::Process;
use thiserror::Error;

use super::breadth_first::Explored;
use super::budget::{Exhausted, Supervisor, Unfinished};
use super::level::Level;
use super::product::{Choice, Move, Product, Scratch, Stop};
use super::store::{Chunk, Frontier, SHARDS, Store, shard_of};
use super::worker::Found;
use super::{Exploration, Layout};
use crate::instance::Instance;
use crate::limits::LimitSet;

/// Identifies a search.
pub type Key = [u8; 32];

/// The stored record of a search.
pub enum Kept<'a> {
    Nothing,
    /// A search in progress. The reader ends with the record and must be read no further.
    UnderWay(Box<dyn Read + 'a>),
    Ended(Vec<u8>),
}

/// Writes the contents of a record to the given writer.
pub type Contents<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// Stores the progress of searches.
pub trait CheckpointStore: fmt::Debug + Sync {
    /// Returns the key of a search: equal exactly if the debug representations are equal.
    fn key(&self, search: &dyn fmt::Debug) -> Key;

    /// Opens the record of a search that starts.
    ///
    /// # Errors
    /// If the record cannot be read or is damaged.
    fn open(&self, search: &Key) -> Result<Kept<'_>, CheckpointError>;

    /// Returns the location of the record, for people.
    fn place(&self, search: &Key) -> String;

    /// Returns true if a checkpoint is due. Called after every chunk.
    fn is_due(&self) -> bool;

    /// Saves a search in progress, replacing its earlier record. The keeper itself reports a
    /// failure to write: the search continues.
    fn keep(&self, search: &Key, contents: &mut Contents<'_>);

    fn end(&self, search: &Key, record: &[u8]);
}

/// Why a search cannot resume from a checkpoint.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum CheckpointError {
    #[error("it cannot be read: {reason}")]
    Unreadable {
        /// The error of the operating system.
        reason: String,
    },
    /// The record is not as it was written.
    #[error("it is damaged ({what}): remove it, and its search begins from the start")]
    Damaged {
        /// The damage, for people.
        what: &'static str,
    },
    /// The states of the record do not fit the memory.
    #[error("its states do not fit into {given} bytes: give the search more --memory")]
    Memory {
        /// The budget in bytes.
        given: u64,
    },
}

impl From<io::Error> for CheckpointError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged { what: "it ends early" },
            _ => Self::Unreadable { reason: error.to_string() },
        }
    }
}

/// All inputs that determine the outcome of a search. Budgets do not.
pub(super) struct Identity<'a> {
    pub(super) of: &'a Exploration<'a>,
    pub(super) layout: &'a Layout,
    pub(super) instance: &'a Instance,
}

impl fmt::Debug for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, layout, instance } = self;
        let bounds = (of.operations, of.barriers, &of.active, of.past_violations);
        let reductions = (of.antichain, of.forgetting, of.numbering, of.symmetry, of.ample);
        let limits = (of.most_numbers, of.most_states);
        write!(f, "{instance:?} {layout:?} {bounds:?} {reductions:?} {limits:?}")
    }
}

/// The checkpoint store and the key of one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint<'a> {
    pub(super) keeper: &'a dyn CheckpointStore,
    pub(super) key: Key,
}

/// A search in progress, except for the states in the store.
pub(super) struct UnderWay<const W: usize> {
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) depth: u32,
    pub(super) peak: u64,
    pub(super) found: Option<(u32, Found<W>)>,
    pub(super) waiting: Vec<Chunk<W>>,
}

impl Checkpoint<'_> {
    /// Saves the progress. All threads must be at rest.
    pub(super) fn keep<const W: usize>(
        &self,
        product: &Product<'_>,
        explored: &Explored<W>,
        level: &Level<'_, W>,
        store: &Store<'_, W>,
        peak: u64,
    ) {
        self.keeper.keep(&self.key, &mut |out| {
            let limits = product.limits().bits().into();
            let counts =
                [explored.states, explored.transitions, explored.depth.into(), peak, limits];
            write_words(out, &counts)?;
            write_words(out, &[explored.found.is_some().into()])?;
            if let Some((depth, found)) = &explored.found {
                write_words(out, &[u64::from(*depth)])?;
                write_words(out, &found.state)?;
                write_words(out, &move_words(found.by))?;
            }
            level.each_waiting(|waiting| {
                debug_assert!(!waiting.is_empty(), "an empty chunk would end the list");
                write_states(out, waiting.len(), waiting.iter())
            })?;
            write_words(out, &[0])?;
            for shard in 0..SHARDS {
                store.look_into(shard, |shard| {
                    write_states(out, shard.taken(), shard.visited())?;
                    write_states(out, shard.new_states().count(), shard.new_states())
                })?;
            }
            Ok(())
        });
    }

    /// Saves the result of a search, unless the search was cut short.
    pub(super) fn end<const W: usize>(
        &self,
        product: &Product<'_>,
        explored: &Explored<W>,
        peak: u64,
        cause: Option<Unfinished>,
        moves: Option<&[([u64; W], Move)]>,
    ) {
        let ending = match (cause, moves) {
            (None, None) => VERIFIED,
            (None, Some(_)) => FOUND,
            (Some(Unfinished::TooNarrow), _) => TOO_NARROW,
            (Some(Unfinished::TooMany), _) => TOO_MANY,
            (Some(Unfinished::Time | Unfinished::Memory | Unfinished::Interrupted), _) => return,
        };
        let limits = product.limits().bits().into();
        let counts =
            [explored.states, explored.transitions, explored.depth.into(), peak, limits, ending];
        let moves = moves.unwrap_or_default();
        let moves =
            moves.iter().flat_map(|(state, by)| state.iter().copied().chain(move_words(*by)));
        let words = counts.into_iter().chain(moves);
        let record: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        self.keeper.end(&self.key, &record);
    }
}

const VERIFIED: u64 = 0;
const FOUND: u64 = 1;
const TOO_NARROW: u64 = 2;
const TOO_MANY: u64 = 3;

pub(super) struct Ended<const W: usize> {
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) depth: u32,
    pub(super) peak: u64,
    pub(super) ending: Ending<W>,
}

pub(super) enum Ending<const W: usize> {
    Verified,
    Unfinished(Unfinished),
    /// The moves, and how the last one stops.
    Found(Vec<([u64; W], Move)>, Stop),
}

/// Reads the record of [`Checkpoint::end`].
pub(super) fn ended<const W: usize>(
    product: &Product<'_>,
    record: &[u8],
) -> Result<Ended<W>, CheckpointError> {
    let mut record = record;
    let [states, transitions, depth, peak, limits, ending] = read_words(&mut record)?;
    product.has_reached(LimitSet::from_bits(narrow(limits)?));
    let ending = match ending {
        VERIFIED => Ending::Verified,
        TOO_NARROW => Ending::Unfinished(Unfinished::TooNarrow),
        TOO_MANY => Ending::Unfinished(Unfinished::TooMany),
        FOUND => {
            let mut moves = Vec::new();
            while !record.is_empty() {
                moves.push((read_words(&mut record)?, read_move(&mut record)?));
            }
            let last: Option<&([u64; W], Move)> = moves.last();
            let stop = last.map(|(state, by)| stop(product, state, *by)).transpose()?;
            Ending::Found(moves, stop.ok_or(CheckpointError::Damaged { what: "no moves" })?)
        }
        _ => return Err(CheckpointError::Damaged { what: "an ending" }),
    };
    Ok(Ended { states, transitions, depth: narrow(depth)?, peak, ending })
}

/// Reads the record of [`Checkpoint::keep`]. Its states go to `store`, which must be empty. If the
/// watch ends the search meanwhile, the unread states are lost.
pub(super) fn under_way<const W: usize>(
    product: &Product<'_>,
    store: &Store<'_, W>,
    watch: &Supervisor<'_>,
    input: &mut dyn Read,
) -> Result<UnderWay<W>, CheckpointError> {
    let must_end = || {
        watch.look();
        watch.cause().is_some()
    };
    let memory = store.memory();
    let no_room = |Exhausted| CheckpointError::Memory { given: memory.limit() };
    let [states, transitions, depth, peak, limits] = read_words(input)?;
    product.has_reached(LimitSet::from_bits(narrow(limits)?));
    let found = match read_words(input)? {
        [0] => None,
        [1] => {
            let [depth] = read_words(input)?;
            let (state, by) = (read_words(input)?, read_move(input)?);
            let stop = stop(product, &state, by)?;
            Some((narrow(depth)?, Found { state, by, stop }))
        }
        _ => return Err(CheckpointError::Damaged { what: "a flag" }),
    };
    let mut waiting = Frontier::new();
    loop {
        let [count] = read_words(input)?;
        if count == 0 || must_end() {
            break;
        }
        for _ in 0..count {
            waiting.push(read_state(input)?, memory).map_err(no_room)?;
        }
    }
    let mut batch = Vec::with_capacity(BATCH);
    'reading: for shard in 0..SHARDS {
        for is_new in [false, true] {
            if must_end() {
                break 'reading;
            }
            let [mut left] = read_words(input)?;
            if left >= MOST_STATES {
                return Err(CheckpointError::Damaged { what: "a number of states" });
            }
            if !is_new {
                let states = left.try_into().unwrap_or(usize::MAX);
                store.reserve(shard, states).map_err(no_room)?;
            }
            while left > 0 && !must_end() {
                batch.clear();
                for _ in 0..left.min(BATCH as u64) {
                    let state = read_state(input)?;
                    if shard_of(store.hash(&state)) != shard {
                        return Err(CheckpointError::Damaged { what: "a state's place" });
                    }
                    batch.push(state);
                }
                left -= batch.len() as u64;
                store.restore(shard, &batch, is_new).map_err(no_room)?;
            }
        }
    }
    if watch.cause().is_some() {
        watch.lose();
    }
    let waiting = waiting.take();
    Ok(UnderWay { states, transitions, depth: narrow(depth)?, peak, found, waiting })
}

/// The number of states written or read at a time.
const BATCH: usize = 128;

/// An exclusive bound on the states of a shard: more would take more bytes than there are
/// addresses.
const MOST_STATES: u64 = 1 << 48;

/// Returns how a move without successor stops.
pub(super) fn stop<const W: usize>(
    product: &Product<'_>,
    state: &[u64; W],
    by: Move,
) -> Result<Stop, CheckpointError> {
    let mut found = None;
    product.successors(state, &mut Scratch::new(product), |other, successor| {
        if other == by {
            found = successor.stop;
        }
    });
    found.ok_or(CheckpointError::Damaged { what: "a move that stops nothing" })
}

fn write_states<'s, const W: usize>(
    out: &mut dyn Write,
    count: usize,
    states: impl Iterator<Item = &'s [u64; W]>,
) -> io::Result<()> {
    write_words(out, &[count as u64])?;
    let mut bytes = Vec::with_capacity(BATCH * size_of::<[u64; W]>());
    for state in states {
        bytes.extend(state.iter().flat_map(|word| word.to_le_bytes()));
        if bytes.len() == bytes.capacity() {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

fn write_words(out: &mut dyn Write, words: &[u64]) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

pub(super) fn read_words<const N: usize>(
    input: &mut dyn Read,
) -> Result<[u64; N], CheckpointError> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        input.read_exact(&mut bytes)?;
        *word = u64::from_le_bytes(bytes);
    }
    Ok(words)
}

fn read_state<const W: usize>(input: &mut dyn Read) -> Result<[u64; W], CheckpointError> {
    let state = read_words(input)?;
    match state == [0; W] {
        true => Err(CheckpointError::Damaged { what: "a state without bits" }),
        false => Ok(state),
    }
}

/// Encodes a move: expansion, process, and choice (two words).
pub(super) fn move_words(by: Move) -> [u64; 4] {
    let (choice, value) = match by.choice {
        Choice::Update(value) => (0, value),
        Choice::Scan => (1, 0),
        Choice::Step => (2, 0),
        Choice::UpdateBehindBarrier(value) => (3, value),
        Choice::ScanBehindBarrier => (4, 0),
    };
    [by.expansion.into(), by.process.index() as u64, choice, i64::from(value) as u64]
}

pub(super) fn read_move(input: &mut dyn Read) -> Result<Move, CheckpointError> {
    let damaged = CheckpointError::Damaged { what: "a move" };
    let [expansion, process, choice, value] = read_words(input)?;
    let Ok(value) = i32::try_from(value as i64) else { return Err(damaged) };
    let choice = match choice {
        0 => Choice::Update(value),
        1 => Choice::Scan,
        2 => Choice::Step,
        3 => Choice::UpdateBehindBarrier(value),
        4 => Choice::ScanBehindBarrier,
        _ => return Err(damaged),
    };
    let process = usize::try_from(process).ok().and_then(|process| Process::new(process).ok());
    let process = process.ok_or(damaged)?;
    Ok(Move { expansion: narrow(expansion)?, process, choice })
}

fn narrow(number: u64) -> Result<u32, CheckpointError> {
    u32::try_from(number).map_err(|_| CheckpointError::Damaged { what: "a number" })
}
