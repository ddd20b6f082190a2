//! The file from which a recording is gone on with.

use serde::{Deserialize, Serialize};
use snapshot_core::history::{Declaration, Writers};
use thiserror::Error;

use crate::Value;
use crate::format::{Format, Location, Object};

/// The version of the file.
const VERSION: u32 = 1;

/// No input has as many bytes, lines or events: places can be added up.
const MOST: u64 = 1 << 62;

/// Where a recording can be gone on with: the input from `bytes` on, of which each object
/// leaves out what it has taken already.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The version of this file.
    pub snapshot_checkpoint: u32,
    /// `text` or `jsonl`.
    pub format: String,
    /// `snapshot` or `immediate`; left out, a snapshot.
    #[serde(default, skip_serializing_if = "is_snapshot")]
    pub object: String,
    /// Bytes of the input before it.
    pub bytes: u64,
    /// Lines of the input before it.
    pub lines: u64,
    /// The declared number of segments.
    pub segments: Option<usize>,
    /// The declared number of processes.
    pub processes: Option<usize>,
    /// The declared initial values.
    pub initial: Vec<Held>,
    /// Whether several processes may update a segment.
    pub many_writers: bool,
    /// The objects that have occurred.
    pub objects: Vec<Saved>,
}

fn is_snapshot(object: &str) -> bool {
    object == Object::Snapshot.name()
}

/// What an object is at an instant at which none of its operations is open: all that
/// happened to it before is linearizable, and over.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// Its key; none if the recording is of one object.
    pub key: Option<Held>,
    /// Bytes of the input before that instant.
    pub bytes: u64,
    /// Lines of the input before it.
    pub lines: u64,
    /// Events of the object before it.
    pub events: u64,
    /// The number of segments, as far as it is known.
    pub segments: Option<usize>,
    /// What segments 0, 1, ... hold.
    pub values: Vec<Held>,
    /// Which process updates segments 0, 1, ..., as far as it is known.
    pub writers: Vec<Option<usize>>,
    /// Where it is judged no further: an alarm that was raised is not raised again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The event from which on an object is judged no further.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// Why no history can have it there; none if it completes a violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Its number among those of the object, from 0.
    pub event: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Its column, from 1, in characters.
    pub column: u64,
    /// Bytes of the input before it.
    pub bytes: u64,
    /// Whether the violation may be complete before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_after: bool,
}

impl Ended {
    /// Where the event begins.
    pub const fn place(&self) -> Location {
        Location { line: self.line, column: self.column, offset: self.bytes }
    }
}

/// A value in JSON: an integer or a text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Held {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(String),
}

impl From<&Value> for Held {
    fn from(value: &Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Text(text) => Self::Text(text.to_string()),
        }
    }
}

impl From<&Held> for Value {
    fn from(held: &Held) -> Self {
        match held {
            Held::Integer(number) => Self::Integer(*number),
            Held::Text(text) => Self::from(text.as_str()),
        }
    }
}

/// A file that is no checkpoint.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is no JSON, or has other fields.
    #[error("expected a checkpoint as `monitor --checkpoint` writes it: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version, or of another format.
    #[error("expected version {VERSION} of a checkpoint of text or jsonl")]
    Version,
    /// It contradicts itself.
    #[error("the checkpoint contradicts itself: {0}")]
    Contradiction(#[from] snapshot_core::history::HistoryError),
    /// A number in it is none of a place or of events.
    #[error("expected places and numbers of events in the checkpoint, found {0}")]
    Number(u64),
    /// Objects of it are judged no further, which is of no use to a monitor that ends there.
    #[error("alarms were raised before the checkpoint, and the recording was read on: add --all")]
    All,
    /// It is of several inputs, for a monitor of one.
    #[error("the checkpoint is of several inputs: name all of them, or use another file")]
    Several,
    /// It is of one input, for a monitor of several.
    #[error("the checkpoint is of one input: name that one alone, or use another file")]
    One,
    /// An input stands in it twice.
    #[error("expected each input once in the checkpoint, found {0} twice")]
    Twice(String),
    /// It contradicts itself, of an immediate snapshot.
    #[error("the checkpoint contradicts itself: {0}")]
    Exchange(#[from] snapshot_core::immediate::ExchangeError),
}

impl Checkpoint {
    /// A checkpoint from the text of its file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        if text.starts_with("{\"snapshot_checkpoints\":") {
            return Err(CheckpointError::Several);
        }
        let checkpoint: Self = serde_json::from_str(text)?;
        checkpoint.validate()?;
        Ok(checkpoint)
    }

    /// That version, format and numbers are possible.
    pub(super) fn validate(&self) -> Result<(), CheckpointError> {
        if self.snapshot_checkpoint != VERSION || !self.is_known() {
            return Err(CheckpointError::Version);
        }
        match self.numbers().find(|number| *number >= MOST) {
            Some(number) => Err(CheckpointError::Number(number)),
            None => Ok(()),
        }
    }

    /// All that is counted in it.
    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let saved = self.objects.iter().flat_map(|saved| [saved.bytes, saved.lines, saved.events]);
        let ended = self.objects.iter().filter_map(|saved| saved.ended.as_ref());
        let ended = ended.flat_map(|ended| [ended.bytes, ended.line, ended.column, ended.event]);
        [self.bytes, self.lines].into_iter().chain(saved).chain(ended)
    }

    /// Where to go on with these objects, if the next event of the input begins here.
    pub fn at(
        at: Location,
        (format, object): (Format, Object),
        declaration: &Declaration<Value>,
        objects: Vec<Saved>,
    ) -> Self {
        let first = objects.iter().map(|saved| (saved.bytes, saved.lines)).min();
        let here = (at.offset, at.line - 1);
        let (bytes, lines) = first.map_or(here, |first| first.min(here));
        Self {
            snapshot_checkpoint: VERSION,
            format: if format == Format::Jsonl { "jsonl" } else { "text" }.to_owned(),
            object: object.name().to_owned(),
            bytes,
            lines,
            segments: declaration.segments,
            processes: declaration.processes,
            initial: declaration.initial.iter().map(Held::from).collect(),
            many_writers: declaration.writers == Writers::Many,
            objects,
        }
    }

    /// Whether an object of it is judged no further.
    pub fn has_ended(&self) -> bool {
        self.objects.iter().any(|saved| saved.ended.is_some())
    }

    /// What it says of all objects.
    pub fn declaration(&self) -> Declaration<Value> {
        let writers = if self.many_writers { Writers::Many } else { Writers::Single };
        let mut declaration = Declaration::new(Value::ZERO)
            .with_initial(self.initial.iter().map(Value::from).collect())
            .with_writers(writers);
        declaration.segments = self.segments;
        declaration.processes = self.processes;
        declaration
    }

    fn is_known(&self) -> bool {
        self.input_format().is_some() && self.input_object().is_some()
    }

    /// The object of its input.
    pub fn input_object(&self) -> Option<Object> {
        if self.object.is_empty() {
            return Some(Object::Snapshot);
        }
        Object::ALL.into_iter().find(|object| object.name() == self.object)
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("texts and numbers become JSON");
        text.push('\n');
        text
    }

    /// The format of its input.
    pub fn input_format(&self) -> Option<Format> {
        match self.format.as_str() {
            "text" => Some(Format::Text),
            "jsonl" => Some(Format::Jsonl),
            _ => None,
        }
    }
}
