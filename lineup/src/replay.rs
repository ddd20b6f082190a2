//! Execution of one schedule.

use std::collections::BTreeMap;
use std::panic::Location;
use std::path::Path;

use backtrace::Backtrace;
use snapshot_core::observation::{ConcurrentHistory, Shape, Thread};

use crate::driver::{Choice, Driver, End, Execution, Situation, Waiting};
use crate::schedule::Schedule;
use crate::search::{Kind, Search};
use crate::spin::{Diverging, Spin};
use crate::subject::Answer;

/// A switch from one thread to another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Switch {
    /// Number of events before the switch.
    pub events: usize,
    /// The thread that ran.
    pub from: Thread,
    /// The thread that runs next.
    pub to: Thread,
    /// Next step of the first thread, inside an operation, if the program's debugging information
    /// tells: a function, and a line of a file with line tables.
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

/// Result of executing a schedule.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The history, unless the execution was abandoned.
    pub history: Option<ConcurrentHistory<Answer>>,
    /// The first part of the schedule, from 0, that could not be followed: from there on each
    /// thread ran as long as it could.
    pub diverged: Option<usize>,
    /// Switches between threads.
    pub switches: Vec<Switch>,
    /// The spinning threads of an execution that counts as stuck, each with its location.
    pub spinning: Vec<(Thread, Option<Place>)>,
    /// The waiting threads of a stuck execution, as far as they wait in items of [`crate::sync`] or
    /// of the stand-in for `std`.
    pub waiting: Vec<Wait>,
}

/// A thread that waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wait {
    /// The thread.
    pub thread: Thread,
    /// File and line at which it waits.
    pub place: (String, u32),
    /// The lock that it waits for: the thread that holds it, if it belongs to the test, and the file
    /// and line that took it.
    pub lock: Option<(Option<Thread>, (String, u32))>,
}

impl From<Waiting> for Wait {
    fn from(waiting: Waiting) -> Self {
        let lock = waiting.lock.map(|(thread, place)| (thread, line(place)));
        Self { thread: waiting.thread, place: line(waiting.place), lock }
    }
}

/// Returns the file and line of a location.
pub(crate) fn line(place: &Location<'_>) -> (String, u32) {
    let here = std::env::current_dir().unwrap_or_default();
    (shortened(Path::new(place.file()), &here).display().to_string(), place.line())
}

/// Driver that follows a schedule.
pub(crate) struct Replay {
    shape: Shape,
    schedule: Schedule,
    done: Schedule,
    part: usize,
    started: bool,
    replayed: Replayed,
    /// Stack of the stopped thread, for switches inside operations, by their number.
    stacks: Vec<(usize, Backtrace)>,
    /// Search that continues after the schedule where threads spin.
    tail: Option<Search>,
    /// Stacks of the threads in the first steps of `tail`.
    spinning: BTreeMap<Thread, Backtrace>,
    looks: u32,
}

/// Number of steps of the tail in which stacks are recorded.
const LOOKS: u32 = 200;

impl Replay {
    pub(crate) fn new(shape: Shape, schedule: Schedule, diverging: Diverging, spin: Spin) -> Self {
        let fair = Kind::Concurrent { most: Some(0), reduces: false };
        Self {
            tail: (diverging == Diverging::Stuck).then(|| Search::new(fair, spin)),
            spinning: BTreeMap::new(),
            looks: 0,
            shape,
            schedule,
            done: Schedule(Vec::new()),
            part: 0,
            started: false,
            replayed: Replayed {
                history: None,
                diverged: None,
                switches: Vec::new(),
                spinning: Vec::new(),
                waiting: Vec::new(),
            },
            stacks: Vec::new(),
        }
    }

    /// Returns the result, without the locations of switches.
    pub(crate) fn finish(self) -> Replayed {
        self.replayed
    }

    /// Returns the result with the locations. This reads debugging information, which can take
    /// seconds, the first time: so it must not happen during the watched execution.
    pub(crate) fn finish_with_places(mut self) -> Replayed {
        for (switch, stack) in &mut self.stacks {
            stack.resolve();
            self.replayed.switches[*switch].place = place(stack);
        }
        for (thread, mut stack) in std::mem::take(&mut self.spinning) {
            stack.resolve();
            self.replayed.spinning.push((thread, place(&stack)));
        }
        self.replayed
    }

    /// Returns the thread that the schedule chooses next.
    fn wanted(&mut self) -> Option<Thread> {
        if self.done.0.len() == self.part + 1
            && self.done.0.last() == self.schedule.0.get(self.part)
        {
            self.part += 1;
        }
        self.schedule.0.get(self.part).map(|segment| segment.thread)
    }
}

