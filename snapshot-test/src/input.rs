//! Opening recordings: files, pipes, standard input.
//!
//! A disc22 recording is read twice, since the number of segments is known only at its end. A file
//! is read again; a pipe is copied to a temporary file during the first reading.

mod gauge;

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use self::gauge::{Gauge, Reading};
use crate::Value;
use crate::error::InputError;
use crate::format::{
    DETECTION_LENGTH, Format, Location, ReadError, ReadErrorKind, Reader, detect, disc22,
    is_decisive,
};
use crate::synchronisation;

/// The source of a recording.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Input {
    /// Standard input, `-` on a command line.
    Standard,
    /// A file, or a named pipe.
    File(PathBuf),
}

/// A reader of an opened input.
pub type InputReader = Reader<Box<dyn Read + Send>>;

/// An opened input.
pub(crate) enum Opened {
    Recording(Box<InputReader>),
    /// A log of another tool, and its format.
    Log(Format, Box<dyn Read + Send>),
}

impl Opened {
    fn format(&self) -> Format {
        match self {
            Self::Recording(reader) => reader.format(),
            Self::Log(format, _) => *format,
        }
    }

    /// Returns the recording, where a log of another tool cannot be read.
    fn recording(self) -> Result<InputReader, OpenError> {
        match self {
            Self::Recording(reader) => Ok(*reader),
            Self::Log(format, _) => {
                let kind = ReadErrorKind::ForeignLog { format };
                Err(ReadError::new(Location::START, kind, None).into())
            }
        }
    }
}

/// An input that cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file does not exist.
    #[error("expected a history in {}, found no such file", .path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The file is a directory.
    #[error("expected a history in {}, found a directory", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("cannot open {name}: {error}")]
    Io {
        /// The input.
        name: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// It does not begin like a recording.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is no recording of the object.
    #[error(transparent)]
    Recorded(#[from] synchronisation::ReadError),
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> Self {
        Self::Input(error.into())
    }
}

impl OpenError {
    /// Returns the reason why it could not be opened, in a few words: `no such file`.
    pub fn unopened(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("no such file".to_owned()),
            Self::Directory { .. } => Some("a directory".to_owned()),
            Self::Io { error, .. } => Some(unopened(error)),
            Self::Input(_) => None,
            Self::Recorded(error) => error.unopened(),
        }
    }

    /// Returns the report for human readers, as [`InputError::report`].
    pub fn report<'a>(&'a self, name: &'a str) -> impl fmt::Display + 'a {
        Report { error: self, name }
    }
}

/// Returns the reason why an input cannot be read, in a few words.
pub(crate) fn unopened(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        kind => kind.to_string(),
    }
}

struct Report<'a> {
    error: &'a OpenError,
    name: &'a str,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, name } = self;
        match error {
            OpenError::NotFound { .. } => {
                write!(f, "{error}\nhelp: check the path; `-` reads standard input")
            }
            OpenError::Directory { .. } => write!(f, "{error}\nhelp: name one file in it"),
            OpenError::Io { .. } => write!(f, "{error}"),
            OpenError::Input(error) => write!(f, "{}", error.report(name)),
            OpenError::Recorded(error) => f.write_str(&error.report(name)),
        }
    }
}

impl Input {
    pub fn from_argument(argument: &Path) -> Self {
        if argument == Path::new("-") { Self::Standard } else { Self::File(argument.to_owned()) }
    }

