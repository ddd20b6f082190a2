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
//! | `checkpoint` | where to go on, as a file |
//! | `source` | inputs that have no end |

mod checkpoint;
mod exchanges;
mod judge;
mod object;
mod source;

use std::collections::HashMap;
use std::fmt::Write;

use snapshot_core::history::{Declaration, Writers};

pub use self::checkpoint::{Checkpoint, CheckpointError, Held, Saved};
pub use self::exchanges::Exchanges;
pub use self::judge::{Judge, Next};
use self::object::MOST_KEPT;
pub use self::object::Snapshots;
pub use self::source::{Follow, Interruptible, Listen};
use crate::Value;
use crate::format::{Format, Location};
use crate::judge::Options;
use crate::report;

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

/// Judges a recording event by event.
pub struct Live<J = Snapshots> {
    format: Format,
    declaration: Declaration<Value>,
    options: Options,
    /// Events of an object after which its past is cut off.
    part: usize,
    /// Where the input begins that is read.
    bytes: u64,
    lines: u64,
    objects: Vec<J>,
    keys: Vec<Option<Value>>,
    numbers: HashMap<Option<Value>, usize>,
    /// The object of each key of the reader, by its number there.
    by_reader: Vec<usize>,
    /// The object that is violated.
    violated: Option<usize>,
}

impl<J: Judge> Live<J> {
    /// Nothing has happened yet. Of `options`, the budgets of an exact search matter.
    pub fn new(format: Format, declaration: Declaration<Value>, options: Options) -> Self {
        Self {
            format,
            declaration,
            options,
            part: PART,
            bytes: 0,
            lines: 0,
            objects: Vec::new(),
            keys: Vec::new(),
            numbers: HashMap::new(),
            by_reader: Vec::new(),
            violated: None,
        }
    }

    /// Goes on where a checkpoint says: the input that is read begins there.
    ///
    /// # Errors
    /// If the checkpoint holds what no recording does.
    pub fn resume(checkpoint: &Checkpoint, options: Options) -> Result<Self, CheckpointError> {
        let format = checkpoint.input_format().ok_or(CheckpointError::Version)?;
        let writers = if checkpoint.many_writers { Writers::Many } else { Writers::Single };
        let mut declaration = Declaration::new(Value::ZERO)
            .with_initial(checkpoint.initial.iter().map(Value::from).collect())
            .with_writers(writers);
        declaration.segments = checkpoint.segments;
        declaration.processes = checkpoint.processes;
        let mut live = Self::new(format, declaration, options);
        (live.bytes, live.lines) = (checkpoint.bytes, checkpoint.lines);
        for saved in &checkpoint.objects {
            let key = saved.key.as_ref().map(Value::from);
            let object = J::resume(&live.declaration, saved).map_err(Into::into)?;
            live.add(key, object);
        }
        Ok(live)
    }

    /// Cuts off the past of an object after this many events, where it can be; by default
    /// after 16,384, which costs little.
    #[must_use]
    pub const fn cutting_after(mut self, events: usize) -> Self {
        self.part = events;
        self
    }

    fn add(&mut self, key: Option<Value>, object: J) -> usize {
        let number = self.objects.len();
        self.numbers.insert(key.clone(), number);
        self.keys.push(key);
        self.objects.push(object);
        number
    }

    /// Events so far, those before the checkpoint included.
    pub fn events(&self) -> u64 {
        self.objects.iter().map(|object| object.past().events + object.events() as u64).sum()
    }

    /// Objects so far.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Operations that neither responded nor failed.
    pub fn pending(&self) -> u64 {
        self.objects.iter().map(J::pending).sum()
    }

