//! The JSON Lines format: one JSON object per line, for programs.
//!
//! ```text
//! {"snapshot-history":1,"segments":3,"initial":[0,0,"x"]}
//! {"process":0,"event":"invoke","operation":"update","segment":0,"value":5}
//! {"process":1,"event":"invoke","operation":"scan"}
//! {"process":0,"event":"ok"}
//! {"process":1,"event":"ok","values":[5,0,"x"]}
//! {"process":1,"event":"invoke","operation":"scan"}
//! {"process":1,"event":"ok","values":{"0":5}}
//! ```
//!
//! The last is a partial scan; `[5,null,null]` says the same.
//!
//! In a recording of several objects each event has the `key` of its object.
//!
//! The first line may be a header. `time` and `comment` may be in any line: the order of the file
//! is authoritative over clocks, and a `time` that contradicts it is noticed
//! ([`Noticed`](super::Noticed)). Any other field that a line does not need is an error, since a
//! misspelt optional field would otherwise be ignored silently.

mod fields;
mod line;
mod members;
mod time;
mod usual;
mod values;
mod writer;

use std::io::Read;

use snapshot_core::history::Declaration;

pub(crate) use members::{Member, members};
pub(crate) use time::Time;
pub use writer::JsonlWriter;

use self::line::{Event, Line};
use super::clock::Clock;
use super::error::{Fault, ReadError, ReadErrorKind};
use super::keys::Keys;
use super::location::{Excerpt, Location};
use super::names::{Kind, Naming};
use super::source::Source;
use super::{Format, Object, Parsed, Payload, Shape};
use crate::Value;
use crate::stamp::Stamp;

#[derive(Debug)]
pub(super) struct JsonlReader {
    source: Source,
    declaration: Declaration<Value>,
    object: Object,
    /// The values of the line read last, until they are handed over.
    payload: Payload,
    /// The event after the header, read in search of the header's end.
    first: Option<Parsed>,
    /// The line of the header, if any.
    header: Option<u64>,
    keys: Keys,
    naming: Naming,
    clock: Clock,
    time: Option<Stamp>,
    seen: bool,
}

impl JsonlReader {
    /// Reads up to the first event. `naming`: the names of the part before, of a recording that is
    /// read from its middle on.
    pub(super) fn new(input: &mut dyn Read, naming: Naming) -> Result<Self, ReadError> {
        let mut reader = Self {
            source: Source::new(Format::Jsonl),
            declaration: Declaration::new(Value::ZERO),
            object: Object::Snapshot,
            payload: Payload::default(),
            first: None,
            header: None,
            keys: Keys::default(),
            naming,
            clock: Clock::default(),
            time: None,
            seen: false,
        };
        reader.first = reader.next_line(input)?;
        Ok(reader)
    }

    pub(super) const fn declaration(&self) -> &Declaration<Value> {
        &self.declaration
    }

    pub(super) const fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(super) const fn keys_mut(&mut self) -> &mut Keys {
        &mut self.keys
    }

    pub(super) const fn naming(&self) -> &Naming {
        &self.naming
    }

