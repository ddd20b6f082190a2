//! A recording of an object in another format.

use std::fmt::Display;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use super::error::ReadError;
use super::object::Object;
use super::reader::{Id, Line, Lines};
use super::source::begun;
use super::writer::LineWriter;
use crate::Value;
use crate::format::{Backwards, Format, WriteError};

/// A recording that cannot be converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The input is no recording of the object.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output failed, or its format cannot express the recording.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ConvertError {
    /// Returns the report for human readers; `name` is the input's.
    pub fn report(&self, name: &str) -> impl Display {
        match self {
            Self::Read(error) => error.report(name),
            Self::Write(error @ WriteError::Io(_)) => error.to_string(),
            Self::Write(error) => format!("{name}: {error}"),
        }
    }
}

impl From<io::Error> for ConvertError {
    fn from(error: io::Error) -> Self {
        Self::Write(error.into())
    }
}

/// Writes the events of a recording of an object in another format: of several objects all, or only
/// the one with the key. Returns times that contradict the order of the events.
///
/// Events are checked as by a judge, and kept in a temporary file, since names of processes that
/// come with the events stand before them. Memory is bounded by the number of open operations. An
/// initial value that is not the usual one is in a comment: formats have no place for it.
///
/// # Errors
/// If the input is no recording of the object, or the output fails; the output then holds a part
/// of the recording, or nothing.
pub fn convert(
    object: &Object,
    input: impl Read,
    from: Option<Format>,
    key: Option<&Value>,
    to: Format,
    output: impl Write,
) -> Result<Option<Backwards>, ConvertError> {
    let (mut input, from) = begun(input, from)?;
    let object = object.of(from);
    let mut body = LineWriter::body(BufWriter::new(tempfile::tempfile()?));
    let mut failure = None;
    let mut pass = |of: Option<&Value>, process: usize, deed: &_| {
        let written = body.write(of.filter(|_| key.is_none()), process, deed);
        written.map_err(|error| failure = Some(error)).is_ok()
    };
    let (names, backwards) = object.kind().copy(&object, &mut input, from, key, &mut pass)?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    let mut body = body.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    body.rewind()?;
    let comments: Vec<String> =
        object.initial().map(|value| format!("initially {value}")).into_iter().collect();
    let mut writer = LineWriter::begin(output, to, &object, names, &comments)?;
    if to == Format::Text {
        io::copy(&mut BufReader::new(body), &mut writer.finish()?)?;
        return Ok(backwards);
    }
    let mut lines = Lines::new(body, Some(Format::Text));
    while let Some(line) = lines.next() {
        if let (_, Line::Event { key, process: Id::Number(process), deed }) = line? {
            writer.write(key.as_ref(), process, &deed)?;
        }
    }
    writer.finish()?;
    Ok(backwards)
}
