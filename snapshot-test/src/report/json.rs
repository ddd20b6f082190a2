//! A judgement for programs: one JSON object per input.
//!
//! `docs/report.md` describes the schema for users. Fields are only added
//! within one version.

use serde::Serialize;
use snapshot_core::explanation::{Deed, Ending, Exhibit, Explanation};
use snapshot_core::history::Outcome;
use snapshot_core::immediate::History;
use snapshot_core::renaming::Unrenamable;
use snapshot_core::verdict::{Cause, Reason};
use snapshot_core::{OperationId, Segment};

use super::{doubt, exhausted, verdict};
use crate::Value;
use crate::certificate::{Refuted, line_text};
use crate::format::{JsonValue, Location};
use crate::input::OpenError;
use crate::judge::{
    Finding, Judgement, Obstacle, Proof, ViolationFinding, accepting_run, immediate,
};
use crate::synchronisation;

pub const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub struct Record<'a> {
    schema: u32,
    input: &'a str,
    /// The key of an object, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<JsonValue>,
    /// Number of events cut off before the numbered ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    verdict: &'static str,
    format: Option<&'static str>,
    method: Option<&'static str>,
    processes: usize,
    segments: usize,
    events: usize,
    operations: u64,
    pending: u64,
    failed: u64,
    /// The warning that times contradict the order of the lines, with the consequence for the
    /// verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Violation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<Unknown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<Malformed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disputed: Option<Contradiction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
    /// The reason why `certify` cannot check it.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<ObjectCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<AnyRecord<'a>>>,
}

