//! The same test under a controlled scheduler: a race that stress hits by chance is found
//! again, made small, and replayed. Feature `shuttle`.
//!
//! Under the crate [`shuttle`](https://docs.rs/shuttle) threads run one at a time, and are
//! switched where they synchronise; which one goes on is chosen here. So an execution is
//! determined by a [`Trial`]: what each thread does, and where it is switched. That is a
//! text of a few lines, which a failing test prints, and which [`Explore::run`] makes again.
//!
//! The object must synchronise by shuttle's types, which have the names of those of `std`,
//! usually under a feature of its own:
//!
//! ```
//! // #[cfg(feature = "shuttle")]
//! use shuttle::sync::Mutex;
//! // #[cfg(not(feature = "shuttle"))]
//! // use std::sync::Mutex;
//!
//! let explored = snapshot_kit::controlled::explore(3).schedules(200).run(
//!     || Mutex::new([0; 3]),
//!     |object, process, value| object.lock().unwrap()[process] = value,
//!     |object, _process| *object.lock().unwrap(),
//! );
//! assert_eq!(explored.schedules, 200);
//! ```
//!
//! What is no snapshot is found out, and its execution made small:
//!
//! ```
//! use shuttle::sync::atomic::{AtomicU64, Ordering::SeqCst};
//! use snapshot_kit::controlled::explore;
//!
//! let cells = || -> [AtomicU64; 3] { std::array::from_fn(|_| AtomicU64::new(0)) };
//! let update = |cells: &[AtomicU64; 3], process: usize, value| cells[process].store(value, SeqCst);
//! let collect = |cells: &[AtomicU64; 3], _| cells.each_ref().map(|cell| cell.load(SeqCst));
//! let found = explore(3).seed(1).try_run(cells, update, collect).unwrap_err();
//! let trial = found.trial.to_string();
//! assert!(trial.starts_with("snapshot-schedule 1\nsegments 3\n"));
//! // Two updates and a scan that is interrupted once.
//! assert_eq!(found.trial.operations(), 3);
//! let again = explore(3).replay(trial.parse()?).try_run(cells, update, collect);
//! assert!(again.unwrap_err().failure.is_violation());
//! # Ok::<(), snapshot_kit::controlled::TrialError>(())
//! ```
//!
//! Shuttle's atomics are sequentially consistent: bugs of weaker orderings are for the crate
//! `loom`, with the recorder as it is (`examples/loom.rs`).

mod scheduler;
mod shrink;
mod trial;

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, Once, PoisonError};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use snapshot_core::History;
use snapshot_core::check::check;
use snapshot_core::history::Declaration;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;

use self::scheduler::Directed;
pub use self::trial::{Operation, Switch, Trial, TrialError};
use crate::clock::Clock;
use crate::judge::{Failure, judge, save_beside, test_name};
use crate::record::{RecordError, Recorder};

/// The variable of the environment that names a file with a [`Trial`] to make again.
const SCHEDULE: &str = "SNAPSHOT_SCHEDULE";

/// Bytes for each search of orders; the histories are small.
const MEMORY: usize = 1 << 28;

/// How schedules are explored. See [`explore`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Explore {
    threads: usize,
    segments: usize,
    operations: usize,
    schedules: usize,
    steps: usize,
    seed: u64,
    replay: Option<Trial>,
}

/// Explores random schedules of an object that `threads` threads use, each of which updates
/// a segment of its own and scans. See the [module](self).
///
/// # Panics
/// If there is no thread.
pub fn explore(threads: usize) -> Explore {
    assert!(threads > 0, "an object is used by at least one thread");
    Explore {
        threads,
        segments: threads,
        operations: 4,
        schedules: 10_000,
        steps: 100_000,
        seed: 0,
        replay: None,
    }
}

/// What was done without finding anything.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Explored {
    /// Executions.
    pub schedules: usize,
    /// Those that were not brought to an end: too many steps, as of a thread that waits for
    /// ever.
    pub abandoned: usize,
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no violation in {} schedules", self.schedules)?;
        match self.abandoned {
            0 => Ok(()),
            some => write!(f, "; {some} of them did not end"),
        }
    }
}

