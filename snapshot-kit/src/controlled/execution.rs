//! One execution under shuttle: made, recorded, and measured.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use snapshot_core::History;

use super::scheduler::Directed;
use super::trial::{Switch, Trial};
use crate::clock::Clock;
use crate::record::{RecordError, Recorder};
use crate::value::{Recorded, Value};
use crate::watchdog::unfinished;
use crate::workload::{Operation, Subject, Workload, number, perform};

/// An execution, possibly incomplete.
pub(super) struct Execution {
    pub(super) history: Result<History<Value>, RecordError>,
    /// True after too many steps, as with a thread that waits forever.
    pub(super) is_abandoned: bool,
    /// Panic of an operation, or a deadlock found by shuttle.
    pub(super) panic: Option<Box<dyn Any + Send>>,
    pub(super) switches: Vec<Switch>,
    pub(super) updates: Stepped,
    pub(super) scans: Stepped,
}

/// Operations of one kind, and how many of them contain a step of shuttle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stepped {
    pub(super) made: u64,
    pub(super) stepped: u64,
}

impl Stepped {
    pub(super) const fn add(&mut self, other: Self) {
        self.made += other.made;
        self.stepped += other.stepped;
    }
}

/// The current execution, for the watchdog.
#[derive(Default)]
pub(super) struct Stage {
    running: Mutex<Option<Running>>,
    /// Executions so far.
    count: AtomicU64,
}

struct Running {
    directed: Directed,
    recorder: Arc<Recorder<Value>>,
    trial: Trial,
}

/// State of an execution that makes no progress.
pub(super) struct Stuck {
    /// The running process, unless it is the thread that makes the object.
    pub(super) process: Option<usize>,
    /// Operations that have not returned.
    pub(super) unfinished: String,
    /// The execution so far.
    pub(super) trial: Trial,
}

impl Stage {
    fn set(&self, running: Option<Running>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }

    /// Returns a value that changes with each step; `None` between executions.
    pub(super) fn beat(&self) -> Option<(u64, usize)> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = running.as_ref()?.directed.steps();
        Some((self.count.load(Ordering::Relaxed), steps))
    }

    /// Returns the state of the current execution.
    pub(super) fn stuck(&self) -> Option<Stuck> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Running { directed, recorder, trial } = running.as_ref()?;
        let history = recorder.history().ok()?;
        Some(Stuck {
            process: directed.current().checked_sub(1),
            unfinished: unfinished(&history),
            trial: Trial { switches: directed.switches(), ..trial.clone() },
        })
    }
}

/// Counts the operations of one kind.
#[derive(Default)]
struct Counter {
    made: AtomicU64,
    stepped: AtomicU64,
}

impl Counter {
    fn sum(&self) -> Stepped {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Stepped { made: load(&self.made), stepped: load(&self.stepped) }
    }
}

/// One operation, from its invocation to its end, including by unwinding.
struct Meter<'a> {
    counter: &'a Counter,
    directed: &'a Directed,
    began: usize,
}

impl<'a> Meter<'a> {
    fn new(counter: &'a Counter, directed: &'a Directed) -> Self {
        counter.made.fetch_add(1, Ordering::Relaxed);
        Self { counter, directed, began: directed.steps() }
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        let has_stepped = self.directed.steps() > self.began;
        self.counter.stepped.fetch_add(u64::from(has_stepped), Ordering::Relaxed);
    }
}

/// State shared by the threads of an execution.
struct Scene<V> {
    workload: Workload<V>,
    trial: Trial,
    directed: Directed,
    recorder: Arc<Recorder<Value>>,
    updates: Counter,
    scans: Counter,
    has_ended: AtomicBool,
}

impl<V: Recorded + 'static> Scene<V> {
    /// Performs the operations of a thread.
    fn act<S: Subject<Value = V>>(&self, thread: usize, subject: &S) {
        let Ok(mut handle) = self.recorder.process(thread) else { return };
        let (threads, writers) = (self.trial.threads.len(), self.trial.writers());
        let mut updates = 0;
        for operation in &self.trial.threads[thread] {
            let is_update = matches!(operation, Operation::Update { .. });
            let counter = if is_update { &self.updates } else { &self.scans };
            let value = || self.workload.value(number((thread, threads), writers, updates));
            let meter = Meter::new(counter, &self.directed);
            perform(subject, &mut handle, thread, operation, value);
            drop(meter);
            updates += u64::from(is_update);
        }
    }
}

/// Makes one execution of the object that `make` returns.
pub(super) fn execute<V, S>(
    workload: &Workload<V>,
    make: &Arc<impl Fn() -> S + Send + Sync + 'static>,
    stage: &Stage,
    (directed, trial): (&Directed, &Trial),
) -> Execution
where
    V: Recorded + 'static,
    S: Subject<Value = V> + Send + Sync + 'static,
{
    let size = (trial.threads.len(), trial.segments);
    let declaration = workload.declaration(size, trial.writers());
    // An order by definition; no other thread can wait for its locks.
    let recorder = Arc::new(Recorder::with_clock(declaration, Clock::Ticket));
    let scene = Arc::new(Scene {
        workload: workload.clone(),
        trial: trial.clone(),
        directed: directed.clone(),
        recorder: Arc::clone(&recorder),
        updates: Counter::default(),
        scans: Counter::default(),
        has_ended: AtomicBool::new(false),
    });
    let running = Running {
        directed: directed.clone(),
        recorder: Arc::clone(&recorder),
        trial: trial.clone(),
    };
    stage.set(Some(running));
    let (shared, make) = (Arc::clone(&scene), Arc::clone(make));
    let run = AssertUnwindSafe(|| {
        Runner::new(directed.clone(), config()).run(move || {
            let subject = Arc::new(make());
            let start = |thread| {
                let (scene, subject) = (Arc::clone(&shared), Arc::clone(&subject));
                shuttle::thread::spawn(move || scene.act(thread, &*subject))
            };
            let workers: Vec<_> = (0..shared.trial.threads.len()).map(start).collect();
            for worker in workers {
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            shared.has_ended.store(true, Ordering::Relaxed);
        });
    });
    let panic = catch_unwind(run).err();
    stage.set(None);
    Execution {
        history: recorder.history(),
        is_abandoned: panic.is_none() && !scene.has_ended.load(Ordering::Relaxed),
        panic,
        switches: directed.switches(),
        updates: scene.updates.sum(),
        scans: scene.scans.sum(),
    }
}

/// Returns shuttle's configuration, without its output.
pub(super) fn config() -> Config {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}
