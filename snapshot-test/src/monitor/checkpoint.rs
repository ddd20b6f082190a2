//! The file from which a recording is gone on with.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Value;
use crate::format::{Format, Object};

/// The version of the file.
const VERSION: u32 = 1;

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
        let checkpoint: Self = serde_json::from_str(text)?;
        match checkpoint.snapshot_checkpoint == VERSION && checkpoint.is_known() {
            true => Ok(checkpoint),
            false => Err(CheckpointError::Version),
        }
    }

    /// One of this version.
    pub(super) fn new(format: Format, object: Object) -> Self {
        let format = if format == Format::Jsonl { "jsonl" } else { "text" }.to_owned();
        let object = object.name().to_owned();
        Self { snapshot_checkpoint: VERSION, format, object, ..Self::default() }
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