/// A violation, with an execution that has it, made small.
#[derive(Debug)]
pub struct Found {
    /// What is wrong, as a test shows it.
    pub failure: Failure,
    /// The execution.
    pub trial: Trial,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for Found {}

/// How one execution ended.
enum End {
    /// It was brought to an end.
    Whole(History<u64>),
    Abandoned,
    /// What it recorded is no history.
    Broken(RecordError),
}

/// What an execution recorded, if it was brought to an end.
type Ended = Arc<Mutex<Option<Result<History<u64>, RecordError>>>>;

/// An object and its operations.
struct Subject<M, U, S> {
    make: M,
    update: U,
    scan: S,
}

impl Explore {
    /// The number of segments; by default one per thread. Threads beyond them only scan.
    ///
    /// # Panics
    /// If there are more than threads, or none.
    pub fn segments(mut self, segments: usize) -> Self {
        assert!((1..=self.threads).contains(&segments), "between one and a segment per thread");
        self.segments = segments;
        self
    }

    /// Operations of each thread (default: 4).
    pub const fn operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// The number of executions (default: 10,000).
    pub const fn schedules(mut self, schedules: usize) -> Self {
        self.schedules = schedules;
        self
    }

    /// Steps after which an execution is given up (default: 100,000).
    pub const fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// The seed of all choices (default: 0).
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes this execution again, and no other. So does the variable of the environment
    /// `SNAPSHOT_SCHEDULE`, which names a file.
    pub fn replay(mut self, trial: Trial) -> Self {
        self.replay = Some(trial);
        self
    }

    /// Runs: `make()` makes an object, whose segments hold 0; `update(object, process, value)`
    /// and `scan(object, process)` as for [`crate::stress()`].
    ///
    /// # Panics
    /// If an execution is not linearizable, with the report and the execution made small; if
    /// an operation panics; if the file of `SNAPSHOT_SCHEDULE` cannot be read.
    #[track_caller]
    pub fn run<O, V: AsRef<[u64]>>(
        self,
        make: impl Fn() -> O + Send + Sync + 'static,
        update: impl Fn(&O, usize, u64) + Send + Sync + 'static,
        scan: impl Fn(&O, usize) -> V + Send + Sync + 'static,
    ) -> Explored
    where
        O: Send + Sync + 'static,
    {
        let mut explore = self;
        if let Ok(path) = std::env::var(SCHEDULE) {
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{SCHEDULE}: cannot read {path}: {error}"));
            let trial = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            explore = explore.replay(trial);
        }
        match explore.try_run(make, update, scan) {
            Ok(explored) => explored,
            Err(found) => panic!("{found}"),
        }
    }

