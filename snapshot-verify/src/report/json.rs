//! Outcomes as JSON: one object per line, described in `docs/verification.md`.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use snapshot_core::Process;

use super::exercised::Exercised;
use super::{Case, Tally, TextPosition};
use crate::limits::Limit;
use crate::verify::{Barriers, Effort, Method, Operations, Outcome, Verdict};

pub(super) const SCHEMA: u32 = 1;

/// Returns one outcome of a case as a line, without its end. `trace` is the file that the
/// counterexample was written to.
pub fn json(case: &Case<'_>, outcome: &Outcome, trace: Option<&Path>) -> String {
    let (request, measures) = (case.request, &outcome.measures);
    let means = match request.method {
        Method::Exploration => None,
        Method::Refinement(means) => Some(means),
    };
    let line = Line {
        schema: SCHEMA,
        input: case.input,
        algorithm: case.algorithm,
        bug: case.bug,
        object: case.object.map(|object| object.name.as_str()),
        processes: request.processes,
        pair: outcome.pair.map(|pair| pair.map(|process| process.index())),
        operations: match request.operations {
            Operations::Unbounded => None,
            Operations::AtMost(bound) => Some(Bound::AtMost(bound)),
            Operations::Grow => Some(Bound::Grow("grow")),
        },
        barriers: match request.barriers {
            Barriers::Unbounded => None,
            Barriers::AtMost(bound) => Some(Bound::AtMost(bound)),
            Barriers::Grow => Some(Bound::Grow("grow")),
        },
        method: match measures.proof {
            Some(_) => "proof",
            None => request.method.name(),
        },
        proof: measures.proof.map(|proof| Proof {
            rung: proof.rung.name(),
            views: proof.views,
            seconds: proof.elapsed.as_secs_f64(),
        }),
        executions: if request.values.is_none() { "simple" } else { "full" },
        values: case.values(),
        updater: request.updater.map(Process::index),
        partial_order: means.map(|means| means.partial_order),
        points: means.map(|means| means.points),
        verdict: outcome.verdict.name(),
        scope: outcome.scope.iter().map(Scope::from).collect(),
        explorations: measures.explorations,
        states: measures.states,
        transitions: measures.transitions,
        depth: measures.depth,
        seconds: measures.elapsed.as_secs_f64(),
        peak_bytes: measures.peak_bytes,
        bytes_per_state: measures.bytes_per_state,
        like: measures.like.map(|pair| pair.map(|process| process.index())),
        limits: measures.limits.iter().map(Limit::name).collect(),
        reductions: match means {
            None => request.reductions.iter().map(|reduction| reduction.name()).collect(),
            Some(_) => Vec::new(),
        },
        threads: request.threads.get(),
        memory: request.memory,
        looks_at_values: case.looks_at_values,
        exercised: case.exercise.map(|exercise| Exercised::new(case, exercise)),
        cause: None,
        violation: None,
        misplaced: None,
        fault: None,
    };
    serialized(&with_verdict(line, case, outcome, trace))
}

/// Returns a line with the parts that its verdict has.
fn with_verdict<'a>(
    line: Line<'a>,
    case: &Case<'_>,
    outcome: &Outcome,
    trace: Option<&Path>,
) -> Line<'a> {
    let trace = trace.map(|path| path.display().to_string());
    match &outcome.verdict {
        Verdict::Verified | Verdict::Refused => line,
        Verdict::Unknown(cause) => Line { cause: Some(cause.name()), ..line },
        Verdict::Violation(violation) => {
            let violation = Violation {
                moves: violation.moves().len(),
                operations: violation.history().operations().len(),
                argument: violation.argument(),
                trace,
            };
            Line { violation: Some(violation), ..line }
        }
        Verdict::ObjectViolation(violation) => {
            let violation = Violation {
                moves: violation.moves().len(),
                operations: violation.operations(),
                argument: violation.argument().to_owned(),
                trace,
            };
            Line { violation: Some(violation), ..line }
        }
        Verdict::Misplaced(misplaced) => {
            let (moves, argument) = (misplaced.moves.len(), misplaced.argument());
            Line { misplaced: Some(Misplaced { moves, argument, trace }), ..line }
        }
        Verdict::Fault(fault) => {
            let place = TextPosition::of_fault(case.source, &fault.fault);
            Line { fault: Some(Fault { place, moves: fault.moves.len(), trace }), ..line }
        }
    }
}

/// Returns the last line, without its end; includes the bytes sent between workers, if any.
pub fn json_summary(
    tally: &Tally,
    strict: bool,
    elapsed: Duration,
    peak_bytes: u64,
    bytes_sent: Option<u64>,
) -> String {
    serialized(&SummaryLine {
        schema: SCHEMA,
        summary: Summary {
            tally,
            seconds: elapsed.as_secs_f64(),
            peak_bytes,
            bytes_sent,
            exit_code: tally.exit_code(strict),
        },
    })
}

pub(super) fn serialized(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("a report is made of text and numbers")
}

/// The proof for every n, if it gave the answer for one n.
#[derive(Serialize)]
struct Proof {
    rung: String,
    views: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    input: &'a str,
    algorithm: &'a str,
    bug: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    processes: usize,
    pair: Option<[usize; 2]>,
    operations: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    barriers: Option<Bound>,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    executions: &'static str,
    values: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updater: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_order: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<bool>,
    verdict: &'static str,
    scope: Vec<Scope>,
    explorations: usize,
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    peak_bytes: u64,
    bytes_per_state: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<&'static str>,
    reductions: Vec<&'static str>,
    threads: usize,
    memory: u64,
    #[serde(skip_serializing_if = "<[TextPosition]>::is_empty")]
    looks_at_values: &'a [TextPosition],
    #[serde(skip_serializing_if = "Option::is_none")]
    exercised: Option<Exercised>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Violation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    misplaced: Option<Misplaced>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Bound {
    AtMost(u32),
    Grow(&'static str),
}

#[derive(Serialize)]
struct Scope {
    operations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    barriers: Option<u32>,
    active: usize,
}

impl From<&Effort> for Scope {
    fn from(effort: &Effort) -> Self {
        let Effort { operations, barriers, active } = *effort;
        Self { operations, barriers, active }
    }
}

#[derive(Serialize)]
struct Violation {
    moves: usize,
    operations: usize,
    argument: String,
    trace: Option<String>,
}

#[derive(Serialize)]
struct Misplaced {
    moves: usize,
    argument: String,
    trace: Option<String>,
}

#[derive(Serialize)]
struct Fault {
    #[serde(flatten)]
    place: TextPosition,
    moves: usize,
    trace: Option<String>,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    schema: u32,
    summary: Summary<'a>,
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    tally: &'a Tally,
    seconds: f64,
    peak_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_sent: Option<u64>,
    exit_code: u8,
}
