//! Recordings that are judged while they are being made, for as long as that takes.
//!
//! Memory stays bounded since the past is cut off: at an instant at which no operation of an
//! object is open and none has an unknown outcome, all that happened to it precedes all that
//! will. If what came before is linearizable, the whole is iff what follows is, begun with
//! the values that the last updates left: any order has the first part first, and the
//! updates of a segment, which precede each other as one process makes them, leave the last
//! one's value. So the object's judge starts afresh there. Such instants of all objects are a
//! [`Checkpoint`], from which a process that was killed goes on with the same answers: it
//! reads on from the earliest of them, and each object leaves out what it has taken.
//!
//! Where an object has no such instant (an outcome is lost for ever, several processes update
//! a segment), nothing is cut off; the monitor's own memory is bounded by concurrency, and the
//! events that a violation would be explained from are kept up to a limit.
//!
//! | module | what it is |
//! | --- | --- |
//! | `judge` | what is needed of the judge of one object |
//! | `object` | the judge of one snapshot |
//! | `exchanges` | the judge of one immediate snapshot |
//! | `share` | some of the objects, each judged to its own first violation |
//! | `crew` | threads, each with shares of the inputs |
//! | `intake` | how an input comes to them |
//! | `owner` | which share an object belongs to |
//! | `checkpoint`, `checkpoints` | where to go on with one input, with several, as a file |
//! | `answer` | what is said of one object |
//! | `summary` | what is said of all objects at the end |
//! | `source` | inputs that have no end |

mod answer;
mod checkpoint;
mod checkpoints;
mod crew;
mod exchanges;
mod intake;
mod judge;
mod object;
mod owner;
mod share;
mod source;
mod summary;

use snapshot_core::check::counted;
use snapshot_core::history::Declaration;

pub use self::answer::Answer;
pub use self::checkpoint::{Checkpoint, CheckpointError, Ended, Held, Saved};
pub use self::checkpoints::{Checkpoints, NamedCheckpoint};
pub use self::crew::{Clash, Crew, Desk};
pub use self::exchanges::Exchanges;
pub use self::intake::{Dealer, Dealt, Emptied, Intake, Outbox};
pub use self::judge::{Judge, Next};
use self::object::MOST_KEPT;
pub use self::object::Snapshots;
pub use self::owner::owner;
pub use self::share::Share;
pub use self::source::{Follow, Interruptible, Listen};
pub use self::summary::{End, InputStanding, Standing, Summary, title};
use crate::Value;
use crate::format::{Format, Location};
use crate::judge::Options;

/// Events of an object after which its past is cut off, where it can be.
const PART: usize = 1 << 14;

/// What is known so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It is linearizable.
    Fine,
    /// It is not decided, since values repeat; an exact search may decide it.
    Undecided,
    /// No order explains it.
    Violation,
}

/// Judges a recording event by event, as far as to the first violation.
pub struct Live<J = Snapshots> {
    format: Format,
    declaration: Declaration<Value>,
    share: Share<J>,
    /// The object that is violated.
    violated: Option<usize>,
}

impl<J: Judge> Live<J> {
    /// Nothing has happened yet. Of `options`, the budgets of an exact search matter.
    pub fn new(format: Format, declaration: Declaration<Value>, options: Options) -> Self {
        let share = Share::new(format, declaration.clone(), options, (PART, MOST_KEPT));
        Self { format, declaration, share, violated: None }
    }

    /// Goes on where a checkpoint says: the input that is read begins there.
    ///
    /// # Errors
    /// If the checkpoint holds what no recording does, or objects that have ended.
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

    /// Cuts off the past of an object after this many events, where it can be; by default
    /// after 16,384, which costs little.
    #[must_use]
    pub fn cutting_after(mut self, events: usize) -> Self {
        self.share.cut_after(events);
        self
    }

    /// Events so far, those before the checkpoint included.
    pub fn events(&self) -> u64 {
        self.share.events()
    }

    /// Objects so far.
    pub fn objects(&self) -> usize {
        self.share.objects()
    }

    /// Operations that neither responded nor failed.
    pub fn pending(&self) -> u64 {
        self.share.pending()
    }

    /// What is known so far.
    pub fn state(&self) -> State {
        match self.violated {
            Some(_) => State::Violation,
            None if self.share.undecided().next().is_some() => State::Undecided,
            None => State::Fine,
        }
    }

    /// Takes the next event, of the object with this key, which has this number in the reader.
    /// Whether it completes a violation.
    ///
    /// # Errors
    /// If no history can have this event here.
    pub fn observe(
        &mut self,
        key: Option<(usize, &Value)>,
        location: Location,
        event: &J::Event<'_>,
    ) -> Result<bool, J::Error> {
        let violated = self.share.observe(key, location, event)?;
        self.violated = self.violated.or(violated);
        Ok(self.violated.is_some())
    }

    /// Where to go on, if the next event of the input begins here. Cuts off what can be.
    /// O(objects).
    ///
    /// # Errors
    /// None, since what was admitted contradicts nothing.
    pub fn checkpoint(&mut self, location: Location) -> Result<Checkpoint, J::Error> {
        let violated = self.share.cut(location)?;
        self.violated = self.violated.or(violated.first().copied());
        let kind = (self.format, J::OBJECT);
        let (at, objects) = (self.share.place(location), self.share.save(location));
        Ok(Checkpoint::at(at, kind, &self.declaration, objects))
    }

    /// The report for people: of a violation with its argument, of the rest in a line; and
    /// the exit code. `name` is the input's.
    pub fn report(&self, name: &str) -> (String, u8) {
        let (events, open) = (self.events(), self.pending());
        let fine = J::OBJECT.criterion();
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
            // A violation first, then what is open.
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
