//! The scheduler given to shuttle: maps its tasks to the threads of a test.
//!
//! Task 0 makes the object, spawns the threads and waits. It runs alone until all are spawned, and
//! again when no other thread can run: so shuttle never reports a failure for an execution in which
//! all threads are blocked, and *stuck* is exact: no thread can run and not all have finished. The
//! initial sequence runs before the columns, the final one after them. A [`Driver`] makes the
//! remaining choices.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;
use shuttle::scheduler::{Schedule as TaskSchedule, Scheduler, Task, TaskId};
use snapshot_core::observation::{Event, Thread};

use crate::apart::{self, Recorder};
use crate::driver::{Abandonment, Choice, Driver, End, Execution, Situation, Waiting};
use crate::event_log::{EventLog, Phase};
use crate::execution::Watch;
use crate::memory::Memory;
use crate::schedule::{Schedule, Segment};
use crate::trace::{Step, Trace};
use crate::unordered::Unordered;

/// Returns the threads that wait in items of the stand-in for `std`.
fn waiting(log: &EventLog) -> Vec<Waiting> {
    let wait = |(t, task): (usize, &Option<u32>)| {
        let task = task.filter(|_| log.phases[t] == Phase::Inside)? as usize;
        let next = lineup_std::control::next(task)?;
        let holder = lineup_std::control::holder(task);
        let lock = holder.map(|holder| (log.thread(holder.task), holder.place));
        Some(Waiting { thread: Thread::from_index(t), place: next.place, lock })
    };
    log.tasks.iter().enumerate().filter_map(wait).collect()
}

/// Heartbeat of an exploration, seen from another thread.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    /// Number of steps.
    pub(crate) steps: AtomicU64,
    /// True if the check must end.
    pub(crate) cancelled: AtomicBool,
    /// True between two executions: judging one may take a while, and is not a call.
    pub(crate) is_between: AtomicBool,
}

