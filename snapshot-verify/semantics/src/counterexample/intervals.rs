//! Renders a history as a picture ([`picture`]), if it fits.
//!
//! If it is too wide, the labels become names and the operations are listed above it. If even that
//! is too wide, the events are listed.

use std::fmt::Write;

use snapshot_core::History;
use snapshot_core::explanation::picture;
use snapshot_core::history::OperationKind;

use super::names::Names;
use super::paragraph::lines;
use crate::interpret::Action;

/// Returns the widest rendering that fits.
pub(super) fn text(history: &History<u32>, names: &Names, width: usize) -> String {
    let full: Vec<String> = history
        .operation_ids()
        .map(|id| format!("{}: {}", names.of_operation(id), described(history, id)))
        .collect();
    let short: Vec<String> = history.operation_ids().map(|id| names.of_operation(id)).collect();
    labelled(history, &full, &short, width).unwrap_or_else(|text| text + &listed(history, &short))
}

/// Returns the picture with full labels, or a list of these and a picture with short ones.
///
/// # Errors
/// Returns the list alone if no picture fits.
pub(super) fn labelled(
    history: &History<u32>,
    full: &[String],
    short: &[String],
    width: usize,
) -> Result<String, String> {
    if let Some(picture) = picture(history, &snapshot_core::Names::default(), full, width) {
        return Ok(picture);
    }
    let mut text = String::new();
    for (operation, label) in history.operations().iter().zip(full) {
        let line = format!("{label} by p{}", operation.process());
        for (piece, part) in lines(&line, width.saturating_sub(4)).iter().enumerate() {
            let begin = if piece == 0 { "  " } else { "    " };
            writeln!(text, "{begin}{part}").expect("writing to a string cannot fail");
        }
    }
    text.push('\n');
    match picture(history, &snapshot_core::Names::default(), short, width) {
        Some(picture) => Ok(text + &picture),
        None => Err(text),
    }
}

/// Returns `update(1)`, `scan [0, 1]`, or `scan` if the operation is pending.
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
