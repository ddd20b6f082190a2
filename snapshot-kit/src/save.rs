//! A history as a recording in the text format, which `snapshot-test` reads.

use std::io::{self, Write};

use snapshot_core::history::{Action, Event, Writers};
use snapshot_core::{History, Segment};

use crate::value::{Recorded, Value};

/// Writes a history as a recording: `comments`, a header, and a line per event. Returns the line of
/// the first event, from 1.
///
/// ```
/// use snapshot_core::{History, history::Declaration};
/// use snapshot_kit::save;
///
/// let mut history = History::builder(Declaration::new(0_u64))?;
/// history.invoke_update(0, 0, 7)?;
/// let mut file = Vec::new();
/// save(&history.finish(), &["from a test"], &mut file)?;
/// assert_eq!(file, b"# from a test\nsegments 1\nprocesses 1\np0 update 7\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If `output` fails.
pub fn save<V: Recorded>(
    history: &History<V>,
    comments: &[&str],
    mut output: impl Write,
) -> io::Result<usize> {
    let comments: Vec<&str> = comments.iter().flat_map(|comment| comment.lines()).collect();
    for comment in &comments {
        writeln!(output, "# {comment}")?;
    }
    writeln!(output, "segments {}\nprocesses {}", history.segments(), history.processes())?;
    let mut header = comments.len() + 2;
    let initial: Vec<Value> = (0..history.segments())
        .map(|k| history.initial_value(Segment::from_index(k)).recorded())
        .collect();
    if initial.iter().any(|value| *value != Value::ZERO) {
        write!(output, "initial")?;
        initial.iter().try_for_each(|value| write!(output, " {value}"))?;
        writeln!(output)?;
        header += 1;
    }
    if history.writers() == Writers::Many {
        writeln!(output, "writers many")?;
        header += 1;
    }
    let mut values: Vec<Value> = Vec::new();
    let mut entries: Vec<(Segment, Value)> = Vec::new();
    for event in history.events() {
        let process = event.process;
        values.clear();
        entries.clear();
        let action = match event.action {
            Action::InvokeUpdate { segment, value } => {
                values.push(value.recorded());
                Action::InvokeUpdate { segment, value: &values[0] }
            }
            Action::RespondScan { values: returned } => {
                values.extend(returned.iter().map(Recorded::recorded));
                Action::RespondScan { values: &values }
            }
            Action::RespondPartialScan { segments, entries: returned } => {
                entries.extend(returned.iter().map(|(k, value)| (*k, value.recorded())));
                Action::RespondPartialScan { segments, entries: &entries }
            }
            Action::InvokeScan => Action::InvokeScan,
            Action::RespondUpdate => Action::RespondUpdate,
            Action::Fail => Action::Fail,
            Action::Unknown => Action::Unknown,
        };
        writeln!(output, "{}", Event { process, action })?;
    }
    output.flush()?;
    Ok(header + 1)
}