    /// What is known so far.
    pub fn state(&self) -> State {
        let undecided = |object: &J| object.state() == State::Undecided;
        match self.violated {
            Some(_) => State::Violation,
            None if self.objects.iter().any(undecided) => State::Undecided,
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
        let at = self.place(location);
        let number = self.number(key, at)?;
        let (format, options) = (self.format, &self.options);
        let object = &mut self.objects[number];
        if at.offset < object.past().cut.offset {
            return Ok(false);
        }
        if object.events() >= self.part {
            object.cut(at, format, options)?;
        }
        object.observe(at, event)?;
        if object.state() == State::Violation {
            self.violated = Some(number);
        }
        Ok(self.violated.is_some())
    }

    /// A place of the whole input, of one of what is read.
    fn place(&self, location: Location) -> Location {
        let (line, offset) = (self.lines + location.line, self.bytes + location.offset);
        Location { line, offset, ..location }
    }

    fn number(&mut self, key: Option<(usize, &Value)>, at: Location) -> Result<usize, J::Error> {
        let index = key.map_or(0, |(index, _)| index);
        if let Some(number) = self.by_reader.get(index) {
            return Ok(*number);
        }
        // The reader numbers keys as they occur.
        let name = key.map(|(_, name)| name.clone());
        let number = match self.numbers.get(&name) {
            Some(number) => *number,
            None => {
                let mut object = J::new(self.declaration.clone())?;
                object.begin_at(at);
                self.add(name, object)
            }
        };
        self.by_reader.push(number);
        Ok(number)
    }

    /// Where to go on, if the next event of the input begins here. Cuts off what can be.
    /// O(objects).
    ///
    /// # Errors
    /// None, since what was admitted contradicts nothing.
    pub fn checkpoint(&mut self, location: Location) -> Result<Checkpoint, J::Error> {
        let at = self.place(location);
        let mut checkpoint = Checkpoint::new(self.format, J::OBJECT);
        let mut first = at;
        for (object, key) in self.objects.iter_mut().zip(&self.keys) {
            if at.offset >= object.past().cut.offset {
                object.cut(at, self.format, &self.options)?;
            }
            if object.past().cut.offset < first.offset {
                first = object.past().cut;
            }
            checkpoint.objects.push(object.save(key.as_ref()));
        }
        (checkpoint.bytes, checkpoint.lines) = (first.offset, first.line - 1);
        checkpoint.segments = self.declaration.segments;
        checkpoint.processes = self.declaration.processes;
        checkpoint.initial = self.declaration.initial.iter().map(Held::from).collect();
        checkpoint.many_writers = self.declaration.writers == Writers::Many;
        Ok(checkpoint)
    }

    /// The report for people: of a violation with its argument, of the rest in a line; and
    /// the exit code. `name` is the input's.
    pub fn report(&self, name: &str) -> (String, u8) {
        let (events, open) = (self.events(), self.pending());
        let fine = J::OBJECT.criterion();
        let of = match self.objects.len() {
            0 | 1 => String::new(),
            many => format!(" of {many} objects"),
        };
        if self.state() == State::Fine {
            let text =
                format!("{name}: {fine} so far ({events} events{of}, {open} operations open)\n");
            return (text, 0);
        }
        let wanted = |number: &usize| match self.violated {
            Some(violated) => *number == violated,
            None => self.objects[*number].state() == State::Undecided,
        };
        let mut text = String::new();
        let mut code = 0;
        for number in (0..self.objects.len()).filter(wanted) {
            let (part, worse) = self.part(name, number);
            text.push_str(&part);
            // A violation first, then what is open.
            code = if code == 1 || worse == 1 { 1 } else { code.max(worse) };
        }
        if code == 0 {
            let _ = writeln!(text, "{name}: {fine} ({events} events{of})");
        }
        (text, code)
    }

    /// One object, judged exactly.
    fn part(&self, name: &str, number: usize) -> (String, u8) {
        let object = &self.objects[number];
        let name = match &self.keys[number] {
            Some(key) => format!("{name} @{key}"),
            None => name.to_owned(),
        };
        let Some(judgement) = object.judgement(self.format, &self.options) else {
            let (word, code) = match object.state() {
                State::Violation => ("violation", 1),
                _ => ("unknown", 3),
            };
            let text = format!(
                "{name}: {word} ({} events)\n  the argument is not at hand: operations were open \
                 for more than {MOST_KEPT} events\n",
                self.events()
            );
            return (text, code);
        };
        let mut text = report::human(&name, &judgement);
        if object.past().events > 0 {
            let (events, before, cut) = (object.events(), object.past().events, object.past().cut);
            let _ = writeln!(
                text,
                "  of the {events} events from {cut} on; the {before} before are {}, and over",
                J::OBJECT.criterion()
            );
        }
        (text, report::exit_code([&judgement.finding]))
    }
}
