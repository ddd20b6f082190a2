//! Checkpoint files, from which a monitor resumes a recording.

use serde::{Deserialize, Serialize};
use snapshot_core::Names;
use snapshot_core::history::{Declaration, Writers};
use thiserror::Error;

use crate::Value;
use crate::format::{Format, JsonValue, Location, Object};

const VERSION: u32 = 1;

/// No input has as many bytes, lines or events, so that sums of positions do not overflow.
const MOST: u64 = 1 << 62;

/// A point at which a recording can be resumed: the input from `bytes` on, of which each object
/// skips the events that it has taken already.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub snapshot_checkpoint: u32,
    /// `text` or `jsonl`.
    pub format: String,
    /// `snapshot` or `immediate`; a snapshot if absent.
    #[serde(default, skip_serializing_if = "is_snapshot")]
    pub object: String,
    /// Bytes of the input before it.
    pub bytes: u64,
    /// Lines of the input before it.
    pub lines: u64,
    pub segments: Option<usize>,
    pub processes: Option<usize>,
    pub initial: Vec<JsonValue>,
    /// True if several processes may update a segment.
    pub many_writers: bool,
    /// The names of processes 0, 1, ... that have occurred; none if they are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_names: Vec<Box<str>>,
    /// The names of segments 0, 1, ... that have occurred; none if they are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segment_names: Vec<Box<str>>,
    /// True if the header declares the names of processes, of segments.
    #[serde(default, skip_serializing_if = "is_none_declared")]
    pub declared_names: (bool, bool),
    /// The objects that have occurred.
    pub objects: Vec<Saved>,
}

fn is_none_declared(declared: &(bool, bool)) -> bool {
    *declared == (false, false)
}

fn is_snapshot(object: &str) -> bool {
    object == Object::Snapshot.name()
}

/// The state of an object at an instant at which none of its operations is open: all earlier events
/// are linearizable, and ended.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// Its key; absent if the recording has one object.
    pub key: Option<JsonValue>,
    /// Bytes of the input before that instant.
    pub bytes: u64,
    /// Lines of the input before it.
    pub lines: u64,
    /// Events of the object before it.
    pub events: u64,
    /// The number of segments, if known.
    pub segments: Option<usize>,
    /// The values of segments 0, 1, ....
    pub values: Vec<JsonValue>,
    /// The writers of segments 0, 1, ..., as far as known.
    pub writers: Vec<Option<usize>>,
    /// The event that ended its judgement: an alarm is not raised again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The event from which on an object is not judged.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The reason why no history can have it there; absent if it completes a violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Its number among the events of the object, from 0.
    pub event: u64,
    /// Line of the input, from 1.
    pub line: u64,
    /// Its column, from 1, in characters.
    pub column: u64,
    /// Bytes of the input before it.
    pub bytes: u64,
    /// True if the violation may be complete before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_after: bool,
}

impl Ended {
    /// Returns the position of the start of the event.
    pub const fn place(&self) -> Location {
        Location { line: self.line, column: self.column, offset: self.bytes }
    }
}

/// The reason why a file is not a checkpoint.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file is not JSON, or has other fields.
    #[error("expected a checkpoint as `monitor --checkpoint` writes it: {0}")]
    Json(#[from] serde_json::Error),
    /// The checkpoint has another version, or another format.
    #[error("expected version {VERSION} of a checkpoint of text or jsonl")]
    Version,
    /// The declaration contradicts itself.
    #[error("the checkpoint contradicts itself: {0}")]
    Contradiction(#[from] snapshot_core::history::HistoryError),
    /// A number is not a valid position or count.
    #[error("expected places and numbers of events in the checkpoint, found {0}")]
    Number(u64),
    /// Some objects have ended, but a monitor without `--all` ends with them.
    #[error("alarms were raised before the checkpoint, and the recording was read on: add --all")]
    All,
    /// The checkpoint has several inputs, but the monitor one.
    #[error("the checkpoint covers several inputs: name all of them, or use another file")]
    Several,
    /// The checkpoint has one input, but the monitor several.
    #[error("the checkpoint covers one input: name that one alone, or use another file")]
    One,
    /// An input occurs twice.
    #[error("expected each input once in the checkpoint, found {0} twice")]
    Twice(String),
    /// The declaration of an immediate snapshot contradicts itself.
    #[error("the checkpoint contradicts itself: {0}")]
    Exchange(#[from] snapshot_core::immediate::ExchangeError),
}

impl Checkpoint {
    /// Parses the text of a checkpoint file.
    ///
    /// # Errors
    /// If the text is not a checkpoint.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        if text.starts_with("{\"snapshot_checkpoints\":") {
            return Err(CheckpointError::Several);
        }
        let checkpoint: Self = serde_json::from_str(text)?;
        checkpoint.validate()?;
        Ok(checkpoint)
    }

    /// Checks version, format and numbers.
    pub(super) fn validate(&self) -> Result<(), CheckpointError> {
        if self.snapshot_checkpoint != VERSION || !self.is_known() {
            return Err(CheckpointError::Version);
        }
        match self.numbers().find(|number| *number >= MOST) {
            Some(number) => Err(CheckpointError::Number(number)),
            None => Ok(()),
        }
    }

    /// Returns all counts in it.
    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let saved = self.objects.iter().flat_map(|saved| [saved.bytes, saved.lines, saved.events]);
        let ended = self.objects.iter().filter_map(|saved| saved.ended.as_ref());
        let ended = ended.flat_map(|ended| [ended.bytes, ended.line, ended.column, ended.event]);
        [self.bytes, self.lines].into_iter().chain(saved).chain(ended)
    }

    /// Creates the checkpoint of these objects, if the next event of the input begins here.
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
            initial: declaration.initial.iter().map(JsonValue::from).collect(),
            many_writers: declaration.writers == Writers::Many,
            process_names: Vec::new(),
            segment_names: Vec::new(),
            declared_names: (false, false),
            objects,
        }
    }

    /// Returns the checkpoint with the names so far. `are_declared`: those of processes, of
    /// segments, that the header declares.
    #[must_use]
    pub fn with_names(self, names: &Names, are_declared: (bool, bool)) -> Self {
        Self {
            process_names: names.processes().to_vec(),
            segment_names: names.segments().to_vec(),
            declared_names: are_declared,
            ..self
        }
    }

    /// Returns the names of processes and segments that have occurred.
    pub fn names(&self) -> Names {
        Names::new(self.process_names.clone(), self.segment_names.clone())
    }

    /// Returns true if an object of it has ended.
    pub fn has_ended(&self) -> bool {
        self.objects.iter().any(|saved| saved.ended.is_some())
    }

    /// Returns the declaration of all objects.
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

    pub fn input_object(&self) -> Option<Object> {
        if self.object.is_empty() {
            return Some(Object::Snapshot);
        }
        Object::ALL.into_iter().find(|object| object.name() == self.object)
    }

    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("texts and numbers become JSON");
        text.push('\n');
        text
    }

    pub fn input_format(&self) -> Option<Format> {
        match self.format.as_str() {
            "text" => Some(Format::Text),
            "jsonl" => Some(Format::Jsonl),
            _ => None,
        }
    }
}
