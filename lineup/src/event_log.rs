//! Event log of an execution: the calls and returns of its threads.
//!
//! It is outside the control of the scheduler, so that recording is not a step: the lock is never
//! held where a thread can be switched.

use snapshot_core::observation::{Event, Thread};

use crate::subject::Answer;

/// State of a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// Before its first operation or between two.
    Between,
    /// Called an operation that has not returned.
    Inside,
    /// Finished.
    Done,
}

/// Event log and state of one execution.
#[derive(Debug)]
pub(crate) struct EventLog {
    pub(crate) events: Vec<Event<Answer>>,
    pub(crate) phases: [Phase; Thread::LIMIT + 1],
    /// Number of returns.
    pub(crate) returns: u32,
    /// Task numbers of the threads, by thread; filled while they are spawned.
    pub(crate) tasks: [Option<u32>; Thread::LIMIT + 1],
    /// True if all threads are spawned.
    pub(crate) started: bool,
    /// True if no thread can run: threads outside operations must end.
    pub(crate) is_stuck: bool,
}

impl EventLog {
    pub(crate) const fn new() -> Self {
        Self {
            events: Vec::new(),
            phases: [Phase::Done; Thread::LIMIT + 1],
            returns: 0,
            tasks: [None; Thread::LIMIT + 1],
            started: false,
            is_stuck: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn register(&mut self, thread: Thread, task: usize) {
        self.tasks[thread.index()] = Some(task as u32);
        self.phases[thread.index()] = Phase::Between;
    }

    pub(crate) fn call(&mut self, thread: Thread) {
        self.phases[thread.index()] = Phase::Inside;
        self.events.push(Event::Call(thread));
    }

    pub(crate) fn answer(&mut self, thread: Thread, answer: Answer, last: bool) {
        self.phases[thread.index()] = if last { Phase::Done } else { Phase::Between };
        self.returns += 1;
        self.events.push(Event::Return(thread, answer));
    }

    pub(crate) fn all_done(&self) -> bool {
        self.phases.iter().all(|phase| *phase == Phase::Done)
    }

    /// Returns true if the main task may end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_stuck || self.all_done()
    }

    /// Returns the thread of a task.
    pub(crate) fn thread(&self, task: usize) -> Option<Thread> {
        self.tasks.iter().position(|t| *t == Some(task as u32)).map(Thread::from_index)
    }
}
