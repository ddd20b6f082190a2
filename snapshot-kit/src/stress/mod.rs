//! Stress: threads use an object in rounds; each round is recorded and judged.
//!
//! Between rounds all threads wait. So the recording of a round is complete, and begins with the
//! values that the previous round left ([`Recorder::take`]): memory is bounded by one round,
//! however long the test is, and the report of a failure is short. The operations of a thread in a
//! round are drawn before the round begins, from the seed, the round and the thread; between two
//! operations there are only the recorder's few instructions.
//!
//! The same seed gives the same operations in each thread. The operating system decides when
//! threads are stopped, and so whether operations overlap. To reproduce a schedule, use a
//! controlled scheduler, as the crate `lineup` does.

mod plan;
mod round;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snapshot_core::history::Writers;

use self::round::Team;
use crate::clock::Clock;
use crate::judge::{Failure, judge, test_name};
use crate::noise::Noise;
use crate::overlap::Overlap;
use crate::record::Recorder;
use crate::value::Recorded;
use crate::watchdog::PATIENCE;
use crate::workload::{Closures, Subject, Workload, workload_options};

/// Options of a stress test. See [`stress`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Stress<V = u64> {
    workload: Workload<V>,
    rounds: usize,
    patience: Duration,
    seed: Option<u64>,
    time: Duration,
    noise: Noise,
    clock: Clock,
}

/// The environment variable with the seed.
const SEED: &str = "SNAPSHOT_SEED";

/// Stresses an object with `threads` threads, each of which updates its own segment and scans.
///
/// ```
/// use std::sync::Mutex;
///
/// let object = Mutex::new(vec![0; 3]);
/// let done = snapshot_kit::stress(3).rounds(20).run(
///     object,
///     |object, process, value| object.lock().unwrap()[process] = value,
///     |object, _process| object.lock().unwrap().clone(),
/// );
/// assert_eq!(done.rounds, 20);
/// ```
///
/// A violation is found:
///
/// ```should_panic
/// use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
///
/// let cells: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
/// snapshot_kit::stress(8).segments(4).rounds(5_000).run(
///     cells,
///     |cells, process, value| cells[process].store(value, SeqCst),
///     |cells, _process| {
///         let read = |cell: &AtomicU64| {
///             snapshot_kit::noise::point();
///             cell.load(SeqCst)
///         };
///         cells.iter().map(read).collect::<Vec<_>>()
///     },
/// );
/// ```
///
/// # Panics
/// If `threads` is 0.
pub fn stress(threads: usize) -> Stress {
    Stress {
        workload: Workload::new(threads, 500),
        rounds: 100,
        patience: PATIENCE,
        seed: None,
        time: Duration::MAX,
        noise: Noise::default(),
        clock: Clock::best(),
    }
}

workload_options!(Stress, " in a round (default: 500).");

impl<V: Recorded> Stress<V> {
    fn with_workload<W>(self, with: impl FnOnce(Workload<V>) -> Workload<W>) -> Stress<W> {
        let Self { workload, rounds, patience, seed, time, noise, clock } = self;
        Stress { workload: with(workload), rounds, patience, seed, time, noise, clock }
    }

    /// Sets the number of rounds (default: 100).
    pub const fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the time (default: 30 s) without any invocation or response after which the operations
    /// that have not returned are reported, and the process ends with exit code 101.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the seed of all choices; the default is the variable `SNAPSHOT_SEED`, else a random
    /// seed. A failure names it.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the time after which no round begins (default: no limit). With it, [`Self::rounds`]
    /// usually needs a larger number.
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets the amount of disturbance of threads (default: [`Noise::Some`]).
    pub const fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// Sets the clock that orders the recording (default: [`Clock::best`]).
    pub const fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Stresses an object: `update(object, segment, value)` writes a segment, and never writes a
    /// value twice to one segment; `scan(object, process)` returns all segments. Initially all of
    /// them hold the value of 0. Unless there are several [writers](Self::writers), the segment is
    /// the number of the process. Prints a summary, which `cargo test -- --nocapture` shows.
    ///
    /// # Panics
    /// If a round is not linearizable, with the full report; if no scan overlapped an update,
    /// because then the test could not have found anything; or if an operation panics.
    #[track_caller]
    pub fn run<O: Sync, S: AsRef<[V]>>(
        self,
        object: O,
        update: impl Fn(&O, usize, V) + Send + Sync,
        scan: impl Fn(&O, usize) -> S + Send + Sync,
    ) -> Summary {
        shown(self.try_run(object, update, scan))
    }