impl Driver for Replay {
    fn begin(&mut self) -> Option<u64> {
        (!std::mem::replace(&mut self.started, true)).then_some(0)
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Choice {
        self.done.returned(situation.returned);
        let can = |thread: &Thread| situation.enabled >> thread.index() & 1 == 1;
        let wanted = if self.replayed.diverged.is_none() { self.wanted() } else { None };
        if self.part == self.schedule.0.len()
            && self.replayed.diverged.is_none()
            && let Some(tail) = &mut self.tail
        {
            if let Some(thread) = situation.current.filter(|_| situation.inside)
                && self.looks < LOOKS
            {
                self.looks += 1;
                self.spinning.insert(thread, Backtrace::new_unresolved());
            }
            return tail.choose(situation);
        }
        let thread = wanted.filter(can).or_else(|| {
            self.replayed.diverged.get_or_insert(self.part);
            let lowest = Thread::from_index(situation.enabled.trailing_zeros() as usize);
            Some(situation.current.filter(can).unwrap_or(lowest))
        });
        let Some(thread) = thread else { return Choice::Stuck };
        if let Some(from) = situation.current.filter(|from| *from != thread) {
            if situation.inside {
                self.stacks.push((self.replayed.switches.len(), Backtrace::new_unresolved()));
            }
            let events = situation.events;
            self.replayed.switches.push(Switch { events, from, to: thread, place: None });
        }
        self.done.note(thread);
        Choice::Run(thread)
    }

    fn end(&mut self, execution: Execution) {
        if !execution.spins {
            self.spinning.clear();
            self.replayed.waiting = execution.waiting.into_iter().map(Wait::from).collect();
        }
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

/// Returns the location of the running thread: the innermost function that called into shuttle,
/// outside shuttle, the stand-ins for the standard library and the library itself.
fn place(trace: &Backtrace) -> Option<Place> {
    let mut in_shuttle = false;
    for symbol in trace.frames().iter().flat_map(|frame| frame.symbols()) {
        let Some(name) = symbol.name() else { continue };
        let name = format!("{name:#}");
        match Owner::new(&name, symbol.filename()) {
            Owner::Shuttle => in_shuttle = true,
            Owner::Other if in_shuttle => {
                let here = std::env::current_dir().unwrap_or_default();
                let file =
                    symbol.filename().map(|file| shortened(file, &here).display().to_string());
                return Some(Place { function: name, line: file.zip(symbol.lineno()) });
            }
            Owner::Standard | Owner::Other => {}
        }
    }
    None
}

/// Returns the path from the current directory, or, in cargo's registry, from the crate's
/// directory.
fn shortened<'p>(file: &'p Path, here: &Path) -> &'p Path {
    let is = |path: Option<&Path>, name| path.and_then(Path::file_name).is_some_and(|n| n == name);
    let registry = file.ancestors().find(|path| {
        let parent = path.parent();
        is(parent, "src") && is(parent.and_then(Path::parent), "registry")
    });
    let base = registry.unwrap_or(here);
    file.strip_prefix(base).unwrap_or(file)
}

/// Origin of a frame's code.
#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Shuttle,
    Standard,
    Other,
}

impl Owner {
    /// Decides by the path in the function's name if it has one, else by the source file: with line
    /// tables as the only debugging information, the name of an inlined function is only `lock<T>`;
    /// without debugging information, there is a path and no file.
    fn new(name: &str, file: Option<&Path>) -> Self {
        let of = |crates: &[&str]| {
            let name = name.strip_prefix('<').unwrap_or(name);
            crates.iter().any(|of| name.starts_with(of))
        };
        let folder = |is: &dyn Fn(&str) -> bool| {
            file.is_some_and(|file| {
                file.components().any(|part| part.as_os_str().to_str().is_some_and(is))
            })
        };
        let stand_in = file.is_some_and(|file| {
            let parts: Vec<_> = file.components().map(|part| part.as_os_str()).collect();
            parts.windows(3).any(|parts| parts == ["lineup", "std", "src"])
        });
        if of(&["shuttle", "lineup_std"])
            || stand_in
            || folder(&|part| part.starts_with("shuttle-"))
        {
            Self::Shuttle
        } else if of(&["core::", "std::", "alloc::", "scoped_tls::"])
            || folder(&|part| part == "rustc" || part.starts_with("scoped-tls-"))
        {
            Self::Standard
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        let here = Path::new("/home/u/project");
        let short = |file| shortened(Path::new(file), here).display().to_string();
        assert_eq!(short("/home/u/project/src/queue.rs"), "src/queue.rs");
        assert_eq!(
            short("/home/u/.cargo/registry/src/index-1/queue-0.3.1/src/array.rs"),
            "queue-0.3.1/src/array.rs"
        );
        assert_eq!(short("/elsewhere/a.rs"), "/elsewhere/a.rs");
    }

    #[test]
    fn frames_belong_to_a_crate_by_path_or_by_file() {
        let of = |name, file: &str| Owner::new(name, Some(Path::new(file)));
        let registry = "/home/u/.cargo/registry/src/index/shuttle-0.8.1/src/sync/mutex.rs";
        assert_eq!(of("lock<usize>", registry), Owner::Shuttle);
        assert_eq!(Owner::new("<shuttle::sync::Mutex<T>>::lock", None), Owner::Shuttle);
        assert_eq!(Owner::new("shuttle[1f3a]::sync::Mutex", None), Owner::Shuttle);
        assert_eq!(of("load", "/home/u/lineup/std/src/sync/atomic.rs"), Owner::Shuttle);
        assert_eq!(Owner::new("lineup_std::control::step", None), Owner::Shuttle);
        assert_eq!(of("call_once<F>", "/rustc/59807/library/core/src/ops.rs"), Owner::Standard);
        assert_eq!(Owner::new("<core::pin::Pin<P>>::poll", None), Owner::Standard);
        assert_eq!(of("call", "lineup/src/subjects/counter.rs"), Owner::Other);
    }
}
