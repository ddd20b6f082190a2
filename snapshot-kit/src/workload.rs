//! Workload of a test: threads, segments, writers, operations, values.
//! [`stress()`](crate::stress()) and `controlled` share it, and record it by one
//! [`Recorder`](crate::Recorder).
//!
//! Values are recorded as [`Value`]s, so that an object may hold any [`Recorded`] type. The k-th
//! update of a thread writes number k if each segment has one writer; with several writers the
//! numbers of different threads differ, too. So no segment gets a value twice, and the update that
//! a scan has read is always unique.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use snapshot_core::history::{Declaration, Writers};

use crate::record::Handle;
use crate::value::{Recorded, Value};

/// One operation of a thread.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Operation {
    /// Writes this segment.
    Update {
        /// Segment to write.
        segment: usize,
    },
    /// Reads all segments.
    Scan,
    /// Reads these segments, ascending; at least one.
    PartialScan {
        /// Segments to read.
        segments: Vec<usize>,
    },
}

/// An object under test, with the calls of its operations. For objects with partial scans, or whose
/// updates need both the process and the segment; otherwise closures are shorter.
///
/// ```
/// use std::sync::Mutex;
///
/// use snapshot_core::history::Writers;
/// use snapshot_kit::{Subject, stress};
///
/// struct Table(Mutex<Vec<String>>);
///
/// impl Subject for Table {
///     type Value = String;
///
///     fn update(&self, _process: usize, segment: usize, value: String) {
///         self.0.lock().unwrap()[segment] = value;
///     }
///
///     fn scan(&self, _process: usize) -> impl AsRef<[String]> {
///         self.0.lock().unwrap().clone()
///     }
///
///     fn scan_some(&self, _process: usize, segments: &[usize]) -> Vec<String> {
///         let table = self.0.lock().unwrap();
///         segments.iter().map(|segment| table[*segment].clone()).collect()
///     }
/// }
///
/// let name = |number: u64| format!("v{number}");
/// stress(4)
///     .segments(3)
///     .writers(Writers::Many)
///     .partial_scans()
///     .values(name)
///     .rounds(20)
///     .run_subject(Table(Mutex::new(vec![name(0); 3])));
/// ```
pub trait Subject {
    /// The contents of a segment.
    type Value: Recorded;

    /// Writes a segment; no value is written twice to one segment.
    fn update(&self, process: usize, segment: usize, value: Self::Value);

    /// Returns the values of all segments.
    fn scan(&self, process: usize) -> impl AsRef<[Self::Value]>;

    /// Returns the values of these segments, in their order. Called only with the option
    /// [`partial_scans`](crate::Stress::partial_scans).
    ///
    /// # Panics
    /// Unless it is implemented.
    fn scan_some(&self, process: usize, segments: &[usize]) -> Vec<Self::Value> {
        panic!("process {process} is to read segments {segments:?}: implement `scan_some`")
    }
}

/// An object with closures for its operations.
pub(crate) struct Closures<O, V, U, S> {
    pub(crate) object: O,
    pub(crate) update: Arc<U>,
    pub(crate) scan: Arc<S>,
    pub(crate) value: PhantomData<fn(V)>,
}

impl<O, V, U, S, R> Subject for Closures<O, V, U, S>
where
    V: Recorded,
    U: Fn(&O, usize, V),
    S: Fn(&O, usize) -> R,
    R: AsRef<[V]>,
{
    type Value = V;

    fn update(&self, _process: usize, segment: usize, value: V) {
        (self.update)(&self.object, segment, value);
    }

    fn scan(&self, process: usize) -> impl AsRef<[V]> {
        (self.scan)(&self.object, process)
    }
}

/// Returns the value for a number.
type Values<V> = Arc<dyn Fn(u64) -> V + Send + Sync>;

/// Options of threads and their operations.
pub(crate) struct Workload<V> {
    pub(crate) threads: usize,
    /// One per thread if `None`.
    pub(crate) segments: Option<usize>,
    pub(crate) writers: Writers,
    pub(crate) has_partial_scans: bool,
    /// Per thread.
    pub(crate) operations: usize,
    values: Values<V>,
}

impl Workload<u64> {
    /// # Panics
    /// If `threads` is 0.
    pub(crate) fn new(threads: usize, operations: usize) -> Self {
        assert!(threads > 0, "an object is used by at least one thread");
        Self {
            threads,
            segments: None,
            writers: Writers::Single,
            has_partial_scans: false,
            operations,
            values: Arc::new(|number| number),
        }
    }
}

impl<V> Workload<V> {
    /// Replaces the values.
    pub(crate) fn with_values<W>(
        self,
        values: impl Fn(u64) -> W + Send + Sync + 'static,
    ) -> Workload<W> {
        let Self { threads, segments, writers, has_partial_scans, operations, .. } = self;
        let values = Arc::new(values);
        Workload { threads, segments, writers, has_partial_scans, operations, values }
    }