    /// As [`Self::run`], without a panic, and without printing.
    ///
    /// # Errors
    /// If a round is not linearizable, or no scan overlapped an update.
    pub fn try_run<O: Sync, S: AsRef<[V]>>(
        self,
        object: O,
        update: impl Fn(&O, usize, V) + Send + Sync,
        scan: impl Fn(&O, usize) -> S + Send + Sync,
    ) -> Result<Summary, Failure> {
        let (update, scan) = (Arc::new(update), Arc::new(scan));
        self.try_run_subject(Closures { object, update, scan, value: PhantomData })
    }

    /// As [`Self::run`], for an object that implements its calls itself.
    ///
    /// # Panics
    /// As [`Self::run`].
    #[track_caller]
    pub fn run_subject(self, subject: impl Subject<Value = V> + Sync) -> Summary {
        shown(self.try_run_subject(subject))
    }

    /// As [`Self::run_subject`], without a panic, and without printing.
    ///
    /// # Errors
    /// As [`Self::try_run`].
    pub fn try_run_subject(
        self,
        subject: impl Subject<Value = V> + Sync,
    ) -> Result<Summary, Failure> {
        let workload = &self.workload;
        workload.validate();
        let seed = self.seed.unwrap_or_else(seed);
        let size = (workload.threads, workload.segments());
        let declaration = workload.declaration(size, workload.writers);
        let recorder = Recorder::with_clock(declaration, self.clock).with_noise(self.noise, seed);
        let mut summary = Summary { seed, rounds: 0, overlap: Overlap::default() };
        let name = test_name();
        let began = Instant::now();
        let team = Team { stress: &self, seed, recorder: &recorder, subject: &subject };
        let goes_on = |round| round < self.rounds && began.elapsed() < self.time;
        team.work(goes_on, |round| {
            let history = match recorder.take()? {
                Some(history) => history,
                None => recorder.history()?,
            };
            let notes = [
                format!("seed {seed}: {SEED}={seed} does the same operations again"),
                format!("round {round} of {} threads", workload.threads),
            ];
            let overlap = judge(
                &history,
                &format!("{name}-{seed:x}"),
                &notes.each_ref().map(String::as_str),
            )?;
            summary.rounds = round + 1;
            summary.overlap += overlap;
            Ok(())
        })?;
        match summary.overlap.note() {
            Some(note) => {
                let Summary { rounds, overlap: Overlap { operations, .. }, .. } = summary;
                Err(Failure::no_evidence(format_args!(
                    "{note} ({rounds} rounds, {operations} operations, seed {seed})"
                )))
            }
            None => Ok(summary),
        }
    }
}

/// Prints the summary, or panics.
#[track_caller]
fn shown(outcome: Result<Summary, Failure>) -> Summary {
    match outcome {
        Ok(summary) => {
            eprintln!("stress: {summary}");
            summary
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// Returns the seed of the environment, else a random one.
///
/// # Panics
/// If the environment has an invalid seed: a run with another seed would not be the requested one.
fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(seed) => seed
            .trim()
            .parse()
            .unwrap_or_else(|_| panic!("{SEED}={seed}: expected a number below 2^64")),
        Err(_) => RandomState::new().hash_one(Instant::now()),
    }
}

/// Result of a stress test without a violation.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Seed of all choices.
    pub seed: u64,
    /// Number of rounds.
    pub rounds: usize,
    /// Number of operations, and of overlapping ones.
    pub overlap: Overlap,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, rounds, overlap: Overlap { operations, overlapping, scans } } = self;
        write!(
            f,
            "no violation in {rounds} rounds, {operations} operations, {overlapping} of which \
             began while another one was open; {scans} scans overlapped an update (seed {seed})"
        )
    }
}
