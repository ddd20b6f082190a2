//! Recordings with known answers, made to order.
//!
//! The crate `corpus` makes the events; this module writes them, one by one, so a recording may be
//! far larger than memory.

use std::io::{self, Write};

use corpus::generate::{
    Exchanges, ManyWriters, OwnedAction, OwnedEvent, OwnedExchange, OwnedExchangeAction, Recipe,
    RecipeError, Style,
};
use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{Names, Segment, immediate};
use thiserror::Error;

use crate::Value;
use crate::format::{Format, Heading, Object, WriteError, Writer};
use crate::synchronisation::{LineWriter, ObjectRecipe, ObjectRecipeError};

/// A recording that cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// No history can follow the recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// No execution of an object can follow the recipe.
    #[error(transparent)]
    Object(#[from] ObjectRecipeError),
    /// The output failed, or its format cannot express the recording.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Follows a recipe and writes the recording, and returns the output, flushed.
///
/// Comments come first, as in [`Writer::with_comments`]. The same arguments give the same bytes.
/// Memory does not grow with the number of operations. Nothing is written if the recipe or the
/// format is at fault: disc22 cannot express everything, so the run is first made without an
/// output.
///
/// # Errors
/// See [`GenerateError`].
pub fn generate<W: Write>(
    recipe: &Recipe,
    format: Format,
    comments: &[String],
    output: W,
) -> Result<W, GenerateError> {
    let declaration = declaration(recipe);
    if format == Format::Disc22 {
        pour(recipe.events()?, &declaration, format, comments, io::sink())?;
    }
    pour(recipe.events()?, &declaration, format, comments, output)
}

/// As [`generate`], with many writers.
pub fn generate_many<W: Write>(
    recipe: &ManyWriters,
    format: Format,
    comments: &[String],
    output: W,
) -> Result<W, GenerateError> {
    let mut declaration = Declaration::new(Value::ZERO)
        .with_processes(recipe.processes)
        .with_segments(recipe.segments);
    declaration.writers = Writers::Many;
    if format == Format::Disc22 {
        pour(recipe.events()?, &declaration, format, comments, io::sink())?;
    }
    pour(recipe.events()?, &declaration, format, comments, output)
}

/// As [`generate`], for an immediate snapshot.
///
/// # Errors
/// See [`GenerateError`]; disc22 knows snapshots only.
pub fn generate_exchanges<W: Write>(
    recipe: &Exchanges,
    format: Format,
    comments: &[String],
    output: W,
) -> Result<W, GenerateError> {
    let events = recipe.events()?;
    let declaration = Declaration::new(Value::ZERO).with_segments(recipe.processes);
    let (object, names) = (Object::Immediate, &Names::default());
    let heading = Heading { object, declaration: &declaration, names, comments };
    let mut writer = Writer::begin(format, output, &heading)?;
    let mut room = Room::default();
    for event in events {
        writer.write_exchange(None, &exchange_with_values(&event, &mut room))?;
    }
    Ok(writer.finish()?)
}

/// As [`generate`], for an object with named operations.
///
/// # Errors
/// See [`GenerateError`]; an error of the recipe comes before anything is written, but for an
/// operation without result, and a violation without a place.
pub fn generate_object<W: Write>(
    recipe: &ObjectRecipe,
    format: Format,
    comments: &[String],
    output: W,
) -> Result<W, GenerateError> {
    let kind = recipe.object.kind();
    let events = kind.play(recipe)?;
    let mut writer = LineWriter::begin(output, format, &recipe.object, Names::default(), comments)?;
    for event in events {
        let (process, deed) = event?;
        writer.write(None, process, &deed)?;
    }
    Ok(writer.finish()?)
}

/// As [`generate`], of events that are at hand: processes and segments, then the events.
///
/// # Errors
/// If the output fails, or its format cannot express the recording.
pub fn generate_events<W: Write>(
    [processes, segments]: [usize; 2],
    events: impl Iterator<Item = OwnedEvent>,
    format: Format,
    output: W,
) -> Result<W, GenerateError> {
    let declaration =
        Declaration::new(Value::ZERO).with_processes(processes).with_segments(segments);
    pour(events, &declaration, format, &[], output)
}

fn pour<W: Write>(
    events: impl Iterator<Item = OwnedEvent>,
    declaration: &Declaration<Value>,
    format: Format,
    comments: &[String],
    output: W,
) -> Result<W, GenerateError> {
    let mut writer = Writer::with_comments(format, output, declaration, comments)?;
    let mut room = Room::default();
    for event in events {
        writer.write(&with_values(&event, &mut room))?;
    }
    Ok(writer.finish()?)
}

/// Returns the sizes and initial values of a recipe's recording.
pub(crate) fn declaration(recipe: &Recipe) -> Declaration<Value> {
    Declaration::new(Value::ZERO).with_processes(recipe.processes).with_segments(recipe.segments)
}

/// Buffers for the values of an event.
#[derive(Debug, Default)]
pub(crate) struct Room {
    values: Vec<Value>,
    entries: Vec<(Segment, Value)>,
}

/// Converts a generated event to one with recorded values.
pub(crate) fn with_values<'a>(event: &OwnedEvent, room: &'a mut Room) -> Event<'a, Value> {
    let Room { values, entries } = room;
    values.clear();
    entries.clear();
    let action = match &event.action {
        OwnedAction::InvokeUpdate { segment, value } => {
            values.push(Value::from(*value));
            Action::InvokeUpdate { segment: *segment, value: &values[0] }
        }
        OwnedAction::InvokeScan => Action::InvokeScan,
        OwnedAction::RespondUpdate => Action::RespondUpdate,
        OwnedAction::RespondScan { values: returned } => {
            values.extend(returned.iter().copied().map(Value::from));
            Action::RespondScan { values }
        }
        OwnedAction::RespondPartialScan { entries: returned } => {
            entries.extend(returned.iter().map(|(k, value)| (*k, Value::from(*value))));
            Action::RespondPartialScan { segments: None, entries }
        }
        OwnedAction::Fail => Action::Fail,
        OwnedAction::Unknown => Action::Unknown,
    };
    Event { process: event.process, action }
}

