//! Writing recordings, in any of the formats.

use std::borrow::Cow;
use std::io::Write;

use snapshot_core::history::{Declaration, Event};
use snapshot_core::{History, Names, Process, Segment, immediate};
use thiserror::Error;

use super::disc22::Disc22Writer;
use super::jsonl::JsonlWriter;
use super::text::TextWriter;
use super::{Format, Object};
use crate::Value;

/// A recording that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error("cannot write: {0}")]
    Io(#[from] std::io::Error),
    /// The format cannot express the recording.
    #[error(transparent)]
    Inexpressible(#[from] Inexpressible),
}

/// A recording that a format cannot express. Nothing is ever dropped or changed silently.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Inexpressible {
    /// disc22: an initial value other than 0.
    #[error(
        "disc22 knows no initial value but 0, found {value}; write the recording as text or jsonl"
    )]
    InitialValue {
        /// The initial value.
        value: Value,
    },
    /// disc22: a value that is not an integer.
    #[error("disc22 knows only integers, found {value}; write the recording as text or jsonl")]
    Text {
        /// The value.
        value: Value,
    },
    /// disc22: an update of another segment than the process's own.
    #[error(
        "in disc22 process {process} can only update segment {process}, found an update of \
         segment {segment}; renumber the processes, or write the recording as text or jsonl"
    )]
    OtherSegment {
        /// The process.
        process: Process,
        /// The segment updated.
        segment: Segment,
    },
    /// disc22: a scan that returned only some of the segments.
    #[error(
        "disc22 has no scans of some segments only, found one of process {process} \
         (values that it leaves out at the end would be read as 0); \
         write the recording as text or jsonl"
    )]
    PartialScan {
        /// The process.
        process: Process,
    },
    /// disc22: names.
    #[error("disc22 has numbers only, found names of {what}; write the recording as text or jsonl")]
    Names {
        /// `"processes"` or `"segments"`.
        what: &'static str,
    },
    /// disc22: several objects.
    #[error(
        "disc22 has no keys, found an event of the object {key}; write the recording as text or \
         jsonl, or one of its objects by --key"
    )]
    Key {
        /// The object.
        key: Value,
    },
    /// disc22: another object than a snapshot.
    #[error(
        "disc22 knows snapshots only, found `object {}`; write the recording as text or jsonl",
        object.name()
    )]
    Object {
        /// The object.
        object: Object,
    },
    /// disc22: an object with named operations.
    #[error(
        "disc22 knows snapshots only, found `object {object}`; write the recording as text or jsonl"
    )]
    NamedObject {
        /// The object.
        object: String,
    },
    /// disc22: a failed operation.
    #[error(
        "disc22 has no failed operations, found one of process {process}; \
         write the recording as text or jsonl"
    )]
    Failure {
        /// The process.
        process: Process,
    },
    /// disc22: an event of a process after an operation with unknown outcome.
    #[error(
        "disc22 can express an unknown outcome only by a process that does nothing more, \
         found another event of process {process}; write the recording as text or jsonl"
    )]
    EventAfterUnknown {
        /// The process.
        process: Process,
    },
    /// disc22: a response to nothing.
    #[error("process {process} ends an update, but it has none open")]
    NothingOpen {
        /// The process.
        process: Process,
    },
    /// disc22: sizes other than a reader will infer.
    #[error(
        "disc22 has as many segments as processes, here {inferred}, by the largest process and \
         the longest scan, found {segments} segment(s) and {processes} process(es); \
         write the recording as text or jsonl"
    )]
    Sizes {
        /// Number of segments.
        segments: usize,
        /// Number of processes.
        processes: usize,
        /// The number that a reader would infer.
        inferred: usize,
    },
    /// disc22: no event at all.
    #[error("disc22 cannot express an empty history; write it as text or jsonl")]
    Empty,
    /// The format of a log of another tool.
    #[error("{format} is read, not written; write the recording as text or jsonl")]
    Foreign {
        /// The format.
        format: Format,
    },
    /// Initial values of an unknown number of segments.
    #[error(
        "the initial value {value} of all segments can be written only \
         if their number is declared; declare it"
    )]
    DefaultInitial {
        /// The initial value.
        value: Value,
    },
}

/// Returns the initial values to list, so that all unlisted ones are 0.
pub(super) fn expressible_initial(
    declaration: &Declaration<Value>,
) -> Result<Cow<'_, [Value]>, Inexpressible> {
    let default = &declaration.default_initial;
    if *default == Value::ZERO {
        return Ok(Cow::Borrowed(&declaration.initial));
    }
    let Some(segments) = declaration.segments else {
        return Err(Inexpressible::DefaultInitial { value: default.clone() });
    };
    Ok((0..segments).map(|segment| declaration.initial_value(segment).clone()).collect())
}

/// The beginning of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    pub object: Object,
    pub declaration: &'a Declaration<Value>,
    pub names: &'a Names,
    /// Comments of one line each: separate lines in text, a field of the header in JSON Lines. In
    /// disc22, which has no comments, they are left out.
    pub comments: &'a [String],
}

