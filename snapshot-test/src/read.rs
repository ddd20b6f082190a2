//! From an input to a history.
//!
//! A reader checks the syntax of events, [`snapshot_core`] whether a history can have them. Both
//! kinds of error end in an [`InputError`]. [`Origins`] remembers the earlier events that a refused
//! one may contradict, in memory that does not grow with the recording, so that a consumer which
//! keeps no history can tell them, too.

use std::io::Read;

use snapshot_core::History;
use snapshot_core::history::{Action, Event, HistoryError, HistoryErrorKind};
use snapshot_core::immediate;

use crate::Value;
use crate::error::{InputError, InputErrorKind};
use crate::format::{Excerpt, Location, Reader};

/// Where those events are that a later one may contradict: the last invocation
/// of each process and the first update of each segment.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    last_invocation: Vec<Option<Location>>,
    first_update: Vec<Option<Location>>,
}

impl Origins {
    /// Remembers where an event was, after it has been admitted. O(1).
    #[inline]
    pub fn note(&mut self, location: Location, event: &Event<'_, Value>) {
        match event.action {
            Action::InvokeUpdate { segment, .. } => {
                *slot(&mut self.last_invocation, event.process.index()) = Some(location);
                slot(&mut self.first_update, segment.index()).get_or_insert(location);
            }
            Action::InvokeScan => {
                *slot(&mut self.last_invocation, event.process.index()) = Some(location);
            }
            _ => {}
        }
    }

    /// The error for an event that was refused at `location`; `excerpt` is
    /// [`Reader::excerpt`] of it.
    pub fn refused(
        &self,
        location: Location,
        error: HistoryError,
        excerpt: Option<Excerpt>,
    ) -> InputError {
        let earlier = match &error.kind {
            HistoryErrorKind::AlreadyOpen { process, .. }
            | HistoryErrorKind::WrongResponse { process, .. } => {
                self.last_invocation.get(process.index())
            }
            HistoryErrorKind::SecondWriter { segment, .. } => {
                self.first_update.get(segment.index())
            }
            _ => None,
        };
        let earlier = earlier.copied().flatten();
        let is_about_values = matches!(error.kind, HistoryErrorKind::WrongEntryCount { .. });
        let excerpt = if is_about_values { excerpt.map(Excerpt::on_values) } else { excerpt };
        let kind = InputErrorKind::Admission(error.kind);
        InputError::new(location, kind, excerpt, earlier)
    }
}

/// Reads an execution of an immediate snapshot into memory: all of it, or the first
/// `events`; with the place of each event.
///
/// # Errors
/// If the input cannot be read or is no such execution; the first defect is reported.
pub fn read_exchanges<R: Read>(
    mut reader: Reader<R>,
    events: usize,
) -> Result<(immediate::History<Value>, Vec<Location>), InputError> {
    let mut locations = Vec::new();
    let mut history = immediate::History::builder(reader.declaration().clone())
        .map_err(|error| InputError::of_exchange(Location::START, error, None))?;
    while locations.len() < events {
        let (location, pushed) = match reader.next_exchange() {
            None => break,
            Some(Err(error)) => return Err(error.into()),
            Some(Ok((location, event))) => (location, history.push(&event)),
        };
        if let Err(error) = pushed {
            let error = InputError::of_exchange(location, error, reader.excerpt());
            return Err(error.named(&reader.names().get()));
        }
        locations.push(location);
    }
    Ok((history.finish(), locations))
}

fn slot(slots: &mut Vec<Option<Location>>, index: usize) -> &mut Option<Location> {
    if index >= slots.len() {
        slots.resize(index + 1, None);
    }
    &mut slots[index]
}

/// A recording read into memory.
#[derive(Debug)]
pub struct Recording {
    /// The history, up to the first defect or to where memory ran out.
    pub history: History<Value>,
    pub locations: Vec<Location>,
    /// Why it ends before the input does, if so.
    pub defect: Option<InputError>,
    /// Whether it ends because memory ran out.
    pub is_cut: bool,
}

/// Reads a whole history into memory, with the place of each event.
///
/// # Errors
/// If the input cannot be read or is no history; the first defect is reported.
pub fn read_history<R: Read>(
    reader: Reader<R>,
) -> Result<(History<Value>, Vec<Location>), InputError> {
    let recording = read_recording(reader, usize::MAX)?;
    match recording.defect {
        None => Ok((recording.history, recording.locations)),
        Some(defect) => Err(defect),
    }
}

/// As [`read_history`], but within `memory` bytes, and what precedes a defect
/// is returned with it: it is a history, too.
///
/// # Errors
/// If the declaration contradicts itself.
pub fn read_recording<R: Read>(
    mut reader: Reader<R>,
    memory: usize,
) -> Result<Recording, InputError> {
    let mut origins = Origins::default();
    let mut locations = Vec::new();
    let mut builder = History::builder(reader.declaration().clone())
        .map_err(|error| origins.refused(Location::START, error, None))?;
    let (mut defect, mut bytes, mut is_cut) = (None, 0, false);
    while let Some(next) = reader.next_event() {
        let (location, event) = match next {
            Ok(next) => next,
            Err(error) => {
                defect = Some(error.into());
                break;
            }
        };
        bytes += size(&event);
        if bytes > memory {
            is_cut = true;
            break;
        }
        if let Err(error) = builder.push(&event) {
            let error = origins.refused(location, error, reader.excerpt());
            defect = Some(error.named(&reader.names().get()));
            break;
        }
        origins.note(location, &event);
        locations.push(location);
    }
    Ok(Recording { history: builder.finish(), locations, defect, is_cut })
}

/// About how many bytes of memory an event of a history takes.
pub(crate) fn size(event: &Event<'_, Value>) -> usize {
    let text = |value: &Value| match value {
        Value::Integer(_) => 0,
        Value::Text(text) => text.len() + 16,
    };
    let values = match event.action {
        Action::InvokeUpdate { value, .. } => size_of::<Value>() + text(value),
        Action::RespondScan { values } => {
            size_of_val(values) + values.iter().map(text).sum::<usize>()
        }
        Action::RespondPartialScan { entries, .. } => {
            size_of_val(entries) + entries.iter().map(|entry| text(&entry.1)).sum::<usize>()
        }
        _ => 0,
    };
    // Half an operation, a step and a place.
    12 + 4 + size_of::<Location>() + values
}
