//! The reader of recordings, in any of the formats.

use std::io::Read;

use snapshot_core::Names;
use snapshot_core::history::{Declaration, Event};

use super::keys::{Fate, Selection};
use super::names::Naming;
use super::{
    Batch, Excerpt, Format, Key, Location, NamesSoFar, Noticed, Object, Parsed, Payload, Pieces,
    ReadError, ReadErrorKind, disc22, jsonl, no_such_key, text,
};
use crate::Value;
use crate::stamp::Stamp;

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
    /// [`Self::take_all`], the events of a recording of several are refused.
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

    /// Returns a handle to the names of processes and segments, present and later.
    pub fn names(&self) -> NamesSoFar {
        self.naming().map_or_else(NamesSoFar::default, Naming::so_far)
    }

    const fn naming(&self) -> Option<&Naming> {
        match &self.inner {
            Inner::Text(reader) => Some(reader.naming()),
            Inner::Jsonl(reader) => Some(reader.naming()),
            Inner::Disc22(_) => None,
        }
    }

    /// Returns true if the header declares the names of processes, of segments.
    pub fn are_declared(&self) -> (bool, bool) {
        self.naming().map_or((false, false), Naming::are_declared)
    }

    /// Returns true if events may have names that have not occurred yet.
    pub(crate) fn has_open_names(&self) -> bool {
        matches!(&self.inner, Inner::Jsonl(reader) if reader.naming().is_open())
    }

    /// Returns true if only the events of one object are read: see [`Self::select`].
    pub const fn is_selecting(&self) -> bool {
        matches!(self.selection, Selection::One(_))
    }

    /// Lets all objects of a recording of several be read, unless one is selected.
    pub fn take_all(&mut self) {
        if self.is_keyed() && !self.is_selecting() {
            self.selection = Selection::All;
        }
    }

    /// Parses the next chosen event of a recording of this object.
    #[inline]
    pub(crate) fn parse_next(&mut self, object: Object) -> Option<Result<Parsed, ReadError>> {
        if self.object != object {
            return Some(Err(self.refused(ReadErrorKind::ForeignObject)));
        }
        self.advance().transpose()
    }

    /// Returns the key and the values of the event that was parsed last; the key, if the events of
    /// all objects are read.
    #[inline]
    pub(crate) fn parts(&self, parsed: &Parsed) -> (Option<(usize, &Value)>, &Payload) {
        let key = parsed.key.filter(|_| self.selection == Selection::All);
        (key.map(|key| (key.index(), &self.keys()[key.index()])), &self.payload)
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
        let reader = text::TextReader::new(&mut input, Naming::default())?;
        Ok(Self::new(input, Inner::Text(reader)))
    }

    /// Reads JSON Lines.
    ///
    /// # Errors
    /// If the input is empty or its header cannot be read.
    pub fn jsonl(mut input: R) -> Result<Self, ReadError> {
        let reader = jsonl::JsonlReader::new(&mut input, Naming::default())?;
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

    /// Reads a recording of this object, text or JSON Lines, from its middle on. `names`: those of
    /// the part before; `are_declared`: those of processes, of segments, that its header declares.
    ///
    /// # Errors
    /// If the input is empty or its first line cannot be read.
    pub fn resumed(
        mut input: R,
        format: Format,
        object: Object,
        names: Names,
        are_declared: (bool, bool),
    ) -> Result<Self, ReadError> {
        let naming = Naming::resumed(names, are_declared);
        let inner = match format {
            Format::Jsonl => {
                let mut reader = jsonl::JsonlReader::new(&mut input, naming)?;
                reader.set_object(object);
                Inner::Jsonl(reader)
            }
            _ => {
                let mut reader = text::TextReader::new(&mut input, naming)?;
                reader.set_object(object);
                Inner::Text(reader)
            }
        };
        Ok(Self::new(input, inner))
    }

    /// Returns the next event and its position; `None` at the end of the input and after an error.
    /// The reader owns the values, until its next call.
    ///
    /// # Errors
    /// If the next line is not an event of this format, or the recording has another object.
    #[inline]
    pub fn next_event(&mut self) -> Option<Result<(Location, Event<'_, Value>), ReadError>> {
        Some(self.parse_next(Object::Snapshot)?.map(|parsed| {
            let (_, payload) = self.parts(&parsed);
            (parsed.location, parsed.event(payload))
        }))
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
