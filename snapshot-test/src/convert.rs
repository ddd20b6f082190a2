//! From one format to another, as a stream.

use std::fmt;
use std::io::{BufWriter, Cursor, Read, Seek, Write};

use snapshot_core::history::Admission;
use snapshot_core::{Names, immediate};
use thiserror::Error;

use crate::error::InputError;
use crate::format::{
    Excerpt, Format, Heading, KeyedEvent, Location, Object, Reader, WriteError, Writer, text,
};
use crate::read::Origins;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The input is not a history.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output failed, or its format cannot express an event.
    #[error("{location}: {error}")]
    Event {
        /// Position of the event in the input.
        location: Location,
        /// The text of the event in the input.
        excerpt: Option<Excerpt>,
        /// The reason why it cannot be written.
        error: WriteError,
    },
    /// The output failed, or its format cannot express the recording as a whole.
    #[error(transparent)]
    Recording(#[from] WriteError),
}

impl ConvertError {
    /// Returns the report for human readers, as [`InputError::report`]; `name` is the input's.
    pub fn report<'a>(&'a self, name: &'a str) -> impl fmt::Display + 'a {
        Report { error: self, name }
    }
}

struct Report<'a> {
    error: &'a ConvertError,
    name: &'a str,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, name } = self;
        match error {
            ConvertError::Input(error) => write!(f, "{}", error.report(name)),
            ConvertError::Event { error: error @ WriteError::Io(_), .. }
            | ConvertError::Recording(error @ WriteError::Io(_)) => write!(f, "{error}"),
            ConvertError::Event { excerpt, .. } => {
                write!(f, "{name}:{error}")?;
                excerpt.as_ref().map_or(Ok(()), |excerpt| write!(f, "\n{excerpt}"))
            }
            ConvertError::Recording(error) => write!(f, "{name}: {error}"),
        }
    }
}

/// Writes all events of `reader` to `output`, in another format, and returns the output, flushed.
///
/// Only histories are converted: every event is admitted first. If this fails, the output holds a
/// part of the recording and must be discarded. Memory is bounded by the numbers of processes and
/// segments.
pub fn convert<R: Read, W: Write>(
    reader: Reader<R>,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    if reader.has_open_names() && format != Format::Disc22 {
        return convert_named(reader, format, output);
    }
    let names = reader.names().get();
    convert_with(reader, &names, format, output)
}

/// As [`convert`], if names of processes or segments are known only at the end of the input: events
/// are kept in a temporary file, with numbers, since the names come before them.
fn convert_named<R: Read, W: Write>(
    reader: Reader<R>,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    let names = reader.names();
    let spool = tempfile::tempfile().map_err(WriteError::from)?;
    let kept = convert_with(reader, &Names::default(), Format::Text, BufWriter::new(spool))?;
    let mut kept = kept.into_inner().map_err(|error| WriteError::from(error.into_error()))?;
    kept.rewind().map_err(WriteError::from)?;
    let mut header = Vec::new();
    text::write_names(&mut header, &names.get()).map_err(WriteError::from)?;
    let again = Reader::text(Cursor::new(header).chain(kept)).map_err(InputError::from)?;
    convert_with(again, &names.get(), format, output)
}

fn convert_with<R: Read, W: Write>(
    mut reader: Reader<R>,
    names: &Names,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    if reader.object() == Object::Immediate {
        return convert_exchanges(reader, names, format, output);
    }
    let mut origins = Origins::default();
    let mut admission = Admission::new(reader.declaration())
        .map_err(|error| origins.refused(Location::START, error, None))?;
    let declaration = reader.declaration();
    let heading = Heading { object: Object::Snapshot, declaration, names, comments: &[] };
    let mut writer = Writer::begin(format, output, &heading)?;
    if reader.is_keyed() && !reader.is_selecting() {
        return convert_all(reader, writer);
    }
    while let Some(next) = reader.next_event() {
        let (location, event) = next.map_err(InputError::from)?;
        if let Err(error) = admission.admit(&event) {
            let error = origins.refused(location, error, reader.excerpt());
            return Err(error.named(&reader.names().get()).into());
        }
        if let Err(error) = writer.write(&event) {
            return Err(ConvertError::Event { location, excerpt: reader.excerpt(), error });
        }
        origins.note(location, &event);
    }
    Ok(writer.finish()?)
}

/// As `convert`, for a recording of several objects, which keeps its keys. Each object is
/// admitted separately.
fn convert_all<R: Read, W: Write>(
    mut reader: Reader<R>,
    mut writer: Writer<W>,
) -> Result<W, ConvertError> {
    let declaration = reader.declaration().clone();
    let mut objects: Vec<(Admission, Origins)> = Vec::new();
    while let Some(next) = reader.next_keyed() {
        let KeyedEvent { key, name, location, event } = next.map_err(InputError::from)?;
        if key.index() == objects.len() {
            let admission = Admission::new(&declaration)
                .map_err(|error| Origins::default().refused(Location::START, error, None))?;
            objects.push((admission, Origins::default()));
        }
        let (admission, origins) = &mut objects[key.index()];
        let admitted = admission.admit(&event);
        if admitted.is_ok() {
            origins.note(location, &event);
        }
        let written = if admitted.is_ok() { writer.write_of(name, &event) } else { Ok(()) };
        if let Err(error) = admitted {
            let error = origins.refused(location, error, reader.excerpt());
            return Err(error.named(&reader.names().get()).into());
        }
        if let Err(error) = written {
            return Err(ConvertError::Event { location, excerpt: reader.excerpt(), error });
        }
    }
    Ok(writer.finish()?)
}

/// As `convert`, for immediate snapshots, one or several.
fn convert_exchanges<R: Read, W: Write>(
    mut reader: Reader<R>,
    names: &Names,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    let declaration = &reader.declaration().clone();
    let admission = || {
        immediate::Admission::new(declaration)
            .map_err(|error| InputError::of_exchange(Location::START, error, None))
    };
    // Segments have the names of their processes.
    let names = &Names::new(names.processes().to_vec(), Vec::new());
    let object = Object::Immediate;
    let heading = Heading { object, declaration, names, comments: &[] };
    let mut writer = Writer::begin(format, output, &heading)?;
    let is_of_all = reader.is_keyed() && !reader.is_selecting();
    let mut admissions = vec![admission()?];
    loop {
        let next = match is_of_all {
            true => reader.next_keyed_exchange().map(|next| {
                next.map(|one| (one.key.index(), Some(one.name), one.location, one.event))
            }),
            false => {
                reader.next_exchange().map(|next| next.map(|(at, event)| (0, None, at, event)))
            }
        };
        let Some(next) = next else { break };
        let (index, key, location, event) = next.map_err(InputError::from)?;
        if index == admissions.len() {
            admissions.push(admission()?);
        }
        let admitted = admissions[index].admit(&event);
        let written = if admitted.is_ok() { writer.write_exchange(key, &event) } else { Ok(()) };
        if let Err(error) = admitted {
            let error = InputError::of_exchange(location, error, reader.excerpt());
            return Err(error.named(&reader.names().get()).into());
        }
        if let Err(error) = written {
            return Err(ConvertError::Event { location, excerpt: reader.excerpt(), error });
        }
    }
    Ok(writer.finish()?)
}
