//! The interface of the scheduler to its drivers: situations, choices, finished executions.

use std::panic::Location;

use snapshot_core::observation::{Event, Thread};

use crate::schedule::Schedule;
use crate::subject::Answer;
use crate::trace::Trace;
use crate::unordered::Line;

/// A point at which a thread must be chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'t> {
    /// Threads that can run.
    pub(crate) enabled: u16,
    /// Thread that ran last, unless it has finished.
    pub(crate) current: Option<Thread>,
    /// Number of calls and returns so far.
    pub(crate) events: usize,
    /// True if the thread that ran last is inside an operation.
    pub(crate) inside: bool,
    /// True if this thread lets others run first.
    pub(crate) yielding: bool,
    /// True if it returned from an operation in its last step.
    pub(crate) returned: bool,
    /// True if it unwinds a panic, and so must run next.
    pub(crate) unwinding: bool,
    /// True if shared memory may have changed in its last step.
    pub(crate) changed: bool,
    /// Line of its next step, if that is an access of plain memory.
    pub(crate) plain: Option<Line>,
    /// Trace of the steps so far.
    pub(crate) trace: &'t Trace,
}

/// Decision of a driver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Choice {
    /// Runs this thread, which can run.
    Run(Thread),
    /// Ends the execution as stuck.
    Stuck,
    /// Ends it as stuck, because all threads that can run only spin.
    Spinning,
    /// The same choices led to another situation than before.
    Diverged,
}

/// Reason why an execution was abandoned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Abandonment {
    /// Too many steps without call or return.
    Diverging,
    /// The subject spawned threads.
    Foreign,
    /// A thread that locked a lock twice released others, or one blocked while unwinding.
    Unwinding,
    /// The same choices led to another situation than before.
    Nondeterministic,
    /// It is stuck while a wait with a time limit is open, which never times out here.
    Timed,
    Cancelled,
}

/// End of an execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Full,
    Stuck,
    Abandoned(Abandonment),
}

/// A finished execution.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) events: Vec<Event<Answer>>,
    pub(crate) end: End,
    pub(crate) schedule: Schedule,
    pub(crate) steps: u64,
    /// True if random numbers were drawn.
    pub(crate) random: bool,
    /// True if it is stuck because all threads that can run only spin. Its schedule ends where they
    /// begin to spin.
    pub(crate) spins: bool,
    /// True if some of its threads did not finish: their memory is leaked.
    pub(crate) left_behind: bool,
    /// Threads that wait at its end, if it is stuck.
    pub(crate) waiting: Vec<Waiting>,
    /// Lines of accesses of plain memory that nothing orders.
    pub(crate) unordered: Vec<(Line, Line)>,
}

/// A thread that waits inside an operation.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) thread: Thread,
    pub(crate) place: &'static Location<'static>,
    /// The thread that holds the lock it waits for, if it is known, and the line that took it.
    pub(crate) lock: Option<(Option<Thread>, &'static Location<'static>)>,
}

/// Enumerates executions.
pub(crate) trait Driver {
    /// Starts the next execution, if any; returns the seed of its random numbers.
    fn begin(&mut self) -> Option<u64>;
    /// Returns the thread that runs next, where at least one can run.
    fn choose(&mut self, situation: &Situation<'_>) -> Choice;
    /// Reports a finished execution.
    fn end(&mut self, execution: Execution);
}
