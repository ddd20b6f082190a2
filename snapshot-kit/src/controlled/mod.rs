//! Tests under a controlled scheduler: a race that stress hits by chance is reproduced, shrunk, and
//! replayed. Feature `shuttle`.
//!
//! Under the crate [`shuttle`](https://docs.rs/shuttle) threads run one at a time, and are switched
//! where they synchronise; this module chooses the next thread. So an execution is determined by a
//! [`Trial`]: the operations of each thread, and the switches. A trial is a text of a few lines,
//! which a failing test prints, and which [`Explore::run`] reproduces.
//!
//! The object must synchronise by shuttle's types, which have the names of those of `std`, usually
//! under a separate feature:
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
//! A violation is found, and its execution is shrunk:
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
//! An exploration that could not have found anything fails, too: if no schedule ended, if shuttle
//! saw no step inside the scans or inside the updates (so that no thread was ever stopped there, as
//! with types of `std`), or if no scan overlapped an update. An operation that blocks outside of
//! shuttle, such as at a lock of `std` held by another thread, would hang forever: after
//! [`Explore::patience`] it is named, and the process ends.
//!
//! **Versions.** The object must use the shuttle that this crate uses, 0.9, which is
//! [`controlled::shuttle`](shuttle). This scheduler does not see types of another version. They
//! panic, and a line says why; or no step is seen.
//!
//! Shuttle's atomics are sequentially consistent. For bugs of weaker orderings use the crate
//! `loom`, with the unchanged recorder (`examples/loom.rs`).

mod execution;
mod explored;
mod scheduler;
mod shrink;
mod trial;

use std::any::Any;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::{Arc, Once};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
pub use shuttle;
use shuttle::Runner;
use snapshot_core::check;
use snapshot_core::history::Writers;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;

use self::execution::{Execution, Stage, Stuck, config, execute};
pub use self::explored::Explored;
use self::explored::{Evidence, SHUTTLE};
use self::scheduler::Directed;
pub use self::trial::{Switch, Trial, TrialError};
use crate::judge::{Failure, judge, save_beside, test_name};
use crate::value::Recorded;
use crate::watchdog::{PATIENCE, Watchdog};
pub use crate::workload::Operation;
use crate::workload::{Closures, Subject, Workload, workload_options};

/// The environment variable that names a file with a [`Trial`] to reproduce.
const SCHEDULE: &str = "SNAPSHOT_SCHEDULE";

/// Memory limit in bytes of each search of orders; the histories are small.
const MEMORY: usize = 1 << 28;

/// Options of an exploration of schedules. See [`explore`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Explore<V = u64> {
    workload: Workload<V>,
    schedules: usize,
    steps: usize,
    patience: Duration,
    seed: u64,
    replay: Option<Trial>,
}

/// Explores random schedules of an object used by `threads` threads, each of which updates its own
/// segment and scans. See the [module](self).
///
/// # Panics
/// If `threads` is 0.
pub fn explore(threads: usize) -> Explore {
    Explore {
        workload: Workload::new(threads, 4),
        schedules: 10_000,
        steps: 100_000,
        patience: PATIENCE,
        seed: 0,
        replay: None,
    }
}

/// A violation with its shrunk execution; or missing evidence, with the last execution.
#[derive(Debug)]
pub struct Found {
    /// The failure, as a test shows it.
    pub failure: Failure,
    /// The execution that failed, or the last one.
    pub trial: Trial,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for Found {}

workload_options!(Explore, " (default: 4).");

impl<V: Recorded> Explore<V> {
    fn with_workload<W>(self, with: impl FnOnce(Workload<V>) -> Workload<W>) -> Explore<W> {
        let Self { workload, schedules, steps, patience, seed, replay } = self;
        Explore { workload: with(workload), schedules, steps, patience, seed, replay }
    }

    /// Sets the number of executions (default: 10,000).
    pub const fn schedules(mut self, schedules: usize) -> Self {
        self.schedules = schedules;
        self
    }

