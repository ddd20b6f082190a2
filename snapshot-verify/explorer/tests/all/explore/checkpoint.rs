//! A search that is killed and resumed repeatedly has the result of an uninterrupted one.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_explorer::search::checkpoint::{
    CheckpointError, CheckpointStore, Contents, Kept, Key,
};
use snapshot_explorer::search::{
    Exploration, ExploreError, Outcome, SearchVerdict, Storage, Unfinished,
};

use crate::explore::bowman::{Exit, bowman};

/// Stores searches in memory; a checkpoint is due at some chunk, and the search is killed at a
/// later one.
#[derive(Debug)]
struct Memory {
    kept: Mutex<HashMap<Key, (bool, Vec<u8>)>>,
    /// The numbers of chunks until a checkpoint is due, and until the search is killed.
    left: Mutex<(u32, u32)>,
    killed: Arc<AtomicBool>,
    /// The number of checkpoints.
    times: Mutex<u32>,
}

impl Memory {
    fn new() -> Self {
        let (kept, left, times) = (Mutex::default(), Mutex::new((0, u32::MAX)), Mutex::default());
        Self { kept, left, killed: Arc::default(), times }
    }

    fn run(&self, due: u32, end: u32, exploration: &Exploration<'_>, exit: Exit) -> Outcome {
        *self.left.lock().unwrap() = (due, end);
        self.killed.store(false, Ordering::Relaxed);
        let (stop, storage) = (Some(&*self.killed), Storage::Checkpoints(self));
        let exploration = Exploration { stop, storage, ..exploration.clone() };
        exploration.run(&bowman(3, [0, 1], exit), &mut |_| {}).unwrap()
    }

    fn put(&self, search: &Key, has_ended: bool, contents: Vec<u8>) {
        if !self.killed.load(Ordering::Relaxed) {
            self.kept.lock().unwrap().insert(*search, (has_ended, contents));
            *self.times.lock().unwrap() += 1;
        }
    }
}

impl CheckpointStore for Memory {
    fn key(&self, search: &dyn fmt::Debug) -> Key {
        let mut hasher = DefaultHasher::new();
        format!("{search:?}").hash(&mut hasher);
        let mut key = Key::default();
        key[..8].copy_from_slice(&hasher.finish().to_le_bytes());
        key
    }

    fn open(&self, search: &Key) -> Result<Kept<'_>, CheckpointError> {
        Ok(match self.kept.lock().unwrap().get(search).cloned() {
            None => Kept::Nothing,
            Some((true, record)) => Kept::Ended(record),
            Some((false, contents)) => Kept::UnderWay(Box::new(io::Cursor::new(contents))),
        })
    }

    fn place(&self, _: &Key) -> String {
        "memory".to_owned()
    }

    fn is_due(&self) -> bool {
        let mut left = self.left.lock().unwrap();
        left.0 = left.0.saturating_sub(1);
        left.1 = left.1.saturating_sub(1);
        if left.1 == 0 {
            self.killed.store(true, Ordering::Relaxed);
        }
        left.0 == 0
    }

    fn keep(&self, search: &Key, contents: &mut Contents<'_>) {
        let mut bytes = Vec::new();
        contents(&mut bytes).unwrap();
        self.put(search, false, bytes);
        self.left.lock().unwrap().0 = u32::MAX;
    }

    fn end(&self, search: &Key, record: &[u8]) {
        self.put(search, true, record.to_vec());
    }
}

fn counts(outcome: &Outcome) -> (SearchVerdict, u64, u64, u32) {
    (outcome.verdict.clone(), outcome.states, outcome.transitions, outcome.depth)
}

