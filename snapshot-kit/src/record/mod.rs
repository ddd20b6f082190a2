//! Recording a real snapshot object while threads use it.
//!
//! Every event has a stamp of the recorder's [`Clock`]: an invocation one from before the
//! call into the object starts, a response one from after it has returned. Each recorded
//! interval contains the real one, so wherever the recording says that one operation
//! preceded another, it really did: a violation found in the recording is a violation of
//! the object. (The argument for each clock stands at `clock/mod.rs`.) The reverse does
//! not hold: the longer intervals may hide a violation, and what threads do for the
//! recording keeps them apart, or in step.
//!
//! So threads do little: each writes to a log of its own, without a lock (`log.rs`), and
//! by default they share no counter. A history can be taken at any time, also while
//! threads go on, or hang in a call for ever: it has all events up to some instant, but
//! for those that a thread had a stamp for and had not stored yet. Left out, these do no
//! harm: an operation whose invocation is missing had not begun at that instant, and one
//! whose response is missing counts as pending.

mod handle;
mod lane;
mod log;
mod merge;
mod watch;

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snapshot_core::history::{Declaration, HistoryError, Writers};
use snapshot_core::{History, Process};
use thiserror::Error;

use self::handle::Sink;
pub use self::handle::{Handle, OpenScan, OpenUpdate};
use self::lane::Lane;
use self::log::{Cursor, Log};
use self::merge::merge;
use self::watch::Watch;
use crate::clock::{Clock, Source};
use crate::noise::{self, Noise};

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
    /// It is not known (a time-out, a lost connection): an update may take effect
    /// at any later time.
    Unknown,
}

/// Records the operations of several processes on one object.
///
/// ```
/// use std::sync::Mutex;
///
/// use snapshot_core::history::Declaration;
/// use snapshot_kit::record::Recorder;
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
    declaration: Mutex<Declaration<V>>,
    source: Arc<Source>,
    logs: Mutex<Vec<Arc<Mutex<Log<V>>>>>,
    watch: Option<Arc<Watch<V>>>,
    /// Processes of a watched recording that have a handle.
    watching: Arc<Mutex<Vec<Process>>>,
    noise: (Noise, u64),
    before_each: BeforeEach,
}

/// A call before each operation, or none.
#[derive(Clone, Default)]
struct BeforeEach(Option<Arc<dyn Fn() + Send + Sync>>);

impl BeforeEach {
    #[inline]
    fn call(&self) {
        if let Some(call) = &self.0 {
            call();
        }
    }
}

impl std::fmt::Debug for BeforeEach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BeforeEach").field(&self.0.is_some()).finish()
    }
}

impl<V: Clone> Recorder<V> {
    /// Nothing has happened yet; with the [best](Clock::best) clock.
    pub fn new(declaration: Declaration<V>) -> Self {
        Self::with_clock(declaration, Clock::best())
    }

    /// Nothing has happened yet.
    ///
    /// # Panics
    /// If there is no such clock here: see [`Clock::has_counter`].
    pub fn with_clock(declaration: Declaration<V>, clock: Clock) -> Self {
        Self {
            declaration: Mutex::new(declaration),
            source: Arc::new(Source::new(clock)),
            logs: Mutex::default(),
            watch: None,
            watching: Arc::default(),
            noise: (Noise::Off, 0),
            before_each: BeforeEach::default(),
        }
    }

    /// Disturbs the threads: they pause after some operations, and at [`noise::point`] inside
    /// those that are recorded by a closure. The seed and a process determine its pauses.
    /// By default there is none. (Processors are kept busy, too, by [`crate::stress()`] only.)
    ///
    /// ```
    /// use snapshot_core::history::Declaration;
    /// use snapshot_kit::{Noise, Recorder, noise};
    ///
    /// let recorder = Recorder::new(Declaration::new(0)).with_noise(Noise::Much, 7);
    /// recorder.process(0)?.scan(|| {
    ///     noise::point(); // may yield here
    ///     [0]
    /// });
    /// # Ok::<(), snapshot_kit::RecordError>(())
    /// ```
    #[must_use]
    pub const fn with_noise(mut self, noise: Noise, seed: u64) -> Self {
        self.noise = (noise, seed);
        self
    }

    /// Calls this right before each operation is recorded. For schedulers that switch threads
    /// only inside the calls which they know: an object that makes none is called then, too, in
    /// every order (`examples/loom.rs`).
    #[must_use]
    pub fn before_each(mut self, call: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_each = BeforeEach(Some(Arc::new(call)));
        self
    }

    /// A recorder that judges each event as it happens, and records nothing more from
    /// the first violation on: see [`Self::is_stopped`]. Threads take turns at it, so it
    /// finds less than judging the history afterwards; it is for long runs that are to
    /// stop where something went wrong.
    ///
    /// Updates of one segment that overlap, and values that repeat, may leave the online
    /// monitor without an answer: then the history has to be checked at the end.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn watched(declaration: Declaration<V>) -> Result<Self, RecordError>
    where
        V: Eq + Hash + Send + 'static,
    {
        let watch = Some(Watch::new(&declaration)?);
        Ok(Self { watch, ..Self::with_clock(declaration, Clock::Ticket) })
    }

