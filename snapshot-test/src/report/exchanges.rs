//! Violations of an immediate snapshot for human readers.

use std::fmt::Write;

use snapshot_core::history::Outcome;
use snapshot_core::immediate::History;
use snapshot_core::{Names, OperationId};

use crate::Value;
use crate::format::Location;
use crate::judge::immediate::{Finding, Violation};

/// Writes the lines below the verdict, each indented and ended.
pub(super) fn human(out: &mut String, finding: &Finding, names: &Names) -> std::fmt::Result {
    match finding {
        Finding::SetLinearizable(_) => Ok(()),
        Finding::Disputed(dispute) => writeln!(out, "  {dispute}"),
        Finding::Undecided(repeated, location) => {
            writeln!(out, "  at {location}, {}", repeated.told(names))?;
            writeln!(out, "  help: record each value with the number of its operation")
        }
        Finding::Violation(violation) => {
            let (event, location) = (violation.alarm.event, violation.decided_at);
            writeln!(out, "  not set-linearizable from {location} (event {event}) on")?;
            match &violation.recording {
                Some(recording) => explain(out, violation, recording, names),
                None => writeln!(out, "  the proof is not at hand: the input was not kept"),
            }
        }
    }
}

fn explain(
    out: &mut String,
    violation: &Violation,
    (history, locations): &(History<Value>, Vec<Location>),
    names: &Names,
) -> std::fmt::Result {
    let found = &violation.alarm.violation;
    for id in found.operations() {
        let described = describe(history, locations, names, id);
        writeln!(out, "  {} = {described}", name(found.operations(), id))?;
    }
    writeln!(out)?;
    let argument = found.argument(history, names, |id| name(found.operations(), id));
    for line in snapshot_core::explanation::wrap(&argument, 76) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "\n  condition: {}", found.condition().name())
}

/// Returns E1, E2 in the order of the violation's operations.
fn name(operations: Vec<OperationId>, id: OperationId) -> String {
    let at = operations.iter().position(|&other| other == id).unwrap_or_default();
    format!("E{}", at + 1)
}

fn describe(
    history: &History<Value>,
    locations: &[Location],
    names: &Names,
    id: OperationId,
) -> String {
    let operation = history.operation(id);
    let place =
        |event: usize| locations.get(event).map_or_else(|| "?".to_owned(), ToString::to_string);
    let process = names.process(operation.process);
    let mut text = format!("exchange({}) by {process}", history.written(id));
    if let Some(returned) = history.returned(id) {
        let values: Vec<String> = returned.iter().map(ToString::to_string).collect();
        text += &format!(", returned {}", values.join(" "));
    }
    let end = match operation.outcome {
        Outcome::Complete { response } => format!("to {}", place(response)),
        Outcome::Failed { event } => format!("failed at {}", place(event)),
        Outcome::Unknown { event } => format!("outcome lost at {}", place(event)),
        Outcome::Pending => "still open".to_owned(),
    };
    text += &format!(" [{} {end}]", place(operation.invocation));
    text
}