thread_local! {
    /// True while a panic reports that a thread locked a lock that it holds, until it is caught.
    pub(crate) static RELOCKING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of the task that makes the object and the threads.
const MAIN: usize = 0;

/// The scheduler.
pub(crate) struct Control<D> {
    pub(crate) log: Arc<Mutex<EventLog>>,
    pub(crate) driver: Arc<Mutex<D>>,
    pub(crate) pulse: Arc<Heartbeat>,
    /// Number of columns: their threads come first, then the initial sequence's and the final
    /// sequence's.
    pub(crate) columns: usize,
    /// Steps without call or return after which an execution is abandoned.
    pub(crate) patience: u32,
    /// True if the threads of a stuck execution are unwound.
    pub(crate) unwind: bool,
    state: Option<State>,
    seen: Seen,
    random: u64,
    recorder: Option<Recorder>,
    /// True if waits of condition variables wake up spuriously.
    is_spurious: bool,
}

/// State of the present execution.
struct State {
    schedule: Schedule,
    end: Option<End>,
    current: Option<Thread>,
    /// The chosen step, and whether all its accesses are recorded.
    running: Option<(Thread, bool)>,
    returns: u32,
    events: usize,
    /// Number of events that the trace has.
    traced: usize,
    idle: u32,
    steps: u64,
    random: bool,
    /// True if the running step drew random numbers.
    draws: bool,
    /// Number of tasks seen: all of them, because each can run at first.
    tasks: usize,
    left_behind: bool,
    waiting: Vec<Waiting>,
    spins: bool,
    memory: Memory,
    /// The schedule until the last call, return or change: its number of parts, and the last part.
    last_change: (usize, Option<Segment>),
}

/// Returns the threads of a set that can make their next step: those that do not wait for a lock. If
/// all wait, one of them must block first.
fn without_waiting(threads: u16, tasks: &[Option<u32>; Thread::LIMIT + 1]) -> u16 {
    let waits = |t: &usize| {
        let task = tasks[*t].filter(|_| threads >> t & 1 == 1);
        task.is_some_and(|task| lineup_std::control::holder(task as usize).is_some())
    };
    let waiting = (0..=Thread::LIMIT).filter(waits).fold(0, |set, t| set | 1 << t);
    match threads & !waiting {
        0 => threads & threads.wrapping_neg(),
        rest => rest,
    }
}

/// Returns the next step of a thread, as far as it is known.
fn next(log: &EventLog, thread: Thread) -> Option<lineup_std::control::Next> {
    lineup_std::control::next(log.tasks[thread.index()]? as usize)
}

/// Tasks that can run.
struct Runnable {
    /// Threads of the test.
    threads: u16,
    /// A thread of the test that has finished.
    finishing: Option<TaskId>,
    /// The task that executes the test.
    main: Option<TaskId>,
    /// True if there is a thread of the subject's own.
    is_foreign: bool,
}

impl Runnable {
    fn new(tasks: &[&Task], log: &EventLog) -> Self {
        let mut all = Self { threads: 0, finishing: None, main: None, is_foreign: false };
        for task in tasks.iter().filter(|task| task.runnable()) {
            match log.thread(task.id().into()) {
                Some(thread) if log.phases[thread.index()] == Phase::Done => {
                    all.finishing = Some(task.id());
                }
                Some(thread) => all.threads |= 1 << thread.index(),
                None if usize::from(task.id()) == MAIN => all.main = Some(task.id()),
                None => all.is_foreign = log.started,
            }
        }
        all
    }
}

/// Steps of the present execution, and the accesses of plain memory among them that nothing orders.
struct Seen {
    trace: Trace,
    unordered: Unordered,
}

impl Seen {
    /// Records the step that has ended.
    fn end_step(&mut self, state: &mut State, log: &EventLog) {
        let running = state.running.take();
        lineup_std::control::take_accesses(|access| {
            self.trace.access(access);
            if let Some((thread, _)) = running {
                self.unordered.access(thread, access, None);
            }
        });
        let Some((thread, known)) = running else {
            self.trace.skip();
            return;
        };
        let events = &log.events[state.traced..];
        let called = events.iter().any(|event| matches!(event, Event::Call(_)));
        let answer = events.iter().find_map(|event| match event {
            Event::Return(_, answer) => Some(FxBuildHasher.hash_one(answer)),
            Event::Call(_) => None,
        });
        state.traced = log.events.len();
        let known = known && !std::mem::take(&mut state.draws);
        let next = next(log, thread).map_or(0, |next| std::ptr::from_ref(next.place).addr());
        self.trace.step(&Step { thread, known, called, answer, next });
    }

    /// Begins a step of a thread; returns true if all its accesses are recorded.
    fn begin_step(&mut self, thread: Thread, task: usize, log: &EventLog) -> bool {
        let announced = lineup_std::control::begin_step(task);
        // Between two operations a thread has nothing to access.
        let known = announced.is_some() || log.phases[thread.index()] == Phase::Between;
        self.unordered.step(thread);
        let line = lineup_std::control::next(task).map(|next| next.place);
        for access in announced.into_iter().flatten().flatten() {
            self.trace.access(access);
            self.unordered.access(thread, access, line);
        }
        known
    }
}

impl State {
    /// Abandons the execution.
    fn abandon(&mut self, reason: Abandonment) -> Option<TaskId> {
        self.end.get_or_insert(End::Abandoned(reason));
        self.left_behind = true;
        None
    }

    /// Counts a step; returns true if shared memory may have changed in it, or an operation was
    /// called or returned.
    fn count_step(&mut self, log: &EventLog, is_yielding: bool) -> bool {
        self.steps += 1;
        self.idle += 1;
        let changed = self.memory.may_have_changed(is_yielding);
        if log.events.len() == self.events {
            return changed;
        }
        (self.events, self.idle) = (log.events.len(), 0);
        true
    }

    /// Returns the situation in which one of the `enabled` threads is chosen.
    fn situation<'t>(
        &self,
        log: &EventLog,
        trace: &'t Trace,
        enabled: u16,
        is_yielding: bool,
        changed: bool,
    ) -> Situation<'t> {
        let phase = |thread: &Thread| log.phases[thread.index()];
        let current = self.current.filter(|thread| phase(thread) != Phase::Done);
        let inside = self.current.is_some_and(|thread| phase(&thread) == Phase::Inside);
        let next = current.filter(|_| inside).and_then(|thread| next(log, thread));
        Situation {
            enabled,
            current,
            events: log.events.len(),
            inside,
            yielding: is_yielding && inside,
            returned: log.returns > self.returns,
            unwinding: std::thread::panicking(),
            changed,
            plain: next.filter(|next| next.is_plain()).map(|next| next.place),
            trace,
        }
    }

    /// Notes a return and a change in the schedule.
    fn note(&mut self, situation: &Situation<'_>, returns: u32) {
        self.returns = returns;
        self.schedule.returned(situation.returned);
        if situation.changed {
            self.last_change = (self.schedule.0.len(), self.schedule.0.last().copied());
        }
    }

    /// Ends the execution as stuck, unless a wait with a time limit is open.
    fn stuck(&mut self, tasks: &[&Task], log: &mut EventLog, unwind: bool) -> Option<TaskId> {
        if lineup_std::control::timed_waits() > 0 {
            return self.abandon(Abandonment::Timed);
        }
        self.end = Some(End::Stuck);
        self.waiting = waiting(log);
        log.is_stuck = true;
        self.ending(tasks, log, unwind)
    }

    /// Truncates the schedule to where the threads began to spin.
    fn without_spin(&mut self) {
        let (parts, last) = self.last_change;
        self.schedule.0.truncate(parts);
        if let (Some(place), Some(last)) = (self.schedule.0.last_mut(), last) {
            *place = last;
        }
        self.spins = true;
    }

    /// Returns the next task once an execution is stuck: the threads outside operations, which end,
    /// and then, if those inside are to be unwound, the main task. The execution ends for shuttle
    /// only if no thread of the object's own waits for ever.
    fn ending(&mut self, tasks: &[&Task], log: &EventLog, unwind: bool) -> Option<TaskId> {
        let mut runnable = tasks.iter().filter(|task| task.runnable()).map(|task| task.id());
        let is_outside = |task: &TaskId| {
            let thread = log.thread(usize::from(*task));
            thread.is_some_and(|thread| log.phases[thread.index()] != Phase::Inside)
        };
        if let Some(task) = runnable.clone().find(is_outside) {
            return Some(task);
        }
        let threads = log.tasks.iter().flatten().count();
        let main = runnable.find(|task| usize::from(*task) == MAIN && unwind);
        let main = main.filter(|_| self.tasks == threads + 1);
        self.left_behind = main.is_none();
        main
    }
}