    /// Returns the name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Returns true if it can be read only once, and may have to be waited for.
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Standard => true,
            // A missing file is reported when it is opened.
            Self::File(path) => std::fs::metadata(path).is_ok_and(|metadata| is_stream(&metadata)),
        }
    }

    /// Opens the input without reading; the gauge shows the progress of reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn bytes(&self, gauge: &Gauge) -> Result<Box<dyn Read + Send>, OpenError> {
        let Self::File(path) = self else { return Ok(boxed(gauge.of(io::stdin(), None))) };
        let file = File::open(path).map_err(|error| self.cannot_open(error))?;
        let metadata = file.metadata().map_err(|error| self.cannot_open(error))?;
        if metadata.is_dir() {
            return Err(OpenError::Directory { path: path.clone() });
        }
        let size = metadata.is_file().then_some(metadata.len());
        Ok(boxed(gauge.of(file, size)))
    }

    /// Opens the input and reads up to the first event; `None` detects the format.
    ///
    /// # Errors
    /// If it cannot be opened, is empty, or does not begin like a recording; disc22: if it is not
    /// well-formed up to its end.
    pub fn open(&self, format: Option<Format>) -> Result<InputReader, OpenError> {
        self.open_gauged(format, &Gauge::default())
    }

    /// As [`Self::open`]; the gauge shows the progress of reading.
    pub(crate) fn open_gauged(
        &self,
        format: Option<Format>,
        gauge: &Gauge,
    ) -> Result<InputReader, OpenError> {
        self.opened(format, gauge, None)?.recording()
    }

    /// As [`Self::open`], for an input that may have to be read more than once: an input that
    /// cannot be rewound is copied to a temporary file as it is read. The gauge shows the progress
    /// of each reading.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_repeatably(
        &self,
        format: Option<Format>,
        gauge: &Gauge,
    ) -> Result<(InputReader, Replay), OpenError> {
        let (opened, replay) = self.open_any(format, gauge)?;
        Ok((opened.recording()?, replay))
    }

    /// As [`Self::open_repeatably`], also for logs of other tools.
    pub(crate) fn open_any(
        &self,
        format: Option<Format>,
        gauge: &Gauge,
    ) -> Result<(Opened, Replay), OpenError> {
        let copy = self.is_stream().then(tempfile::tempfile).transpose();
        let copy = copy.map_err(|error| self.cannot_open(error))?;
        let kept = copy.as_ref().map(File::try_clone).transpose();
        let kept = kept.map_err(|error| self.cannot_open(error))?;
        let opened = self.opened(format, gauge, copy)?;
        let (input, gauge) = (self.clone(), gauge.clone());
        let replay = Replay { input, format: opened.format(), copy: kept, key: None, gauge };
        Ok((opened, replay))
    }

    /// Opens the input; `copy` receives what is read of one that can be read only once.
    fn opened(
        &self,
        format: Option<Format>,
        gauge: &Gauge,
        copy: Option<File>,
    ) -> Result<Opened, OpenError> {
        let stream = match self {
            Self::Standard => boxed(gauge.of(io::stdin(), None)),
            Self::File(path) => {
                let file = File::open(path).map_err(|error| self.cannot_open(error))?;
                let metadata = file.metadata().map_err(|error| self.cannot_open(error))?;
                if metadata.is_dir() {
                    return Err(OpenError::Directory { path: path.clone() });
                }
                if !is_stream(&metadata) {
                    return self.open_file(file, format, gauge);
                }
                boxed(gauge.of(file, None))
            }
        };
        match copy {
            None => self.open_stream(stream, format),
            Some(copy) => self.open_stream(Copying { input: stream, copy }, format),
        }
    }

    fn cannot_open(&self, error: io::Error) -> OpenError {
        match self {
            Self::File(path) if error.kind() == io::ErrorKind::NotFound => {
                OpenError::NotFound { path: path.clone() }
            }
            _ => OpenError::Io { name: self.name(), error },
        }
    }

    fn open_file(
        &self,
        mut file: File,
        format: Option<Format>,
        gauge: &Gauge,
    ) -> Result<Opened, OpenError> {
        let format = match format {
            Some(format) => format,
            None => {
                let first = self.first_bytes(&mut file)?;
                file.rewind().map_err(|error| self.cannot_open(error))?;
                detect(&first)?
            }
        };
        let size = file.metadata().map_err(|error| self.cannot_open(error))?.len();
        Ok(Opened::Recording(Box::new(match format {
            Format::Text => Reader::text(boxed(gauge.of(file, Some(size))))?,
            Format::Jsonl => Reader::jsonl(boxed(gauge.of(file, Some(size))))?,
            Format::Disc22 => {
                let segments = disc22::segments(gauge.of(&mut file, Some(size)))?;
                file.rewind().map_err(|error| self.cannot_open(error))?;
                Reader::disc22(boxed(gauge.of(file, Some(size))), segments)
            }
            Format::Edn | Format::Intervals => {
                return Ok(Opened::Log(format, boxed(gauge.of(file, Some(size)))));
            }
        })))
    }

    fn open_stream(
        &self,
        mut stream: impl Read + Send + 'static,
        format: Option<Format>,
    ) -> Result<Opened, OpenError> {
        let first = match format {
            Some(_) => Vec::new(),
            None => self.first_bytes(&mut stream)?,
        };
        let format = match format {
            Some(format) => format,
            None => detect(&first)?,
        };
        let stream = Cursor::new(first).chain(stream);
        Ok(Opened::Recording(Box::new(match format {
            Format::Text => Reader::text(boxed(stream))?,
            Format::Jsonl => Reader::jsonl(boxed(stream))?,
            Format::Disc22 => {
                let mut copy = tempfile::tempfile().map_err(|error| self.cannot_open(error))?;
                let copying = Copying { input: stream, copy: &mut copy };
                let segments = disc22::segments(copying)?;
                copy.rewind().map_err(|error| self.cannot_open(error))?;
                Reader::disc22(boxed(copy), segments)
            }
            Format::Edn | Format::Intervals => return Ok(Opened::Log(format, boxed(stream))),
        })))
    }

    /// Reads enough of the input to detect its format: up to the end of the first line that is not
    /// blank, so that an interactive or slow input is not waited for.
    fn first_bytes(&self, input: &mut impl Read) -> Result<Vec<u8>, OpenError> {
        let mut first = Vec::new();
        let mut piece = [0; 4096];
        while first.len() < DETECTION_LENGTH && !is_decisive(&first) {
            match input.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => first.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cannot_open(error)),
            }
        }
        Ok(first)
    }
}

