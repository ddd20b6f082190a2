//! Executing one schedule.

use backtrace::Backtrace;
use snapshot_core::observation::{ConcurrentHistory, Shape, Thread};

use crate::control::{Choice, Driver, End, Execution, Situation};
use crate::schedule::Schedule;
use crate::subject::Answer;

/// A place where one thread was switched away from and another went on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Switch {
    /// Number of events before.
    pub events: usize,
    /// The thread that ran.
    pub from: Thread,
    /// The thread that runs next.
    pub to: Thread,
    /// Where the first one is, inside an operation, if its program says: a function, and
    /// a line of a file if it was built with line tables. It is about to take the step that
    /// stands there.
    pub place: Option<Place>,
}

/// A place in a program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The function.
    pub function: String,
    /// The file and the line.
    pub line: Option<(String, u32)>,
}

/// What became of a schedule.
#[derive(Clone, Debug)]
pub struct Replayed<R> {
    /// The history, unless the execution could not be brought to its end.
    pub history: Option<ConcurrentHistory<Answer<R>>>,
    /// The part of the schedule, from 0, that could not be followed: from there on each
    /// thread went on as long as it could.
    pub diverged: Option<usize>,
    /// Where threads were switched.
    pub switches: Vec<Switch>,
}

/// The driver that follows a schedule.
pub(crate) struct Replay<R> {
    shape: Shape,
    schedule: Schedule,
    done: Schedule,
    part: usize,
    started: bool,
    replayed: Replayed<R>,
}

impl<R> Replay<R> {
    pub(crate) const fn new(shape: Shape, schedule: Schedule) -> Self {
        Self {
            shape,
            schedule,
            done: Schedule(Vec::new()),
            part: 0,
            started: false,
            replayed: Replayed { history: None, diverged: None, switches: Vec::new() },
        }
    }

    pub(crate) fn finish(self) -> Replayed<R> {
        self.replayed
    }

    /// The thread that the schedule wants, after what was done.
    fn wanted(&mut self) -> Option<Thread> {
        if self.done.0.len() == self.part + 1
            && self.done.0.last() == self.schedule.0.get(self.part)
        {
            self.part += 1;
        }
        self.schedule.0.get(self.part).map(|segment| segment.thread)
    }
}

impl<R> Driver<R> for Replay<R> {
    fn begin(&mut self) -> Option<u64> {
        (!std::mem::replace(&mut self.started, true)).then_some(0)
    }

    fn choose(&mut self, situation: &Situation) -> Choice {
        self.done.returned(situation.returned);
        let can = |thread: &Thread| situation.enabled >> thread.index() & 1 == 1;
        let wanted = if self.replayed.diverged.is_none() { self.wanted() } else { None };
        let thread = wanted.filter(can).or_else(|| {
            self.replayed.diverged.get_or_insert(self.part);
            let lowest = Thread::from_index(situation.enabled.trailing_zeros() as usize);
            Some(situation.current.filter(can).unwrap_or(lowest))
        });
        let Some(thread) = thread else { return Choice::Stuck };
        if let Some(from) = situation.current.filter(|from| *from != thread) {
            let place = if situation.inside { place() } else { None };
            let events = situation.events;
            self.replayed.switches.push(Switch { events, from, to: thread, place });
        }
        self.done.note(false, thread);
        Choice::Run(thread)
    }

    fn end(&mut self, execution: Execution<R>) {
        if execution.schedule != self.schedule {
            self.replayed.diverged.get_or_insert(self.part);
        }
        if !matches!(execution.end, End::Abandoned(_)) {
            let stuck = execution.end == End::Stuck;
            self.replayed.history =
                ConcurrentHistory::new(&self.shape, execution.events, stuck).ok();
        }
    }
}

/// Where the running thread is: the innermost function that is not of shuttle.
fn place() -> Option<Place> {
    let trace = Backtrace::new();
    let mut in_shuttle = false;
    for symbol in trace.frames().iter().flat_map(|frame| frame.symbols()) {
        let Some(name) = symbol.name() else { continue };
        let name = format!("{name:#}");
        let of = |names: &[&str]| {
            names.iter().any(|n| name.starts_with(n) || name.starts_with(&format!("<{n}")))
        };
        if of(&["shuttle"]) {
            in_shuttle = true;
        } else if in_shuttle && !of(&["core::", "std::", "alloc::", "scoped_tls::"]) {
            let file = symbol.filename().map(|file| file.display().to_string());
            return Some(Place { function: name, line: file.zip(symbol.lineno()) });
        }
    }
    None
}
