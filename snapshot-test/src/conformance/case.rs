//! One history with its answer, as a recording.

use std::io::Write;

use corpus::Expected;
use corpus::generate::{OwnedEvent, OwnedExchange};
use snapshot_core::history::Declaration;
use snapshot_core::{History, Names, immediate};

use crate::Value;
use crate::error::InputError;
use crate::format::{Format, Heading, Object, Reader, WriteError, Writer};
use crate::generate::{Room, exchange_with_values, with_values};
use crate::read::{read_exchanges, read_history};

#[derive(Clone, Debug)]
pub enum Recorded {
    Snapshot(History<Value>),
    Immediate(immediate::History<Value>),
}

impl Recorded {
    pub const fn len(&self) -> usize {
        match self {
            Self::Snapshot(history) => history.len(),
            Self::Immediate(history) => history.len(),
        }
    }

    /// Returns true if the history is empty.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub const fn object(&self) -> Object {
        match self {
            Self::Snapshot(_) => Object::Snapshot,
            Self::Immediate(_) => Object::Immediate,
        }
    }
}

/// A history with the answer that a checker must give.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique in its family; fit for a file name.
    pub name: String,
    pub expected: Expected,
    /// A description in one sentence.
    pub about: String,
    pub history: Recorded,
    /// The whole file, if the case was written by hand.
    source: Option<&'static str>,
}

impl Case {
    /// Creates a case written by hand.
    pub(super) fn by_hand(case: &corpus::Case) -> Self {
        let reader = Reader::text(case.source.as_bytes());
        let history = reader.map_err(InputError::from).and_then(|reader| match reader.object() {
            Object::Snapshot => Ok(Recorded::Snapshot(read_history(reader)?.0)),
            Object::Immediate => Ok(Recorded::Immediate(read_exchanges(reader)?.0)),
        });
        let history = history.expect("the hand-written cases are recordings, and tested");
        Self {
            name: case.name.to_owned(),
            expected: case.expected,
            about: case.about.to_owned(),
            history,
            source: Some(case.source),
        }
    }

    /// Creates a generated case.
    pub(super) fn generated(
        name: String,
        expected: Expected,
        about: String,
        history: &History<i64>,
    ) -> Self {
        let history = Recorded::Snapshot(recorded(history));
        Self { name, expected, about, history, source: None }
    }

    /// Creates a generated case of an immediate snapshot.
    pub(super) fn exchanged(
        name: String,
        expected: Expected,
        about: String,
        history: &immediate::History<i64>,
    ) -> Self {
        let history = Recorded::Immediate(exchanges(history));
        Self { name, expected, about, history, source: None }
    }

    /// Returns the answer in the words of the object.
    pub fn expectation(&self) -> String {
        match self.expected {
            Expected::Linearizable => self.history.object().criterion().to_owned(),
            violation @ Expected::Violation { .. } => violation.to_string(),
        }
    }

    /// Writes the case in the text format, with its expectation in comments that
    /// [`corpus::Case::parse`] reads. `output` should be buffered.
    pub fn write<W: Write>(&self, mut output: W) -> Result<(), WriteError> {
        if let Some(source) = self.source {
            output.write_all(source.as_bytes())?;
            output.flush()?;
            return Ok(());
        }
        let comments =
            [format!("expect: {}", self.expectation()), format!("about: {}", self.about)];
        match &self.history {
            Recorded::Snapshot(history) => {
                let declaration = history.declaration();
                let mut writer =
                    Writer::with_comments(Format::Text, output, &declaration, &comments)?;
                for event in history.events() {
                    writer.write(&event)?;
                }
                writer.finish()?;
            }
            Recorded::Immediate(history) => {
                let declaration = history.declaration();
                let (object, names, comments) =
                    (Object::Immediate, &Names::default(), &comments[..]);
                let heading = Heading { object, declaration, names, comments };
                let mut writer = Writer::begin(Format::Text, output, &heading)?;
                for (_, event) in history.events() {
                    writer.write_exchange(None, &event)?;
                }
                writer.finish()?;
            }
        }
        Ok(())
    }
}

/// Converts a history of integers to recorded values.
fn recorded(history: &History<i64>) -> History<Value> {
    let Declaration { segments, processes, initial, default_initial, writers } =
        history.declaration();
    let declaration = Declaration {
        segments,
        processes,
        initial: initial.into_iter().map(Value::from).collect(),
        default_initial: Value::from(default_initial),
        writers,
    };
    let mut builder = History::builder(declaration).expect("a history's declaration is valid");
    let mut room = Room::default();
    for event in history.events() {
        let event = OwnedEvent::from(event);
        builder.push(&with_values(&event, &mut room)).expect("its events are admissible");
    }
    builder.finish()
}

/// Converts an execution with integers to recorded values.
fn exchanges(history: &immediate::History<i64>) -> immediate::History<Value> {
    let declaration = Declaration::new(Value::ZERO).with_segments(history.segments());
    let mut builder = immediate::History::builder(declaration).expect("a history has segments");
    let mut room = Room::default();
    for (_, event) in history.events() {
        let event = OwnedExchange::from(event);
        let event = exchange_with_values(&event, &mut room);
        builder.push(&event).expect("its events are admissible");
    }
    builder.finish()
}
