//! The scheduler given to shuttle: from its tasks to the threads of a test.
//!
//! Task 0 makes the object, spawns the threads and waits. It runs alone until all are
//! spawned, and again when no thread is left that could: so shuttle never takes an
//! execution in which all threads are blocked for a failure, and *stuck* is exact: no
//! thread can run and not all are done. The initial sequence runs before the columns, the
//! final one after them. What remains to be chosen is asked of a [`Driver`].

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shuttle::scheduler::{Schedule as TaskSchedule, Scheduler, Task, TaskId};
use snapshot_core::observation::{Event, Thread};

use crate::board::{Board, Phase};
use crate::execution::Watch;
use crate::schedule::{Schedule, Segment};
use crate::subject::Answer;

/// Where a thread must be chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// The threads that can run.
    pub(crate) enabled: u16,
    /// The thread that ran last, unless it is done.
    pub(crate) current: Option<Thread>,
    /// Number of calls and returns so far.
    pub(crate) events: usize,
    /// Whether the thread that ran last is inside an operation.
    pub(crate) inside: bool,
    /// Whether it asks that others go first.
    pub(crate) yielding: bool,
    /// Whether it returned from an operation in its last step.
    pub(crate) returned: bool,
    /// Whether it unwinds a panic, and so must go on.
    pub(crate) unwinding: bool,
    /// Whether shared memory may have changed in its last step.
    pub(crate) changed: bool,
}

/// What a driver wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Choice {
    /// This thread, which can run.
    Run(Thread),
    /// The execution ends here, stuck.
    Stuck,
    /// The same, since the threads that could go on only spin.
    Spinning,
    /// The same choices led elsewhere than before.
    Diverged,
}

/// Why an execution was not brought to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Abandonment {
    /// Too many steps without call or return.
    Diverging,
    /// The subject spawned a thread of its own.
    Foreign,
    /// A thread that locked a lock twice released others, or one blocked while unwinding.
    Unwinding,
    /// The same choices led elsewhere than before.
    Nondeterministic,
    /// It is stuck while a wait with a time limit is open, which never times out here.
    Timed,
    /// The check is to end.
    Cancelled,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Full,
    Stuck,
    Abandoned(Abandonment),
}

/// An execution that is over.
#[derive(Debug)]
pub(crate) struct Execution<R> {
    pub(crate) events: Vec<Event<Answer<R>>>,
    pub(crate) end: End,
    pub(crate) schedule: Schedule,
    pub(crate) steps: u64,
    /// Whether random numbers were drawn.
    pub(crate) random: bool,
    /// Whether it is stuck since the threads that could go on only spin. Its schedule ends where
    /// they begin to.
    pub(crate) spins: bool,
    /// Whether threads of it were not brought to their end: what they own is never freed.
    pub(crate) left_behind: bool,
}

/// Decides which executions there are.
pub(crate) trait Driver<R> {
    /// Starts the next execution, if there is one: the seed of its random numbers.
    fn begin(&mut self) -> Option<u64>;
    /// Which thread runs next, where at least one can.
    fn choose(&mut self, situation: &Situation) -> Choice;
    /// An execution is over.
    fn end(&mut self, execution: Execution<R>);
}

/// Seen from outside the thread that executes.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Number of steps.
    pub(crate) steps: AtomicU64,
    /// The check is to end.
    pub(crate) cancelled: AtomicBool,
    /// Between two executions: one is judged, which may take a while, and is no call.
    pub(crate) is_between: AtomicBool,
}

