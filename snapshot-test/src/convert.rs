//! From one format to another, as a stream.

use std::fmt;
use std::io::{BufWriter, Cursor, Read, Seek, Write};

use snapshot_core::Names;
use thiserror::Error;

use crate::error::InputError;
use crate::format::{Excerpt, Format, Heading, Location, Object, Reader, WriteError, Writer, text};
use crate::kind::{Atomic, Immediate, Next, SnapshotKind};
use crate::origins::Origins;

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
    match reader.object() {
        Object::Snapshot => convert_kind::<Atomic, _, _>(&mut reader, names, format, output),
        // Segments have the names of their processes.
        Object::Immediate => {
            let names = &Names::new(names.processes().to_vec(), Vec::new());
            convert_kind::<Immediate, _, _>(&mut reader, names, format, output)
        }
    }
}

/// Each object of several keeps its key, and is admitted separately.
fn convert_kind<K: SnapshotKind, R: Read, W: Write>(
    reader: &mut Reader<R>,
    names: &Names,
    format: Format,
    output: W,
) -> Result<W, ConvertError> {
    let declaration = &reader.declaration().clone();
    let admission = || {
        let origins = Origins::default();
        match K::admission(declaration) {
            Ok(admission) => Ok((admission, origins)),
            Err(error) => Err(K::refused(&origins, Location::START, error, None)),
        }
    };
    let heading = Heading { object: K::OBJECT, declaration, names, comments: &[] };
    let mut objects = vec![admission()?];
    let mut writer = Writer::begin(format, output, &heading)?;
    reader.take_all();
    loop {
        let Some(next) = K::next(reader) else { break };
        let Next { key, location, event } = next.map_err(InputError::from)?;
        let index = key.map_or(0, |(index, _)| index);
        if index == objects.len() {
            objects.push(admission()?);
        }
        let (admission, origins) = &mut objects[index];
        let admitted = K::admit(admission, &event);
        let mut written = Ok(());
        if admitted.is_ok() {
            K::note(origins, location, &event);
            written = K::write(&mut writer, key.map(|(_, name)| name), &event);
        }
        drop(event);
        if let Err(error) = admitted {
            let error = K::refused(origins, location, error, reader.excerpt());
            return Err(error.named(&reader.names().get()).into());
        }
        if let Err(error) = written {
            return Err(ConvertError::Event { location, excerpt: reader.excerpt(), error });
        }
    }
    Ok(writer.finish()?)
}