    /// Sets the number of steps after which an execution is abandoned (default: 100,000).
    pub const fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the time without a step of shuttle (default: 30 s) after which the hanging operation is
    /// reported, and the process ends with exit code 101.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the seed of all choices (default: 0).
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Reproduces only this execution. The environment variable `SNAPSHOT_SCHEDULE`, which names a
    /// file, has the same effect.
    pub fn replay(mut self, trial: Trial) -> Self {
        self.replay = Some(trial);
        self
    }
}

impl<V: Recorded + 'static> Explore<V> {
    /// Explores an object: `make()` makes it, with the value of 0 in all segments;
    /// `update(object, segment, value)` and `scan(object, process)` work as for
    /// [`crate::stress()`]. Prints a summary, which `cargo test -- --nocapture` shows.
    ///
    /// # Panics
    /// If an execution is not linearizable, with the report and the shrunk execution; if nothing
    /// could have been found (see the [module](self)); if an operation panics; if the file of
    /// `SNAPSHOT_SCHEDULE` cannot be read.
    #[track_caller]
    pub fn run<O, R: AsRef<[V]>>(
        self,
        make: impl Fn() -> O + Send + Sync + 'static,
        update: impl Fn(&O, usize, V) + Send + Sync + 'static,
        scan: impl Fn(&O, usize) -> R + Send + Sync + 'static,
    ) -> Explored
    where
        O: Send + Sync + 'static,
    {
        self.run_subject(closures(make, update, scan))
    }

    /// As [`Self::run`], without a panic, without printing, and without the environment.
    ///
    /// # Errors
    /// The violation, or why none could have been found.
    pub fn try_run<O, R: AsRef<[V]>>(
        self,
        make: impl Fn() -> O + Send + Sync + 'static,
        update: impl Fn(&O, usize, V) + Send + Sync + 'static,
        scan: impl Fn(&O, usize) -> R + Send + Sync + 'static,
    ) -> Result<Explored, Box<Found>>
    where
        O: Send + Sync + 'static,
    {
        self.try_run_subject(closures(make, update, scan))
    }

