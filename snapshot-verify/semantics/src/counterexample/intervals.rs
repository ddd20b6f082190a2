//! A history as a picture: operations as intervals on the line of time.
//!
//! Events are as far apart as the labels need, in their order, so the picture
//! shows which operations precede which. Where it would be too wide, the labels
//! become names and the operations are listed above it; where even that is too
//! wide, the events are listed.

use std::fmt::Write;

use snapshot_core::history::{Operation, OperationKind};
use snapshot_core::{History, Process};

use super::names::Names;
use super::paragraph::lines;
use crate::interpret::Action;

/// Before the line of a process.
const GUTTER: usize = 8;

/// An interval has its ends, a dash and a space on each side of the label.
const FRAME: usize = 6;

/// The picture, or what there is room for.
pub(super) fn text(history: &History<u32>, names: &Names, width: usize) -> String {
    let full: Vec<String> = history
        .operation_ids()
        .map(|id| format!("{}: {}", names.of_operation(id), described(history, id)))
        .collect();
    if let Some(picture) = picture(history, &full, width) {
        return picture;
    }
    let mut text = String::new();
    for (operation, label) in history.operations().iter().zip(&full) {
        let line = format!("{label} by p{}", operation.process());
        for (piece, part) in lines(&line, width.saturating_sub(4)).iter().enumerate() {
            let begin = if piece == 0 { "  " } else { "    " };
            writeln!(text, "{begin}{part}").expect("writing to a string cannot fail");
        }
    }
    text.push('\n');
    let short: Vec<String> = history.operation_ids().map(|id| names.of_operation(id)).collect();
    text + &picture(history, &short, width).unwrap_or_else(|| listed(history, &short))
}

/// `update(1)`, `scan [0, 1]`, `scan` if it has not returned.
fn described(history: &History<u32>, id: snapshot_core::OperationId) -> String {
    let operation = history.operation(id);
    match operation.kind() {
        OperationKind::Update { .. } => format!("update({})", history.update_value(operation)),
        OperationKind::Scan if operation.is_complete() => {
            format!("scan {:?}", history.scan_values(operation))
        }
        OperationKind::Scan => "scan".to_owned(),
    }
}

/// Where each event lies; the last is the end of the picture.
fn places(history: &History<u32>, labels: &[String]) -> Vec<usize> {
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

fn picture(history: &History<u32>, labels: &[String], width: usize) -> Option<String> {
    let places = places(history, labels);
    let end = *places.last()?;
    if GUTTER + end > width {
        return None;
    }
    let mut processes: Vec<Process> = history.operations().iter().map(Operation::process).collect();
    processes.sort_unstable();
    processes.dedup();
    let mut text = String::new();
    for process in processes {
        let mut line = format!("{:GUTTER$}", format!("  p{process}"));
        let own = history.operations().iter().zip(labels);
        for (operation, label) in own.filter(|(operation, _)| operation.process() == process) {
            let (begin, close) = match operation.response() {
                Some(response) => (places[operation.invocation()], Some(places[response])),
                None => (places[operation.invocation()], None),
            };
            line = format!("{line:width$}", width = GUTTER + begin);
            line.push_str(&interval(label, close.unwrap_or(end) - begin + 1, close.is_some()));
        }
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    Some(text)
}

/// `|-- U1: update(1) --|`, or `|-- U1: update(1) ...` if it does not end.
fn interval(label: &str, length: usize, ends: bool) -> String {
    let dashes = length.saturating_sub(label.chars().count() + 4);
    let (left, right) = (dashes / 2, dashes - dashes / 2);
    if ends {
        format!("|{} {label} {}|", "-".repeat(left), "-".repeat(right))
    } else {
        format!("|{} {label} {}", "-".repeat(left), ".".repeat(right + 1))
    }
}

fn listed(history: &History<u32>, names: &[String]) -> String {
    let mut text = String::new();
    for step in history.steps() {
        let operation = history.operation(step.operation);
        let name = &names[step.operation.index()];
        let process = operation.process();
        let deed = match (step.is_end, operation.kind()) {
            (false, OperationKind::Update { .. }) => {
                format!("{name}: {}", Action::InvokeUpdate(*history.update_value(operation)))
            }
            (false, OperationKind::Scan) => format!("{name}: {}", Action::InvokeScan),
            (true, OperationKind::Update { .. }) => format!("{name} ends"),
            (true, OperationKind::Scan) => {
                format!("{name} returns {:?}", history.scan_values(operation))
            }
        };
        writeln!(text, "  {:<4} {deed}", format!("p{process}"))
            .expect("writing to a string cannot fail");
    }
    text
}
