//! Stress: threads use an object in rounds; each round is recorded and judged.
//!
//! Between rounds all threads wait, and so a round's recording is a whole one, that
//! begins with the values which the round before left ([`Recorder::take`]): memory is
//! that of a round, however long the test, and what is shown of a failure is short.
//! What a thread does in a round is drawn before the round begins, from the seed, the
//! round and the thread; nothing but the operation and the recorder's few instructions
//! stands between two operations.
//!
//! The same seed does the same operations in each thread; when threads are stopped, and
//! so whether they meet, is up to the operating system. To find a schedule again, use a
//! controlled scheduler, as the crate `lineup` does.

mod plan;
mod round;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use snapshot_core::history::Declaration;

use self::round::Team;
use crate::clock::Clock;
use crate::judge::{Failure, Overlap, judge, test_name};
use crate::record::Recorder;

/// How much threads are disturbed, besides at [`crate::noise::point`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Noise {
    /// Not at all; points inside operations do nothing, either.
    Off,
    /// One operation in eight is followed by a yield or a short spin.
    #[default]
    Some,
    /// Every second operation is.
    Much,
}

/// How an object is to be stressed. See [`stress`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Stress {
    threads: usize,
    segments: usize,
    rounds: usize,
    operations: usize,
    seed: Option<u64>,
    time: Duration,
    noise: Noise,
    clock: Clock,
}

/// The variable of the environment that a seed is taken from.
const SEED: &str = "SNAPSHOT_SEED";

/// Stresses an object with `threads` threads, each of which updates a segment of its own
/// and scans.
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
/// An object that is no snapshot is found out:
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
/// If there is no thread.
pub fn stress(threads: usize) -> Stress {
    assert!(threads > 0, "an object is stressed by at least one thread");
    Stress {
        threads,
        segments: threads,
        rounds: 100,
        operations: 500,
        seed: None,
        time: Duration::MAX,
        noise: Noise::default(),
        clock: Clock::best(),
    }
}

impl Stress {
    /// The number of segments, at least 1; by default one per thread. Threads beyond them
    /// only scan.
    ///
    /// # Panics
    /// If there are more than threads, or none.
    pub fn segments(mut self, segments: usize) -> Self {
        assert!((1..=self.threads).contains(&segments), "between one and a segment per thread");
        self.segments = segments;
        self
    }

    /// The number of rounds (default: 100).
    pub const fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Operations of each thread in a round (default: 500).
    pub const fn operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// The seed of all choices; by default that of the variable `SNAPSHOT_SEED`, else a
    /// random one. A failure names it.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// No round begins after this time (default: no limit). With it, [`Self::rounds`] is
    /// usually to be raised.
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// How much threads are disturbed.
    pub const fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// What the recording is ordered by (default: [`Clock::best`]).
    pub const fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Runs: `update(object, process, value)` writes the segment of `process`, in which
    /// no value is written twice; `scan(object, process)` returns all segments. At first
    /// all of them hold 0. Prints a note if the recording cannot find anything.
    ///
    /// # Panics
    /// If a round is not linearizable, with all that is known of it; or if an operation
    /// panics.
    #[track_caller]
    pub fn run<O: Sync, S: AsRef<[u64]>>(
        self,
        object: O,
        update: impl Fn(&O, usize, u64) + Sync,
        scan: impl Fn(&O, usize) -> S + Sync,
    ) -> Summary {
        match self.try_run(object, update, scan) {
            Ok(summary) => {
                if let Some(note) = summary.overlap.note() {
                    eprintln!("note: {note}");
                }
                summary
            }
            Err(failure) => panic!("{failure}"),
        }
    }

    /// As [`Self::run`], without a panic.
    ///
    /// # Errors
    /// If a round is not linearizable, or an operation panics.
    pub fn try_run<O: Sync, S: AsRef<[u64]>>(
        self,
        object: O,
        update: impl Fn(&O, usize, u64) + Sync,
        scan: impl Fn(&O, usize) -> S + Sync,
    ) -> Result<Summary, Failure> {
        let seed = self.seed.unwrap_or_else(seed);
        let declaration =
            Declaration::new(0).with_segments(self.segments).with_processes(self.threads);
        let recorder = Recorder::with_clock(declaration, self.clock);
        let mut summary = Summary { seed, rounds: 0, overlap: Overlap::default() };
        let name = test_name();
        let began = Instant::now();
        let team = Team { stress: &self, seed, recorder: &recorder };
        let goes_on = |round| round < self.rounds && began.elapsed() < self.time;
        team.work(&object, &update, &scan, goes_on, |round| {
            let history = match recorder.take()? {
                Some(history) => history,
                None => recorder.history()?,
            };
            let notes = [
                format!("seed {seed}: {SEED}={seed} does the same operations again"),
                format!("round {round} of {} threads", self.threads),
            ];
            let overlap = judge(
                &history,
                &format!("{name}-{seed:x}"),
                &notes.each_ref().map(String::as_str),
            )?;
            summary.rounds = round + 1;
            summary.overlap.operations += overlap.operations;
            summary.overlap.overlapping += overlap.overlapping;
            Ok(())
        })?;
        Ok(summary)
    }
}

/// From the environment, else any.
fn seed() -> u64 {
    let given = std::env::var(SEED).ok().and_then(|seed| seed.trim().parse().ok());
    given.unwrap_or_else(|| RandomState::new().hash_one(Instant::now()))
}

/// What was done without finding anything.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The seed.
    pub seed: u64,
    /// Number of rounds.
    pub rounds: usize,
    /// How many operations there were, and how many met.
    pub overlap: Overlap,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, rounds, overlap: Overlap { operations, overlapping } } = self;
        write!(
            f,
            "no violation in {rounds} rounds, {operations} operations, {overlapping} of which \
             began while another one was open (seed {seed})"
        )?;
        self.overlap.note().map_or(Ok(()), |note| write!(f, "; note: {note}"))
    }
}