/// Kills a search at random chunks until it ends. Returns the numbers of kills and of checkpoints.
fn survives(exploration: &Exploration<'_>, exit: Exit, random: &mut ChaCha8Rng) -> (u32, u32) {
    let whole = exploration.run(&bowman(3, [0, 1], exit), &mut |_| {}).unwrap();
    let memory = Memory::new();
    let mut kills = 0;
    loop {
        let due = random.random_range(1..1500);
        let outcome = memory.run(due, due + random.random_range(0..300), exploration, exit);
        if !matches!(outcome.verdict, SearchVerdict::Unknown { .. }) {
            assert_eq!(counts(&outcome), counts(&whole));
            break;
        }
        kills += 1;
    }
    // The result of a finished search is known without a search, including the trace of a
    // violation.
    let kept = *memory.times.lock().unwrap();
    let again = memory.run(1, 1, exploration, exit);
    assert_eq!(counts(&again), counts(&whole));
    assert_eq!(*memory.times.lock().unwrap(), kept);
    (kills, kept)
}

#[test]
fn killed_search_resumes_to_the_same_result() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let (mut kills, mut kept) = (0, 0);
    for exit in [Exit::Correct, Exit::Early] {
        for antichain in [false, true] {
            for past_violations in [false, true] {
                for threads in [1, 2] {
                    let exploration = Exploration {
                        antichain,
                        past_violations,
                        threads,
                        ..Exploration::default()
                    };
                    let (one, other) = survives(&exploration, exit, &mut random);
                    (kills, kept) = (kills + one, kept + other);
                }
            }
        }
    }
    assert!(kills > 40 && kept > 40, "{kills} kills, {kept} checkpoints");
}

#[test]
fn time_and_interruption_keep_the_progress() {
    let whole = Exploration::default().run(&bowman(3, [0, 1], Exit::Correct), &mut |_| {}).unwrap();
    let memory = Memory::new();
    let rounds = Cell::new(0);
    let outcome = loop {
        *memory.left.lock().unwrap() = (u32::MAX, u32::MAX);
        let time = Some(Duration::from_millis(if rounds.get() < 20 { 3 } else { 600_000 }));
        let storage = Storage::Checkpoints(&memory);
        let exploration = Exploration { time, storage, ..Exploration::default() };
        let outcome = exploration.run(&bowman(3, [0, 1], Exit::Correct), &mut |_| {}).unwrap();
        rounds.set(rounds.get() + 1);
        match outcome.verdict {
            SearchVerdict::Unknown { cause: Unfinished::Time, .. } => {}
            _ => break outcome,
        }
    };
    assert_eq!(counts(&outcome), counts(&whole));
    assert!(*memory.times.lock().unwrap() > 1);
}

#[test]
fn damaged_and_too_large_checkpoints_are_refused() {
    let memory = Memory::new();
    let exploration = Exploration::default();
    let outcome = memory.run(100, 120, &exploration, Exit::Correct);
    assert!(matches!(outcome.verdict, SearchVerdict::Unknown { .. }));
    let (key, (_, bytes)) = memory.kept.lock().unwrap().drain().next().unwrap();
    let resumed = |bytes: &[u8], budget| {
        memory.kept.lock().unwrap().insert(key, (false, bytes.to_vec()));
        *memory.left.lock().unwrap() = (u32::MAX, u32::MAX);
        let storage = Storage::Checkpoints(&memory);
        let exploration = Exploration { storage, memory: budget, ..Exploration::default() };
        exploration.run(&bowman(3, [0, 1], Exit::Correct), &mut |_| {})
    };
    for length in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        let error = resumed(&bytes[..length], 1 << 30).unwrap_err();
        let ExploreError::Checkpoint { place, error } = error else { panic!("{error}") };
        assert_eq!(
            (place.as_str(), error),
            ("memory", CheckpointError::Damaged { what: "it ends early" })
        );
    }
    let mut other = bytes.clone();
    // The first state's hash changes, and so does its shard, almost always.
    let at = other.len() - 16;
    other[at..at + 7].fill(0xa5);
    assert!(matches!(
        resumed(&other, 1 << 30),
        Err(ExploreError::Checkpoint { error: CheckpointError::Damaged { .. }, .. })
    ));
    let least = match resumed(&bytes, 1000).unwrap_err() {
        ExploreError::Memory { least, .. } => least,
        error => panic!("{error}"),
    };
    assert!(matches!(
        resumed(&bytes, least),
        Err(ExploreError::Checkpoint { error: CheckpointError::Memory { given }, .. }) if given == least
    ));
    assert!(resumed(&bytes, 1 << 30).is_ok());
}
