//! Execution of a test under a driver.
//!
//! All threads of a test are continuations on one thread of the operating system, which belongs to
//! the check. If no step is made for a while, a call blocks where the scheduler cannot see it: that
//! thread is abandoned, and the answer is *unknown*. A check that must end does not wait that long.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use shuttle::current::TaskId;
use shuttle::scheduler::Scheduler;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use shuttle_engine::runtime::execution::ExecutionState;
use snapshot_core::observation::{Event, Thread};

use crate::apart;
use crate::control::{Control, Heartbeat, RELOCKING, lock};
use crate::driver::Driver;
use crate::event_log::{EventLog, Phase};
use crate::matrix::Test;
use crate::subject::{Answer, Object};

/// Bytes of stack per thread of a test; untouched pages take no memory.
const STACK: usize = 1 << 18;

/// Period at which an exploration is checked.
const TICK: Duration = Duration::from_millis(20);

/// Time that an ending check waits for a step of the subject before it ends without one.
const GRACE: Duration = Duration::from_millis(500);

/// Limits of an exploration.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Steps without call or return after which an execution is abandoned.
    pub(crate) patience: u32,
    /// True if the threads of a stuck execution are unwound.
    pub(crate) unwind: bool,
    /// True if waits of condition variables wake up spuriously.
    pub(crate) is_spurious: bool,
    /// Time without any step after which the check is abandoned.
    pub(crate) silence: Duration,
    /// Ends the check soon when true.
    pub(crate) cancel: Arc<AtomicBool>,
    pub(crate) deadline: Option<Instant>,
}

impl Watch {
    /// Returns the reason why the exploration must end, if any.
    fn is_over(&self) -> Option<Broken> {
        if self.cancel.load(Ordering::Relaxed) {
            Some(Broken::Interrupted)
        } else {
            self.deadline.filter(|deadline| Instant::now() > *deadline).map(|_| Broken::Late)
        }
    }
}

/// Reason why an exploration could not finish.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Broken {
    /// A call blocks outside control: the operation, if known.
    Silent(Option<String>),
    /// The object could not be made or dropped: the panic's message.
    Panicked(String),
    /// Interrupted without a further step.
    Interrupted,
    /// The time passed without a further step.
    Late,
}

thread_local! {
    /// True while panics of this thread are answers, and not shown.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// First panic that is not an answer.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Silences panics under control; elsewhere panics are printed as before.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let original = std::panic::take_hook();
        // Shuttle installs its own hook, once: this triggers and removes it.
        Runner::new(shuttle::scheduler::DfsScheduler::new(Some(1), false), config()).run(|| {});
        drop(std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                RELOCKING.set(RELOCKING.get() || is_relock(&message(info.payload())));
                let text = info.to_string();
                if let Some(recorder) = apart::recorder() {
                    recorder.panics(&text);
                }
                LAST.with(|last| last.borrow_mut().get_or_insert(text).len());
            } else {
                original(info);
            }
        }));
    });
}

/// Record of a panic.
pub(crate) struct Panic {
    pub cause: Box<dyn Any + Send>,
    /// Text as it would have been printed.
    pub text: String,
}

/// Executes code that may panic, without output on stderr.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    quieten();
    let was_quiet = QUIET.replace(true);
    LAST.take();
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(was_quiet);
    RELOCKING.set(false);
    result.map_err(|cause| {
        let text = LAST.take().unwrap_or_else(|| message(&*cause));
        Panic { cause, text }
    })
}

pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = apart::stack().unwrap_or(STACK);
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}

pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_owned(),
    }
}

/// Returns true for shuttle's message when a thread locks a lock that it holds: it would wait for
/// ever.
fn is_relock(message: &str) -> bool {
    message.starts_with("deadlock! task") && message.contains("tried to acquire a")
}

/// Executes the calls of one thread. The last one may take the object.
fn work(object: Arc<dyn Object>, thread: Thread, test: &Test, log: &Mutex<EventLog>) {
    let dropping = test.subject().dropping();
    let recorder = apart::recorder();
    let mut object = Some(object);
    let sequence = test.sequence(thread);
    for (index, invocation) in sequence.iter().enumerate() {
        if index > 0 {
            shuttle::thread::yield_now();
        }
        if lock(log).is_stuck {
            return;
        }
        lineup_std::control::begin_operation();
        lock(log).call(thread);
        if let Some(recorder) = recorder {
            recorder.calls(thread);
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            let gone = "nothing comes after the object was dropped";
            if dropping.as_ref() == Some(invocation) {
                // All other threads have finished, and released it.
                object.take().expect(gone).dropped()
            } else {
                object.as_ref().expect(gone).call(invocation)
            }
        }));
        let answer = match result {
            Ok(response) => Answer::Returned(response),
            // An unwinding is not a panic of the object: the execution is over.
            Err(payload) if lock(log).is_stuck => resume_unwind(payload),
            Err(payload) => {
                let message = message(&*payload);
                if is_relock(&message) {
                    RELOCKING.set(false);
                    // It waits for itself. Unwinding out of it was not a step (else the scheduler
                    // would have abandoned the execution), so it is as if the thread were still
                    // there.
                    loop {
                        shuttle::thread::park();
                    }
                }
                Answer::Panicked(message)
            }
        };
        if let Some(recorder) = recorder {
            recorder.returns(thread, format!("{answer:?}"));
        }
        lock(log).answer(thread, answer, index + 1 == sequence.len());
    }
}