    /// As [`Self::run`], for objects that implement their calls themselves.
    ///
    /// # Panics
    /// As [`Self::run`].
    #[track_caller]
    pub fn run_subject<S>(self, make: impl Fn() -> S + Send + Sync + 'static) -> Explored
    where
        S: Subject<Value = V> + Send + Sync + 'static,
    {
        let mut explore = self;
        if let Ok(path) = std::env::var(SCHEDULE) {
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{SCHEDULE}: cannot read {path}: {error}"));
            let trial = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            explore = explore.replay(trial);
        }
        match explore.try_run_subject(make) {
            Ok(explored) => {
                eprintln!("explore: {explored}");
                explored
            }
            Err(found) => panic!("{found}"),
        }
    }

    /// As [`Self::run_subject`], without a panic, without printing, and without the environment.
    ///
    /// # Errors
    /// As [`Self::try_run`].
    pub fn try_run_subject<S>(
        self,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<Explored, Box<Found>>
    where
        S: Subject<Value = V> + Send + Sync + 'static,
    {
        self.workload.validate();
        keep_hook();
        let (make, stage, watchdog, name) =
            (Arc::new(make), Stage::default(), Watchdog::default(), test_name());
        let execute = |directed: &Directed, trial: &Trial| {
            execute(&self.workload, &make, &stage, (directed, trial))
        };
        std::thread::scope(|scope| {
            let _watched = watchdog.watched();
            scope.spawn(|| {
                let stuck = || stage.stuck().map(|stuck| self.told(&name, &stuck));
                watchdog.watch(self.patience, || stage.beat(), stuck);
            });
            self.explore(&execute)
        })
    }

    fn explore(
        &self,
        execute: &dyn Fn(&Directed, &Trial) -> Execution,
    ) -> Result<Explored, Box<Found>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut evidence = Evidence::default();
        let schedules = if self.replay.is_some() { 1 } else { self.schedules };
        let mut last = Trial { segments: 1, threads: Vec::new(), switches: Vec::new() };
        while evidence.explored.schedules < schedules {
            let (trial, directed) = match &self.replay {
                Some(trial) => (trial.clone(), Directed::along(trial, self.steps)),
                None => {
                    let trial = Trial::random(&self.workload, &mut random);
                    (trial, Directed::random(&mut random, self.steps))
                }
            };
            let mut execution = execute(&directed, &trial);
            last = match &self.replay {
                Some(trial) => trial.clone(),
                None => Trial { switches: execution.switches.clone(), ..trial },
            };
            if let Some(panic) = execution.panic.take() {
                // Its own message has been printed.
                eprintln!("explore: an operation panicked{}", hint(&*panic));
                schedule_notes(&test_name(), &last).iter().for_each(|note| eprintln!("  {note}"));
                std::panic::resume_unwind(panic);
            }
            evidence.add(&execution);
            if is_wrong(&execution) {
                let small = match &self.replay {
                    Some(trial) => trial.clone(),
                    None => {
                        shrink::shrink(last, &mut random, self.steps, &mut |directed, trial| {
                            let execution = execute(directed, trial);
                            is_wrong(&execution).then_some(execution.switches)
                        })
                    }
                };
                let execution = execute(&Directed::along(&small, self.steps), &small);
                return Err(self.found(small, execution));
            }
        }
        match evidence.lack(self.steps, self.replay.is_some()) {
            Some(why) => {
                let failure = schedule_notes(&test_name(), &last)
                    .iter()
                    .fold(Failure::no_evidence(why), |failure, note| failure.with_note(note));
                Err(Box::new(Found { failure, trial: last }))
            }
            None => Ok(evidence.explored),
        }
    }

    fn found(&self, trial: Trial, execution: Execution) -> Box<Found> {
        let name = named(&test_name(), &trial);
        let notes = schedule_notes(&test_name(), &trial);
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        let failure = match execution.history {
            Err(error) => Failure::from(error),
            Ok(history) => match judge(&history, &name, &notes) {
                Err(failure) => failure,
                Ok(_) => Failure::other(
                    "the same schedule led to another execution: the object takes decisions that \
                     shuttle does not control",
                ),
            },
        };
        Box::new(Found { failure, trial })
    }

    /// Returns the report of an execution that makes no progress.
    fn told(&self, name: &str, stuck: &Stuck) -> String {
        let Stuck { process, unfinished, trial } = stuck;
        let thread = match process {
            Some(process) => format!("process {process} runs, and"),
            None => "the thread that makes the object runs, and".to_owned(),
        };
        let seconds = self.patience.as_secs_f32();
        let notes = schedule_notes(name, trial).join("\n  ");
        format!(
            "explore: {thread} shuttle has seen no step of it for {seconds} s: it is blocked where \
             shuttle cannot switch threads, as at a lock of `std` that another thread holds, or in \
             a loop over types of `std`. Operations that have not returned:\n  {unfinished}\n  \
             {notes}\nThe process ends: a thread that is blocked cannot be stopped. \
             `.patience(...)` sets the limit."
        )
    }
}

/// Returns a function that makes subjects of an object and closures.
fn closures<O, V, U, S, R>(
    make: impl Fn() -> O + Send + Sync + 'static,
    update: U,
    scan: S,
) -> impl Fn() -> Closures<O, V, U, S> + Send + Sync + 'static
where
    U: Fn(&O, usize, V) + Send + Sync + 'static,
    S: Fn(&O, usize) -> R + Send + Sync + 'static,
{
    let (update, scan) = (Arc::new(update), Arc::new(scan));
    move || Closures {
        object: make(),
        update: Arc::clone(&update),
        scan: Arc::clone(&scan),
        value: PhantomData,
    }
}

/// Returns true if an execution, possibly abandoned, is not linearizable, is not a history, or
/// cannot be decided; but false after a panic.
fn is_wrong(execution: &Execution) -> bool {
    if execution.panic.is_some() {
        return false;
    }
    let Ok(history) = &execution.history else { return true };
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    let is_linearizable = check::decide(history, &mut budget).unwrap_or_else(|| {
        matches!(check::check(history, &mut budget).verdict, Verdict::Linearizable(_))
    });
    !is_linearizable
}

/// Returns a name for the files of an execution.
fn named(test: &str, trial: &Trial) -> String {
    let mut hasher = DefaultHasher::new();
    trial.to_string().hash(&mut hasher);
    format!("{test}-{:x}", hasher.finish())
}

/// Writes the text of an execution beside recordings; returns how to reproduce it.
fn schedule_notes(test: &str, trial: &Trial) -> Vec<String> {
    let text = trial.to_string();
    let mut notes = vec![format!(
        "schedule of {} operations and {} switches; to make it again:",
        trial.operations(),
        trial.switches.len()
    )];
    notes.extend(text.lines().map(|line| format!("  {line}")));
    if let Ok(path) = save_beside(&named(test, trial), "schedule", &text) {
        notes.push(format!("again: {SCHEDULE}={}", path.display()));
    }
    notes
}

/// Explains a panic due to types of shuttle outside of this scheduler; empty for other panics.
fn hint(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let outside = ["outside of a Shuttle test", "scoped thread local"];
    match message.is_some_and(|message| outside.iter().any(|words| message.contains(words))) {
        true => format!(
            ": it used a type of shuttle outside of this scheduler, in a thread of `std`, or of \
             another version of shuttle than {SHUTTLE} (`snapshot_kit::controlled::shuttle`)"
        ),
        false => String::new(),
    }
}

/// Shuttle installs a hook for panics, once, which mentions its own schedules. This lets it do so,
/// and then restores the previous hook.
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