    pub(crate) fn segments(&self) -> usize {
        self.segments.unwrap_or(self.threads)
    }

    /// # Panics
    /// If there are no segments, or one that no thread updates.
    pub(crate) fn validate(&self) {
        let most = if self.writers == Writers::Many { usize::MAX } else { self.threads };
        assert!(
            (1..=most).contains(&self.segments()),
            "between one and a segment per thread, or several writers"
        );
    }

    /// Draws an operation of a thread. Threads that may update do so with probability 1/2.
    pub(crate) fn draw(&self, thread: usize, random: &mut ChaCha8Rng) -> Operation {
        let segments = self.segments();
        let is_many = self.writers == Writers::Many;
        if (is_many || thread < segments) && random.random() {
            let segment = if is_many { random.random_range(0..segments) } else { thread };
            return Operation::Update { segment };
        }
        if !self.has_partial_scans || random.random() {
            return Operation::Scan;
        }
        let mut chosen: Vec<usize> = (0..segments).filter(|_| random.random()).collect();
        if chosen.is_empty() {
            chosen.push(random.random_range(0..segments));
        }
        Operation::PartialScan { segments: chosen }
    }
}

impl<V: Recorded> Workload<V> {
    /// Returns the value for a number.
    pub(crate) fn value(&self, number: u64) -> V {
        (self.values)(number)
    }

    /// Returns the declaration of a recording, in which all segments hold the value of number 0.
    pub(crate) fn declaration(
        &self,
        (threads, segments): (usize, usize),
        writers: Writers,
    ) -> Declaration<Value> {
        Declaration::new(self.value(0).recorded())
            .with_processes(threads)
            .with_segments(segments)
            .with_writers(writers)
    }
}

/// Returns the number of a thread's update after this many earlier ones.
pub(crate) const fn number(
    (thread, threads): (usize, usize),
    writers: Writers,
    before: u64,
) -> u64 {
    match writers {
        Writers::Single => before + 1,
        Writers::Many => before * threads as u64 + thread as u64 + 1,
    }
}

/// Calls the object, and records the call. `value` is called before the update begins.
pub(crate) fn perform<S: Subject>(
    subject: &S,
    handle: &mut Handle<Value>,
    process: usize,
    operation: &Operation,
    value: impl FnOnce() -> S::Value,
) {
    match operation {
        Operation::Update { segment } => {
            let value = value();
            let recorded = value.recorded();
            handle.update(*segment, recorded, || subject.update(process, *segment, value));
        }
        Operation::Scan => handle.scan_recorded(|| subject.scan(process)),
        Operation::PartialScan { segments } => {
            handle.scan_some_recorded(segments, || subject.scan_some(process, segments));
        }
    }
}

impl<V> Clone for Workload<V> {
    fn clone(&self) -> Self {
        Self { values: Arc::clone(&self.values), ..*self }
    }
}

impl<V> fmt::Debug for Workload<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, segments, writers, has_partial_scans, operations, .. } = self;
        f.debug_struct("Workload")
            .field("threads", threads)
            .field("segments", segments)
            .field("writers", writers)
            .field("has_partial_scans", has_partial_scans)
            .field("operations", operations)
            .finish_non_exhaustive()
    }
}

/// Defines the options of a workload as methods of a builder with a `workload`.
macro_rules! workload_options {
    ($builder:ident, $operations:literal) => {
        impl<V: Recorded> $builder<V> {
            /// Sets the number of segments (default: one per thread). Threads beyond them only
            /// scan, unless there are several [writers](Self::writers).
            pub const fn segments(mut self, segments: usize) -> Self {
                self.workload.segments = Some(segments);
                self
            }

            /// Sets the threads that update a segment: with [`Writers::Single`], the default,
            /// thread k updates segment k; with [`Writers::Many`] each thread updates all.
            pub const fn writers(mut self, writers: Writers) -> Self {
                self.workload.writers = writers;
                self
            }

            /// Makes every second scan a partial scan of random segments: see
            /// [`Subject::scan_some`](crate::Subject::scan_some).
            pub const fn partial_scans(mut self) -> Self {
                self.workload.has_partial_scans = true;
                self
            }

            #[doc = concat!("Operations of each thread", $operations)]
            pub const fn operations(mut self, operations: usize) -> Self {
                self.workload.operations = operations;
                self
            }

            /// Sets the written values (default: the numbers themselves, as `u64`). The value of 0
            /// is the initial value of all segments; different numbers need different values.
            pub fn values<W: Recorded>(
                self,
                values: impl Fn(u64) -> W + Send + Sync + 'static,
            ) -> $builder<W> {
                self.with_workload(|workload| workload.with_values(values))
            }
        }
    };
}

pub(crate) use workload_options;