/// Writes the events of a recording, in any of the formats.
#[derive(Debug)]
pub struct Writer<W>(Inner<W>);

#[derive(Debug)]
enum Inner<W> {
    Text(TextWriter<W>),
    Jsonl(JsonlWriter<W>),
    Disc22(Disc22Writer<W>),
}

impl<W: Write> Writer<W> {
    /// Begins a recording. Writes in small pieces: `output` should be buffered.
    ///
    /// # Errors
    /// If `output` fails or the format cannot express the declaration.
    pub fn new(
        format: Format,
        output: W,
        declaration: &Declaration<Value>,
    ) -> Result<Self, WriteError> {
        Self::with_comments(format, output, declaration, &[])
    }

    /// Begins a recording of a snapshot with comments, as in a [`Heading`].
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_comments(
        format: Format,
        output: W,
        declaration: &Declaration<Value>,
        comments: &[String],
    ) -> Result<Self, WriteError> {
        let (object, names) = (Object::Snapshot, &Names::default());
        Self::begin(format, output, &Heading { object, declaration, names, comments })
    }

    /// Begins a recording.
    ///
    /// # Errors
    /// As [`Self::new`]; disc22 knows snapshots only, and numbers only.
    pub fn begin(format: Format, mut output: W, heading: &Heading<'_>) -> Result<Self, WriteError> {
        let Heading { object, declaration, names, comments } = *heading;
        debug_assert!(comments.iter().all(|comment| !comment.contains('\n')), "one line each");
        Ok(Self(match format {
            Format::Text => {
                for comment in comments {
                    writeln!(output, "# {comment}")?;
                }
                Inner::Text(TextWriter::begin(output, heading)?)
            }
            Format::Jsonl => Inner::Jsonl(JsonlWriter::begin(output, heading)?),
            Format::Disc22 if object != Object::Snapshot => {
                return Err(Inexpressible::Object { object }.into());
            }
            Format::Disc22 if !names.is_empty() => {
                let is_of_processes = !names.processes().is_empty();
                let what = if is_of_processes { "processes" } else { "segments" };
                return Err(Inexpressible::Names { what }.into());
            }
            Format::Disc22 => Inner::Disc22(Disc22Writer::new(output, declaration)?),
            Format::Edn | Format::Intervals => return Err(Inexpressible::Foreign { format }.into()),
        }))
    }

    /// Writes one event. The caller ensures that it is admissible.
    ///
    /// # Errors
    /// If the output fails or the format cannot express the event.
    pub fn write(&mut self, event: &Event<'_, Value>) -> Result<(), WriteError> {
        match &mut self.0 {
            Inner::Text(writer) => writer.write(event),
            Inner::Jsonl(writer) => writer.write(event),
            Inner::Disc22(writer) => writer.write(event),
        }
    }

    /// Writes one event of an object of several, by its key. All events of a recording have keys,
    /// or none.
    ///
    /// # Errors
    /// As [`Self::write`]; disc22 has no keys.
    pub fn write_of(&mut self, key: &Value, event: &Event<'_, Value>) -> Result<(), WriteError> {
        match &mut self.0 {
            Inner::Text(writer) => writer.write_of(key, event),
            Inner::Jsonl(writer) => writer.write_of(key, event),
            Inner::Disc22(_) => Err(Inexpressible::Key { key: key.clone() }.into()),
        }
    }

    /// Writes one event of an immediate snapshot; of several, with its key.
    ///
    /// # Errors
    /// As [`Self::write`]; disc22 knows no immediate snapshots.
    pub fn write_exchange(
        &mut self,
        key: Option<&Value>,
        event: &immediate::Event<'_, Value>,
    ) -> Result<(), WriteError> {
        match &mut self.0 {
            Inner::Text(writer) => writer.write_exchange(key, event),
            Inner::Jsonl(writer) => writer.write_exchange(key, event),
            Inner::Disc22(_) => Err(Inexpressible::Object { object: Object::Immediate }.into()),
        }
    }

    /// Ends the recording and returns the output, flushed. Without this call
    /// the output is not a whole recording.
    ///
    /// # Errors
    /// If the output fails or the format cannot express the recording.
    pub fn finish(self) -> Result<W, WriteError> {
        match self.0 {
            Inner::Text(writer) => writer.finish(),
            Inner::Jsonl(writer) => writer.finish(),
            Inner::Disc22(writer) => writer.finish(),
        }
    }
}

/// Writes a history that is in memory, with its sizes declared, and returns the
/// output.
///
/// # Errors
/// As [`Writer`].
pub fn write_history<W: Write>(
    format: Format,
    output: W,
    history: &History<Value>,
) -> Result<W, WriteError> {
    let mut writer = Writer::new(format, output, &history.declaration())?;
    for event in history.events() {
        writer.write(&event)?;
    }
    writer.finish()
}
