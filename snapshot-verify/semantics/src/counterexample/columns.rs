//! Renders an execution as a table: a row per step, a column per process that takes part.

use std::fmt::Write;

use snapshot_core::Process;

use super::names::Names;
use super::paragraph::lines;
use crate::interpret::{Action, Execution, StepReport};

/// Narrower columns are hard to read: a list is better.
const NARROWEST: usize = 18;

/// Width of the step's number and of the margin at the beginning of a line.
const GUTTER: usize = 6;

/// Width of the separator ` | ` between two columns.
const BETWEEN: usize = 3;

/// Mark behind an access that is a linearization point of the text.
pub(super) const MARK: &str = "(*)";

/// Returns the table, or a list if it is too wide; with a legend if [`MARK`] occurs.
pub(super) fn text(execution: &Execution, names: &Names, width: usize) -> String {
    let mut text = steps(execution, names, width);
    if is_marked(execution) {
        write!(text, "\n  {LEGEND}\n").expect("writing to a string cannot fail");
    }
    text
}

/// Legend of [`MARK`].
pub(super) const LEGEND: &str = "(*) marked with `linearizes`";

/// Returns true if [`MARK`] occurs.
pub(super) fn is_marked(execution: &Execution) -> bool {
    execution.reports.iter().flat_map(|report| &report.accesses).any(|access| access.linearizes)
}

fn steps(execution: &Execution, names: &Names, width: usize) -> String {
    let deeds = deeds(execution, names);
    let mut processes: Vec<Process> =
        execution.reports.iter().map(|report| report.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let room = width.saturating_sub(GUTTER + BETWEEN * processes.len()) / processes.len().max(1);
    if room < NARROWEST {
        return list(execution, &deeds, width);
    }
    table(execution, &deeds, &processes, room)
}

/// Describes each step: one text per access or event.
pub(super) fn deeds(execution: &Execution, names: &Names) -> Vec<Vec<String>> {
    let mut open: Vec<String> = vec![String::new(); execution.processes];
    let mut begun = 0;
    let mut describe = |report: &StepReport| {
        let mut deeds: Vec<String> = Vec::new();
        for access in &report.accesses {
            let deed = access.to_string();
            deeds.push(if access.linearizes { format!("{deed} {MARK}") } else { deed });
        }
        let operation = &mut open[report.process.index()];
        if let Some(event) = &report.event {
            if !event.action.is_response() {
                *operation = names.of_operation(snapshot_core::OperationId::from_index(begun));
                begun += 1;
            }
            deeds.push(match &event.action {
                Action::InvokeUpdate(value) => format!("{operation} = update({value}) begins"),
                Action::InvokeScan => format!("{operation} = scan begins"),
                Action::RespondUpdate => format!("{operation} ends"),
                Action::RespondScan(values) => format!("{operation} returns {values:?}"),
                Action::Begin { text, .. } => format!("{operation} = {text} begins"),
                Action::End { result: None, .. } => format!("{operation} ends"),
                Action::End { text, .. } => format!("{operation} returns {text}"),
            });
        }
        if deeds.is_empty() {
            deeds.push("(no access)".to_owned());
        }
        deeds
    };
    execution.reports.iter().map(&mut describe).collect()
}

fn table(
    execution: &Execution,
    deeds: &[Vec<String>],
    processes: &[Process],
    room: usize,
) -> String {
    let column = |process: Process| processes.iter().position(|one| *one == process).unwrap_or(0);
    let mut widths: Vec<usize> = vec![NARROWEST; processes.len()];
    for (report, deeds) in execution.reports.iter().zip(deeds) {
        let width = &mut widths[column(report.process)];
        for deed in deeds {
            *width = (*width).max(deed.chars().count().min(room));
        }
    }
    let mut text = String::new();
    let mut row = |number: &str, texts: &[String]| {
        let texts: Vec<String> =
            texts.iter().zip(&widths).map(|(text, width)| format!("{text:width$}")).collect();
        let line = format!("{number:>GUTTER$} | {}", texts.join(" | "));
        writeln!(text, "{}", line.trim_end()).expect("writing to a string cannot fail");
    };
    let heads: Vec<String> = processes.iter().map(|process| format!("p{process}")).collect();
    row("step", &heads);
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    row("", &rules);
    for (position, (report, deeds)) in execution.reports.iter().zip(deeds).enumerate() {
        let at = column(report.process);
        let pieces = deeds.iter().flat_map(|deed| lines(deed, widths[at]));
        for (piece, part) in pieces.enumerate() {
            let mut texts = vec![String::new(); processes.len()];
            texts[at] = part;
            row(&if piece == 0 { (position + 1).to_string() } else { String::new() }, &texts);
        }
    }
    text
}

fn list(execution: &Execution, deeds: &[Vec<String>], width: usize) -> String {
    let mut text = String::new();
    for (position, (report, deeds)) in execution.reports.iter().zip(deeds).enumerate() {
        let head = format!("{:>GUTTER$}  {:<4}", position + 1, format!("p{}", report.process));
        let room = width.saturating_sub(head.len() + 1).max(NARROWEST);
        for (piece, line) in deeds.iter().flat_map(|deed| lines(deed, room)).enumerate() {
            let begin = if piece == 0 { head.clone() } else { " ".repeat(head.len()) };
            writeln!(text, "{begin} {line}").expect("writing to a string cannot fail");
        }
    }
    text
}