/// Code of a thread.
pub(crate) type Boxed = Box<dyn FnOnce() + Send>;

/// Executes a test once, as task 0.
fn execute(test: &Arc<Test>, log: &Arc<Mutex<EventLog>>, unwind: bool) {
    let object = test.subject().object();
    for thread in test.shape().threads() {
        if test.sequence(thread).is_empty() {
            continue;
        }
        let (object, test, notes) = (Arc::clone(&object), Arc::clone(test), Arc::clone(log));
        let handle = shuttle::thread::spawn::<Boxed, ()>(Box::new(move || {
            work(object, thread, &test, &notes);
        }));
        let task = usize::from(handle.thread().id());
        if unwind {
            // Shuttle unwinds the threads that an execution does not wait for.
            ExecutionState::with(|state| state.detach(TaskId::from(task)));
        }
        lock(log).register(thread, task);
    }
    // Otherwise steps of dropping the object belong to no operation.
    let object = (!test.drops()).then_some(object);
    lock(log).started = true;
    while !lock(log).is_over() {
        shuttle::thread::yield_now();
    }
    drop(object);
}

/// Runs all executions of a driver, and returns the driver.
pub(crate) fn explore<D>(test: &Arc<Test>, driver: D, watch: &Watch) -> Result<D, Broken>
where
    D: Driver + Send + 'static,
{
    let _running = apart::running(|| test.text());
    let log = Arc::new(Mutex::new(EventLog::new()));
    let pulse = Arc::new(Heartbeat::default());
    let driver = Arc::new(Mutex::new(driver));
    let columns = test.columns().len();
    let control = Control::new(log.clone(), driver.clone(), pulse.clone(), columns, watch);
    let (its_test, its_board, unwind) = (Arc::clone(test), log.clone(), watch.unwind);
    let execution = Box::new(move || execute(&its_test, &its_board, unwind));
    run(Box::new(control), execution, watch, &pulse, &|| running(test, &log))?;
    let driver = Arc::into_inner(driver);
    let driver =
        driver.ok_or_else(|| Broken::Panicked("the scheduler is still in use".to_owned()))?;
    Ok(driver.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs all executions of a scheduler on a separate thread, and watches it. `running` returns the
/// operation that was called last.
fn run(
    scheduler: Box<dyn Scheduler + Send>,
    execution: Box<dyn Fn() + Send + Sync>,
    watch: &Watch,
    pulse: &Heartbeat,
    running: &dyn Fn() -> Option<String>,
) -> Result<(), Broken> {
    quieten();
    pulse.cancelled.store(watch.cancel.load(Ordering::Relaxed), Ordering::Relaxed);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        QUIET.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            Runner::new(scheduler, config()).run(execution);
        }));
        let result = outcome.map_err(|payload| {
            let text = LAST.with(|last| last.borrow_mut().take());
            Broken::Panicked(text.unwrap_or_else(|| message(&*payload)))
        });
        drop(sender.send(result));
    });
    let mut steps = 0;
    let (mut silent, mut late) = (Duration::ZERO, Duration::ZERO);
    loop {
        let before = Instant::now();
        match receiver.recv_timeout(TICK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Broken::Panicked("the execution ended without an answer".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if watch.cancel.load(Ordering::Relaxed) {
            pulse.cancelled.store(true, Ordering::Relaxed);
        }
        let now = pulse.steps.load(Ordering::Relaxed);
        // A machine that gives this thread no time gives the other one none, either: a late tick
        // counts as one tick.
        let tick = before.elapsed().min(2 * TICK);
        silent += tick;
        if let Some(over) = watch.is_over() {
            late += tick;
            if late > GRACE {
                return Err(over);
            }
        }
        if now != steps || pulse.is_between.load(Ordering::Relaxed) {
            (steps, silent) = (now, Duration::ZERO);
        } else if silent > watch.silence {
            return Err(Broken::Silent(running()));
        }
    }
}

/// Returns the operation that was called last and has not returned, as text.
fn running(test: &Test, log: &Mutex<EventLog>) -> Option<String> {
    let log = log.try_lock().ok()?;
    let last = log.events.iter().rev().map(|event| event.thread());
    let thread = last.into_iter().find(|t| log.phases[t.index()] == Phase::Inside)?;
    let calls = log.events.iter().filter(|event| matches!(event, Event::Call(t) if *t == thread));
    let invocation = test.sequence(thread).get(calls.count() - 1)?;
    Some(format!("{} of thread {}", invocation.text(), test.thread_name(thread)))
}
