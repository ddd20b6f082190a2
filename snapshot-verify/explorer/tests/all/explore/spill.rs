//! A search with states on a disk has the result of a search in memory.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use snapshot_explorer::search::spill::{Disk, FileId};
use snapshot_explorer::search::{
    Exploration, ExploreError, Outcome, SearchVerdict, Storage, Unfinished,
};
use test_support::effort::{Effort, either, is_left_out};

use crate::explore::bowman::{Exit, bowman};

type Files = Arc<Mutex<HashMap<FileId, Vec<u8>>>>;

/// Files in memory, with limited capacity; some are truncated.
#[derive(Debug)]
struct Room {
    files: Files,
    next: Mutex<FileId>,
    bytes: Arc<Mutex<usize>>,
    /// The number of bytes missing at the end of every file that is read.
    cut: usize,
    open: Arc<Open>,
}

/// The number of files currently being read, and its maximum.
#[derive(Debug, Default)]
struct Open {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Reading {
    bytes: io::Cursor<Vec<u8>>,
    open: Arc<Open>,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(into)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.open.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Room {
    fn new(bytes: usize) -> Self {
        let (files, next, bytes) =
            (Files::default(), Mutex::default(), Arc::new(Mutex::new(bytes)));
        Self { files, next, bytes, cut: 0, open: Arc::default() }
    }

    fn created(&self) -> FileId {
        *self.next.lock().unwrap()
    }
}

struct Writing {
    file: FileId,
    files: Files,
    room: Arc<Mutex<usize>>,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        *room = room.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        self.files.lock().unwrap().entry(self.file).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Room {
    fn create(&self) -> io::Result<(FileId, Box<dyn Write + Send>)> {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        self.files.lock().unwrap().insert(*next, Vec::new());
        let (files, room) = (Arc::clone(&self.files), Arc::clone(&self.bytes));
        Ok((*next, Box::new(Writing { file: *next, files, room })))
    }

    fn open(&self, file: FileId) -> io::Result<Box<dyn Read + Send>> {
        let files = self.files.lock().unwrap();
        let mut bytes = files.get(&file).ok_or(io::ErrorKind::NotFound)?.clone();
        bytes.truncate(bytes.len().saturating_sub(self.cut));
        let now = self.open.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.open.most.fetch_max(now, Ordering::SeqCst);
        Ok(Box::new(Reading { bytes: io::Cursor::new(bytes), open: Arc::clone(&self.open) }))
    }

    fn remove(&self, file: FileId) {
        if let Some(bytes) = self.files.lock().unwrap().remove(&file) {
            *self.bytes.lock().unwrap() += bytes.len();
        }
    }

    fn clear(&self) {
        (0..=self.created()).for_each(|file| self.remove(file));
    }
}

fn counts(outcome: &Outcome) -> (&SearchVerdict, u64, u64, u32) {
    (&outcome.verdict, outcome.states, outcome.transitions, outcome.depth)
}

/// Returns the bytes in use at the start of a search.
fn least(exploration: &Exploration<'_>, exit: Exit) -> u64 {
    let exploration = Exploration { memory: 1, ..exploration.clone() };
    match exploration.run(&bowman(3, [0, 1], exit), &mut |_| {}).unwrap_err() {
        ExploreError::Memory { least, .. } => least,
        error => panic!("{error}"),
    }
}

#[test]
fn search_on_disk_equals_search_in_memory() {
    let (mut spilt, mut searches) = (0, 0);
    for exit in [Exit::Correct, Exit::Early] {
        for antichain in [false, true] {
            for past_violations in [false, true] {
                for threads in either(vec![2], vec![1, 2]) {
                    let exploration = Exploration {
                        antichain,
                        past_violations,
                        threads,
                        ..Exploration::default()
                    };
                    let instance = bowman(3, [0, 1], exit);
                    let whole = exploration.run(&instance, &mut |_| {}).unwrap();
                    // The limits hold a part of a level, and several levels.
                    for more in [1 << 20, 5 << 18] {
                        let room = Room::new(usize::MAX);
                        let above = Some(least(&exploration, exit) + more);
                        let storage = Storage::Disk { disk: &room, above };
                        let exploration = Exploration { storage, ..exploration.clone() };
                        let outcome = exploration.run(&instance, &mut |_| {}).unwrap();
                        assert_eq!(counts(&outcome), counts(&whole), "{exploration:?}");
                        assert!(room.files.lock().unwrap().is_empty(), "all files are removed");
                        searches += 1;
                        spilt += u32::from(room.created() > 2 * outcome.depth);
                    }
                }
            }
        }
    }
    assert!(2 * spilt > searches, "{spilt} of {searches} went to the disk again and again");
}

/// A level is written in more parts than files may be open, so parts are merged on the way. Runs in
/// the slow suite.
#[test]
fn few_files_are_open_at_once() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let exploration = Exploration { antichain: false, threads: 1, ..Exploration::default() };
    let instance = bowman(4, [0, 1], Exit::Correct);
    let whole = exploration.run(&instance, &mut |_| {}).unwrap();
    let room = Room::new(usize::MAX);
    let above = Some(least(&exploration, Exit::Correct) + (1 << 10));
    let spilt = Exploration { storage: Storage::Disk { disk: &room, above }, ..exploration };
    let outcome = spilt.run(&instance, &mut |_| {}).unwrap();
    assert_eq!(counts(&outcome), counts(&whole));
    let (most, files) = (room.open.most.load(Ordering::SeqCst), room.created());
    println!("{files} files, {most} of them open at once, {} levels", outcome.depth);
    // One file of visited states per level, and the files of one level.
    assert!(files > 10 * outcome.depth && most <= 45, "{files} {most}");
}

/// A search ends within its memory although it would need several times as much. Runs in the slow
/// suite; `commands::disk` of the verifier tests this from outside in both suites.
#[test]
fn least_memory_suffices_with_a_disk() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let exploration = Exploration { threads: 2, ..Exploration::default() };
    let instance = bowman(4, [0, 1], Exit::Correct);
    let whole = exploration.run(&instance, &mut |_| {}).unwrap();
    let room = Room::new(usize::MAX);
    let storage = Storage::Disk { disk: &room, above: None };
    let too_little = Exploration { memory: 1 << 20, storage, ..exploration.clone() };
    let error = too_little.run(&instance, &mut |_| {}).unwrap_err();
    let ExploreError::Memory { least: memory, .. } = error else { panic!("{error}") };
    let spilt = Exploration { memory, storage, ..exploration.clone() };
    let outcome = spilt.run(&instance, &mut |_| {}).unwrap();
    assert_eq!(counts(&outcome), counts(&whole));
    assert!(outcome.peak_bytes <= memory && whole.peak_bytes > 2 * memory, "{memory}");
    let without = Exploration { memory, ..exploration };
    let outcome = without.run(&instance, &mut |_| {}).unwrap();
    assert!(matches!(outcome.verdict, SearchVerdict::Unknown { cause: Unfinished::Memory, .. }));
}

#[test]
fn a_disk_that_fails_ends_the_search() {
    let exploration = Exploration::default();
    let above = Some(least(&exploration, Exit::Correct) + (1 << 20));
    let instance = bowman(3, [0, 1], Exit::Correct);
    let cut = Room { cut: 8, ..Room::new(usize::MAX) };
    for room in [Room::new(0), Room::new(100_000), Room::new(1_000_000), cut] {
        let storage = Storage::Disk { disk: &room, above };
        let error =
            Exploration { storage, ..exploration.clone() }.run(&instance, &mut |_| {}).unwrap_err();
        assert!(matches!(error, ExploreError::Disk { .. }), "{error}");
        assert!(error.to_string().contains("--disk"), "{error}");
    }
}
