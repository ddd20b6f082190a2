//! Unbounded recordings, judged while they are being made.
//!
//! Memory stays bounded since the past is cut off: at an instant at which no operation of an object
//! is open and none has an unknown outcome, all its earlier operations precede all later ones. If
//! the past is linearizable, the whole is linearizable iff the future is, begun with the values of
//! the last updates: any order has the past first, and the updates of a segment, which precede each
//! other as one process makes them, leave the value of the last one. So the object's judge starts
//! afresh there. Such instants of all objects are a [`Checkpoint`], from which a process that was
//! killed resumes with the same answers: it reads from the earliest of them on, and each object
//! skips the events that it has taken.
//!
//! If an object has no such instant (an outcome is lost forever, several processes update a
//! segment), nothing is cut off; the monitor's own memory is bounded by concurrency, and the events
//! that explain a violation are kept up to a limit.
//!
//! | module | contents |
//! | --- | --- |
//! | `judge` | the interface of the judge of one object |
//! | `object` | the judge of one snapshot |
//! | `exchanges` | the judge of one immediate snapshot |
//! | `share` | some of the objects, each judged to its own first violation |
//! | `crew` | threads, each with shares of the inputs |
//! | `intake` | the path of an input to the threads |
//! | `owner` | the share that an object belongs to |
//! | `checkpoint`, `checkpoints` | checkpoints of one input and of several, as a file |
//! | `answer` | the answer for one object |
//! | `summary` | the final answer for all objects |
//! | `source` | endless inputs |

mod answer;
mod checkpoint;
mod checkpoints;
mod exchanges;
mod intake;
mod judge;
mod object;
mod owner;
mod partition;
mod source;
mod summary;
mod worker_pool;

use std::io::Read;

use snapshot_core::check::counted;
use snapshot_core::history::Declaration;

pub use self::answer::Answer;
pub use self::checkpoint::{Checkpoint, CheckpointError, Ended, Saved};
pub use self::checkpoints::{Checkpoints, NamedCheckpoint};
pub use self::exchanges::Exchanges;
pub use self::intake::{Emptied, Intake, Outbox, Routed, Router};
pub use self::judge::{ErrorOf, EventOf, Judge};
use self::object::MOST_KEPT;
pub use self::object::Snapshots;
pub use self::owner::owner;
pub use self::partition::Partition;
pub use self::source::{Follow, Interruptible, Listen};
pub use self::summary::{End, InputStanding, Standing, Summary, title};
pub use self::worker_pool::{AlarmSink, DuplicateKey, WorkerPool};
use crate::Value;
use crate::format::{Format, Location, NamesSoFar, Reader};
use crate::judge::Options;
use crate::kind::SnapshotKind;

/// Events of an object after which its past is cut off, where it can be.
const PART: usize = 1 << 14;

/// The state of a judgement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// The events so far are linearizable.
    Fine,
    /// The events are undecided, since values repeat; an exact search may decide them.
    Undecided,
    /// No order explains it.
    Violation,
}

/// Judges a recording event by event, up to the first violation.
pub struct Live<J = Snapshots> {
    format: Format,
    declaration: Declaration<Value>,
    names: NamesSoFar,
    /// True if the header declares the names of processes, of segments.
    are_declared: (bool, bool),
    share: Partition<J>,
    /// The number of the violated object.
    violated: Option<usize>,
}

impl<J: Judge> Live<J> {
    /// Creates a monitor without events. Of `options`, the budgets of an exact search matter.
    pub fn new(format: Format, declaration: Declaration<Value>, options: Options) -> Self {
        let share = Partition::new(format, declaration.clone(), options, (PART, MOST_KEPT));
        let names = NamesSoFar::default();
        Self { format, declaration, names, are_declared: (false, false), share, violated: None }
    }

    /// Sets the names of processes and segments to those of the reader of the events.
    #[must_use]
    pub fn with_names_of<R>(self, reader: &Reader<R>) -> Self
    where
        R: Read,
    {
        let (names, are_declared) = (reader.names(), reader.are_declared());
        let share = self.share.with_names(names.clone());
        Self { names, are_declared, share, ..self }
    }

