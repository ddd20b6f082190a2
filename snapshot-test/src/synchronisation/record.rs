//! Judgements for programs.

use serde::Serialize;
use snapshot_core::OperationId;
use snapshot_core::generic::Refuted;
use snapshot_core::object::Completion;
use snapshot_core::synchronisation::Violation as Found;

use super::judge::{Finding, Judgement, Violation};
use super::report::{argument, exhausted_name, hard, verdict};
use super::token::Token;
use crate::format::JsonValue;
use crate::report::{self, SCHEMA};

/// The report on one input, for programs.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    schema: u32,
    input: &'a str,
    /// The key of an object, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<JsonValue>,
    object: String,
    /// The value before the first operation, unless it is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<JsonValue>,
    verdict: &'static str,
    format: Option<&'static str>,
    method: Option<&'static str>,
    processes: usize,
    events: usize,
    operations: u64,
    pending: u64,
    failed: u64,
    /// That times contradict the order of the lines, and what it means for the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<Unknown<'a>>,
    /// The most operations that were kept at once, if some were forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Unknown<'a> {
    exhausted: &'static str,
    set_linearizable: bool,
    /// Some of the operations that rules do not decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hard: Vec<Operation<'a>>,
}

#[derive(Debug, Serialize)]
struct ViolationRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<PlaceRecord>,
    /// True if the violation may be complete before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_after: bool,
    rule: &'static str,
    argument: String,
    operations: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partners: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Vec<Vec<usize>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cuts: Option<Vec<usize>>,
}

#[derive(Debug, Serialize)]
struct PlaceRecord {
    event: usize,
    line: u64,
}

#[derive(Debug, Serialize)]
struct Operation<'a> {
    operation: u64,
    process: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_name: Option<&'a str>,
    kind: &'static str,
    arguments: &'a [Token],
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'a [Token]>,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u64>,
}

/// The report on one input, in one line without its end; `certificate` is where the certificate
/// was written.
pub fn json(name: &str, judgement: &Judgement, certificate: Option<&str>) -> String {
    report::text(&record(name, judgement, certificate))
}

/// Returns the record of one input.
pub(crate) fn record<'a>(
    name: &'a str,
    judgement: &'a Judgement,
    certificate: Option<&'a str>,
) -> Record<'a> {
    let counts = judgement.counts;
    let numbers = |ids: &[OperationId]| ids.iter().map(|id| id.index()).collect();
    let violation = match &judgement.finding {
        Finding::Violation(violation) => {
            let deficiency = match violation {
                Violation::Found(Found::Unmatched { deficiency, .. }) => deficiency.as_ref(),
                _ => None,
            };
            let completion = judgement.completion;
            let place = |completion: Completion| {
                let (event, line) = (completion.event, judgement.line(completion.event)?);
                Some(PlaceRecord { event, line })
            };
            Some(ViolationRecord {
                decided_at: completion.and_then(place),
                not_after: completion.is_some_and(|completion| !completion.is_first),
                rule: match violation {
                    Violation::Found(found) => rule(found),
                    Violation::Part(_) => "part",
                    Violation::Missed(_) => "missed",
                    Violation::Unreturned => "unreturned",
                },
                argument: argument(judgement, violation),
                operations: violation
                    .operations()
                    .iter()
                    .map(|id| operation(judgement, *id))
                    .collect(),
                partners: deficiency.map(|found| numbers(&found.partners)),
                components: deficiency
                    .map(|found| found.components.iter().map(|set| numbers(set)).collect()),
                cuts: match violation {
                    Violation::Part(Refuted { cuts, .. }) => cuts.as_deref().map(numbers),
                    _ => None,
                },
            })
        }
        _ => None,
    };
    let unknown = match &judgement.finding {
        Finding::Unknown { exhausted, is_set_linearizable, beyond } => Some(Unknown {
            exhausted: exhausted_name(*exhausted),
            set_linearizable: *is_set_linearizable,
            hard: hard(beyond.as_ref()).iter().map(|id| operation(judgement, *id)).collect(),
        }),
        _ => None,
    };
    Record {
        schema: SCHEMA,
        input: name,
        key: judgement.key.as_ref().map(JsonValue::from),
        object: judgement.object.to_string(),
        initial: judgement.object.initial().map(JsonValue::from),
        verdict: verdict(judgement),
        format: judgement.format.map(crate::format::Format::name),
        method: Some(judgement.method),
        processes: counts.processes,
        events: counts.events,
        operations: counts.operations,
        pending: counts.pending,
        failed: counts.failed,
        warning: judgement.backwards.map(|backwards| backwards.told(judgement.doubt())),
        violation,
        unknown,
        kept: judgement.watched.filter(|one| one.forgotten > 0).map(|one| one.most),
        certificate,
    }
}

/// Returns the rule that is broken.
pub(super) fn rule(found: &Found) -> &'static str {
    match found {
        Found::Unmatched { .. } => "no-partner",
        Found::Few(_) => "no-order",
        Found::Searched(_) => "no-groups",
        Found::Rule(proof) => proof.rule(),
    }
}

fn operation(judgement: &Judgement, id: OperationId) -> Operation<'_> {
    let text = &judgement.texts[id.index()];
    Operation {
        operation: text.number,
        process: text.process.index(),
        process_name: judgement.names.processes().get(text.process.index()).map(|name| &**name),
        kind: text.operation,
        arguments: &text.arguments,
        results: text.results.as_deref(),
        line: text.invoked,
        end_line: text.ended,
    }
}