/// Converts a generated event of an immediate snapshot to one with recorded values.
pub(crate) fn exchange_with_values<'a>(
    event: &OwnedExchange,
    room: &'a mut Room,
) -> immediate::Event<'a, Value> {
    let values = &mut room.values;
    values.clear();
    let action = match &event.action {
        OwnedExchangeAction::Invoke(value) => {
            values.push(Value::from(*value));
            immediate::Action::Invoke { value: &values[0] }
        }
        OwnedExchangeAction::Respond(returned) => {
            values.extend(returned.iter().copied().map(Value::from));
            immediate::Action::Respond { values }
        }
        OwnedExchangeAction::Fail => immediate::Action::Fail,
        OwnedExchangeAction::Unknown => immediate::Action::Unknown,
    };
    immediate::Event { process: event.process, action }
}

/// Describes the recording of an immediate snapshot's recipe, in one sentence.
pub fn about_exchanges(recipe: &Exchanges) -> String {
    let Exchanges { processes, operations, pending, .. } = recipe;
    let pending = match pending {
        0 => String::new(),
        pending => format!(", up to {pending} of them pending"),
    };
    let violation = match recipe.violation {
        None => String::new(),
        Some(flaw) if recipe.honest => format!("; the honest twin of a violation of {flaw}"),
        Some(flaw) => format!("; a violation of {flaw}"),
    };
    format!(
        "{operations} operations of an immediate snapshot by {processes} processes{pending}, no \
         value twice{violation}."
    )
}

/// Describes the recording of a recipe with many writers, in one sentence.
pub fn about_many(recipe: &ManyWriters) -> String {
    let ManyWriters { processes, segments, operations, .. } = recipe;
    let values = match recipe.values {
        None => "no value twice".to_owned(),
        Some(values) => format!("values below {values}"),
    };
    let gaps = if recipe.gaps > 0.0 { ", some of the scans partial" } else { "" };
    let violation = match recipe.violation {
        None => String::new(),
        Some(violation) if recipe.honest => {
            format!("; the honest twin of a violation of the kind {}", violation.name())
        }
        Some(violation) => format!("; a violation of the kind {}", violation.name()),
    };
    format!(
        "{operations} operations by {processes} processes that update any of {segments} \
         segments, {values}{gaps}{violation}."
    )
}

/// Describes the recording of a recipe, in one sentence.
pub fn about(recipe: &Recipe) -> String {
    let Recipe { processes, segments, operations, pending, .. } = recipe;
    let values = match recipe.style {
        Style::Simple { i, j } => format!("({i}, {j})-simple"),
        Style::Differentiated => "no value twice".to_owned(),
        Style::SmallDomain(values) => format!("values below {values}"),
    };
    let pending = match pending {
        0 => String::new(),
        pending => format!(", up to {pending} of them pending"),
    };
    let violation = match recipe.violation {
        None => String::new(),
        Some(violation) if recipe.honest => {
            format!("; the honest twin of a violation of the rule {}", violation.rule)
        }
        Some(violation) => format!("; breaks the rule {}", violation.rule),
    };
    format!(
        "{operations} operations by {processes} processes on {segments} segments{pending}, \
         {values}{violation}."
    )
}
