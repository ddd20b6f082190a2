//! The two kinds of snapshots: their events, as recordings have them, and their histories.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::ops::ControlFlow;

use snapshot_core::History;
use snapshot_core::history::{self, Action, Declaration, Event, HistoryBuilder, HistoryError};
use snapshot_core::immediate::{self, ExchangeError};

use crate::Value;
use crate::error::InputError;
use crate::format::{Batch, Excerpt, Key, Location, Object, ReadError, Reader, WriteError, Writer};
use crate::origins::Origins;

/// An event of a recording.
#[derive(Debug)]
pub struct Next<'a, E> {
    /// The number of the object's key in the reader and the key, if the events of all objects are
    /// read.
    pub key: Option<(usize, &'a Value)>,
    /// Position of the start of the event.
    pub location: Location,
    pub event: E,
}

/// A kind of snapshot.
pub trait SnapshotKind: 'static {
    const OBJECT: Object;

    type Event<'a>;

    type Error: Debug + Send;

    /// The check that an execution can have a sequence of events.
    type Admission;

    type Builder: Clone + Send;

    type History: Send + Sync;

    /// Returns the next event of a recording.
    ///
    /// # Errors
    /// If the next line is not an event, or the recording has another object.
    fn next<R: Read>(
        reader: &mut Reader<R>,
    ) -> Option<Result<Next<'_, Self::Event<'_>>, ReadError>>;

    /// Has `take` take the events of a batch of several objects, with their keys and positions,
    /// until it breaks off.
    fn for_each(
        batch: &Batch,
        take: impl FnMut(Key, Location, &Self::Event<'_>) -> ControlFlow<()>,
    );

    /// Remembers the position of an event, after it has been admitted.
    fn note(origins: &mut Origins, location: Location, event: &Self::Event<'_>);

    /// Returns the error for an event that was refused at this position.
    fn refused(
        origins: &Origins,
        location: Location,
        error: Self::Error,
        excerpt: Option<Excerpt>,
    ) -> InputError;

    /// Returns the approximate number of bytes that an event of a history takes.
    fn size(event: &Self::Event<'_>) -> usize;

    /// # Errors
    /// If the declaration contradicts itself.
    fn admission(declaration: &Declaration<Value>) -> Result<Self::Admission, Self::Error>;

    /// # Errors
    /// If no execution can have the event here.
    fn admit(admission: &mut Self::Admission, event: &Self::Event<'_>) -> Result<(), Self::Error>;

    /// Writes an event, of several objects with its key.
    ///
    /// # Errors
    /// If the format cannot express it, or the output fails.
    fn write<W: Write>(
        writer: &mut Writer<W>,
        key: Option<&Value>,
        event: &Self::Event<'_>,
    ) -> Result<(), WriteError>;

    /// # Errors
    /// If the declaration contradicts itself.
    fn builder(declaration: Declaration<Value>) -> Result<Self::Builder, Self::Error>;

    /// # Errors
    /// If no execution can have the event here.
    fn push(builder: &mut Self::Builder, event: &Self::Event<'_>) -> Result<(), Self::Error>;

    /// Begins again, with the memory of the builder.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn restart(
        builder: &mut Self::Builder,
        declaration: Declaration<Value>,
    ) -> Result<(), Self::Error> {
        *builder = Self::builder(declaration)?;
        Ok(())
    }

    fn finish(builder: Self::Builder) -> Self::History;
}

/// Snapshots.
#[derive(Debug)]
pub struct Atomic;

/// Immediate snapshots.
#[derive(Debug)]
pub struct Immediate;

/// The parts that both kinds have by other names: `$of` is the module of events and histories,
/// `$event` makes an event, and `$located` returns those of a batch.
macro_rules! common {
    ($object:ident, $of:ident, $history:ty, $error:ty, $event:ident, $located:ident) => {
        const OBJECT: Object = Object::$object;
        type Event<'a> = $of::Event<'a, Value>;
        type Error = $error;
        type Admission = $of::Admission;
        type Builder = $of::HistoryBuilder<Value>;
        type History = $history;

        #[inline]
        fn next<R: Read>(
            reader: &mut Reader<R>,
        ) -> Option<Result<Next<'_, Self::Event<'_>>, ReadError>> {
            Some(reader.parse_next(Self::OBJECT)?.map(|parsed| {
                let (key, payload) = reader.parts(&parsed);
                Next { key, location: parsed.location, event: parsed.$event(payload) }
            }))
        }

        #[inline]
        fn for_each(
            batch: &Batch,
            mut take: impl FnMut(Key, Location, &Self::Event<'_>) -> ControlFlow<()>,
        ) {
            for ((location, event), key) in batch.$located().zip(batch.keys()) {
                if take(*key, *location, &event).is_break() {
                    return;
                }
            }
        }

        fn admission(declaration: &Declaration<Value>) -> Result<Self::Admission, $error> {
            $of::Admission::new(declaration)
        }

        fn admit(admission: &mut Self::Admission, event: &Self::Event<'_>) -> Result<(), $error> {
            admission.admit(event)
        }

        fn builder(declaration: Declaration<Value>) -> Result<Self::Builder, $error> {
            <$history>::builder(declaration)
        }

        fn push(builder: &mut Self::Builder, event: &Self::Event<'_>) -> Result<(), $error> {
            builder.push(event).map(drop)
        }

        fn finish(builder: Self::Builder) -> $history {
            builder.finish()
        }
    };
}

impl SnapshotKind for Atomic {
    common!(Snapshot, history, History<Value>, HistoryError, event, located_events);

    #[inline]
    fn note(origins: &mut Origins, location: Location, event: &Event<'_, Value>) {
        origins.note(location, event);
    }

    fn refused(
        origins: &Origins,
        location: Location,
        error: HistoryError,
        excerpt: Option<Excerpt>,
    ) -> InputError {
        origins.refused(location, error, excerpt)
    }

    fn size(event: &Event<'_, Value>) -> usize {
        FIXED_SIZE
            + match event.action {
                Action::InvokeUpdate { value, .. } => size([value]),
                Action::RespondScan { values } => size(values),
                Action::RespondPartialScan { entries, .. } => {
                    size_of_val(entries) + entries.iter().map(|entry| text(&entry.1)).sum::<usize>()
                }
                _ => 0,
            }
    }

    fn write<W: Write>(
        writer: &mut Writer<W>,
        key: Option<&Value>,
        event: &Event<'_, Value>,
    ) -> Result<(), WriteError> {
        match key {
            Some(key) => writer.write_of(key, event),
            None => writer.write(event),
        }
    }

    fn restart(
        builder: &mut HistoryBuilder<Value>,
        declaration: Declaration<Value>,
    ) -> Result<(), HistoryError> {
        builder.restart(declaration)
    }
}

impl SnapshotKind for Immediate {
    common!(
        Immediate,
        immediate,
        immediate::History<Value>,
        ExchangeError,
        exchange,
        located_exchanges
    );

    /// Errors name no earlier event.
    fn note(_: &mut Origins, _: Location, _: &immediate::Event<'_, Value>) {}

    fn refused(
        _: &Origins,
        location: Location,
        error: ExchangeError,
        excerpt: Option<Excerpt>,
    ) -> InputError {
        InputError::of_exchange(location, error, excerpt)
    }

    fn size(event: &immediate::Event<'_, Value>) -> usize {
        FIXED_SIZE
            + match event.action {
                immediate::Action::Invoke { value } => size([value]),
                immediate::Action::Respond { values } => size(values),
                _ => 0,
            }
    }

    fn write<W: Write>(
        writer: &mut Writer<W>,
        key: Option<&Value>,
        event: &immediate::Event<'_, Value>,
    ) -> Result<(), WriteError> {
        writer.write_exchange(key, event)
    }
}

/// Half an operation, a step and a position.
const FIXED_SIZE: usize = 12 + 4 + size_of::<Location>();

/// Returns the approximate number of bytes that values take.
fn size<'a>(values: impl IntoIterator<Item = &'a Value>) -> usize {
    values.into_iter().map(|value| size_of::<Value>() + text(value)).sum()
}

/// Returns the approximate number of bytes of a value outside itself.
fn text(value: &Value) -> usize {
    match value {
        Value::Integer(_) => 0,
        Value::Text(text) => text.len() + 16,
    }
}
