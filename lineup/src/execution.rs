//! Executing a test under a driver.
//!
//! All threads of a test are continuations on one thread of the operating system, which
//! belongs to the check. If no step is made for a while, a call blocks where the scheduler
//! cannot see it: that thread is given up, and the answer is *unknown*. A check that is to end
//! does not wait so long.

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

use crate::board::{Board, Phase};
use crate::control::{Control, Driver, Pulse, RELOCKING, lock};
use crate::matrix::Test;
use crate::subject::{Answer, Subject, name};

/// Bytes of stack per thread of a test; what is not touched takes no memory.
const STACK: usize = 1 << 18;

/// How often an exploration is looked at.
const TICK: Duration = Duration::from_millis(20);

/// What a check that is to end waits for a step of the subject, before it ends without.
const GRACE: Duration = Duration::from_millis(500);

/// How an exploration is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Steps without call or return after which an execution is given up.
    pub(crate) patience: u32,
    /// The threads of a stuck execution are unwound.
    pub(crate) unwind: bool,
    /// Time without any step after which the check is given up.
    pub(crate) silence: Duration,
    /// Ends the check soon.
    pub(crate) cancel: Arc<AtomicBool>,
    /// When it ends at the latest.
    pub(crate) deadline: Option<Instant>,
}

impl Watch {
    /// Why the exploration is to end, if it is.
    fn is_over(&self) -> Option<Broken> {
        if self.cancel.load(Ordering::Relaxed) {
            Some(Broken::Interrupted)
        } else {
            self.deadline.filter(|deadline| Instant::now() > *deadline).map(|_| Broken::Late)
        }
    }
}

/// Why an exploration could not go on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Broken {
    /// A call blocks outside control: the operation, if one is known.
    Silent(Option<String>),
    /// The object could not be made or dropped: what panicked.
    Panicked(String),
    /// It was to end, and made no further step.
    Interrupted,
    /// The time was up, and it made no further step.
    Late,
}

thread_local! {
    /// Panics of this thread are answers, and not shown.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Notes the first panic that is not an answer.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics under control are not printed; elsewhere everything is as before.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let original = std::panic::take_hook();
        // Shuttle installs a hook of its own, once: let it, and put it aside.
        Runner::new(shuttle::scheduler::DfsScheduler::new(Some(1), false), config()).run(|| {});
        drop(std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                RELOCKING.set(RELOCKING.get() || is_relock(&message(info.payload())));
                let text = info.to_string();
                LAST.with(|last| last.borrow_mut().get_or_insert(text).len());
            } else {
                original(info);
            }
        }));
    });
}

/// What a panic left.
pub(crate) struct Panic {
    pub cause: Box<dyn Any + Send>,
    /// As it would have been printed.
    pub text: String,
}

/// Executes what may panic, without a word on stderr.
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
    config.stack_size = STACK;
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

/// What shuttle says where a thread locks a lock that it holds: it would wait for ever.
fn is_relock(message: &str) -> bool {
    message.starts_with("deadlock! task") && message.contains("tried to acquire a")
}

/// The calls of one thread. The last one may take the object.
fn work<S: Subject>(
    subject: Arc<S>,
    thread: Thread,
    sequence: &[S::Invocation],
    board: &Mutex<Board<S::Response>>,
) {
    let dropping = S::dropping();
    let mut subject = Some(subject);
    for (index, invocation) in sequence.iter().enumerate() {
        if index > 0 {
            shuttle::thread::yield_now();
        }
        if lock(board).is_stuck {
            return;
        }
        lock(board).call(thread);
        let result = catch_unwind(AssertUnwindSafe(|| {
            if dropping.as_ref() == Some(invocation) {
                // All other threads are done, and gave it back.
                let last = subject.take().and_then(Arc::into_inner);
                last.expect("the thread of the final sequence has the object alone").dropped()
            } else {
                let subject = subject.as_ref();
                subject.expect("nothing comes after the object was dropped").call(invocation)
            }
        }));
        let answer = match result {
            Ok(response) => Answer::Returned(response),
            // What unwinds is no panic of the object: the execution is over.
            Err(payload) if lock(board).is_stuck => resume_unwind(payload),
            Err(payload) => {
                let message = message(&*payload);
                if is_relock(&message) {
                    RELOCKING.set(false);
                    // It waits for itself. Unwinding out of it was no step (else the
                    // scheduler would have given the execution up), so it is as if it were
                    // still there.
                    loop {
                        shuttle::thread::park();
                    }
                }
                Answer::Panicked(message)
            }
        };
        lock(board).answer(thread, answer, index + 1 == sequence.len());
    }
}

