//! The three formats of recordings: readers, writers, detection.
//!
//! All readers stream: an event is handed over as soon as its line (disc22: its `;`) was read,
//! borrows its values from the reader, and memory is bounded by [`LINE_LIMIT`], never by the input.
//! They check only the *syntax*; [`snapshot_core::history::Admission`], through which every
//! consumer passes the events, decides whether a history can have an event at its position.
//!
//! `docs/formats.md` describes the formats for users.

mod batch;
mod clock;
mod cure;
mod detect;
pub mod disc22;
mod error;
mod json_value;
pub mod jsonl;
mod keys;
mod location;
mod nearest;
mod object;
mod parsed;
mod pieces;
pub(crate) mod quoted;
mod source;
pub mod text;
mod writer;

use std::fmt;
use std::io::Read;

use snapshot_core::history::{Declaration, Event};
use snapshot_core::immediate;

pub use batch::Batch;
pub(crate) use clock::Clock;
pub use clock::{Backwards, Doubt, Noticed};
pub use detect::{DETECTION_LENGTH, detect};
pub(crate) use detect::{begins_like_edn, is_decisive, is_table};
pub use error::{Found, ReadError, ReadErrorKind};
pub use json_value::JsonValue;
pub(crate) use jsonl::{Member, Time, members};
pub use keys::Key;
pub use location::{Excerpt, Location};
pub use object::Object;
pub(crate) use pieces::{Irregular, Piece, Pieces, SIZE as PIECE_SIZE};
pub(crate) use source::BYTE_ORDER_MARK;
pub use source::LINE_LIMIT;
pub use writer::{Inexpressible, WriteError, Writer, write_history};

use self::keys::{Fate, Selection};
pub(crate) use self::parsed::{Parsed, integer};
use self::parsed::{Payload, Shape};
use crate::Value;
use crate::stamp::Stamp;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Format {
    /// One event per line, for people: `p0 update 5`. See [`mod@text`].
    Text,
    /// One JSON object per line, for programs. See [`jsonl`].
    Jsonl,
    /// `startUpdate!0,5;...`, the format of the supporting material of the
    /// DISC 2022 paper. See [`disc22`].
    Disc22,
    /// A history of Jepsen, Knossos or Porcupine in EDN, or a log of `jepsen.util`. It is read, not
    /// written. See [`crate::import`].
    Edn,
    /// Operations with the times of their calls and returns: CSV or JSON. It is read, not written.
    /// See [`crate::import`].
    Intervals,
}

impl Format {
    /// The formats of recordings, which are read event by event, and written.
    pub const ALL: [Self; 3] = [Self::Text, Self::Jsonl, Self::Disc22];

    /// Returns the name in options and reports: `text`, `jsonl`, `disc22`, `edn` or `intervals`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Jsonl => "jsonl",
            Self::Disc22 => "disc22",
            Self::Edn => "edn",
            Self::Intervals => "intervals",
        }
    }

    /// Returns true for the logs of other tools, which are not written.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Edn | Self::Intervals)
    }
}

/// Writes the name in sentences: `text`, `JSON Lines`, `disc22`, `EDN` or `intervals`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Jsonl => "JSON Lines",
            Self::Disc22 => "disc22",
            Self::Edn => "EDN",
            Self::Intervals => "intervals",
        })
    }
}

/// An event of one of several objects.
#[derive(Debug)]
pub struct KeyedEvent<'a, E = Event<'a, Value>> {
    pub key: Key,
    /// The key, as written in the recording.
    pub name: &'a Value,
    /// Position of the start of the event.
    pub location: Location,
    pub event: E,
}

/// Reads the events of a recording, in any of the formats.
///
/// ```
/// use snapshot_test::format::Reader;
///
/// let recording = "segments 2\np0 update 5\np1 scan\np0 ok\np1 ok 5 0\n";
/// let mut reader = Reader::text(recording.as_bytes())?;
/// assert_eq!(reader.declaration().segments, Some(2));
/// let mut lines = Vec::new();
/// while let Some(event) = reader.next_event() {
///     let (location, _event) = event?;
///     lines.push(location.line);
/// }
/// assert_eq!(lines, [2, 3, 4, 5]);
/// # Ok::<(), snapshot_test::format::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    inner: Inner,
    object: Object,
    /// The values of the event that was handed over last.
    payload: Payload,
    selection: Selection,
    /// True if an event was selected.
    is_found: bool,
}

