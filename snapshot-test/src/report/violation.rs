//! The record of a violation, for programs.

use serde::Serialize;
use snapshot_core::explanation::{Deed, Ending, Explanation, ProofOperation};
use snapshot_core::history::Outcome;
use snapshot_core::immediate::History;
use snapshot_core::verdict::Reason;
use snapshot_core::{Names, OperationId, Segment};

use super::json::index;
use super::{Shown, shown};
use crate::Value;
use crate::certificate::line_text;
use crate::format::{Format, JsonValue, Location};
use crate::judge::{Proof, ViolationFinding, accepting_run, immediate};

#[derive(Debug, Serialize)]
struct Place {
    event: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Violation {
    decided_at: Place,
    /// True if the violation may be complete before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_after: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segments: Vec<usize>,
    /// The names of `segments`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segment_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renaming: Option<Renaming>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Operation {
    operation: usize,
    process: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_name: Option<String>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<JsonValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entries: Vec<Entry>,
    invocation: Place,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Place>,
}

#[derive(Debug, Serialize)]
struct Entry {
    segment: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment_name: Option<String>,
    value: JsonValue,
}

/// `null` for a number larger than all others.
#[derive(Debug, Serialize)]
struct Renaming {
    i: usize,
    j: Option<usize>,
    r_i: Option<u64>,
    r_j: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Run {
    automaton: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<Vec<usize>>,
    from: String,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    letter: String,
    state: String,
}

fn place(event: usize, location: Option<Location>) -> Place {
    Place {
        event,
        line: location.map(|location| location.line),
        column: location.map(|location| location.column),
    }
}

pub(super) fn violation(finding: &ViolationFinding, format: Option<Format>) -> Violation {
    let (event, location) = finding.decided_at;
    let decided_at = place(event, Some(location));
    let Some(proof) = &finding.proof else {
        return Violation {
            decided_at,
            not_after: !finding.is_first,
            rule: None,
            argument: None,
            segments: Vec::new(),
            segment_names: Vec::new(),
            operations: Vec::new(),
            renaming: None,
            run: None,
            lines: None,
        };
    };
    let explanation = &proof.explanation;
    let witness = &explanation.witness;
    let name = |operation: &ProofOperation<Shown>| format!("operation {}", operation.id);
    Violation {
        decided_at,
        not_after: !finding.is_first,
        rule: Some(witness.reason.name()),
        argument: Some(shown(explanation, format).argument(name)),
        segments: witness.segments.iter().map(|segment| segment.index()).collect(),
        segment_names: witness
            .segments
            .iter()
            .filter_map(|segment| name_of(explanation.names.segments(), segment.index()))
            .collect(),
        operations: explanation.operations.iter().map(|e| operation(e, proof)).collect(),
        renaming: witness.renaming.map(|renaming| {
            let number = |number| (number != u64::MAX).then_some(number);
            Renaming {
                i: renaming.i.index(),
                j: renaming.j.map(Segment::index),
                r_i: number(renaming.from_i),
                r_j: number(renaming.from_j),
            }
        }),
        run: run(explanation, &witness.reason),
        lines: explanation.refutation.as_ref().map(|r| r.lines.iter().map(line_text).collect()),
    }
}

/// A violation of an immediate snapshot: its condition is the rule.
pub(super) fn exchanges(finding: &immediate::Violation, names: &Names) -> Violation {
    let found = &finding.alarm.violation;
    let mut violation = Violation {
        decided_at: place(finding.alarm.event, Some(finding.decided_at)),
        not_after: false,
        rule: Some(found.condition().name()),
        argument: None,
        segments: Vec::new(),
        segment_names: Vec::new(),
        operations: Vec::new(),
        renaming: None,
        run: None,
        lines: None,
    };
    if let Some((history, locations)) = &finding.recording {
        let name = |id| format!("operation {id}");
        violation.argument = Some(found.argument(history, names, name));
        violation.segments = found.segments(history);
        let segments = violation.segments.iter();
        violation.segment_names = segments.filter_map(|k| name_of(names.segments(), *k)).collect();
        let operations = found.operations().into_iter();
        violation.operations =
            operations.map(|id| exchange(history, locations, names, id)).collect();
    }
    violation
}

/// Returns the name of a process or segment, if it has one.
fn name_of(names: &[Box<str>], number: usize) -> Option<String> {
    names.get(number).map(ToString::to_string)
}

fn exchange(
    history: &History<Value>,
    locations: &[Location],
    names: &Names,
    id: OperationId,
) -> Operation {
    let operation = history.operation(id);
    let at = |event: usize| place(event, locations.get(event).copied());
    let returned = history.returned(id).unwrap_or_default().iter().enumerate();
    let (outcome, end) = match operation.outcome {
        Outcome::Complete { response } => ("complete", Some(response)),
        Outcome::Failed { event } => ("failed", Some(event)),
        Outcome::Unknown { event } => ("unknown", Some(event)),
        Outcome::Pending => ("pending", None),
    };
    Operation {
        operation: index(id),
        process: operation.process.index(),
        process_name: name_of(names.processes(), operation.process.index()),
        kind: "exchange",
        segment: Some(operation.process.index()),
        segment_name: name_of(names.segments(), operation.process.index()),
        value: Some(history.written(id).into()),
        entries: returned
            .map(|(segment, value)| Entry {
                segment,
                segment_name: name_of(names.segments(), segment),
                value: value.into(),
            })
            .collect(),
        invocation: at(operation.invocation),
        outcome,
        end: end.map(at),
    }
}

fn run(explanation: &Explanation<Value>, reason: &Reason) -> Option<Run> {
    if matches!(reason, Reason::Cycle | Reason::Ordering | Reason::NoOrder) {
        return None;
    }
    let run = accepting_run(explanation)?;
    let steps = run.steps.into_iter();
    let steps = steps.map(|(letter, state)| Step { letter: letter.to_string(), state }).collect();
    let processes = run.processes.map(|processes| processes.iter().map(|p| p.index()).collect());
    Some(Run { automaton: run.automaton, processes, from: run.from, steps })
}

fn operation(operation: &ProofOperation<Value>, proof: &Proof) -> Operation {
    let names = &proof.explanation.names;
    let (kind, segment, value, entries) = match &operation.deed {
        Deed::Update { segment, value } => {
            ("update", Some(segment.index()), Some(value.into()), Vec::new())
        }
        Deed::Scan { entries } => {
            let entry = |(segment, value): &(Segment, Value)| Entry {
                segment: segment.index(),
                segment_name: name_of(names.segments(), segment.index()),
                value: value.into(),
            };
            ("scan", None, None, entries.iter().map(entry).collect())
        }
    };
    let outcome = match operation.ending {
        Ending::Response(_) => "complete",
        Ending::Failure(_) => "failed",
        Ending::Unknown(_) => "unknown",
        Ending::None => "pending",
    };
    Operation {
        operation: index(operation.id),
        process: operation.process.index(),
        process_name: name_of(names.processes(), operation.process.index()),
        kind,
        segment,
        segment_name: segment.and_then(|segment| name_of(names.segments(), segment)),
        value,
        entries,
        invocation: place(operation.invocation, proof.location(operation.invocation)),
        outcome,
        end: operation.ending.event().map(|event| place(event, proof.location(event))),
    }
}
