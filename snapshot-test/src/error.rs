//! Errors of inputs, with the place, the quoted line and the cure.

use std::borrow::Cow;
use std::fmt;
use std::io;

use snapshot_core::Names;
use snapshot_core::history::HistoryErrorKind;
use snapshot_core::immediate::{ExchangeError, ExchangeErrorKind};
use thiserror::Error;

use crate::format::{Excerpt, Location, ReadError, ReadErrorKind};
use crate::import::ImportErrorKind;

/// An input that is not a history.
#[derive(Debug, Error)]
#[error("{location}: {kind}", location = .inner.location, kind = .inner.told())]
pub struct InputError {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    location: Location,
    kind: InputErrorKind,
    excerpt: Option<Excerpt>,
    earlier: Option<Location>,
    names: Names,
}

impl Inner {
    /// Returns the message.
    fn told(&self) -> String {
        match &self.kind {
            InputErrorKind::Admission(kind) => kind.told(&self.names),
            InputErrorKind::Exchange(kind) => kind.told(&self.names),
            kind => kind.to_string(),
        }
    }
}

/// Why an input is not a history.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputErrorKind {
    /// The operating system could not read on.
    #[error("cannot read on: {0}")]
    Io(io::Error),
    /// A syntax error of a format of recordings.
    #[error(transparent)]
    Syntax(ReadErrorKind),
    /// No history can have the event there.
    #[error(transparent)]
    Admission(HistoryErrorKind),
    /// No execution of an immediate snapshot can have the event there.
    #[error(transparent)]
    Exchange(ExchangeErrorKind),
    /// A defect of a log of another tool.
    #[error(transparent)]
    Log(#[from] ImportErrorKind),
}

impl InputError {
    pub(crate) fn new(
        location: Location,
        kind: InputErrorKind,
        excerpt: Option<Excerpt>,
        earlier: Option<Location>,
    ) -> Self {
        let names = Names::default();
        Self { inner: Box::new(Inner { location, kind, excerpt, earlier, names }) }
    }

    /// Returns the place of the defect; of a refused event, its beginning.
    pub fn location(&self) -> Location {
        self.inner.location
    }

    pub fn kind(&self) -> &InputErrorKind {
        &self.inner.kind
    }

    /// Returns the message, without the place.
    pub fn message(&self) -> String {
        self.inner.told()
    }

    /// Sets the names of processes and segments in the message.
    pub fn name(&mut self, names: &Names) {
        self.inner.names = names.clone();
    }

    /// Returns the error with these names of processes and segments in its message.
    #[must_use]
    pub fn named(mut self, names: &Names) -> Self {
        self.name(names);
        self
    }

    /// Returns the place of the earlier part that a refused one contradicts.
    pub fn earlier(&self) -> Option<Location> {
        self.inner.earlier
    }

    /// Returns the error of an input of which this one is the rest behind these bytes and lines.
    #[must_use]
    pub fn with_offset(mut self, bytes: u64, lines: u64) -> Self {
        let Inner { location, earlier, .. } = &mut *self.inner;
        let places = [Some(location), earlier.as_mut()];
        for place in places.into_iter().flatten() {
            place.offset += bytes;
            place.line += lines;
        }
        self
    }

    /// Returns the error for an event of an immediate snapshot that was refused.
    pub(crate) fn of_exchange(
        location: Location,
        error: ExchangeError,
        excerpt: Option<Excerpt>,
    ) -> Self {
        Self::new(location, InputErrorKind::Exchange(error.kind), excerpt, None)
    }

    /// Returns the error for an input that could not be read.
    pub fn io(error: io::Error) -> Self {
        Self::new(Location::START, InputErrorKind::Io(error), None, None)
    }

    /// Returns the report for people: `name:line:column: message`, the line with the defect marked,
    /// the earlier part that it contradicts, the cure. Several lines, the last without a newline.
    pub fn report<'a>(&'a self, name: &'a str) -> impl fmt::Display + 'a {
        Report { error: &self.inner, name }
    }
}

impl From<ReadError> for InputError {
    fn from(error: ReadError) -> Self {
        let (location, kind, excerpt) = error.into_parts();
        let kind = match kind {
            ReadErrorKind::Io(error) => InputErrorKind::Io(error),
            kind => InputErrorKind::Syntax(kind),
        };
        Self::new(location, kind, excerpt, None)
    }
}

impl InputErrorKind {
    /// Returns the label of the place that a defect contradicts.
    fn contradicted(&self) -> &'static str {
        match self {
            Self::Admission(HistoryErrorKind::SecondWriter { .. }) => {
                "the first update of that segment"
            }
            Self::Log(kind) => kind.contradicted(),
            _ => "the invocation of the open operation",
        }
    }

    /// Returns the cure, as an imperative sentence without a full stop.
    pub fn cure(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Syntax(kind) => kind.cure().map(Cow::Owned),
            Self::Log(kind) => kind.cure(),
            Self::Io(_) | Self::Admission(_) | Self::Exchange(_) => None,
        }
    }

    /// Returns true if the defect has a place in the input: an option has none.
    const fn is_placed(&self) -> bool {
        match self {
            Self::Log(kind) => kind.is_placed(),
            _ => true,
        }
    }
}

struct Report<'a> {
    error: &'a Inner,
    name: &'a str,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, name } = self;
        let Inner { location, kind, excerpt, earlier, .. } = error;
        let message = error.told();
        let is_placed = kind.is_placed();
        if is_placed {
            write!(f, "{name}:{location}: {message}")?;
        } else {
            write!(f, "{name}: {message}")?;
        }
        if let Some(excerpt) = excerpt.as_ref().filter(|_| is_placed) {
            write!(f, "\n{excerpt}")?;
        }
        if let Some(earlier) = earlier {
            write!(f, "\nnote: {name}:{earlier}: {}", kind.contradicted())?;
        }
        kind.cure().map_or(Ok(()), |cure| write!(f, "\nhelp: {cure}"))
    }
}
