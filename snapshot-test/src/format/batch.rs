//! Batches of events, as one thread hands them to another.
//!
//! A batch is filled by [`Reader::next_batch`](super::Reader::next_batch) and can be filled again:
//! its values are parsed into it, never copied, and once it has grown only texts are allocated. It
//! is full at [`EVENTS`] events or [`VALUES`] values, so it exceeds these by the values of at most
//! one event: bounded, like all memory here, by the longest line.

use std::hash::Hash;

use snapshot_core::Process;
use snapshot_core::history::{Event, HistoryError};
use snapshot_core::immediate;
use snapshot_core::monitor::{Judgement, Monitor};

use super::keys::{Fate, Selection};
use super::pieces::{Irregular, Piece};
use super::{Key, Location, Parsed, Payload, ReadError, ReadErrorKind, Shape, text};
use crate::Value;

/// The largest number of events of a batch. Handing over a batch may take two system calls, which
/// must be cheap relative to judging it.
const EVENTS: usize = 4096;

/// The number of values at which a batch is full.
const VALUES: usize = 1 << 15;

/// An event without its position.
#[derive(Clone, Copy, Debug)]
struct Entry {
    process: Process,
    shape: Shape,
    /// End of its values and entries; they begin at the end of the previous entry's.
    end: u32,
    end_of_entries: u32,
}

/// The end of the events of a batch.
#[derive(Debug)]
enum Ending {
    /// More events may follow.
    Open,
    End,
    /// A malformed event follows.
    Error(ReadError),
}