    /// Whether a [watched](Self::watched) recording is over, since it has a violation or
    /// is no history.
    pub fn is_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_stopped())
    }

    /// What the events are ordered by.
    pub fn clock(&self) -> Clock {
        self.source.clock()
    }

    /// The handle through which a thread acts as this process.
    ///
    /// # Errors
    /// If there is such a handle already.
    ///
    /// # Panics
    /// If `process` exceeds [`Process::LIMIT`].
    pub fn process(&self, process: usize) -> Result<Handle<V>, RecordError> {
        let process = Process::from_index(process);
        if let Some(watch) = &self.watch {
            let mut watching = lock(&self.watching);
            if watching.contains(&process) {
                return Err(RecordError::InUse { process });
            }
            watching.push(process);
            let (watch, watching) = (Arc::clone(watch), Arc::clone(&self.watching));
            return Ok(self.handle(process, Sink::Watch { process, watch, watching }));
        }
        let mut logs = lock(&self.logs);
        let known = logs.iter().find(|log| lock(log).process == process).map(Arc::clone);
        let log = known.unwrap_or_else(|| {
            let log = Arc::new(Mutex::new(Log::new(process)));
            logs.push(Arc::clone(&log));
            log
        });
        let ring = lock(&log).idle.take().ok_or(RecordError::InUse { process })?;
        Ok(self.handle(process, Sink::Lane(Lane::new(Arc::clone(&self.source), log, ring))))
    }

    fn handle(&self, process: Process, sink: Sink<V>) -> Handle<V> {
        let (noise, seed) = self.noise;
        let noise = noise::Source::new(noise, seed, process.index());
        Handle::new(sink, noise, self.before_each.clone())
    }

    /// What has happened so far. O(events); recorded threads go on meanwhile.
    ///
    /// # Errors
    /// If the events form no history of the declared kind.
    pub fn history(&self) -> Result<History<V>, RecordError> {
        if let Some(watch) = &self.watch {
            return watch.history();
        }
        self.with_logs(|logs, cut| self.merged(logs, cut))
    }

    /// What has happened so far, of which nothing is kept: what follows is a recording of
    /// its own, in which the segments have their present values from the beginning. If
    /// both are linearizable, so is the whole, and the reverse: all operations of the
    /// first precede all of the second, so any order has the first before the second, and
    /// the updates of a segment, which precede each other, leave the last one's value.
    ///
    /// For the moments between the rounds of a long test: its memory is that of a round.
    /// Where several processes may update a segment, updates that overlap leave open which came
    /// last. Then the recording must end with a full scan that began when all else had responded:
    /// in any order it is the last but for failed operations, so the segments have its values.
    ///
    /// `None` if it cannot be: an operation is open, or had an unknown outcome; there are several
    /// writers, and no such scan; or the recording is watched. Then all is kept.
    ///
    /// # Errors
    /// If the events form no history of the declared kind.
    pub fn take(&self) -> Result<Option<History<V>>, RecordError> {
        if self.watch.is_some() {
            return Ok(None);
        }
        self.with_logs(|logs, cut| {
            let history = self.merged(logs, cut)?;
            let mut declaration = lock(&self.declaration);
            if history.pending() > 0 {
                return Ok(None);
            }
            let left = match declaration.writers {
                Writers::Single => left_by_updates(&history, &declaration),
                Writers::Many => match left_by_scan(&history) {
                    Some(left) => left,
                    None => return Ok(None),
                },
            };
            declaration.initial = left;
            for log in logs {
                let events = log.until(cut).len();
                log.forget(events);
            }
            Ok(Some(history))
        })
    }

    /// All logs, drained, and an instant up to which they are whole (module docs). The
    /// instant is taken before the logs are drained: what is stored later, with an
    /// earlier stamp, is an invocation before its call, or a response.
    fn with_logs<T>(&self, use_them: impl FnOnce(&mut [MutexGuard<'_, Log<V>>], u64) -> T) -> T {
        let logs: Vec<_> = lock(&self.logs).iter().map(Arc::clone).collect();
        let mut logs: Vec<MutexGuard<'_, Log<V>>> = logs.iter().map(|log| lock(log)).collect();
        let cut = self.source.cut();
        logs.iter_mut().for_each(|log| log.drain());
        use_them(&mut logs, cut)
    }

    fn merged(
        &self,
        logs: &mut [MutexGuard<'_, Log<V>>],
        cut: u64,
    ) -> Result<History<V>, RecordError> {
        let mut history = History::builder(lock(&self.declaration).clone())?;
        let logs: Vec<Cursor<'_, V>> = logs.iter().map(|log| log.until(cut)).collect();
        merge(logs, |event| history.push(event))?;
        Ok(history.finish())
    }
}

/// The values of the segments after all operations, whose updates of a segment do not overlap.
fn left_by_updates<V: Clone>(history: &History<V>, declaration: &Declaration<V>) -> Vec<V> {
    let segments = history.segments().max(declaration.initial.len());
    let mut left: Vec<V> = (0..segments).map(|k| declaration.initial_value(k).clone()).collect();
    for update in history.operations().iter().filter(|update| update.is_complete()) {
        if let Some(segment) = update.segment() {
            left[segment.index()] = history.update_value(update).clone();
        }
    }
    left
}

/// The values of the segments after all operations, if the last of these is a full scan which all
/// others precede.
fn left_by_scan<V: Clone>(history: &History<V>) -> Option<Vec<V>> {
    let (last, others) = history.operations().split_last()?;
    let is_last = others.iter().all(|other| other.precedes(last) || other.is_failed());
    let is_full = last.is_scan() && last.is_complete() && !last.is_partial();
    (is_full && is_last).then(|| history.scan_values(last).to_vec())
}

/// What is locked here is whole whenever the lock is free: an entry is made in one step.
/// So a panic elsewhere in the thread is no reason to give it up.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
