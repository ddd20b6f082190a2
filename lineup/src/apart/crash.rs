//! Executions that end the process.

use snapshot_core::observation::{Event, Thread};

use super::record::Note;
use super::supervisor::Ended;
use crate::replay::{Place, Switch};
use crate::schedule::Schedule;
use crate::subject::Text;

/// An execution that ends the process: by a signal, or by a call of [`std::process::exit`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Crash {
    /// Signal, or exit status.
    pub ended: String,
    /// The thread that ran.
    pub thread: Option<Thread>,
    /// File and line of its last step, if that is a step of [`crate::sync`] or of the stand-in for
    /// `std`.
    pub place: Option<(String, u32)>,
    /// Calls and returns before, with answers as texts.
    pub events: Vec<Event<Text>>,
    /// Switches between threads.
    pub switches: Vec<Switch>,
    /// Schedule that reproduces it.
    pub schedule: Schedule,
    /// The first panic that the running operation had not caught, with its place.
    pub panic: Option<String>,
    /// The last lines that the process wrote to standard error.
    pub output: Vec<String>,
}

impl Crash {
    /// Reads a crash from the record of its steps.
    pub(super) fn new(ended: &Ended) -> Self {
        let mut crash = Self {
            ended: ended.name.clone(),
            thread: None,
            place: None,
            events: Vec::new(),
            switches: Vec::new(),
            schedule: Schedule::default(),
            panic: None,
            output: ended.output.clone(),
        };
        let mut returned = false;
        for note in &ended.notes {
            match note {
                Note::Runs { thread, at, stopped } => {
                    crash.schedule.returned(std::mem::take(&mut returned));
                    let to = Thread::from_index(*thread);
                    crash.schedule.note(to);
                    if let Some(from) = crash.thread.replace(to).filter(|from| *from != to) {
                        let place = stopped.clone();
                        let place =
                            place.map(|line| Place { function: String::new(), line: Some(line) });
                        let events = crash.events.len();
                        crash.switches.push(Switch { events, from, to, place });
                    }
                    crash.place.clone_from(at);
                }
                Note::Calls(thread) => {
                    crash.panic = None;
                    crash.events.push(Event::Call(Thread::from_index(*thread)));
                }
                Note::Returns(thread, answer) => {
                    (returned, crash.panic) = (true, None);
                    let answer = Text(answer.clone());
                    crash.events.push(Event::Return(Thread::from_index(*thread), answer));
                }
                Note::Panics(text) => {
                    crash.panic.get_or_insert_with(|| text.clone());
                }
                _ => {}
            }
        }
        crash.schedule.returned(returned);
        crash
    }

    /// Returns true if both end in the same way, after the same calls and returns.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.ended, self.thread, &self.events) == (&other.ended, other.thread, &other.events)
    }

    /// Returns the number of switches inside operations.
    pub(crate) fn preemptions(&self) -> u32 {
        self.switches.iter().map(|switch| u32::from(switch.place.is_some())).sum()
    }

    /// Returns the number of calls of the running thread, if it has not returned from the last one.
    pub(crate) fn open(&self) -> Option<(Thread, usize)> {
        let thread = self.thread?;
        let of = self.events.iter().filter(|event| event.thread() == thread);
        let calls = of.clone().filter(|event| matches!(event, Event::Call(_))).count();
        (2 * calls > of.count()).then_some((thread, calls))
    }
}