#[derive(Debug)]
enum Inner {
    Text(text::TextReader),
    Jsonl(jsonl::JsonlReader),
    Disc22(disc22::Disc22Reader),
}

impl Inner {
    /// Parses the next event; its values are appended.
    #[inline]
    fn advance(
        &mut self,
        input: &mut dyn Read,
        payload: &mut Payload,
    ) -> Result<Option<Parsed>, ReadError> {
        match self {
            Self::Text(reader) => reader.advance(input, payload),
            Self::Jsonl(reader) => reader.advance(input, payload),
            Self::Disc22(reader) => reader.advance(input, &mut payload.values),
        }
    }

    /// Fills the batch with the next chosen events.
    fn fill(&mut self, input: &mut dyn Read, chosen: Selection, batch: &mut Batch) {
        match self {
            Self::Text(reader) => batch.fill(chosen, |payload| reader.advance(input, payload)),
            Self::Jsonl(reader) => batch.fill(chosen, |payload| reader.advance(input, payload)),
            Self::Disc22(reader) => {
                batch.fill(chosen, |payload| reader.advance(input, &mut payload.values));
            }
        }
    }
}

impl<R: Read> Reader<R> {
    fn new(input: R, inner: Inner) -> Self {
        let object = match &inner {
            Inner::Text(reader) => reader.object(),
            Inner::Jsonl(reader) => reader.object(),
            Inner::Disc22(_) => Object::Snapshot,
        };
        Self {
            input,
            inner,
            object,
            payload: Payload::default(),
            selection: Selection::Unkeyed,
            is_found: false,
        }
    }

    /// Returns true if the recording has several objects: each event has a key.
    pub fn is_keyed(&self) -> bool {
        match &self.inner {
            Inner::Text(reader) => reader.keys().are_used(),
            Inner::Jsonl(reader) => reader.keys().are_used(),
            Inner::Disc22(_) => false,
        }
    }

    /// Returns the keys of the objects, in the order in which they first occurred, as far as the
    /// recording was read.
    pub fn keys(&self) -> &[Value] {
        match &self.inner {
            Inner::Text(reader) => reader.keys().names(),
            Inner::Jsonl(reader) => reader.keys().names(),
            Inner::Disc22(_) => &[],
        }
    }

    /// Restricts reading to the events of one object, by its key. Before this, or
    /// [`Self::next_keyed`], the events of a recording of several are refused.
    ///
    /// # Errors
    /// If the recording has no keys.
    pub fn select(&mut self, key: &Value) -> Result<(), ReadError> {
        let keys = match &mut self.inner {
            Inner::Text(reader) => reader.keys_mut(),
            Inner::Jsonl(reader) => reader.keys_mut(),
            Inner::Disc22(_) => return Err(no_such_key(key)),
        };
        if !keys.are_used() {
            return Err(no_such_key(key));
        }
        let key = keys.number(key.clone());
        self.selection = Selection::One(key);
        if let Inner::Jsonl(reader) = &mut self.inner {
            reader.clock_mut().select(key);
        }
        Ok(())
    }

    /// Returns a handle to contradictions among the times of events, present and later; only JSON
    /// Lines have times.
    pub fn noticed(&self) -> Noticed {
        match &self.inner {
            Inner::Jsonl(reader) => reader.clock().noticed(),
            Inner::Text(_) | Inner::Disc22(_) => Noticed::default(),
        }
    }

    pub(crate) const fn time(&self) -> Option<Stamp> {
        match &self.inner {
            Inner::Jsonl(reader) => reader.time(),
            Inner::Text(_) | Inner::Disc22(_) => None,
        }
    }

    /// Returns true if only the events of one object are read: see [`Self::select`].
    pub const fn is_selecting(&self) -> bool {
        matches!(self.selection, Selection::One(_))
    }