#[derive(Debug)]
pub struct Batch {
    entries: Vec<Entry>,
    payload: Payload,
    /// The values of a piece, if all are integers: instead of the payload.
    integers: Vec<i64>,
    are_integers: bool,
    /// True if a piece had other values: all are parsed as values from then on.
    has_had_others: bool,
    /// The position of each entry. A separate list, since positions are rarely needed.
    locations: Vec<Location>,
    /// The key of each entry, if there are keys.
    keys: Vec<Key>,
    ending: Ending,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            payload: Payload::default(),
            integers: Vec::new(),
            are_integers: false,
            has_had_others: false,
            locations: Vec::new(),
            keys: Vec::new(),
            ending: Ending::Open,
        }
    }

    /// Returns the events, each with its position; empty for a piece, whose positions are not
    /// recorded.
    #[inline]
    pub(crate) fn located_events(&self) -> impl Iterator<Item = (&Location, Event<'_, Value>)> {
        self.locations.iter().zip(self.events())
    }

    #[inline]
    pub(crate) fn events(&self) -> impl Iterator<Item = Event<'_, Value>> {
        let (mut start, mut start_of_entries) = (0, 0);
        self.entries.iter().map(move |entry| {
            let values = &self.payload.values[start..entry.end as usize];
            let entries = &self.payload.entries[start_of_entries..entry.end_of_entries as usize];
            (start, start_of_entries) = (entry.end as usize, entry.end_of_entries as usize);
            entry.shape.event(entry.process, values, entries)
        })
    }

    /// Returns the events of a recording of immediate snapshots, each with its position.
    pub(crate) fn located_exchanges(
        &self,
    ) -> impl Iterator<Item = (&Location, immediate::Event<'_, Value>)> {
        let mut start = 0;
        self.locations.iter().zip(&self.entries).map(move |(location, entry)| {
            let values = &self.payload.values[start..entry.end as usize];
            start = entry.end as usize;
            (location, entry.shape.exchange(entry.process, values))
        })
    }

    /// Appends an event of the object with this key, and takes its values.
    pub(super) fn push(&mut self, parsed: &Parsed, key: Key, payload: &mut Payload) {
        let Parsed { location, process, shape, .. } = *parsed;
        self.payload.values.append(&mut payload.values);
        self.payload.entries.append(&mut payload.entries);
        self.end_event(process, shape, location);
        self.keys.push(key);
    }

    /// Ends an event, whose values have been appended.
    #[inline]
    fn end_event(&mut self, process: Process, shape: Shape, location: Location) {
        let end = self.payload.values.len() as u32;
        let end_of_entries = self.payload.entries.len() as u32;
        self.entries.push(Entry { process, shape, end, end_of_entries });
        self.locations.push(location);
    }

    /// Returns true if the batch is to be handed over.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= EVENTS
            || self.payload.values.len() >= VALUES
            || self.payload.entries.len() >= VALUES
    }

    /// Has a monitor observe the events, as long as the history is linearizable. Returns the number
    /// of observed events. The kind of each event is matched only once, which for the common kinds
    /// is most of the work besides judging them.
    ///
    /// # Errors
    /// If the next event is refused.
    pub(crate) fn observe(&self, monitor: &mut Monitor<Value>) -> Result<usize, HistoryError> {
        let mut start_of_entries = 0;
        self.observe_with(monitor, &self.payload.values, |monitor, entry, values| {
            let end = entry.end_of_entries as usize;
            let entries = &self.payload.entries[start_of_entries..end];
            start_of_entries = end;
            monitor.observe(&entry.shape.event(entry.process, values, entries))
        })
    }

    /// Returns true if the values are integers, only for [`Self::observe_integers`] until
    /// [`Self::expand`] is called.
    pub(crate) const fn are_integers(&self) -> bool {
        self.are_integers
    }

    /// As [`Self::observe`], for a piece whose values are integers.
    ///
    /// # Errors
    /// If the next event is refused.
    pub(crate) fn observe_integers(
        &self,
        monitor: &mut Monitor<i64>,
    ) -> Result<usize, HistoryError> {
        debug_assert!(self.are_integers, "the values are in the payload");
        self.observe_with(monitor, &self.integers, |monitor, entry, values| {
            monitor.observe(&entry.shape.event(entry.process, values, &[]))
        })
    }

    /// As [`Self::observe`], for values of any type; `rest` observes rare kinds of events.
    #[inline(always)]
    fn observe_with<V: Clone + Eq + Hash>(
        &self,
        monitor: &mut Monitor<V>,
        values: &[V],
        mut rest: impl FnMut(&mut Monitor<V>, &Entry, &[V]) -> Result<Judgement, HistoryError>,
    ) -> Result<usize, HistoryError> {
        let mut start = 0;
        for (number, entry) in self.entries.iter().enumerate() {
            let values = &values[start..entry.end as usize];
            start = entry.end as usize;
            match entry.shape {
                Shape::InvokeUpdate(segment) => {
                    monitor.invoke_update(entry.process, segment, &values[0])?;
                }
                Shape::InvokeScan => monitor.invoke_scan(entry.process)?,
                Shape::RespondUpdate => monitor.respond_update(entry.process)?,
                Shape::RespondScan => monitor.respond_scan(entry.process, values)?,
                _ => {
                    rest(monitor, entry, values)?;
                }
            }
            if !matches!(monitor.judgement(), Judgement::Linearizable) {
                return Ok(number + 1);
            }
        }
        Ok(self.entries.len())
    }

    /// Converts the integers to values, if all values are integers.
    pub(crate) fn expand(&mut self) {
        if std::mem::replace(&mut self.are_integers, false) {
            self.payload.values.extend(self.integers.iter().copied().map(Value::Integer));
        }
    }

    /// Replaces the events by those of a piece, up to a malformed event. Once one of its pieces had
    /// other values than integers, a batch expects them in all pieces.
    ///
    /// # Errors
    /// If the piece has a malformed event.
    pub(crate) fn parse(&mut self, piece: &Piece) -> Result<(), Irregular> {
        self.clear();
        let Self { entries, payload, integers, .. } = self;
        if !self.has_had_others {
            let lines = piece.lines();
            let parsed =
                text::lines_of_integers(lines, integers, payload, |process, shape, end| {
                    let end = end as u32;
                    entries.push(Entry { process, shape, end, end_of_entries: 0 });
                });
            match parsed {
                Some(ended) => {
                    self.are_integers = true;
                    return ended;
                }
                None => self.has_had_others = true,
            }
            entries.clear();
        }
        text::lines(piece.lines(), payload, |process, shape, payload| {
            let end = payload.values.len() as u32;
            let end_of_entries = payload.entries.len() as u32;
            entries.push(Entry { process, shape, end, end_of_entries });
        })
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.payload.clear();
        self.integers.clear();
        self.are_integers = false;
        self.locations.clear();
        self.keys.clear();
        self.ending = Ending::Open;
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the position of this event; `None` for a piece, whose positions are not recorded.
    pub(crate) fn location(&self, event: usize) -> Option<Location> {
        self.locations.get(event).copied()
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the batch has no events.
    pub(crate) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Ends the batch with an error, unless it has one already.
    pub(super) fn fail(&mut self, error: ReadError) {
        if !matches!(self.ending, Ending::Error(_)) {
            self.ending = Ending::Error(error);
        }
    }

    /// Returns true if this is the last batch: the input has ended, or a malformed event follows,
    /// for the reason in [`Self::take_error`].
    pub(crate) const fn is_last(&self) -> bool {
        !matches!(self.ending, Ending::Open)
    }

    /// Takes the error behind the events, if any; the batch then ends without one.
    pub(crate) fn take_error(&mut self) -> Option<ReadError> {
        match std::mem::replace(&mut self.ending, Ending::End) {
            Ending::Error(error) => Some(error),
            ending => {
                self.ending = ending;
                None
            }
        }
    }

    /// Replaces the events by the ones that `advance` parses; it appends the values of each to the
    /// given payload.
    #[inline]
    pub(super) fn fill(
        &mut self,
        selection: Selection,
        mut advance: impl FnMut(&mut Payload) -> Result<Option<Parsed>, ReadError>,
    ) {
        self.clear();
        while !self.is_full() {
            match advance(&mut self.payload) {
                Ok(Some(Parsed { location, process, shape, key })) => {
                    match selection.fate(key) {
                        Fate::Taken => {}
                        Fate::Skipped => {
                            let last = self.entries.last();
                            let end = last.map_or(0, |last| last.end as usize);
                            self.payload.values.truncate(end);
                            let end = last.map_or(0, |last| last.end_of_entries as usize);
                            self.payload.entries.truncate(end);
                            continue;
                        }
                        Fate::Refused => {
                            let kind = ReadErrorKind::SeveralObjects;
                            self.ending = Ending::Error(ReadError::new(location, kind, None));
                            return;
                        }
                    }
                    self.keys.extend(key);
                    self.end_event(process, shape, location);
                }
                Ok(None) => {
                    self.ending = Ending::End;
                    return;
                }
                Err(error) => {
                    self.ending = Ending::Error(error);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Reader;

    /// Returns all events as lines, with the end of the input, read one by one.
    fn one_by_one(input: &str) -> Vec<String> {
        let mut reader = Reader::text(input.as_bytes()).expect("the header is right");
        let mut read = Vec::new();
        while let Some(next) = reader.next_event() {
            read.push(match next {
                Ok((location, event)) => format!("{location:?} {event:?}"),
                Err(error) => error.to_string(),
            });
        }
        read
    }

    /// The same, read in batches, with the size of each batch.
    fn in_batches(input: &str) -> (Vec<String>, Vec<(usize, usize)>) {
        let mut reader = Reader::text(input.as_bytes()).expect("the header is right");
        let (mut read, mut sizes) = (Vec::new(), Vec::new());
        let mut batch = Batch::new();
        loop {
            reader.next_batch(&mut batch);
            let events = batch.located_events();
            read.extend(events.map(|(location, event)| format!("{location:?} {event:?}")));
            sizes.push((batch.events().count(), batch.payload.values.len()));
            if batch.is_last() {
                read.extend(batch.take_error().map(|error| error.to_string()));
                return (read, sizes);
            }
        }
    }

    #[test]
    fn batches_hold_all_events_in_order() {
        let mut input = String::from("segments 2\n");
        for number in 0..EVENTS {
            input += &format!("p0 update {number}\n # comment\n p1 scan\np1 ok \"a\" {number}\n");
            input += "p0 ok\np2 update s1 \"b\"\np2 unknown\np2 update s1 -1\np2 fail\n";
        }
        for (end, error) in [("", 0), ("p0 okay\np0 ok\n", 1), ("p1 ok 7 x\n", 1)] {
            let (read, sizes) = in_batches(&format!("{input}{end}"));
            assert_eq!(read, one_by_one(&format!("{input}{end}")));
            assert_eq!(read.len(), 8 * EVENTS + error);
            // The last batch has only the end of the input.
            assert!(sizes[..8].iter().all(|(events, _)| *events == EVENTS), "{sizes:?}");
            assert_eq!(sizes[8..].iter().map(|(events, _)| *events).collect::<Vec<_>>(), [0]);
        }
    }

    #[test]
    fn few_large_scans_fill_a_batch() {
        let segments = VALUES / 3;
        let response = format!("p0 scan\np0 ok{}\n", " 7".repeat(segments));
        let (read, sizes) = in_batches(&response.repeat(7));
        assert_eq!(read, one_by_one(&response.repeat(7)));
        assert!(sizes.iter().all(|(_, values)| *values < VALUES + segments), "{sizes:?}");
        assert_eq!(sizes.iter().map(|(events, _)| *events).collect::<Vec<_>>(), [8, 6]);
    }
}