/// What a thread does.
pub(crate) type Boxed = Box<dyn FnOnce() + Send>;

/// What an exploration needs of a test: nothing of the types of its subject but that of responses.
pub(crate) trait Executable<R>: Send + Sync {
    /// Number of columns.
    fn columns(&self) -> usize;

    /// One execution, as task 0.
    fn execute(self: Arc<Self>, board: &Arc<Mutex<Board<R>>>, unwind: bool);

    /// An operation as text: the thread, and how many it has called before.
    fn operation(&self, thread: Thread, index: usize) -> Option<String>;
}

impl<S: Subject> Executable<S::Response> for Test<S> {
    fn columns(&self) -> usize {
        Self::columns(self).len()
    }

    fn execute(self: Arc<Self>, board: &Arc<Mutex<Board<S::Response>>>, unwind: bool) {
        let subject = Arc::new(S::new());
        for thread in self.shape().threads() {
            if self.sequence(thread).is_empty() {
                continue;
            }
            let (subject, test, notes) =
                (Arc::clone(&subject), Arc::clone(&self), Arc::clone(board));
            let handle = shuttle::thread::spawn::<Boxed, ()>(Box::new(move || {
                work(subject, thread, test.sequence(thread), &notes);
            }));
            let task = usize::from(handle.thread().id());
            if unwind {
                // Shuttle unwinds what is left of threads for which an execution does not wait.
                ExecutionState::with(|state| state.detach(TaskId::from(task)));
            }
            lock(board).register(thread, task);
        }
        // Else what it takes to drop the object belongs to no operation.
        let subject = (!self.drops()).then_some(subject);
        lock(board).started = true;
        while !lock(board).is_over() {
            shuttle::thread::yield_now();
        }
        drop(subject);
    }

    fn operation(&self, thread: Thread, index: usize) -> Option<String> {
        let invocation = self.sequence(thread).get(index)?;
        Some(format!("{} of thread {}", name(invocation), self.thread_name(thread)))
    }
}

/// Runs all executions that a driver wants, and gives it back.
pub(crate) fn explore<R, D>(
    test: Arc<dyn Executable<R>>,
    driver: D,
    watch: &Watch,
) -> Result<D, Broken>
where
    R: Send + 'static,
    D: Driver<R> + Send + 'static,
{
    let board = Arc::new(Mutex::new(Board::new()));
    let pulse = Arc::new(Pulse::default());
    let driver = Arc::new(Mutex::new(driver));
    let columns = test.columns();
    let control = Control::new(board.clone(), driver.clone(), pulse.clone(), columns, watch);
    let (its_test, its_board, unwind) = (test.clone(), board.clone(), watch.unwind);
    let execution = Box::new(move || its_test.clone().execute(&its_board, unwind));
    run(Box::new(control), execution, watch, &pulse, &|| running(&*test, &board))?;
    let driver = Arc::into_inner(driver);
    let driver =
        driver.ok_or_else(|| Broken::Panicked("the scheduler is still in use".to_owned()))?;
    Ok(driver.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs all executions that a scheduler wants on a thread of its own, and watches it. `running` is
/// the operation that was called last.
///
/// No type of a subject is known here nor below: what shuttle makes of the types of schedulers and
/// closures, much code, is compiled once, and not for each subject.
fn run(
    scheduler: Box<dyn Scheduler + Send>,
    execution: Box<dyn Fn() + Send + Sync>,
    watch: &Watch,
    pulse: &Pulse,
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
        // A machine that gives this thread no time gives the other one none, either: what is
        // late counts as a tick.
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

/// The operation that was called last and has not returned, as text.
fn running<R>(test: &dyn Executable<R>, board: &Mutex<Board<R>>) -> Option<String> {
    let board = board.try_lock().ok()?;
    let last = board.events.iter().rev().map(|event| event.thread());
    let thread = last.into_iter().find(|t| board.phases[t.index()] == Phase::Inside)?;
    let calls = board.events.iter().filter(|event| matches!(event, Event::Call(t) if *t == thread));
    test.operation(thread, calls.count() - 1)
}
