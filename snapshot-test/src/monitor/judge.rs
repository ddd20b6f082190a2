//! The interface of the judge of one object.

use std::fmt::Debug;
use std::io::Read;

use snapshot_core::history::Declaration;

use super::object::MOST_KEPT;
use super::{CheckpointError, Saved, State};
use crate::format::{Batch, Excerpt, Format, JsonValue, Key, Location, Object, ReadError, Reader};
use crate::judge::{Judgement, Options};
use crate::{InputError, Value};

/// An event of a recording, as a judge takes it.
#[derive(Debug)]
pub struct Next<'a, E> {
    /// The number of the object's key in the reader and the key, if there are several objects.
    pub key: Option<(usize, &'a Value)>,
    /// Position of the start of the event.
    pub location: Location,
    pub event: E,
}

/// The past of an object that was cut off: all of it is correct, and ended.
#[derive(Debug)]
pub struct Past {
    /// The declaration of the object; its values at the cut are initial.
    pub declaration: Declaration<Value>,
    /// Position of the cut.
    pub cut: Location,
    /// Number of events before the cut.
    pub events: u64,
    /// The largest number of events since the cut that are kept for an argument.
    pub most_kept: usize,
}

impl Past {
    fn new(declaration: Declaration<Value>) -> Self {
        Self { declaration, cut: Location::START, events: 0, most_kept: MOST_KEPT }
    }

    /// Restores a saved past, with the declaration of all objects.
    pub fn resumed(declaration: &Declaration<Value>, saved: &Saved) -> Self {
        let mut declaration = declaration.clone();
        declaration.segments = saved.segments.or(declaration.segments);
        declaration.initial = saved.values.iter().map(Value::from).collect();
        let cut = Location { line: saved.lines + 1, offset: saved.bytes, ..Location::START };
        Self { declaration, cut, events: saved.events, most_kept: MOST_KEPT }
    }

    /// Returns the past to save, without the writers.
    pub fn save(&self, key: Option<&Value>) -> Saved {
        Saved {
            key: key.map(JsonValue::from),
            bytes: self.cut.offset,
            lines: self.cut.line - 1,
            events: self.events,
            segments: self.declaration.segments,
            values: self.declaration.initial.iter().map(JsonValue::from).collect(),
            writers: Vec::new(),
            ended: None,
        }
    }

    /// Adds events, after which the object has these segments with these values.
    pub fn extend(&mut self, events: usize, segments: Option<usize>, values: &[Value]) {
        self.events += events as u64;
        self.declaration.segments = segments;
        self.declaration.initial = values.to_vec();
    }
}

/// The judge of one object, since the last instant at which its past was cut off.
pub trait Judge: Sized + Send {
    /// The object whose recordings it judges.
    const OBJECT: Object;

    type Event<'a>;

    type Error: Into<CheckpointError> + Debug;

    /// Creates a judge after that past, without further events.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn since(past: Past) -> Result<Self, Self::Error>;

    /// Creates a judge without events.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn new(declaration: Declaration<Value>) -> Result<Self, Self::Error> {
        Self::since(Past::new(declaration))
    }

    /// Restores a saved judge, with the declaration of all objects.
    ///
    /// # Errors
    /// If the saved state contradicts itself.
    fn resume(declaration: &Declaration<Value>, saved: &Saved) -> Result<Self, Self::Error> {
        Self::since(Past::resumed(declaration, saved))
    }

    /// Returns the state at the last cut.
    fn save(&self, key: Option<&Value>) -> Saved {
        self.past().save(key)
    }

    /// Returns the past that was cut off.
    fn past(&self) -> &Past;

    /// Returns the past that was cut off, for changes of its representation.
    fn past_mut(&mut self) -> &mut Past;

    /// Number of events since the last cut.
    fn events(&self) -> usize;

    /// Number of operations that neither responded nor failed.
    fn pending(&self) -> u64;

    /// Returns the state of the events since the last cut.
    fn state(&self) -> State;

    /// Returns true if everything before the event of a violation is known to be correct.
    fn is_first(&self) -> bool;

    /// Takes the next event.
    ///
    /// # Errors
    /// If no execution can have it here.
    fn observe(&mut self, location: Location, event: &Self::Event<'_>) -> Result<(), Self::Error>;

    /// Cuts off the past before this position, if no information is lost. Returns the state after
    /// it: where values repeat, an exact search may have found a violation.
    ///
    /// # Errors
    /// Never, since admitted events contradict nothing.
    fn cut(
        &mut self,
        at: Location,
        format: Format,
        options: &Options,
    ) -> Result<State, Self::Error>;

    /// Returns the exact judgement of the events since the last cut; `None` if they were too many
    /// to keep.
    fn judgement(&self, format: Format, options: &Options) -> Option<Judgement>;

    /// Returns the next event of a recording, with its key if it has one.
    ///
    /// # Errors
    /// If the next line is not an event.
    fn next<R: Read>(
        reader: &mut Reader<R>,
    ) -> Option<Result<Next<'_, Self::Event<'_>>, ReadError>>;

    /// Has `take` take the events of a batch of several objects, with their keys and positions.
    fn for_each(batch: &Batch, take: impl FnMut(Key, Location, &Self::Event<'_>));

    /// Returns the error for an event that was refused at this position.
    fn refused(location: Location, error: Self::Error, excerpt: Option<Excerpt>) -> InputError;
}
