//! Objects whose operations take effect together - channels without a buffer, exchangers,
//! barriers - under random schedules, against a specification.
//!
//! Line-Up compares with single-threaded executions, and one thread alone only waits on such an
//! object. So these objects are checked against a [`Synchronisation`]: an execution must be
//! set-linearizable, and if all remaining threads wait, no waiting operations may be able to take
//! effect. The scheduler knows which threads wait (Lawrence and Lowe, "Synchronisation:
//! Specification and Testing", wait 100 ms instead). An object on real threads can be recorded in a
//! [`Log`] and [`judge`]d as well.
//!
//! ```
//! use lineup::together::{Fault, execute};
//! use shuttle::sync::{Condvar, Mutex};
//! use snapshot_core::synchronisation::objects::Barrier;
//!
//! /// A barrier of two threads, which forgets that it is used again.
//! #[derive(Default)]
//! struct Once(Mutex<usize>, Condvar);
//!
//! fn wait(barrier: &Once) {
//!     let mut arrived = barrier.0.lock().unwrap();
//!     *arrived += 1;
//!     barrier.1.notify_all();
//!     while *arrived < 2 {
//!         arrived = barrier.1.wait(arrived).unwrap();
//!     }
//! }
//!
//! let threads = [vec![(); 2], vec![(); 2]];
//! let run = |seed| {
//!     let new = Once::default;
//!     execute(&Barrier { threads: 2 }, seed, &threads, new, |barrier: &Once, _, ()| wait(barrier))
//! };
//! let wrong = (0..100).map(run).find(|execution| execution.fault.is_some());
//! assert_eq!(wrong.unwrap().fault, Some(Fault::NotSetLinearizable));
//! ```

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, Runner, thread};
use snapshot_core::generic::{History, HistoryBuilder};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{Synchronisation, Verdict, by_search};

use crate::execution::{Boxed, config, message, quietly};

/// Memory limit, in bytes, of the judgement of one execution.
const MEMORY: usize = 1 << 28;

/// Recorded calls and returns of an execution, in the order of time. Clones share it.
#[derive(Debug)]
pub struct Log<I, O>(Arc<Mutex<HistoryBuilder<I, O>>>);

impl<I, O> Clone for Log<I, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<I: Clone, O: Clone> Default for Log<I, O> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(History::builder())))
    }
}

impl<I: Clone, O: Clone> Log<I, O> {
    /// Performs an operation, and records its call before and its return after it.
    ///
    /// # Panics
    /// If the process has an operation open.
    pub fn call(&self, process: usize, input: I, operation: impl FnOnce(I) -> O) {
        self.lock(|log| log.invoke(process, input.clone())).expect("the process has none open");
        let output = operation(input);
        self.lock(|log| log.respond(process, output)).expect("the process has one open");
    }

    fn lock<T>(&self, with: impl FnOnce(&mut HistoryBuilder<I, O>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the history recorded so far.
    pub fn history(&self) -> History<I, O> {
        self.lock(|log| log.clone()).finish()
    }
}

/// Fault of an execution.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fault {
    /// The history is not set-linearizable.
    NotSetLinearizable,
    /// At the end, operations wait that could take effect.
    NoProgress,
    /// The judgement needs more than 256 MiB.
    Unknown,
}

/// An execution and its judgement.
#[derive(Clone, Debug)]
pub struct Execution<I, O> {
    /// The recorded history.
    pub history: History<I, O>,
    /// True if threads wait for ever at its end.
    pub is_stuck: bool,
    /// The fault found, if any.
    pub fault: Option<Fault>,
}

/// Executes threads, each a list of inputs, on a new object, under the random schedule of this
/// seed, and judges the history. `operate` performs an operation of a thread on the object, which
/// synchronises by shuttle's types.
///
/// Takes the time of the execution and of [`by_search`]: keep threads and operations few.
///
/// # Panics
/// If an operation panics, locks a lock that its thread holds, or does not end (a million steps).
pub fn execute<S, T>(
    specification: &S,
    seed: u64,
    threads: &[Vec<S::Input>],
    new: impl Fn() -> T + Send + Sync + 'static,
    operate: impl Fn(&T, usize, S::Input) -> S::Output + Clone + Send + Sync + 'static,
) -> Execution<S::Input, S::Output>
where
    S: Synchronisation,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let (log, stage) = (Log::default(), Arc::new(Stage::default()));
    let (inner, its_stage, threads) = (log.clone(), Arc::clone(&stage), threads.to_vec());
    stage.running.store(threads.len(), Ordering::Relaxed);
    let execution: Box<dyn Fn() + Send + Sync> = Box::new(move || {
        let object = Arc::new(new());
        for (process, inputs) in threads.iter().cloned().enumerate() {
            let (log, object, operate) = (inner.clone(), Arc::clone(&object), operate.clone());
            let stage = Arc::clone(&its_stage);
            thread::spawn::<Boxed, ()>(Box::new(move || {
                for input in inputs {
                    log.call(process, input, |input| operate(&object, process, input));
                }
                stage.running.fetch_sub(1, Ordering::Relaxed);
            }));
        }
        its_stage.is_set.store(true, Ordering::Relaxed);
        // It runs after all others, when they have finished.
        thread::yield_now();
    });
    let mut config = config();
    config.max_steps = Config::new().max_steps;
    let random = ChaCha8Rng::seed_from_u64(seed);
    let runner = Runner::new(Random { random, is_over: false, stage: Arc::clone(&stage) }, config);
    if let Err(panic) = quietly(|| runner.run(execution)) {
        // The object may have its own threads, which wait for more work.
        let is_done = stage.running.load(Ordering::Relaxed) == 0;
        if !(is_done && message(&*panic.cause).starts_with("deadlock! blocked tasks")) {
            eprintln!("{}", panic.text);
            resume_unwind(panic.cause);
        }
    }
    let (history, is_stuck) = (log.history(), stage.is_stuck.load(Ordering::Relaxed));
    let fault = judge(specification, &history);
    Execution { history, is_stuck, fault }
}

