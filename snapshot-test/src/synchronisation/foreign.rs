//! Logs of Jepsen, Knossos and Porcupine as lines of a recording of an object.

use std::collections::HashMap;
use std::io::Read;

use snapshot_core::Names;

use super::error::{ReadError, ReadErrorKind};
use super::reader::{Deed, Id, Line, shown};
use super::token::Token;
use super::vocabulary::{Invoked, Returned, Vocabulary};
use crate::Value;
use crate::error::InputErrorKind;
use crate::format::{Backwards, Clock, Location};
use crate::import::{Events, Fault, ImportErrorKind, Kind, LogEvent, Spot, Step};

/// Reads the events of a log. Memory is bounded by the longest event, and by the number of
/// processes.
pub(super) struct Foreign<R> {
    events: Events<R>,
    vocabulary: Vocabulary,
    /// The number of each process, and the processes by number.
    numbers: HashMap<i64, usize>,
    processes: Vec<i64>,
    /// The invocation of the open operation of each process, and the key of its object.
    open: Vec<Option<(Box<LogEvent>, Option<Value>)>>,
    clock: Clock,
    /// The positions of the event that was read last, and of its value.
    spot: Spot,
    value: Spot,
}

impl<R: Read> Foreign<R> {
    pub(super) fn new(input: R, vocabulary: Vocabulary) -> Self {
        Self {
            events: Events::new(input),
            vocabulary,
            numbers: HashMap::new(),
            processes: Vec::new(),
            open: Vec::new(),
            clock: Clock::default(),
            spot: Spot::default(),
            value: Spot::default(),
        }
    }

    /// Times so far that contradict the order of the events.
    pub(super) fn backwards(&self) -> Option<Backwards> {
        self.clock.noticed().backwards()
    }

    /// The names of processes so far: their numbers in the log, if they are others here.
    pub(super) fn names(&self) -> Names {
        let numbered = self.processes.iter().zip(0..);
        if numbered.clone().all(|(process, number): (_, i64)| *process == number) {
            return Names::default();
        }
        Names::new(numbered.map(|(process, _)| process.to_string().into()).collect(), Vec::new())
    }

    /// True if the log has events that are not of a client.
    pub(super) const fn has_others(&self) -> bool {
        self.events.has_skipped()
    }

    /// The next event, with its place.
    pub(super) fn next(&mut self) -> Option<Result<(Location, Line), ReadError>> {
        let event = match self.events.next() {
            Ok(event) => event?,
            Err(fault) => return Some(Err(self.located(*fault))),
        };
        (self.spot, self.value) = (event.spot, event.value.spot);
        let location = self.events.locate(event.spot);
        if let Some(time) = event.time {
            self.clock.observe(None, time, || location);
        }
        Some(match self.line(event) {
            Ok(line) => Ok((location, line)),
            Err(fault) => Err(self.located(*fault)),
        })
    }

    fn line(&mut self, event: LogEvent) -> Step<Line> {
        let count = self.numbers.len();
        let process = *self.numbers.entry(event.process).or_insert(count);
        if process == self.open.len() {
            self.open.push(None);
            self.processes.push(event.process);
        }
        let unpaired =
            |deed| ImportErrorKind::Unpaired { process: event.process, deed }.at(event.spot);
        let (kind, open) = (event.kind, self.open[process].take());
        let Some((invoked, key)) = open else {
            if kind != Kind::Invoke {
                return Err(unpaired("ends an operation that has not begun"));
            }
            let Invoked { key, operation, arguments } = self.vocabulary.invocation(&event)?;
            self.open[process] = Some((Box::new(event), key.clone()));
            let deed = Deed::Invoke { operation: operation.to_owned(), arguments };
            return Ok(Line::Event { key, process: Id::Number(process), deed });
        };
        let deed = match kind {
            Kind::Invoke => {
                return Err(unpaired("begins an operation while another one is open"));
            }
            _ if invoked.function != event.function => {
                return Err(unpaired("ends another operation than it began"));
            }
            Kind::Ok => match self.vocabulary.result(&invoked, &event)? {
                Returned::Tokens(tokens) => Deed::Ok(tokens),
                Returned::Nothing => Deed::Unknown,
            },
            Kind::Fail if event.is_mismatch() => Deed::Ok(vec![Token::Truth(false)]),
            Kind::Fail => Deed::Fail,
            Kind::Info => Deed::Unknown,
        };
        Ok(Line::Event { key, process: Id::Number(process), deed })
    }

    /// The error of the event that was read last.
    pub(super) fn fail(&self, kind: ReadErrorKind) -> ReadError {
        self.error(self.spot, kind)
    }

    /// The error of the value of the event that was read last.
    pub(super) fn fail_at_value(&self, kind: ReadErrorKind) -> ReadError {
        self.error(self.value, kind)
    }

    fn located(&self, fault: Fault) -> ReadError {
        let (spot, kind, _) = fault.into_parts();
        let kind = match kind {
            InputErrorKind::Io(error) => error.into(),
            kind => ReadErrorKind::Log(Box::new(kind)),
        };
        self.error(spot, kind)
    }

    fn error(&self, spot: Spot, kind: ReadErrorKind) -> ReadError {
        let location = self.events.locate(spot);
        let (line, at) = self.events.line(spot);
        let before = String::from_utf8_lossy(&line[..at]).chars().count() as u64;
        // The beginning of a long line is not in memory.
        let is_whole = before + 1 == location.column;
        ReadError { location, kind, line: shown(line).filter(|_| is_whole) }
    }
}