impl<D: Driver> Control<D> {
    pub(crate) fn new(
        log: Arc<Mutex<EventLog>>,
        driver: Arc<Mutex<D>>,
        pulse: Arc<Heartbeat>,
        columns: usize,
        watch: &Watch,
    ) -> Self {
        let (patience, unwind) = (watch.patience, watch.unwind);
        let seen = Seen { trace: Trace::default(), unordered: Unordered::new(columns) };
        let (state, recorder) = (None, apart::recorder());
        Self {
            log,
            driver,
            pulse,
            columns,
            patience,
            unwind,
            state,
            seen,
            random: 0,
            is_spurious: watch.is_spurious,
            recorder,
        }
    }

    /// Returns the threads that may run in this stage.
    const fn stage(&self, phases: &[Phase; Thread::LIMIT + 1]) -> u16 {
        let columns = (1_u16 << self.columns) - 1;
        let initial = 1_u16 << self.columns;
        if !matches!(phases[self.columns], Phase::Done) {
            return initial;
        }
        let mut t = 0;
        while t < self.columns {
            if !matches!(phases[t], Phase::Done) {
                return columns;
            }
            t += 1;
        }
        !columns & !initial
    }
}

impl<D: Driver> Scheduler for Control<D> {
    fn new_execution(&mut self) -> Option<TaskSchedule> {
        self.pulse.is_between.store(true, Ordering::Relaxed);
        let mut log = lock(&self.log);
        let mut driver = lock(&self.driver);
        if let Some(mut state) = self.state.take() {
            state.schedule.returned(log.returns > state.returns);
            driver.end(Execution {
                events: std::mem::take(&mut log.events),
                end: state.end.unwrap_or(End::Abandoned(Abandonment::Foreign)),
                schedule: state.schedule,
                steps: state.steps,
                random: state.random,
                spins: state.spins,
                left_behind: state.left_behind || state.end.is_none(),
                waiting: state.waiting,
                unordered: self.seen.unordered.take(),
            });
        }
        log.clear();
        lineup_std::control::begin(self.is_spurious);
        self.seen.trace.clear();
        self.seen.unordered.clear();
        if self.pulse.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        self.random = driver.begin()?;
        if let Some(recorder) = self.recorder {
            recorder.execution();
        }
        self.state = Some(State {
            schedule: Schedule::default(),
            end: None,
            current: None,
            running: None,
            returns: 0,
            events: 0,
            traced: 0,
            idle: 0,
            steps: 0,
            random: false,
            draws: false,
            tasks: 0,
            left_behind: false,
            waiting: Vec::new(),
            spins: false,
            memory: Memory::new(),
            last_change: (0, None),
        });
        self.pulse.is_between.store(false, Ordering::Relaxed);
        Some(TaskSchedule::new(0))
    }

