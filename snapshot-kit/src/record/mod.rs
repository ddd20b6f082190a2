//! Recording of a real snapshot object while threads use it.
//!
//! Every event has a stamp of the recorder's [`Clock`]: an invocation one from before the call into
//! the object starts, a response one from after it has returned. Each recorded interval contains
//! the real one, so if one operation precedes another in the recording, it really did: a violation
//! found in the recording is a violation of the object. (`clock/mod.rs` has the argument for each
//! clock.) The reverse does not hold: the longer intervals may hide a violation, and the work of
//! recording keeps threads apart, or in step.
//!
//! So threads do little: each writes to its own log, without a lock (`log.rs`), and by default they
//! share no counter. A history can be taken at any time, even while threads continue, or hang in a
//! call forever. It has all events up to some instant, except events that a thread had a stamp for
//! and had not stored yet. Their omission is harmless: an operation whose invocation is missing had
//! not begun at that instant, and one whose response is missing counts as pending.

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

/// Error in the use of a recorder, or in the recorded events.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RecordError {
    /// Two handles for one process at a time.
    #[error(
        "process {process} is already in use; \
         give each thread its own process, and drop a handle before taking it again"
    )]
    InUse {
        /// The process with two handles.
        process: Process,
    },
    /// The events are not a history; for example, a scan returned too few values, or a segment has
    /// two writers.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Result of a call that can fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply<T> {
    /// The call returned this result.
    Done(T),
    /// The call certainly had no effect, and will have none.
    Failed,
    /// The result is unknown (a time-out, a lost connection): an update may take effect at any
    /// later time.
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
    /// Starts an empty recording with the [best](Clock::best) clock.
    pub fn new(declaration: Declaration<V>) -> Self {
        Self::with_clock(declaration, Clock::best())
    }

    /// Starts an empty recording with this clock.
    ///
    /// # Panics
    /// If this system lacks the clock: see [`Clock::has_counter`].
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
    /// operations recorded by a closure. The seed and a process determine its pauses. The default
    /// is no noise. ([`crate::stress()`] also keeps processors busy.)
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

    /// Calls this right before each operation is recorded. For schedulers that switch threads only
    /// inside the calls which they know: an object that makes no such calls is then called in every
    /// order, too (`examples/loom.rs`).
    #[must_use]
    pub fn before_each(mut self, call: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_each = BeforeEach(Some(Arc::new(call)));
        self
    }

    /// Starts a recording that judges each event as it happens, and stops at the first violation:
    /// see [`Self::is_stopped`]. Threads take turns at it, so it finds less than judging the
    /// history afterwards; it is for long runs that should stop at an error.
    ///
    /// Updates of one segment that overlap, and values that repeat, may leave the online monitor
    /// without an answer: then the history has to be checked at the end.
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

    /// Returns true if a [watched](Self::watched) recording is over, because it has a violation or
    /// is not a history.
    pub fn is_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_stopped())
    }

    /// Returns the clock that orders the events.
    pub fn clock(&self) -> Clock {
        self.source.clock()
    }

    /// Returns the handle through which a thread acts as this process.
    ///
    /// # Errors
    /// If the process already has a handle.
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

    /// Returns the history so far. O(events); recorded threads continue meanwhile.
    ///
    /// # Errors
    /// If the events are not a history of the declared kind.
    pub fn history(&self) -> Result<History<V>, RecordError> {
        if let Some(watch) = &self.watch {
            return watch.history();
        }
        self.with_logs(|logs, cut| self.merged(logs, cut))
    }

    /// Returns the history so far and removes it: later events form a separate recording, whose
    /// initial values are the present values of the segments. The whole is linearizable if and only
    /// if both parts are: all operations of the first precede all of the second, so any order has
    /// the first before the second, and the updates of a segment, which precede each other, leave
    /// the last one's value.
    ///
    /// Use it between the rounds of a long test: its memory is then that of one round. If several
    /// processes may update a segment, overlapping updates leave open which one was last. Then the
    /// recording must end with a full scan that began when all other operations had responded: in
    /// any order it is the last, except for failed operations, so the segments have its values.
    ///
    /// Returns `None`, and keeps all events, if an operation is open, or had an unknown outcome; if
    /// there are several writers, and no such scan; or if the recording is watched.
    ///
    /// # Errors
    /// If the events are not a history of the declared kind.
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

    /// Drains all logs, and passes them on with an instant up to which they are complete (module
    /// docs). The instant is taken before the logs are drained: an event stored later, with an
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

/// Returns the values of the segments after all operations, if updates of a segment do not overlap.
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

/// Returns the values of the segments after all operations, if the last of these is a full scan
/// that all others precede.
fn left_by_scan<V: Clone>(history: &History<V>) -> Option<Vec<V>> {
    let (last, others) = history.operations().split_last()?;
    let is_last = others.iter().all(|other| other.precedes(last) || other.is_failed());
    let is_full = last.is_scan() && last.is_complete() && !last.is_partial();
    (is_full && is_last).then(|| history.scan_values(last).to_vec())
}

/// Locks a mutex whose contents are consistent whenever it is free: an entry is made in one step.
/// So a panic elsewhere in the thread is no reason to discard them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
