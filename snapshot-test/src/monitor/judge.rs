//! The interface of the judge of one object.

use snapshot_core::history::Declaration;

use super::object::MOST_KEPT;
use super::{CheckpointError, Saved, State};
use crate::Value;
use crate::format::{Format, JsonValue, Location};
use crate::judge::{Judgement, Options};
use crate::kind::SnapshotKind;

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

/// The events of an object since its past was cut off; `None` if they were too many to keep.
pub struct Kept<K: SnapshotKind>(Option<(K::Builder, Vec<Location>)>);

/// The largest number of events whose memory is reused after the next cut.
const MOST_REUSED: usize = 1 << 16;

impl<K: SnapshotKind> Kept<K> {
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn new(declaration: Declaration<Value>) -> Result<Self, K::Error> {
        Ok(Self(Some((K::builder(declaration)?, Vec::new()))))
    }

    /// Keeps an event, of this many at most.
    ///
    /// # Errors
    /// If no execution can have it here.
    pub fn push(
        &mut self,
        location: Location,
        event: &K::Event<'_>,
        most: usize,
    ) -> Result<(), K::Error> {
        match &mut self.0 {
            Some((builder, locations)) if locations.len() < most => {
                K::push(builder, event)?;
                locations.push(location);
            }
            kept => *kept = None,
        }
        Ok(())
    }

    /// Forgets the events, and begins again with this declaration.
    ///
    /// # Errors
    /// If it contradicts itself.
    pub fn restart(&mut self, declaration: Declaration<Value>) -> Result<(), K::Error> {
        match &mut self.0 {
            Some((builder, locations)) if locations.capacity() <= MOST_REUSED => {
                K::restart(builder, declaration)?;
                locations.clear();
            }
            kept => *kept = Self::new(declaration)?.0,
        }
        Ok(())
    }

    /// Returns the history, with the positions of its events.
    pub fn history(&self) -> Option<(K::History, &[Location])> {
        let (builder, locations) = self.0.as_ref()?;
        Some((K::finish(builder.clone()), locations))
    }
}

/// The event of the kind of snapshot that is judged.
pub type EventOf<'a, J> = <<J as Judge>::Kind as SnapshotKind>::Event<'a>;

/// The error of an event.
pub type ErrorOf<J> = <<J as Judge>::Kind as SnapshotKind>::Error;

/// The judge of one object, since the last instant at which its past was cut off.
pub trait Judge: Sized + Send {
    /// The kind of snapshot whose recordings it judges.
    type Kind: SnapshotKind<Error: Into<CheckpointError>>;

    /// Creates a judge after that past, without further events.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn since(past: Past) -> Result<Self, ErrorOf<Self>>;

    /// Creates a judge without events.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn new(declaration: Declaration<Value>) -> Result<Self, ErrorOf<Self>> {
        Self::since(Past::new(declaration))
    }

    /// Restores a saved judge, with the declaration of all objects.
    ///
    /// # Errors
    /// If the saved state contradicts itself.
    fn resume(declaration: &Declaration<Value>, saved: &Saved) -> Result<Self, ErrorOf<Self>> {
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
    fn observe(
        &mut self,
        location: Location,
        event: &EventOf<'_, Self>,
    ) -> Result<(), ErrorOf<Self>>;

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
    ) -> Result<State, ErrorOf<Self>>;

    /// Returns the exact judgement of the events since the last cut; `None` if they were too many
    /// to keep.
    fn judgement(&self, format: Format, options: &Options) -> Option<Judgement>;
}