    /// As [`Self::run`], without a panic, and without the environment.
    ///
    /// # Errors
    /// The violation that was found.
    pub fn try_run<O, V: AsRef<[u64]>>(
        self,
        make: impl Fn() -> O + Send + Sync + 'static,
        update: impl Fn(&O, usize, u64) + Send + Sync + 'static,
        scan: impl Fn(&O, usize) -> V + Send + Sync + 'static,
    ) -> Result<Explored, Box<Found>>
    where
        O: Send + Sync + 'static,
    {
        keep_hook();
        let subject = Arc::new(Subject { make, update, scan });
        let execute = |directed: &Directed, trial: &Trial| self.execute(&subject, directed, trial);
        if let Some(trial) = &self.replay {
            let (end, _) = execute(&Directed::along(trial, self.steps), trial);
            return match self.violation(&end) {
                false => Ok(Explored { schedules: 1, abandoned: usize::from(end.is_abandoned()) }),
                true => Err(self.found(trial.clone(), end)),
            };
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut explored = Explored::default();
        while explored.schedules < self.schedules {
            let trial = Trial::random(self.threads, self.segments, self.operations, &mut random);
            let (end, switches) = execute(&Directed::random(&mut random, self.steps), &trial);
            explored.schedules += 1;
            explored.abandoned += usize::from(end.is_abandoned());
            if self.violation(&end) {
                let first = Trial { switches, ..trial };
                let small =
                    shrink::shrink(first, &mut random, self.steps, &mut |directed, trial| {
                        let (end, switches) = execute(directed, trial);
                        self.violation(&end).then_some(switches)
                    });
                let (end, _) = execute(&Directed::along(&small, self.steps), &small);
                return Err(self.found(small, end));
            }
        }
        Ok(explored)
    }

    /// Makes one execution; how it ended, and where threads were switched.
    fn execute<O, V: AsRef<[u64]>, M, U, S>(
        &self,
        subject: &Arc<Subject<M, U, S>>,
        directed: &Directed,
        trial: &Trial,
    ) -> (End, Vec<Switch>)
    where
        O: Send + Sync + 'static,
        M: Fn() -> O + Send + Sync + 'static,
        U: Fn(&O, usize, u64) + Send + Sync + 'static,
        S: Fn(&O, usize) -> V + Send + Sync + 'static,
    {
        let declaration =
            Declaration::new(0).with_segments(trial.segments).with_processes(trial.threads.len());
        let ended: Ended = Arc::default();
        let (subject, threads) = (Arc::clone(subject), trial.threads.clone());
        let end = Arc::clone(&ended);
        Runner::new(directed.clone(), config()).run(move || {
            // An order by definition; no other thread can wait for its locks.
            let recorder = Recorder::with_clock(declaration.clone(), Clock::Ticket);
            let object = Arc::new((subject.make)());
            let workers: Vec<_> = threads
                .iter()
                .enumerate()
                .map(|(thread, operations)| {
                    let (subject, object) = (Arc::clone(&subject), Arc::clone(&object));
                    let (operations, handle) = (operations.clone(), recorder.process(thread));
                    shuttle::thread::spawn(move || {
                        let Ok(mut handle) = handle else { return };
                        let mut value = 0;
                        for operation in operations {
                            match operation {
                                Operation::Update => {
                                    value += 1;
                                    let call = || (subject.update)(&object, thread, value);
                                    handle.update(thread, value, call);
                                }
                                Operation::Scan => {
                                    handle.scan(|| (subject.scan)(&object, thread));
                                }
                            }
                        }
                    })
                })
                .collect();
            for worker in workers {
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorder.history());
        });
        let end = match ended.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => End::Abandoned,
            Some(Ok(history)) => End::Whole(history),
            Some(Err(error)) => End::Broken(error),
        };
        (end, directed.switches())
    }

    /// Whether an execution is wrong.
    fn violation(&self, end: &End) -> bool {
        match end {
            End::Abandoned => false,
            End::Broken(_) => true,
            End::Whole(history) => {
                let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
                matches!(check(history, &mut budget).verdict, Verdict::Violation(_))
            }
        }
    }

    fn found(&self, trial: Trial, end: End) -> Box<Found> {
        let text = trial.to_string();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let name = format!("{}-{:x}", test_name(), hasher.finish());
        let mut notes = vec![format!(
            "schedule of {} operations and {} switches; to make it again:",
            trial.operations(),
            trial.switches.len()
        )];
        notes.extend(text.lines().map(|line| format!("  {line}")));
        if let Ok(path) = save_beside(&name, "schedule", &text) {
            notes.push(format!("again: {SCHEDULE}={}", path.display()));
        }
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        let failure = match end {
            End::Whole(history) => match judge(&history, &name, &notes) {
                Err(failure) => failure,
                Ok(_) => Failure::other(
                    "the same schedule led to another execution: the object \
                                         takes decisions that shuttle does not control",
                ),
            },
            End::Broken(error) => Failure::from(error),
            End::Abandoned => Failure::other("the same schedule did not end"),
        };
        Box::new(Found { failure, trial })
    }
}

impl End {
    const fn is_abandoned(&self) -> bool {
        matches!(self, Self::Abandoned)
    }
}

/// Shuttle installs a hook for panics, once, which speaks of schedules of its own: let it, and
/// put back the one that there was.
fn keep_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        let none = Trial { segments: 1, threads: Vec::new(), switches: Vec::new() };
        Runner::new(Directed::along(&none, 1), config()).run(|| {});
        drop(std::panic::take_hook());
        std::panic::set_hook(hook);
    });
}

fn config() -> Config {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}
