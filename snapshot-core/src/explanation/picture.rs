//! A history as a picture: operations as intervals on the line of time.
//!
//! Events are as far apart as the labels need, in their order, so the picture shows the precedence
//! of operations, but not their durations.

use std::fmt::Write;

use crate::history::{History, Operation};
use crate::{Names, Process};

/// Least width of the margin before the line of a process.
const GUTTER: usize = 8;

/// Width of an interval without its label: its ends, and a dash and a space on each side.
const FRAME: usize = 6;

/// Draws one line per process that acts, at its name; `labels` has a label per operation, in order.
/// `None` if a line would have more than `width` characters.
///
/// ```
/// use snapshot_core::explanation::picture;
/// use snapshot_core::{History, Names, history::Declaration};
///
/// let mut history = History::builder(Declaration::new(0)).unwrap();
/// history.invoke_update(0, 0, 7).unwrap();
/// history.respond_update(0).unwrap();
/// history.invoke_scan(1).unwrap();
/// let labels = ["update(7)".to_owned(), "scan".to_owned()];
/// let drawn = picture(&history.finish(), &Names::default(), &labels, 60).unwrap();
/// assert_eq!(drawn, "  p0    |- update(7) -|\n  p1                    |- scan ..\n");
/// ```
pub fn picture<V>(
    history: &History<V>,
    names: &Names,
    labels: &[String],
    width: usize,
) -> Option<String> {
    let places = places(history, labels);
    let end = *places.last()?;
    let mut processes: Vec<Process> = history.operations().iter().map(Operation::process).collect();
    processes.sort_unstable();
    processes.dedup();
    let margins: Vec<String> =
        processes.iter().map(|process| format!("  {}", names.process_label(*process))).collect();
    let widest = margins.iter().map(|margin| margin.chars().count() + 2).max().unwrap_or(0);
    let gutter = widest.max(GUTTER);
    if gutter + end > width {
        return None;
    }
    let mut text = String::new();
    for (process, margin) in processes.into_iter().zip(margins) {
        let mut line = format!("{margin:gutter$}");
        let own = history.operations().iter().zip(labels);
        for (operation, label) in own.filter(|(operation, _)| operation.process() == process) {
            let (begin, close) = match operation.response() {
                Some(response) => (places[operation.invocation()], Some(places[response])),
                None => (places[operation.invocation()], None),
            };
            line = format!("{line:width$}", width = gutter + begin);
            line.push_str(&interval(label, close.unwrap_or(end) - begin + 1, close.is_some()));
        }
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    Some(text)
}

/// Returns the column of each event; the last element is the end of the picture.
fn places<V>(history: &History<V>, labels: &[String]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::with_capacity(history.len() + 1);
    let needed = |operation: &Operation, label: &String, places: &[usize]| {
        places[operation.invocation()] + label.chars().count() + FRAME - 1
    };
    for event in 0..=history.len() {
        let after_last = places.last().map_or(0, |last| last + 2);
        let ends = history
            .operations()
            .iter()
            .zip(labels)
            .filter(|(operation, _)| operation.response().unwrap_or(history.len()) == event);
        let ends: Vec<usize> =
            ends.map(|(operation, label)| needed(operation, label, &places)).collect();
        places.push(ends.into_iter().max().unwrap_or(0).max(after_last));
    }
    places
}

/// Draws `|-- U1: update(1) --|`, or `|-- U1: update(1) ...` if the operation does not end.
fn interval(label: &str, length: usize, ends: bool) -> String {
    let dashes = length.saturating_sub(label.chars().count() + 4);
    let (left, right) = (dashes / 2, dashes - dashes / 2);
    if ends {
        format!("|{} {label} {}|", "-".repeat(left), "-".repeat(right))
    } else {
        format!("|{} {label} {}", "-".repeat(left), ".".repeat(right + 1))
    }
}