/// A record of a snapshot, or of an object with named operations.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AnyRecord<'a> {
    Snapshot(Box<Record<'a>>),
    Recorded(Box<synchronisation::Record<'a>>),
}

/// Numbers of objects, by verdict.
#[derive(Debug, Serialize)]
struct ObjectCounts {
    total: u64,
    linearizable: u64,
    violation: u64,
    unknown: u64,
}

#[derive(Debug, Serialize)]
struct Place {
    event: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Violation {
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
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<usize>,
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

#[derive(Debug, Serialize)]
struct Unknown {
    cause: &'static str,
    operations: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<usize>,
    exhausted: &'static str,
    states: u64,
    linearizable_events: usize,
}

/// Two judges that contradict each other, and the file that has the recording.
#[derive(Debug, Serialize)]
struct Contradiction {
    accepting: &'static str,
    refusing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

#[derive(Debug, Serialize)]
struct Malformed {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    message: String,
    report: String,
}

/// Returns the report on one input, in one line without its end; `certificate` is the path of the
/// certificate.
pub fn json(name: &str, judgement: &Judgement, certificate: Option<&str>) -> String {
    text(&any(name, None, judgement, certificate))
}

/// Returns a record as one line without its end.
pub(crate) fn text(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("a record consists of numbers and texts")
}

/// As [`json`], for one object of several, of which this many events were cut off before the
/// numbered ones.
pub(crate) fn json_of(
    name: &str,
    key: Option<&Value>,
    judgement: &Judgement,
    before: u64,
) -> String {
    let key = key.map(JsonValue::from);
    text(&Record { key, before: Some(before), ..record(name, judgement, None) })
}

fn any<'a>(
    name: &'a str,
    key: Option<JsonValue>,
    judgement: &'a Judgement,
    certificate: Option<&'a str>,
) -> AnyRecord<'a> {
    match &judgement.finding {
        Finding::Recorded(judgement) => {
            AnyRecord::Recorded(Box::new(synchronisation::record(name, judgement, certificate)))
        }
        _ => AnyRecord::Snapshot(Box::new(Record { key, ..record(name, judgement, certificate) })),
    }
}

/// Returns the reason why the certificate of a judgement cannot be checked, if any.
fn uncertified(judgement: &Judgement) -> Option<&Refuted> {
    match &judgement.finding {
        Finding::Violation(violation) => violation.proof.as_ref()?.uncertified.as_ref(),
        _ => None,
    }
}

fn record<'a>(name: &'a str, judgement: &'a Judgement, certificate: Option<&str>) -> Record<'a> {
    let counts = &judgement.counts;
    let mut record = Record {
        schema: SCHEMA,
        input: name,
        key: None,
        before: None,
        verdict: verdict(&judgement.finding),
        format: judgement.format.map(|format| format.name()),
        method: None,
        processes: counts.processes,
        segments: counts.segments,
        events: counts.events,
        operations: counts.operations,
        pending: counts.pending,
        failed: counts.failed,
        warning: judgement.backwards.map(|backwards| backwards.told(doubt(&judgement.finding))),
        violation: None,
        unknown: None,
        malformed: None,
        disputed: judgement.finding.disputed().map(|disputed| Contradiction {
            accepting: disputed.dispute.accepting,
            refusing: disputed.dispute.refusing,
            kept: disputed.kept.map(|kept| kept.display().to_string()),
        }),
        certificate: certificate.map(str::to_owned),
        uncertified: certificate.and_then(|_| uncertified(judgement)).map(ToString::to_string),
        objects: None,
        parts: None,
    };
    match &judgement.finding {
        Finding::Objects(found) => {
            record.objects = Some(ObjectCounts {
                total: found.total(),
                linearizable: found.linearizable,
                violation: found.violations,
                unknown: found.unknown,
            });
            let parts = found.parts.iter().map(|part| {
                let key = Some((&part.key).into());
                any(name, key, &part.judgement, part.certificate.as_deref())
            });
            record.parts = Some(parts.collect());
            record.malformed = found.malformed.as_ref().map(|error| malformed(error, name));
        }
        Finding::Linearizable { method, .. } => record.method = Some(method.name()),
        Finding::Violation(finding) => {
            record.method = Some(finding.method.name());
            record.violation = Some(violation(finding));
            record.malformed = finding.malformed.as_ref().map(|error| Malformed {
                line: Some(error.location().line),
                column: Some(error.location().column),
                message: error.kind().to_string(),
                report: error.report(name).to_string(),
            });
        }
        Finding::Unknown { method, unknown: finding } => {
            record.method = Some(method.name());
            let (cause, operations, segment) = cause(&finding.cause);
            record.unknown = Some(Unknown {
                cause,
                operations,
                segment,
                exhausted: exhausted(finding.exhausted),
                states: finding.states,
                linearizable_events: finding.linearizable_events,
            });
        }
        Finding::Unsearched { undecided, obstacle } => {
            let (cause, operations, segment) = cause(&undecided.cause);
            record.unknown = Some(Unknown {
                cause,
                operations,
                segment,
                exhausted: match obstacle {
                    Obstacle::Forgotten => "forgotten",
                    Obstacle::TooLarge => "memory",
                    Obstacle::Unwanted => "method",
                },
                states: 0,
                linearizable_events: undecided.event,
            });
        }
        Finding::Immediate(finding) => {
            record.method = Some("immediate");
            match finding {
                immediate::Finding::SetLinearizable(_) | immediate::Finding::Disputed(_) => {}
                immediate::Finding::Violation(violation) => {
                    record.violation = Some(exchanges(violation));
                }
                immediate::Finding::Undecided(repeated, _) => {
                    record.unknown = Some(Unknown {
                        cause: "repeated-value",
                        operations: vec![index(repeated.operation)],
                        segment: Some(repeated.process.index()),
                        exhausted: "method",
                        states: 0,
                        linearizable_events: 0,
                    });
                }
            }
        }
        Finding::Malformed(error) => record.malformed = Some(malformed(error, name)),
        Finding::Disputed(_) | Finding::Recorded(_) => {}
    }
    record
}

fn malformed(error: &OpenError, name: &str) -> Malformed {
    let location = match error {
        OpenError::Input(error) => Some(error.location()),
        OpenError::Recorded(error) => Some(error.location),
        _ => None,
    };
    Malformed {
        line: location.map(|location| location.line),
        column: location.map(|location| location.column),
        message: match error {
            OpenError::Input(error) => error.kind().to_string(),
            OpenError::Recorded(error) => error.kind.to_string(),
            other => other.to_string(),
        },
        report: error.report(name).to_string(),
    }
}

fn index(id: OperationId) -> usize {
    id.index()
}

fn cause(cause: &Cause) -> (&'static str, Vec<usize>, Option<usize>) {
    match *cause {
        Cause::AmbiguousValue { scan, segment } => {
            ("ambiguous-value", vec![index(scan)], Some(segment.index()))
        }
        Cause::OverlappingUpdates { first, second } => {
            ("overlapping-updates", vec![index(first), index(second)], None)
        }
        Cause::PartialScan { scan } => ("partial-scan", vec![index(scan)], None),
        Cause::Unrenamable(Unrenamable::NotDifferentiated(error)) => {
            ("not-differentiated", vec![index(error.operation())], None)
        }
        Cause::Unrenamable(Unrenamable::Alphabet(_)) => ("too-many-processes", Vec::new(), None),
        Cause::Requested => ("requested", Vec::new(), None),
    }
}

fn place(event: usize, location: Option<Location>) -> Place {
    Place {
        event,
        line: location.map(|location| location.line),
        column: location.map(|location| location.column),
    }
}

fn violation(finding: &ViolationFinding) -> Violation {
    let (event, location) = finding.decided_at;
    let decided_at = place(event, Some(location));
    let Some(proof) = &finding.proof else {
        return Violation {
            decided_at,
            not_after: !finding.is_first,
            rule: None,
            argument: None,
            segments: Vec::new(),
            operations: Vec::new(),
            renaming: None,
            run: None,
            lines: None,
        };
    };
    let explanation = &proof.explanation;
    let witness = &explanation.witness;
    let name = |exhibit: &Exhibit<Value>| format!("operation {}", exhibit.id);
    Violation {
        decided_at,
        not_after: !finding.is_first,
        rule: Some(witness.reason.name()),
        argument: Some(explanation.argument(name)),
        segments: witness.segments.iter().map(|segment| segment.index()).collect(),
        operations: explanation.exhibits.iter().map(|e| operation(e, proof)).collect(),
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
fn exchanges(finding: &immediate::Violation) -> Violation {
    let found = &finding.alarm.violation;
    let mut violation = Violation {
        decided_at: place(finding.alarm.event, Some(finding.decided_at)),
        not_after: false,
        rule: Some(found.condition().name()),
        argument: None,
        segments: Vec::new(),
        operations: Vec::new(),
        renaming: None,
        run: None,
        lines: None,
    };
    if let Some((history, locations)) = &finding.recording {
        violation.argument = Some(found.argument(history, |id| format!("operation {id}")));
        violation.segments = found.segments(history);
        violation.operations =
            found.operations().into_iter().map(|id| exchange(history, locations, id)).collect();
    }
    violation
}

fn exchange(history: &History<Value>, locations: &[Location], id: OperationId) -> Operation {
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
        kind: "exchange",
        segment: Some(operation.process.index()),
        value: Some(history.written(id).into()),
        entries: returned.map(|(segment, value)| Entry { segment, value: value.into() }).collect(),
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

fn operation(exhibit: &Exhibit<Value>, proof: &Proof) -> Operation {
    let (kind, segment, value, entries) = match &exhibit.deed {
        Deed::Update { segment, value } => {
            ("update", Some(segment.index()), Some(value.into()), Vec::new())
        }
        Deed::Scan { entries } => {
            let entry = |(segment, value): &(Segment, Value)| Entry {
                segment: segment.index(),
                value: value.into(),
            };
            ("scan", None, None, entries.iter().map(entry).collect())
        }
    };
    let outcome = match exhibit.ending {
        Ending::Response(_) => "complete",
        Ending::Failure(_) => "failed",
        Ending::Unknown(_) => "unknown",
        Ending::None => "pending",
    };
    Operation {
        operation: index(exhibit.id),
        process: exhibit.process.index(),
        kind,
        segment,
        value,
        entries,
        invocation: place(exhibit.invocation, proof.location(exhibit.invocation)),
        outcome,
        end: exhibit.ending.event().map(|event| place(event, proof.location(event))),
    }
}
