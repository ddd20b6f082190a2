//! Recording a real snapshot object while threads use it.
//!
//! Every event takes the next number of one shared counter: an invocation
//! before the call into the object starts, a response after it has returned.
//! The order of these numbers is a legal order of the events. Each recorded
//! interval contains the real one, so wherever the recording says that one
//! operation preceded another, it really did: a violation found in the
//! recording is a violation of the object. The reverse does not hold: the
//! longer intervals may hide one, and the counter, which all threads write,
//! synchronises them a little more than they would be otherwise.
//!
//! A thread writes only to the log of its own process, under a lock that no
//! other thread contends for. The number is taken under that lock too; so the
//! logs, all locked at once, hold exactly the events up to some number. A
//! history can thus be taken at any time, also when a thread hangs in a call
//! for ever: its operation is pending.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snapshot_core::history::{Action, Declaration, Event, HistoryError};
use snapshot_core::{History, Process, Segment};
use thiserror::Error;

/// A recording that is no history.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RecordError {
    /// Two handles for one process at a time.
    #[error(
        "process {process} is already in use; \
         give each thread its own process, and drop a handle before taking it again"
    )]
    InUse {
        /// The process.
        process: Process,
    },
    /// The events form no history; for example, a scan returned too few values,
    /// or a segment has two writers.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// What became of a call that can fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply<T> {
    /// It returned.
    Done(T),
    /// It certainly had no effect, now or later.
    Failed,
    /// Nobody knows (a time-out, a lost connection): an update may take effect
    /// at any later time.
    Unknown,
}

/// Records the operations of several processes on one object.
///
/// ```
/// use std::sync::Mutex;
///
/// use snapshot_core::history::Declaration;
/// use snapshot_test::record::Recorder;
///
/// let object = Mutex::new(vec![0; 2]);
/// let recorder = Recorder::new(Declaration::new(0).with_segments(2));
/// std::thread::scope(|scope| {
///     for process in 0..2 {
///         let mut handle = recorder.process(process).unwrap();
///         let object = &object;
///         scope.spawn(move || {
///             for value in 1..=10 {
///                 handle.update(process, value, || object.lock().unwrap()[process] = value);
///                 handle.scan(|| object.lock().unwrap().clone());
///             }
///         });
///     }
/// });
/// let history = recorder.history().unwrap();
/// assert_eq!(history.operations().len(), 40);
/// ```
#[derive(Debug)]
pub struct Recorder<V> {
    declaration: Declaration<V>,
    clock: Arc<AtomicU64>,
    logs: Mutex<Vec<Arc<Mutex<Log<V>>>>>,
}

/// What one process did, in the order of the numbers.
#[derive(Debug)]
struct Log<V> {
    process: Process,
    in_use: bool,
    entries: Vec<(u64, Entry<V>)>,
}

#[derive(Debug)]
enum Entry<V> {
    InvokeUpdate(Segment, V),
    InvokeScan,
    RespondUpdate,
    RespondScan(Vec<V>),
    Fail,
    Unknown,
}

impl<V: Clone> Recorder<V> {
    /// Nothing has happened yet.
    pub fn new(declaration: Declaration<V>) -> Self {
        Self { declaration, clock: Arc::default(), logs: Mutex::default() }
    }

    /// The handle through which a thread acts as this process.
    ///
    /// # Errors
    /// If there is such a handle already.
    ///
    /// # Panics
    /// If `process` exceeds [`Process::LIMIT`].
    pub fn process(&self, process: usize) -> Result<Handle<V>, RecordError> {
        let process = Process::must(process);
        let mut logs = lock(&self.logs);
        let known = logs.iter().find(|log| lock(log).process == process);
        let log = match known {
            Some(log) => {
                let mut entries = lock(log);
                if std::mem::replace(&mut entries.in_use, true) {
                    return Err(RecordError::InUse { process });
                }
                Arc::clone(log)
            }
            None => {
                let log = Log { process, in_use: true, entries: Vec::new() };
                let log = Arc::new(Mutex::new(log));
                logs.push(Arc::clone(&log));
                log
            }
        };
        Ok(Handle { clock: Arc::clone(&self.clock), log })
    }

