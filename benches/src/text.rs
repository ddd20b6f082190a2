//! Recordings as text files, written event by event.
//!
//! Not by the writer of `snapshot-test`, which is under test here, but by the
//! page that describes the format: a header, then one event per line.

use std::io::{self, BufWriter, Write};

use corpus::generate::{OwnedAction, OwnedEvent, Recipe, RecipeError};
use snapshot_core::History;
use snapshot_core::history::Operation;
use thiserror::Error;

/// Why a recording could not be written.
#[derive(Debug, Error)]
pub enum TextError {
    /// No history follows the recipe.
    #[error("no recording can be made: {0}")]
    Recipe(#[from] RecipeError),
    /// The output failed.
    #[error("the recording cannot be written: {0}; is there enough space?")]
    Output(#[from] io::Error),
}

/// Writes the recording that a recipe makes, in memory that does not grow with
/// its length. Process k updates segment k, so no line names a segment.
///
/// # Errors
/// If no history follows the recipe, or if the output fails.
pub fn write(recipe: &Recipe, output: impl Write) -> Result<(), TextError> {
    Ok(write_events([recipe.processes, recipe.segments], recipe.events()?, output)?)
}

/// Writes a history of which process k alone updates segment k.
///
/// # Errors
/// If the output fails.
///
/// # Panics
/// If a process updates another segment: a line could not tell.
pub fn write_history(history: &History<i64>, output: impl Write) -> io::Result<()> {
    let own = |operation: &Operation| {
        operation.segment().is_none_or(|segment| segment.index() == operation.process().index())
    };
    assert!(history.operations().iter().all(own), "process k updates segment k");
    let events = history.events().map(OwnedEvent::from);
    write_events([history.processes(), history.segments()], events, output)
}

fn write_events(
    [processes, segments]: [usize; 2],
    events: impl Iterator<Item = OwnedEvent>,
    output: impl Write,
) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, output);
    writeln!(output, "processes {processes}")?;
    writeln!(output, "segments {segments}")?;
    for event in events {
        line(&mut output, &event)?;
    }
    output.flush()
}

fn line(output: &mut impl Write, event: &OwnedEvent) -> io::Result<()> {
    let process = event.process;
    match &event.action {
        OwnedAction::InvokeUpdate { value, .. } => writeln!(output, "p{process} update {value}"),
        OwnedAction::InvokeScan => writeln!(output, "p{process} scan"),
        OwnedAction::RespondUpdate => writeln!(output, "p{process} ok"),
        OwnedAction::RespondScan { values } => {
            write!(output, "p{process} ok")?;
            for value in values {
                write!(output, " {value}")?;
            }
            writeln!(output)
        }
        OwnedAction::RespondPartialScan { entries } => {
            write!(output, "p{process} ok")?;
            for (segment, value) in entries {
                write!(output, " s{segment} {value}")?;
            }
            writeln!(output)
        }
        OwnedAction::Fail => writeln!(output, "p{process} fail"),
        OwnedAction::Unknown => writeln!(output, "p{process} unknown"),
    }
}

#[cfg(test)]
mod tests {
    use corpus::generate::Style;

    use super::*;

    #[test]
    fn every_event_is_a_line() {
        let recipe = Recipe::new(3, 2, 40, Style::Differentiated, 5).with_pending(6);
        let mut text = Vec::new();
        write(&recipe, &mut text).unwrap();
        let mut same = Vec::new();
        write_history(&recipe.history().unwrap(), &mut same).unwrap();
        assert_eq!(text, same);
        let text = String::from_utf8(text).unwrap();
        let mut lines = text.lines();
        assert_eq!((lines.next(), lines.next()), (Some("processes 3"), Some("segments 2")));
        let history = recipe.history().unwrap();
        assert_eq!(lines.clone().count(), history.len());
        let scans = history.operations().iter().filter(|o| o.is_scan() && o.is_complete()).count();
        let words = |count| lines.clone().filter(move |l| l.split(' ').count() == count).count();
        assert_eq!(words(4), scans, "a scan's response has an entry per segment");
        assert!(text.contains(" unknown\n") && text.contains(" update "), "{text}");
    }
}
