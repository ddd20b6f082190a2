//! From one format to another, as a stream.

use std::fmt;
use std::io::{Read, Write};

use snapshot_core::history::Admission;
use snapshot_core::immediate;
use thiserror::Error;

use crate::error::InputError;
use crate::format::{Excerpt, Format, KeyedEvent, Location, Object, Reader, WriteError, Writer};
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
    mut reader: Reader<R>,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    if reader.object() == Object::Immediate {
        return convert_exchanges(reader, format, output);
    }
    let mut origins = Origins::default();
    let mut admission = Admission::new(reader.declaration())
        .map_err(|error| origins.refused(Location::START, error, None))?;
    let mut writer = Writer::new(format, output, reader.declaration())?;
    if reader.is_keyed() && !reader.is_selecting() {
        return convert_all(reader, writer);
    }
    while let Some(next) = reader.next_event() {
        let (location, event) = next.map_err(InputError::from)?;
        if let Err(error) = admission.admit(&event) {
            return Err(origins.refused(location, error, reader.excerpt()).into());
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
            return Err(origins.refused(location, error, reader.excerpt()).into());
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
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    let declaration = reader.declaration().clone();
    let admission = || {
        immediate::Admission::new(&declaration)
            .map_err(|error| InputError::of_exchange(Location::START, error, None))
    };
    let mut writer = Writer::of(Object::Immediate, format, output, &declaration, &[])?;
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
            return Err(InputError::of_exchange(location, error, reader.excerpt()).into());
        }
        if let Err(error) = written {
            return Err(ConvertError::Event { location, excerpt: reader.excerpt(), error });
        }
    }
    Ok(writer.finish()?)
}
