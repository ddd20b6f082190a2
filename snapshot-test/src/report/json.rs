//! A judgement for programs: one JSON object per input.
//!
//! `docs/report.md` describes the schema for users. Fields are only added
//! within one version.

use serde::Serialize;
use snapshot_core::OperationId;
use snapshot_core::immediate::Repeated;
use snapshot_core::renaming::Unrenamable;
use snapshot_core::verdict::Cause;

use super::violation::{Violation, exchanges, violation};
use super::{doubt, exhausted, verdict};
use crate::Value;
use crate::certificate::Refuted;
use crate::error::InputError;
use crate::format::JsonValue;
use crate::input::OpenError;
use crate::judge::{Finding, Judgement, Obstacle, immediate};
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
            record.violation = Some(violation(finding, judgement.format));
            record.malformed = finding.malformed.as_ref().map(|error| defect(error, name));
        }
        Finding::Unknown { method, unknown: finding } => {
            record.method = Some(method.name());
            let (exhausted, events) = (exhausted(finding.exhausted), finding.linearizable_events);
            record.unknown = Some(unknown(&finding.cause, exhausted, finding.states, events));
        }
        Finding::Unsearched { undecided, obstacle } => {
            let obstacle = obstacle.name();
            record.unknown = Some(unknown(&undecided.cause, obstacle, 0, undecided.event));
        }
        Finding::Immediate(finding) => {
            record.method = Some("immediate");
            match finding {
                immediate::Finding::SetLinearizable(_) | immediate::Finding::Disputed(_) => {}
                immediate::Finding::Violation(violation) => {
                    record.violation = Some(exchanges(violation, &judgement.names));
                }
                immediate::Finding::Undecided(repeated, _) => {
                    record.unknown = Some(repeated_value(repeated));
                }
            }
        }
        Finding::Malformed(error) => record.malformed = Some(malformed(error, name)),
        Finding::Disputed(_) | Finding::Recorded(_) => {}
    }
    record
}

fn unknown(cause: &Cause, exhausted: &'static str, states: u64, events: usize) -> Unknown {
    let (cause, operations, segment) = self::cause(cause);
    Unknown { cause, operations, segment, exhausted, states, linearizable_events: events }
}

/// Returns the record of an immediate snapshot whose conditions do not decide.
fn repeated_value(repeated: &Repeated) -> Unknown {
    Unknown {
        cause: "repeated-value",
        operations: vec![index(repeated.operation)],
        segment: Some(repeated.process.index()),
        exhausted: "method",
        states: 0,
        linearizable_events: 0,
    }
}

impl Obstacle {
    /// Returns a one-word name.
    const fn name(self) -> &'static str {
        match self {
            Self::Forgotten => "forgotten",
            Self::TooLarge => "memory",
            Self::Unwanted => "method",
        }
    }
}

fn malformed(error: &OpenError, name: &str) -> Malformed {
    let (location, message) = match error {
        OpenError::Input(error) => return defect(error, name),
        OpenError::Recorded(error) => (Some(error.location), error.kind.to_string()),
        other => (None, other.to_string()),
    };
    let [line, column] = [location.map(|at| at.line), location.map(|at| at.column)];
    Malformed { line, column, message, report: error.report(name).to_string() }
}

fn defect(error: &InputError, name: &str) -> Malformed {
    let (line, column) = (Some(error.location().line), Some(error.location().column));
    let (message, report) = (error.message(), error.report(name).to_string());
    Malformed { line, column, message, report }
}

pub(super) fn index(id: OperationId) -> usize {
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