    fn next_task(
        &mut self,
        tasks: &[&Task],
        _: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.pulse.steps.fetch_add(1, Ordering::Relaxed);
        let mut log = lock(&self.log);
        let stage = self.stage(&log.phases);
        let state = self.state.as_mut()?;
        state.tasks =
            tasks.iter().map(|task| usize::from(task.id()) + 1).fold(state.tasks, Ord::max);
        if state.end == Some(End::Stuck) {
            return state.ending(tasks, &log, self.unwind);
        }
        if RELOCKING.get() && std::thread::panicking() {
            return state.abandon(Abandonment::Unwinding);
        }
        let runnable = Runnable::new(tasks, &log);
        let changed = state.count_step(&log, is_yielding);
        if self.pulse.cancelled.load(Ordering::Relaxed) {
            return state.abandon(Abandonment::Cancelled);
        }
        if state.idle > self.patience {
            return state.abandon(Abandonment::Diverging);
        }
        if runnable.is_foreign {
            return state.abandon(Abandonment::Foreign);
        }
        if !log.started {
            return runnable.main.or_else(|| tasks.first().map(|task| task.id()));
        }
        if runnable.finishing.is_some() {
            return runnable.finishing;
        }
        if log.all_done() {
            state.end.get_or_insert(End::Full);
            return Some(TaskId::from(MAIN));
        }
        let enabled = without_waiting(runnable.threads & stage, &log.tasks);
        self.seen.end_step(state, &log);
        let situation = state.situation(&log, &self.seen.trace, enabled, is_yielding, changed);
        state.note(&situation, log.returns);
        if enabled == 0 {
            return state.stuck(tasks, &mut log, self.unwind);
        }
        if situation.unwinding && state.current.is_some_and(|t| enabled >> t.index() & 1 == 0) {
            return state.abandon(Abandonment::Unwinding);
        }
        match lock(&self.driver).choose(&situation) {
            Choice::Run(thread) => {
                let stopped = state.current.filter(|_| situation.inside);
                if let Some(recorder) = self.recorder {
                    let place = |t| next(&log, t).map(|next| next.place);
                    recorder.runs(thread, place(thread), stopped.and_then(place));
                }
                state.schedule.note(thread);
                state.current = Some(thread);
                let task = log.tasks[thread.index()]? as usize;
                state.running = Some((thread, self.seen.begin_step(thread, task, &log)));
                Some(TaskId::from(task))
            }
            Choice::Stuck => state.stuck(tasks, &mut log, self.unwind),
            Choice::Spinning => {
                state.without_spin();
                state.stuck(tasks, &mut log, self.unwind)
            }
            Choice::Diverged => state.abandon(Abandonment::Nondeterministic),
        }
    }

    /// Returns shuttle's random numbers, which depend on the seed alone (SplitMix64).
    fn next_u64(&mut self) -> u64 {
        if let Some(state) = &mut self.state {
            state.random = true;
            state.draws = true;
            state.memory.is_unseen = true;
        }
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    }
}