thread_local! {
    /// A panic says that a thread locked a lock that it holds; it is not caught yet.
    pub(crate) static RELOCKING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of the task that makes the object and the threads.
const MAIN: usize = 0;

/// The scheduler.
pub(crate) struct Control<R, D> {
    pub(crate) board: Arc<Mutex<Board<R>>>,
    pub(crate) driver: Arc<Mutex<D>>,
    pub(crate) pulse: Arc<Pulse>,
    /// Number of columns: their threads come first, then that of the initial and that of the
    /// final sequence.
    pub(crate) columns: usize,
    /// Steps without call or return after which an execution is given up.
    pub(crate) patience: u32,
    /// The threads of a stuck execution are unwound.
    pub(crate) unwind: bool,
    state: Option<State>,
    random: u64,
}

/// The execution that goes on.
struct State {
    schedule: Schedule,
    end: Option<End>,
    current: Option<Thread>,
    returns: u32,
    events: usize,
    idle: u32,
    steps: u64,
    random: bool,
    /// Number of tasks that were seen: all that there are, since each can run at first.
    tasks: usize,
    left_behind: bool,
    spins: bool,
    memory: Memory,
    /// The schedule until the last call, return or change: its number of parts, and the last one.
    last_change: (usize, Option<Segment>),
}

/// What is known of changes of shared memory, where the stand-in for `std` makes them.
struct Memory {
    steps: u64,
    changes: u64,
    /// The last step is none of the stand-in's: whatever it changes is not counted.
    is_unseen: bool,
}

impl Memory {
    fn new() -> Self {
        let (steps, changes) = (lineup_std::control::steps(), lineup_std::control::changes());
        Self { steps, changes, is_unseen: false }
    }

    /// Whether the step that is over may have changed shared memory; the next one begins with a
    /// yield, or not.
    fn may_have_changed(&mut self, is_yielding: bool) -> bool {
        let now = Self::new();
        let changed = self.is_unseen || now.changes != self.changes;
        let is_unseen = !is_yielding && now.steps == self.steps;
        *self = Self { is_unseen, ..now };
        changed
    }
}

impl State {
    /// The schedule until the threads began to spin.
    fn without_spin(&mut self) {
        let (parts, last) = self.last_change;
        self.schedule.0.truncate(parts);
        if let (Some(place), Some(last)) = (self.schedule.0.last_mut(), last) {
            *place = last;
        }
        self.spins = true;
    }

    /// What goes on once an execution is stuck: the threads outside operations, which end, and
    /// then, if those inside are to be unwound, the main task. It is the end of an execution for
    /// shuttle only if no thread of the object's own may wait, which nothing would end.
    fn ending<R>(&mut self, tasks: &[&Task], board: &Board<R>, unwind: bool) -> Option<TaskId> {
        let mut runnable = tasks.iter().filter(|task| task.runnable()).map(|task| task.id());
        let is_outside = |task: &TaskId| {
            let thread = board.thread(usize::from(*task));
            thread.is_some_and(|thread| board.phases[thread.index()] != Phase::Inside)
        };
        if let Some(task) = runnable.clone().find(is_outside) {
            return Some(task);
        }
        let threads = board.tasks.iter().flatten().count();
        let main = runnable.find(|task| usize::from(*task) == MAIN && unwind);
        let main = main.filter(|_| self.tasks == threads + 1);
        self.left_behind = main.is_none();
        main
    }
}

impl<R, D: Driver<R>> Control<R, D> {
    pub(crate) const fn new(
        board: Arc<Mutex<Board<R>>>,
        driver: Arc<Mutex<D>>,
        pulse: Arc<Pulse>,
        columns: usize,
        watch: &Watch,
    ) -> Self {
        let (patience, unwind) = (watch.patience, watch.unwind);
        Self { board, driver, pulse, columns, patience, unwind, state: None, random: 0 }
    }

    /// The threads of those given which may run in this stage.
    const fn stage(&self, runnable: u16, phases: &[Phase; Thread::LIMIT + 1]) -> u16 {
        let columns = (1_u16 << self.columns) - 1;
        let initial = 1_u16 << self.columns;
        if !matches!(phases[self.columns], Phase::Done) {
            return runnable & initial;
        }
        let mut t = 0;
        while t < self.columns {
            if !matches!(phases[t], Phase::Done) {
                return runnable & columns;
            }
            t += 1;
        }
        runnable & !columns & !initial
    }
}

impl<R, D: Driver<R>> Scheduler for Control<R, D> {
    fn new_execution(&mut self) -> Option<TaskSchedule> {
        self.pulse.is_between.store(true, Ordering::Relaxed);
        let mut board = lock(&self.board);
        let mut driver = lock(&self.driver);
        if let Some(mut state) = self.state.take() {
            state.schedule.returned(board.returns > state.returns);
            driver.end(Execution {
                events: std::mem::take(&mut board.events),
                end: state.end.unwrap_or(End::Abandoned(Abandonment::Foreign)),
                schedule: state.schedule,
                steps: state.steps,
                random: state.random,
                spins: state.spins,
                left_behind: state.left_behind || state.end.is_none(),
            });
        }
        board.clear();
        lineup_std::control::begin();
        if self.pulse.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        self.random = driver.begin()?;
        self.state = Some(State {
            schedule: Schedule::default(),
            end: None,
            current: None,
            returns: 0,
            events: 0,
            idle: 0,
            steps: 0,
            random: false,
            tasks: 0,
            left_behind: false,
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
        let mut board = lock(&self.board);
        let main = TaskId::from(MAIN);
        let unwinding = std::thread::panicking();
        let columns = self.stage(u16::MAX, &board.phases);
        let unwind = self.unwind;
        let state = self.state.as_mut()?;
        state.tasks =
            tasks.iter().map(|task| usize::from(task.id()) + 1).fold(state.tasks, Ord::max);
        if state.end == Some(End::Stuck) {
            return state.ending(tasks, &board, unwind);
        }
        let mut abandon = |reason| {
            state.end.get_or_insert(End::Abandoned(reason));
            state.left_behind = true;
            None::<TaskId>
        };
        if unwinding && RELOCKING.get() {
            return abandon(Abandonment::Unwinding);
        }
        let (mut runnable, mut finishing, mut main_can, mut foreign) = (0_u16, None, false, false);
        for task in tasks.iter().filter(|task| task.runnable()) {
            match board.thread(task.id().into()) {
                Some(thread) if board.phases[thread.index()] == Phase::Done => {
                    finishing = Some(task.id());
                }
                Some(thread) => runnable |= 1 << thread.index(),
                None if task.id() == main => main_can = true,
                None => foreign = board.started,
            }
        }
        state.steps += 1;
        state.idle += 1;
        let mut changed = state.memory.may_have_changed(is_yielding);
        if board.events.len() > state.events {
            (state.events, state.idle, changed) = (board.events.len(), 0, true);
        }
        if self.pulse.cancelled.load(Ordering::Relaxed) {
            return abandon(Abandonment::Cancelled);
        }
        if state.idle > self.patience {
            return abandon(Abandonment::Diverging);
        }
        if foreign {
            return abandon(Abandonment::Foreign);
        }
        if !board.started {
            return if main_can { Some(main) } else { tasks.first().map(|task| task.id()) };
        }
        if finishing.is_some() {
            return finishing;
        }
        if board.all_done() {
            state.end.get_or_insert(End::Full);
            return Some(main);
        }
        let enabled = runnable & columns;
        let last = state.current;
        let mut situation = Situation {
            enabled,
            current: last.filter(|t| board.phases[t.index()] != Phase::Done),
            events: board.events.len(),
            inside: last.is_some_and(|t| board.phases[t.index()] == Phase::Inside),
            yielding: false,
            returned: board.returns > state.returns,
            unwinding,
            changed,
        };
        situation.yielding = is_yielding && situation.inside;
        state.returns = board.returns;
        state.schedule.returned(situation.returned);
        if changed {
            state.last_change = (state.schedule.0.len(), state.schedule.0.last().copied());
        }
        let mut stuck = |state: &mut State| {
            if lineup_std::control::timed_waits() > 0 {
                state.end = Some(End::Abandoned(Abandonment::Timed));
                state.left_behind = true;
                return None;
            }
            state.end = Some(End::Stuck);
            board.is_stuck = true;
            state.ending(tasks, &board, unwind)
        };
        if enabled == 0 {
            return stuck(state);
        }
        if unwinding && last.is_some_and(|t| enabled >> t.index() & 1 == 0) {
            return abandon(Abandonment::Unwinding);
        }
        match lock(&self.driver).choose(&situation) {
            Choice::Run(thread) => {
                state.schedule.note(thread);
                state.current = Some(thread);
                board.tasks[thread.index()].map(|task| TaskId::from(task as usize))
            }
            Choice::Stuck => stuck(state),
            Choice::Spinning => {
                state.without_spin();
                stuck(state)
            }
            Choice::Diverged => abandon(Abandonment::Nondeterministic),
        }
    }

    /// The random numbers of shuttle depend on the seed alone (SplitMix64).
    fn next_u64(&mut self) -> u64 {
        if let Some(state) = &mut self.state {
            state.random = true;
            state.memory.is_unseen = true;
        }
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    }
}