    /// Resumes at a checkpoint: the input must begin there.
    ///
    /// # Errors
    /// If the checkpoint holds invalid state, or objects that have ended.
    pub fn resume(checkpoint: &Checkpoint, options: Options) -> Result<Self, CheckpointError> {
        let format = checkpoint.input_format().ok_or(CheckpointError::Version)?;
        let mut live = Self::new(format, checkpoint.declaration(), options);
        live.share.begin_behind(checkpoint.bytes, checkpoint.lines);
        for saved in &checkpoint.objects {
            if saved.ended.is_some() {
                return Err(CheckpointError::All);
            }
            live.share.resume(saved)?;
        }
        Ok(live)
    }

    /// Sets the number of events after which the past of an object is cut off, where it can be; by
    /// default 16,384, which costs little.
    #[must_use]
    pub fn cutting_after(mut self, events: usize) -> Self {
        self.share.cut_after(events);
        self
    }

    /// Number of events so far, including those before the checkpoint.
    pub fn events(&self) -> u64 {
        self.share.events()
    }

    /// Number of objects so far.
    pub fn objects(&self) -> usize {
        self.share.objects()
    }

    /// Number of operations that neither responded nor failed.
    pub fn pending(&self) -> u64 {
        self.share.pending()
    }

    pub fn state(&self) -> State {
        match self.violated {
            Some(_) => State::Violation,
            None if self.share.undecided().next().is_some() => State::Undecided,
            None => State::Fine,
        }
    }

    /// Takes the next event, of the object with this key, which has this number in the reader.
    /// Returns true if it completes a violation.
    ///
    /// # Errors
    /// If no history can have this event here.
    pub fn observe(
        &mut self,
        key: Option<(usize, &Value)>,
        location: Location,
        event: &EventOf<'_, J>,
    ) -> Result<bool, ErrorOf<J>> {
        let violated = self.share.observe(key, location, event)?;
        self.violated = self.violated.or(violated);
        Ok(self.violated.is_some())
    }

    /// Returns a checkpoint, if the next event of the input begins here. Cuts off pasts where
    /// possible. O(objects).
    ///
    /// # Errors
    /// Never, since admitted events contradict nothing.
    pub fn checkpoint(&mut self, location: Location) -> Result<Checkpoint, ErrorOf<J>> {
        let violated = self.share.cut(location)?;
        self.violated = self.violated.or(violated.first().copied());
        let kind = (self.format, J::Kind::OBJECT);
        let (at, objects) = (self.share.place(location), self.share.save(location));
        let checkpoint = Checkpoint::at(at, kind, &self.declaration, objects);
        Ok(checkpoint.with_names(&self.names.get(), self.are_declared))
    }

    /// Returns the report for human readers, with the argument of a violation, and a line on the
    /// rest; and the exit code. `name` is the input's.
    pub fn report(&self, name: &str) -> (String, u8) {
        let (events, open) = (self.events(), self.pending());
        let fine = J::Kind::OBJECT.criterion();
        let of = match self.objects() {
            0 | 1 => String::new(),
            many => format!(" of {many} objects"),
        };
        if self.state() == State::Fine {
            let text = format!("{name}: {fine} so far ({})\n", summary::sized(events, &of, open));
            return (text, 0);
        }
        let wanted: Vec<usize> = match self.violated {
            Some(violated) => vec![violated],
            None => self.share.undecided().collect(),
        };
        let mut text = String::new();
        let mut code = 0;
        for number in wanted {
            let answer = self.share.answer(number);
            text.push_str(&answer.human(name));
            // A violation first, then undecided objects.
            let worse = answer.code();
            code = if code == 1 || worse == 1 { 1 } else { code.max(worse) };
        }
        if code == 0 {
            let events = counted(events, "event", "events");
            text += &format!("{name}: {fine} ({events}{of})\n");
        }
        (text, code)
    }
}