    /// What has happened so far. O(events * log(processes)), and all recorded
    /// threads wait meanwhile at their next event.
    ///
    /// # Errors
    /// If the events form no history of the declared kind.
    pub fn history(&self) -> Result<History<V>, RecordError> {
        let logs = lock(&self.logs);
        let logs: Vec<MutexGuard<'_, Log<V>>> = logs.iter().map(|log| lock(log)).collect();
        let mut events: Vec<(u64, Process, &Entry<V>)> = logs
            .iter()
            .flat_map(|log| log.entries.iter().map(|(time, entry)| (*time, log.process, entry)))
            .collect();
        // Sorted runs, one per process: merging them is what this sort does.
        events.sort_by_key(|(time, ..)| *time);
        let mut history = History::builder(self.declaration.clone())?;
        for (_, process, entry) in events {
            history.push(&Event { process, action: entry.action() })?;
        }
        Ok(history.finish())
    }
}

impl<V> Entry<V> {
    fn action(&self) -> Action<'_, V> {
        match self {
            Self::InvokeUpdate(segment, value) => Action::InvokeUpdate { segment: *segment, value },
            Self::InvokeScan => Action::InvokeScan,
            Self::RespondUpdate => Action::RespondUpdate,
            Self::RespondScan(values) => Action::RespondScan { values },
            Self::Fail => Action::Fail,
            Self::Unknown => Action::Unknown,
        }
    }
}

/// One process, acting on the object that is recorded.
///
/// If a call panics, its operation has an unknown outcome.
#[derive(Debug)]
pub struct Handle<V> {
    clock: Arc<AtomicU64>,
    log: Arc<Mutex<Log<V>>>,
}

impl<V: Clone> Handle<V> {
    /// Records `call` as an update of `segment` to `value`; returns its result.
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    pub fn update<T>(&mut self, segment: usize, value: V, call: impl FnOnce() -> T) -> T {
        self.push(Entry::InvokeUpdate(Segment::must(segment), value));
        let open = Open { handle: self };
        let result = call();
        open.close(Entry::RespondUpdate);
        result
    }

    /// Records `call` as a scan; returns what the scan returned.
    pub fn scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> T) -> T {
        self.push(Entry::InvokeScan);
        let open = Open { handle: self };
        let values = call();
        // Taken before the values are copied: the interval stays short.
        open.close_with(|| Entry::RespondScan(values.as_ref().to_vec()));
        values
    }

    /// As [`Self::update`], for a call that can fail.
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    pub fn try_update<T>(
        &mut self,
        segment: usize,
        value: V,
        call: impl FnOnce() -> Reply<T>,
    ) -> Reply<T> {
        self.push(Entry::InvokeUpdate(Segment::must(segment), value));
        let open = Open { handle: self };
        let reply = call();
        open.close(match &reply {
            Reply::Done(_) => Entry::RespondUpdate,
            Reply::Failed => Entry::Fail,
            Reply::Unknown => Entry::Unknown,
        });
        reply
    }

    /// As [`Self::scan`], for a call that can fail.
    pub fn try_scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> Reply<T>) -> Reply<T> {
        self.push(Entry::InvokeScan);
        let open = Open { handle: self };
        let reply = call();
        open.close_with(|| match &reply {
            Reply::Done(values) => Entry::RespondScan(values.as_ref().to_vec()),
            Reply::Failed => Entry::Fail,
            Reply::Unknown => Entry::Unknown,
        });
        reply
    }
}

impl<V> Handle<V> {
    fn push(&self, entry: Entry<V>) {
        self.push_with(|| entry);
    }

    /// Takes the next number, then makes the entry for it.
    fn push_with(&self, entry: impl FnOnce() -> Entry<V>) {
        let mut log = lock(&self.log);
        let time = self.clock.fetch_add(1, Ordering::SeqCst);
        let entry = entry();
        log.entries.push((time, entry));
    }
}

/// The process can be taken again.
impl<V> Drop for Handle<V> {
    fn drop(&mut self) {
        lock(&self.log).in_use = false;
    }
}

/// An operation that was invoked. Dropped without being closed, which only a
/// panic of the call does, its outcome is unknown.
struct Open<'h, V> {
    handle: &'h Handle<V>,
}

impl<V> Open<'_, V> {
    fn close(self, entry: Entry<V>) {
        self.close_with(|| entry);
    }

    fn close_with(self, entry: impl FnOnce() -> Entry<V>) {
        self.handle.push_with(entry);
        std::mem::forget(self);
    }
}

impl<V> Drop for Open<'_, V> {
    fn drop(&mut self) {
        self.handle.push(Entry::Unknown);
    }
}

/// A log is whole whenever its lock is free: an entry is pushed in one step. So
/// a panic elsewhere in the thread is no reason to give it up.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
