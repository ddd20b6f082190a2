//! Objects whose operations take effect together, right ones and wrong ones, under a controlled
//! scheduler: set linearizability of what they did, and progress where they are stuck, which the
//! scheduler knows (Lawrence and Lowe, "Synchronisation: Specification and Testing", wait
//! 100 ms instead).

mod handmade;
mod monitor;
mod real;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, Runner, thread};
use snapshot_core::generic::{History, HistoryBuilder};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{Synchronisation, Verdict, by_search};

/// The record of an execution. Calls and returns are recorded outside of control, one after the
/// other, so their order is that of time.
pub struct Log<I, O>(Arc<Mutex<HistoryBuilder<I, O>>>);

impl<I, O> Clone for Log<I, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<I: Clone, O: Clone> Log<I, O> {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(History::builder())))
    }

    /// Records an operation of a process.
    pub fn call(&self, process: usize, input: I, operation: impl FnOnce(I) -> O) {
        self.lock(|log| log.invoke(process, input.clone())).expect("it is idle");
        let output = operation(input);
        self.lock(|log| log.respond(process, output)).expect("it is busy");
    }

    fn lock<T>(&self, with: impl FnOnce(&mut HistoryBuilder<I, O>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn history(&self) -> History<I, O> {
        self.lock(|log| log.clone()).finish()
    }
}

/// What was seen of an object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    pub executions: usize,
    /// Executions at the end of which some threads wait for ever.
    pub stuck: usize,
    /// Executions that are not set-linearizable.
    pub wrong: usize,
    /// Those that are, but lack progress.
    pub missed: usize,
}

impl Seen {
    /// No execution is wrong.
    pub fn assert_right(self, name: &str) {
        assert!(self.executions > 0 && self.wrong + self.missed == 0, "{name}: {self:?}");
    }

    /// Some execution is.
    pub fn assert_wrong(self, name: &str) {
        assert!(self.wrong + self.missed > 0, "{name}: {self:?}");
    }
}

/// Executes threads, each a list of inputs, on a new object under this many random schedules,
/// always the same ones.
pub fn explore<S, T>(
    specification: &S,
    schedules: u64,
    threads: &[Vec<S::Input>],
    new: impl Fn() -> T + Clone + Send + Sync + 'static,
    operate: impl Fn(&T, usize, S::Input) -> S::Output + Clone + Send + Sync + 'static,
) -> Seen
where
    S: Synchronisation,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
    T: Send + Sync + 'static,
{
    let mut seen = Seen::default();
    for seed in 0..schedules {
        let log = Log::new();
        let (inner, threads) = (log.clone(), threads.to_vec());
        let (new, operate) = (new.clone(), operate.clone());
        let execution = move || {
            let object = Arc::new(new());
            let spawn = |(process, inputs): (usize, &Vec<S::Input>)| {
                let (log, object, operate) = (inner.clone(), Arc::clone(&object), operate.clone());
                let inputs = inputs.clone();
                thread::spawn(move || {
                    for input in inputs {
                        log.call(process, input, |input| operate(&object, process, input));
                    }
                })
            };
            let handles: Vec<_> = threads.iter().enumerate().map(spawn).collect();
            for handle in handles {
                handle.join().expect("no operation panics");
            }
        };
        let mut config = Config::new();
        config.failure_persistence = FailurePersistence::None;
        let runner = Runner::new(RandomScheduler::new_from_seed(seed, 1), config);
        let ended = catch_unwind(AssertUnwindSafe(|| runner.run(execution)));
        seen.executions += 1;
        seen.stuck += usize::from(ended.is_err());
        judge(specification, &log.history(), ended.is_err(), &mut seen);
    }
    seen
}

fn judge<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    is_stuck: bool,
    seen: &mut Seen,
) {
    let is_pending = history.operations().iter().any(|operation| operation.response().is_none());
    assert_eq!(is_pending, is_stuck, "what does not return is stuck, and nothing else");
    let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
    match by_search(specification, history, &mut budget) {
        Verdict::SetLinearizable(_) => {}
        Verdict::Violation(_) => {
            seen.wrong += 1;
            return;
        }
        Verdict::Unknown { .. } => panic!("the history is small"),
    }
    match progress::by_search(specification, history, &mut budget) {
        Progress::Holds(_) => {}
        Progress::Missed(_) | Progress::Unreturned => seen.missed += 1,
        Progress::Unknown(_) => panic!("the history is small"),
    }
}