/// Progress of an execution.
#[derive(Debug, Default)]
struct Stage {
    /// True if all threads are spawned.
    is_set: AtomicBool,
    /// Number of unfinished threads.
    running: AtomicUsize,
    /// True if some threads are unfinished, and none can run.
    is_stuck: AtomicBool,
}

/// A scheduler of one execution, which chooses any thread that can run. Task 0, which spawns them,
/// runs before and after all others, so that shuttle never reports (and prints) a stuck execution
/// as a failure.
#[derive(Debug)]
struct Random {
    random: ChaCha8Rng,
    is_over: bool,
    stage: Arc<Stage>,
}

impl Scheduler for Random {
    fn new_execution(&mut self) -> Option<Schedule> {
        (!std::mem::replace(&mut self.is_over, true)).then(|| Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let first = TaskId::from(0);
        if !self.stage.is_set.load(Ordering::Relaxed) {
            return Some(first);
        }
        let others = tasks.iter().filter(|task| task.runnable() && task.id() != first);
        if let Some(task) = others.choose(&mut self.random) {
            return Some(task.id());
        }
        let is_done = self.stage.running.load(Ordering::Relaxed) == 0;
        self.stage.is_stuck.store(!is_done, Ordering::Relaxed);
        is_done.then_some(first)
    }

    fn next_u64(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// Returns the fault of a finished execution; a pending operation waits for ever.
pub fn judge<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
) -> Option<Fault> {
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    match by_search(specification, history, &mut budget) {
        Verdict::SetLinearizable(_) => {}
        Verdict::Violation(_) => return Some(Fault::NotSetLinearizable),
        Verdict::Unknown { .. } => return Some(Fault::Unknown),
    }
    match progress::by_search(specification, history, &mut budget) {
        Progress::Holds(_) => None,
        Progress::Missed(_) | Progress::Unreturned => Some(Fault::NoProgress),
        Progress::Unknown(_) => Some(Fault::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapshot_core::synchronisation::objects::Barrier;

    #[test]
    fn threads_of_the_object_may_wait_for_ever() {
        let new = || {
            let pair = Arc::new((shuttle::sync::Mutex::new(()), shuttle::sync::Condvar::new()));
            let its = Arc::clone(&pair);
            thread::spawn(move || drop(its.1.wait(its.0.lock().unwrap())));
            pair
        };
        let run = |seed| {
            execute(&Barrier { threads: 1 }, seed, &[vec![()], vec![()]], new, |_, _, ()| ())
        };
        for execution in (0..20).map(run) {
            assert_eq!((execution.is_stuck, execution.fault), (false, None));
            assert_eq!(execution.history.operations().len(), 2);
        }
    }

    #[test]
    #[should_panic(expected = "of the object's own")]
    fn a_panic_is_no_deadlock() {
        let panics = |(): &(), _, ()| panic!("of the object's own");
        execute(&Barrier { threads: 1 }, 0, &[vec![()]], || (), panics);
    }
}
