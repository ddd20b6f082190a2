//! What a monitor needs of the judge of one object.

use std::fmt::Debug;
use std::io::Read;

use snapshot_core::history::Declaration;

use super::checkpoint::Held;
use super::object::MOST_KEPT;
use super::{CheckpointError, Saved, State};
use crate::format::{Batch, Excerpt, Format, Key, Location, Object, ReadError, Reader};
use crate::judge::{Judgement, Options};
use crate::{InputError, Value};

/// An event of a recording, as a judge takes it.
#[derive(Debug)]
pub struct Next<'a, E> {
    /// The number of the object's key in the reader and the key, if there are several objects.
    pub key: Option<(usize, &'a Value)>,
    /// Where the event begins.
    pub location: Location,
    /// The event.
    pub event: E,
}

/// The past of an object that was cut off: all of it is correct, and over.
#[derive(Debug)]
pub struct Past {
    /// What is declared of the object; what it holds at the cut is initial.
    pub declaration: Declaration<Value>,
    /// Where it was cut off.
    pub cut: Location,
    /// Its number of events.
    pub events: u64,
    /// Events since then that are kept for an argument, at most.
    pub most_kept: usize,
}

impl Past {
    fn new(declaration: Declaration<Value>) -> Self {
        Self { declaration, cut: Location::START, events: 0, most_kept: MOST_KEPT }
    }

    /// As it was saved, with what is declared of all objects.
    pub fn resumed(declaration: &Declaration<Value>, saved: &Saved) -> Self {
        let mut declaration = declaration.clone();
        declaration.segments = saved.segments.or(declaration.segments);
        declaration.initial = saved.values.iter().map(Value::from).collect();
        let cut = Location { line: saved.lines + 1, offset: saved.bytes, ..Location::START };
        Self { declaration, cut, events: saved.events, most_kept: MOST_KEPT }
    }

    /// As it is saved, but for the writers.
    pub fn save(&self, key: Option<&Value>) -> Saved {
        Saved {
            key: key.map(Held::from),
            bytes: self.cut.offset,
            lines: self.cut.line - 1,
            events: self.events,
            segments: self.declaration.segments,
            values: self.declaration.initial.iter().map(Held::from).collect(),
            writers: Vec::new(),
            ended: None,
        }
    }

    /// Takes events more, after which the object has these segments, which hold these values.
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

    /// An event of such a recording.
    type Event<'a>;

    /// Why an event is refused.
    type Error: Into<CheckpointError> + Debug;

    /// Nothing has happened since that past.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn since(past: Past) -> Result<Self, Self::Error>;

    /// Nothing has happened yet.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn new(declaration: Declaration<Value>) -> Result<Self, Self::Error> {
        Self::since(Past::new(declaration))
    }

    /// As it was saved, with what is declared of all objects.
    ///
    /// # Errors
    /// If what was saved contradicts itself.
    fn resume(declaration: &Declaration<Value>, saved: &Saved) -> Result<Self, Self::Error> {
        Self::since(Past::resumed(declaration, saved))
    }

    /// What it is at the last cut.
    fn save(&self, key: Option<&Value>) -> Saved {
        self.past().save(key)
    }

    /// What was cut off.
    fn past(&self) -> &Past;

    /// What was cut off, to be said differently.
    fn past_mut(&mut self) -> &mut Past;

    /// Events since the last cut.
    fn events(&self) -> usize;

    /// Operations that neither responded nor failed.
    fn pending(&self) -> u64;

    /// What is known of what came since the last cut.
    fn state(&self) -> State;

    /// Whether everything before the event of a violation is known to be right.
    fn is_first(&self) -> bool;

    /// Takes the next event.
    ///
    /// # Errors
    /// If no execution can have it here.
    fn observe(&mut self, location: Location, event: &Self::Event<'_>) -> Result<(), Self::Error>;

    /// Cuts off the past before this place, if that loses nothing. What is known of it now: where
    /// values repeat, an exact search may have found a violation.
    ///
    /// # Errors
    /// None, since what was admitted contradicts nothing.
    fn cut(
        &mut self,
        at: Location,
        format: Format,
        options: &Options,
    ) -> Result<State, Self::Error>;

    /// What came since the last cut, judged exactly; `None` if it was too long to be kept.
    fn judgement(&self, format: Format, options: &Options) -> Option<Judgement>;

    /// The next event of a recording, with its key if it has one.
    ///
    /// # Errors
    /// If what follows is no event.
    fn next<R: Read>(
        reader: &mut Reader<R>,
    ) -> Option<Result<Next<'_, Self::Event<'_>>, ReadError>>;

    /// Has `take` take the events of a batch of several objects, with their keys and places.
    fn for_each(batch: &Batch, take: impl FnMut(Key, Location, &Self::Event<'_>));

    /// The error for an event that was refused at this place.
    fn refused(location: Location, error: Self::Error, excerpt: Option<Excerpt>) -> InputError;
}