    pub(super) const fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) const fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    pub(super) const fn time(&self) -> Option<Stamp> {
        self.time
    }

    /// Sets the object of a recording that is read from its middle on.
    pub(super) const fn set_object(&mut self, object: Object) {
        self.object = object;
    }

    pub(super) const fn object(&self) -> Object {
        self.object
    }

    pub(super) const fn place(&self) -> Location {
        self.source.place()
    }

    pub(super) fn excerpt(&self) -> Option<Excerpt> {
        self.source.excerpt(0)
    }

    /// Parses the next event; its values are appended.
    pub(super) fn advance(
        &mut self,
        input: &mut dyn Read,
        payload: &mut Payload,
    ) -> Result<Option<Parsed>, ReadError> {
        let parsed = match self.first.take() {
            Some(first) => Some(first),
            None => match self.next_usual(input, payload)? {
                Some(parsed) => return Ok(Some(parsed)),
                None => self.next_line(input)?,
            },
        };
        payload.values.append(&mut self.payload.values);
        payload.entries.append(&mut self.payload.entries);
        Ok(parsed)
    }

    /// Parses the next line, if it is of the usual form and may be here; its values are appended.
    #[inline]
    fn next_usual(
        &mut self,
        input: &mut dyn Read,
        payload: &mut Payload,
    ) -> Result<Option<Parsed>, ReadError> {
        let is_allowed = self.object == Object::Snapshot
            && self.keys.are_unused()
            && self.naming.has_numbers(Kind::Process)
            && self.naming.has_numbers(Kind::Segment);
        if !is_allowed || !self.source.fill(input)? {
            return Ok(None);
        }
        let start = payload.values.len();
        let Some((process, shape, length)) = usual::event(self.source.units(), &mut payload.values)
        else {
            payload.values.truncate(start);
            return Ok(None);
        };
        let location = self.source.location(0);
        self.source.pass_line(length);
        self.time = None;
        Ok(Some(Parsed { location, process, shape, key: None }))
    }

    /// Parses the next line with an event; takes in the header before the first one.
    fn next_line(&mut self, input: &mut dyn Read) -> Result<Option<Parsed>, ReadError> {
        while self.source.fill(input)? {
            let units = self.source.units();
            let length = memchr::memchr(b'\n', units).map_or(units.len(), |newline| newline + 1);
            let line = &units[..length];
            let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if indent == length {
                self.source.pass_line(length);
                continue;
            }
            let location = self.source.location(indent);
            let parsed =
                line::parse(line, indent, &mut self.payload, &mut self.naming, location.line);
            match parsed {
                Ok(Line::Event(Event { process, shape, key, time })) => {
                    let refusal = self.object.refusal(shape).or_else(|| self.unordered(shape));
                    let refusal =
                        refusal.or_else(|| self.keys.refusal(key.is_some(), location.line));
                    if let Some(kind) = refusal {
                        return Err(self.source.fail(Fault { at: indent, width: 1, kind }));
                    }
                    self.source.pass_line(length);
                    self.seen = true;
                    let key = key.map(|key| self.keys.number(key));
                    self.time = time;
                    if let Some(time) = time {
                        self.clock.observe(key, time, || location);
                    }
                    return Ok(Some(Parsed { location, process, shape, key }));
                }
                Ok(Line::Header(declaration, object)) => {
                    if let Some(kind) = self.misplaced_header() {
                        return Err(self.source.fail(Fault { at: indent, width: 1, kind }));
                    }
                    self.source.pass_line(length);
                    self.declaration = declaration;
                    self.object = object;
                    self.header = Some(location.line);
                    self.seen = true;
                }
                Err(fault) => return Err(self.source.fail(*fault)),
            }
        }
        self.end()
    }

    /// Refuses the values of an exchange, one per process, if processes are in no order.
    fn unordered(&self, shape: Shape) -> Option<ReadErrorKind> {
        let kind = Kind::Process;
        let is_unordered = self.object == Object::Immediate
            && shape == Shape::RespondScan
            && self.naming.is_named(kind)
            && !self.naming.are_declared().0;
        is_unordered.then_some(ReadErrorKind::ListOfNamed { kind })
    }

    fn misplaced_header(&self) -> Option<ReadErrorKind> {
        let keyword = "\"snapshot-history\"";
        match self.header {
            Some(first) => Some(ReadErrorKind::DuplicateHeader { keyword, first }),
            None => self.seen.then_some(ReadErrorKind::HeaderAfterEvent { keyword }),
        }
    }

    #[cold]
    fn end(&mut self) -> Result<Option<Parsed>, ReadError> {
        if !self.source.rest().is_empty() {
            return Err(self.source.fail_truncated());
        }
        if !self.seen && !self.source.has_failed() {
            return Err(self.source.fail(Fault { at: 0, width: 1, kind: ReadErrorKind::Empty }));
        }
        Ok(None)
    }
}
