//! One history with its answer, as a recording.

use std::io::Write;

use corpus::Expected;
use corpus::generate::OwnedEvent;
use snapshot_core::History;
use snapshot_core::history::Declaration;

use crate::Value;
use crate::format::{Format, Reader, WriteError, Writer};
use crate::generate::{Room, with_values};
use crate::read::read_history;

/// A history with the answer that a checker must give.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, unique in its family; fit for a file name.
    pub name: String,
    /// The answer.
    pub expected: Expected,
    /// What it is about, in one sentence.
    pub about: String,
    /// The history.
    pub history: History<Value>,
    /// The whole file of a case that was written by hand.
    source: Option<&'static str>,
}

impl Case {
    /// A case written by hand.
    pub(super) fn by_hand(case: &corpus::Case) -> Self {
        let reader = Reader::text(case.source.as_bytes());
        let history = reader.map_err(Into::into).and_then(read_history);
        let (history, _) = history.expect("the hand-written cases are recordings, and tested");
        Self {
            name: case.name.to_owned(),
            expected: case.expected,
            about: case.about.to_owned(),
            history,
            source: Some(case.source),
        }
    }

    /// A generated case.
    pub(super) fn generated(
        name: String,
        expected: Expected,
        about: String,
        history: &History<i64>,
    ) -> Self {
        Self { name, expected, about, history: recorded(history), source: None }
    }

    /// Writes it in the text format, with its expectation in comments that
    /// [`corpus::Case::parse`] reads. `output` should be buffered.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write<W: Write>(&self, mut output: W) -> Result<(), WriteError> {
        if let Some(source) = self.source {
            output.write_all(source.as_bytes())?;
            output.flush()?;
            return Ok(());
        }
        let comments = [format!("expect: {}", self.expected), format!("about: {}", self.about)];
        let declaration = self.history.declaration();
        let mut writer = Writer::with_comments(Format::Text, output, &declaration, &comments)?;
        for event in self.history.events() {
            writer.write(&event)?;
        }
        writer.finish()?;
        Ok(())
    }
}

/// A history of integers as one of recorded values.
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