/// Returns true if a file can be read only once.
fn is_stream(metadata: &std::fs::Metadata) -> bool {
    !metadata.is_file() && !metadata.is_dir()
}

/// A way to read an input again, after its end.
#[derive(Debug)]
pub struct Replay {
    input: Input,
    format: Format,
    copy: Option<File>,
    /// The key of the object to read, of several.
    key: Option<Value>,
    gauge: Gauge,
}

impl Replay {
    /// Returns true if the input is a file, which need not be waited for.
    pub fn is_of_file(&self) -> bool {
        self.copy.is_none()
    }

    /// Returns a replay of one object of several, by its key.
    ///
    /// # Errors
    /// If the copy of the input cannot be used.
    pub fn of(&self, key: &Value) -> io::Result<Self> {
        Ok(Self { key: Some(key.clone()), ..self.again()? })
    }

    /// Creates a replay of piped input.
    #[cfg(test)]
    pub(crate) fn of_copy(copy: File) -> Self {
        let (input, format, gauge) = (Input::Standard, Format::Text, Gauge::default());
        Self { input, format, copy: Some(copy), key: None, gauge }
    }

    /// Returns another replay of the same input.
    ///
    /// # Errors
    /// If the copy of the input cannot be used.
    pub(crate) fn again(&self) -> io::Result<Self> {
        let copy = self.copy.as_ref().map(File::try_clone).transpose()?;
        let (input, format, gauge) = (self.input.clone(), self.format, self.gauge.clone());
        Ok(Self { input, format, copy, key: self.key.clone(), gauge })
    }

    /// Keeps the input beyond the end of the program. Returns the file with the whole input.
    ///
    /// # Errors
    /// If there is no file, and none can be written.
    pub(crate) fn keep(&self) -> io::Result<PathBuf> {
        if let (None, Input::File(path)) = (&self.copy, &self.input) {
            return Ok(path.clone());
        }
        let mut file = tempfile::Builder::new().prefix("recording-").tempfile()?;
        io::copy(&mut self.bytes()?, &mut file)?;
        let (_, path) = file.keep()?;
        Ok(path)
    }

    pub const fn format(&self) -> Format {
        self.format
    }

    /// Returns the bytes of the input once more, from its beginning, as [`Self::open`].
    ///
    /// # Errors
    /// If the input has gone since.
    pub fn bytes(&self) -> io::Result<Box<dyn Read + Send>> {
        match (&self.copy, &self.input) {
            (Some(copy), _) => {
                let mut copy = copy.try_clone()?;
                copy.rewind()?;
                Ok(boxed(copy))
            }
            (None, Input::File(path)) => Ok(boxed(File::open(path)?)),
            // An input other than a file has been copied.
            (None, Input::Standard) => Ok(boxed(io::empty())),
        }
    }

    /// Reads the input once more, from its beginning. Not while another reader of it is in use.
    ///
    /// # Errors
    /// If the input has changed or gone since.
    pub fn open(&self) -> Result<InputReader, OpenError> {
        let mut reader = match &self.copy {
            None => self.input.open_gauged(Some(self.format), &self.gauge)?,
            Some(copy) => {
                let rewound = copy.try_clone().and_then(|mut copy| copy.rewind().map(|()| copy));
                let copy = rewound.map_err(|error| self.input.cannot_open(error))?;
                self.input.open_file(copy, Some(self.format), &self.gauge)?.recording()?
            }
        };
        if let Some(key) = &self.key {
            reader.select(key)?;
        }
        Ok(reader)
    }
}

fn boxed(input: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(input)
}

/// Copies the bytes that are read.
struct Copying<R, W> {
    input: R,
    copy: W,
}

impl<R: Read, W: Write> Read for Copying<R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.copy.write_all(&buffer[..read])?;
        Ok(read)
    }
}