    /// Returns the next event of a recording of several objects, of any of them, as
    /// [`Self::next_event`]. `None` also if events have no keys.
    ///
    /// # Errors
    /// If the next line is not an event of this format.
    #[inline]
    pub fn next_keyed(&mut self) -> Option<Result<KeyedEvent<'_>, ReadError>> {
        self.payload.clear();
        if self.object != Object::Snapshot {
            return Some(Err(self.refused(ReadErrorKind::ForeignObject)));
        }
        match self.inner.advance(&mut self.input, &mut self.payload) {
            Ok(Some(Parsed { location, process, shape, key })) => {
                let key = key?;
                let Payload { values, entries } = &self.payload;
                let event = shape.event(process, values, entries);
                Some(Ok(KeyedEvent { key, name: &self.keys()[key.index()], location, event }))
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Parses the next event of a recording of several objects, to be [appended](Self::append) to a
    /// batch.
    pub(crate) fn parse_keyed(&mut self) -> Option<Result<Parsed, ReadError>> {
        self.payload.clear();
        self.inner.advance(&mut self.input, &mut self.payload).transpose()
    }

    /// Appends the event that was parsed last to a batch, under the given key.
    pub(crate) fn append(&mut self, parsed: &Parsed, key: Key, batch: &mut Batch) {
        batch.push(parsed, key, &mut self.payload);
    }

    /// Refuses the recording at its next event.
    #[cold]
    fn refused(&mut self, kind: ReadErrorKind) -> ReadError {
        let location = match self.inner.advance(&mut self.input, &mut self.payload) {
            Ok(Some(parsed)) => parsed.location,
            _ => Location::START,
        };
        ReadError::new(location, kind, self.excerpt())
    }

    /// Returns the error that the recording has no event of the selected object, if so.
    #[cold]
    fn missing(&mut self) -> Option<ReadError> {
        match self.selection {
            Selection::One(key) if !self.is_found => {
                self.is_found = true;
                Some(no_such_key(&self.keys()[key.index()]))
            }
            _ => None,
        }
    }

    /// Parses the next selected event; its values are in the payload.
    #[inline]
    fn advance(&mut self) -> Result<Option<Parsed>, ReadError> {
        loop {
            self.payload.clear();
            let parsed = match self.inner.advance(&mut self.input, &mut self.payload) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return self.missing().map_or(Ok(None), Err),
                Err(error) => return Err(error),
            };
            match self.selection.fate(parsed.key) {
                Fate::Taken => {
                    self.is_found = true;
                    return Ok(Some(parsed));
                }
                Fate::Skipped => {}
                Fate::Refused => {
                    let kind = ReadErrorKind::SeveralObjects;
                    return Err(ReadError::new(parsed.location, kind, self.excerpt()));
                }
            }
        }
    }

    /// Reads text. Has its own buffer, as do the other readers.
    ///
    /// # Errors
    /// If the input is empty or its header cannot be read.
    pub fn text(mut input: R) -> Result<Self, ReadError> {
        let reader = text::TextReader::new(&mut input)?;
        Ok(Self::new(input, Inner::Text(reader)))
    }

    /// Reads JSON Lines.
    ///
    /// # Errors
    /// If the input is empty or its header cannot be read.
    pub fn jsonl(mut input: R) -> Result<Self, ReadError> {
        let reader = jsonl::JsonlReader::new(&mut input)?;
        Ok(Self::new(input, Inner::Jsonl(reader)))
    }

    /// Reads disc22, whose number of segments is known only at the last event: see
    /// [`disc22::segments`].
    pub fn disc22(input: R, segments: usize) -> Self {
        Self::new(input, Inner::Disc22(disc22::Disc22Reader::new(segments)))
    }

    pub const fn format(&self) -> Format {
        match self.inner {
            Inner::Text(_) => Format::Text,
            Inner::Jsonl(_) => Format::Jsonl,
            Inner::Disc22(_) => Format::Disc22,
        }
    }

    /// Returns the declaration before the first event.
    pub const fn declaration(&self) -> &Declaration<Value> {
        match &self.inner {
            Inner::Text(reader) => reader.declaration(),
            Inner::Jsonl(reader) => reader.declaration(),
            Inner::Disc22(reader) => reader.declaration(),
        }
    }

    pub const fn object(&self) -> Object {
        self.object
    }

    /// Sets the object of a recording that is read from its middle on.
    #[must_use]
    pub fn within(mut self, object: Object) -> Self {
        self.object = object;
        match &mut self.inner {
            Inner::Text(reader) => reader.set_object(object),
            Inner::Jsonl(reader) => reader.set_object(object),
            Inner::Disc22(_) => {}
        }
        self
    }

    /// Returns the next event of a recording of an immediate snapshot, as [`Self::next_event`].
    ///
    /// # Errors
    /// If the next line is not an event of this format.
    pub fn next_exchange(
        &mut self,
    ) -> Option<Result<(Location, immediate::Event<'_, Value>), ReadError>> {
        match self.advance() {
            Ok(Some(Parsed { location, process, shape, .. })) => {
                Some(Ok((location, shape.exchange(process, &self.payload.values))))
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Returns the next event of a recording of several immediate snapshots, of any of them, as
    /// [`Self::next_exchange`]. `None` also if events have no keys.
    ///
    /// # Errors
    /// If the next line is not an event of this format.
    pub fn next_keyed_exchange(
        &mut self,
    ) -> Option<Result<KeyedEvent<'_, immediate::Event<'_, Value>>, ReadError>> {
        self.payload.clear();
        match self.inner.advance(&mut self.input, &mut self.payload) {
            Ok(Some(Parsed { location, process, shape, key })) => {
                let key = key?;
                let event = shape.exchange(process, &self.payload.values);
                Some(Ok(KeyedEvent { key, name: &self.keys()[key.index()], location, event }))
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Returns the next event and its position; `None` at the end of the input and after an error.
    /// The reader owns the values, until its next call.
    ///
    /// # Errors
    /// If the next line is not an event of this format, or the recording has another object.
    #[inline]
    pub fn next_event(&mut self) -> Option<Result<(Location, Event<'_, Value>), ReadError>> {
        if self.object != Object::Snapshot {
            return Some(Err(self.refused(ReadErrorKind::ForeignObject)));
        }
        match self.advance() {
            Ok(Some(Parsed { location, process, shape, .. })) => {
                let Payload { values, entries } = &self.payload;
                Some(Ok((location, shape.event(process, values, entries))))
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Fills the batch with the next events. Reads until the batch is full, even if it has to wait
    /// for input.
    pub(crate) fn next_batch(&mut self, batch: &mut Batch) {
        let input = &mut self.input;
        self.inner.fill(input, self.selection, batch);
        self.is_found |= !batch.is_empty();
        if batch.is_last()
            && let Some(error) = self.missing()
        {
            batch.fail(error);
        }
    }

    /// As [`Self::next_batch`], with the events of all objects.
    pub(crate) fn next_keyed_batch(&mut self, batch: &mut Batch) {
        self.selection = Selection::All;
        self.next_batch(batch);
    }

    /// Returns the position of the next line (disc22: event); at the end of the input, its end.
    pub const fn place(&self) -> Location {
        match &self.inner {
            Inner::Text(reader) => reader.place(),
            Inner::Jsonl(reader) => reader.place(),
            Inner::Disc22(reader) => reader.place(),
        }
    }

    /// Returns the line (disc22: the event) of the event read last, if it is short and printable.
    pub fn excerpt(&self) -> Option<Excerpt> {
        match &self.inner {
            Inner::Text(reader) => reader.excerpt(),
            Inner::Jsonl(reader) => reader.excerpt(),
            Inner::Disc22(reader) => reader.excerpt(),
        }
    }
}

impl<R: Read + Send> Reader<R> {
    /// Cuts the rest of a long text of one snapshot into pieces; `None` for any other recording.
    /// Afterwards this reader is exhausted.
    pub(crate) fn pieces(&mut self) -> Option<Pieces<'_>> {
        match &mut self.inner {
            Inner::Text(reader) if self.selection == Selection::Unkeyed => {
                reader.pieces(&mut self.input)
            }
            _ => None,
        }
    }
}

/// Returns the error for an object that the recording does not have.
pub(crate) fn no_such_key(key: &Value) -> ReadError {
    ReadError::new(Location::START, ReadErrorKind::NoSuchKey(key.clone()), None)
}
