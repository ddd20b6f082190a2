//! Reports of violations: `certify` accepts their certificates, and they name the first event at
//! which a violation exists, and operations up to that event.

use std::collections::HashMap;
use std::io::Write;

use snapshot_core::certificate::projection::Projection;
use snapshot_core::check::Checker;
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::verdict::Reason;
use snapshot_core::{History, OperationId};
use snapshot_test::Value;
use snapshot_test::certificate::Certificate;
use snapshot_test::conformance::{Family, Recorded};
use snapshot_test::format::{Format, Location, write_history};
use snapshot_test::input::Input;
use snapshot_test::judge::{Finding, Options, ViolationFinding, judge, judge_recording};
use test_support::effort::either;

use crate::choices::Choices;

/// States that brute force may visit for a small history.
const STATES: usize = 1_000_000;

impl Choices {
    /// Returns true once in this many times; 0: never.
    fn once_in(&mut self, times: usize) -> bool {
        times > 0 && self.below(times) == 0
    }
}

/// The open operation of a process.
enum Open {
    Update { segment: usize, value: i64, has_effect: bool },
    Scan(Option<Vec<Option<i64>>>),
}

/// Returns a run of a snapshot of few values, in which some entries of scans are missing or wrong.
fn random(choices: &mut Choices) -> History<Value> {
    let segments = 1 + choices.below(4);
    let processes = 2 + choices.below(4);
    let (gaps, wrong) = ([0, 2, 3, 5][choices.below(4)], 3 + choices.below(12));
    let (repeated, lost) = ([0, 1, 2][choices.below(3)], [0, 6][choices.below(2)]);
    let declaration =
        Declaration::new(Value::from(0)).with_segments(segments).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("it is sound");
    let mut values = vec![0; segments];
    // The latest values written to each segment, whether they took effect or not.
    let mut recent = vec![vec![0]; segments];
    let mut open: Vec<Option<Open>> = (0..processes).map(|_| None).collect();
    let mut next = 3;
    for _ in 0..12 + choices.below(40) {
        let process = choices.below(processes);
        let pushed = match open[process].take() {
            None if choices.once_in(2) => {
                let segment = choices.below(segments);
                next += 1;
                let value = if choices.once_in(repeated) { choices.below(3) as i64 } else { next };
                recent[segment].push(value);
                open[process] = Some(Open::Update { segment, value, has_effect: false });
                history.invoke_update(process, segment, Value::from(value))
            }
            None => {
                open[process] = Some(Open::Scan(None));
                history.invoke_scan(process)
            }
            Some(Open::Update { has_effect: false, .. }) if choices.once_in(lost) => {
                history.fail(process)
            }
            Some(Open::Update { segment, value, has_effect: false }) => {
                values[segment] = value;
                open[process] = Some(Open::Update { segment, value, has_effect: true });
                continue;
            }
            Some(Open::Update { .. }) if choices.once_in(lost) => history.unknown(process),
            Some(Open::Update { .. }) => history.respond_update(process),
            Some(Open::Scan(None)) => {
                let seen = values.iter().zip(&recent).map(|(value, recent)| {
                    let last = recent.len() - 1 - choices.below(recent.len().min(4));
                    let shown = if choices.once_in(wrong) { recent[last] } else { *value };
                    (!choices.once_in(gaps)).then_some(shown)
                });
                open[process] = Some(Open::Scan(Some(seen.collect())));
                continue;
            }
            Some(Open::Scan(Some(seen))) => {
                let entries: Vec<(usize, Value)> = seen
                    .into_iter()
                    .enumerate()
                    .filter_map(|(k, value)| Some((k, Value::from(value?))))
                    .collect();
                history.respond_partial_scan(process, &entries)
            }
        };
        pushed.expect("the event is admissible");
    }
    history.finish()
}

/// Returns the finding for a history in memory.
fn judged(history: &History<Value>, checker: Option<Checker>) -> Finding {
    let locations = vec![Location::START; history.len()];
    let options = Options { linearization: true, checker, ..Options::default() };
    judge_recording(None, history, &locations, None, &options).finding
}

fn drawn(history: &History<Value>) -> String {
    history.events().map(|event| format!("{event}\n")).collect()
}

/// Its certificate is accepted, and its argument uses only operations up to its event.
fn confirm(history: &History<Value>, violation: &ViolationFinding) {
    let proof = violation.proof.as_ref().expect("it is proved");
    let decided_at = violation.decided_at.0;
    assert!(violation.is_first, "there is no limit: {}", drawn(history));
    assert!(proof.uncertified.is_none(), "{:?} of {}", proof.uncertified, drawn(history));
    let text = Certificate::of_violation(&proof.explanation).to_text();
    let certificate = Certificate::from_text(&text).expect("it was written by us");
    if let Err(refused) = certificate.check(history) {
        panic!("{refused}: {text}{}", drawn(history));
    }
    let reason = proof.explanation.witness.reason;
    for operation in &proof.explanation.operations {
        let late =
            |id: OperationId| matches!(reason, Reason::Future { update, .. } if update == id);
        let last = operation.ending.event().unwrap_or(operation.invocation);
        let is_there = last <= decided_at || late(operation.id);
        assert!(is_there, "{operation:?} at {decided_at} of {}", drawn(history));
    }
    let argument = proof.explanation.argument(|operation| format!("#{}", operation.id));
    for line in argument.lines() {
        assert!(!line.trim_start().contains("  "), "something is missing in `{line}`");
    }
}

/// Returns true if the first events are linearizable, by trying all orders.
fn is_linearizable(history: &History<Value>, events: usize) -> bool {
    let prefix = history.prefix(events);
    Projection::whole(&prefix).linearization(STATES).expect("it is small").is_some()
}

/// 100,000 in the slow suite.
#[test]
fn every_violation_of_random_histories_is_proved() {
    let mut choices = Choices(0x9e37_79b9_7f4a_7c15);
    let (mut methods, mut rules, mut partial) = (HashMap::new(), HashMap::new(), 0);
    let all = either(3_000, 100_000);
    for turn in 0..all {
        let history = random(&mut choices);
        let Finding::Violation(violation) = judged(&history, None) else { continue };
        confirm(&history, &violation);
        partial += usize::from(history.has_partial_scans());
        *methods.entry(violation.method.name()).or_insert(0) += 1;
        let proof = violation.proof.as_ref().expect("it is proved");
        for line in proof.explanation.refutation.iter().flat_map(|lines| &lines.lines) {
            *rules.entry(line.rule.name()).or_insert(0) += 1;
        }
        let decided_at = violation.decided_at.0;
        if turn % 4 == 0 {
            assert!(is_linearizable(&history, decided_at), "late: {}", drawn(&history));
            assert!(!is_linearizable(&history, decided_at + 1), "early: {}", drawn(&history));
        }
        if turn % 8 == 0 {
            use Checker::{Generic, Linear, Saturation, Search};
            for checker in [Linear, Saturation, Search, Generic] {
                match judged(&history, Some(checker)) {
                    Finding::Violation(other) => {
                        confirm(&history, &other);
                        assert_eq!(
                            other.decided_at.0,
                            decided_at,
                            "{checker:?} {}",
                            drawn(&history)
                        );
                    }
                    Finding::Unsearched { undecided, .. } if checker == Linear => {
                        assert!(undecided.event <= decided_at, "{undecided:?} {}", drawn(&history));
                    }
                    other => panic!("{checker:?}: {other:?} of {}", drawn(&history)),
                }
            }
        }
        if turn % 64 == 0 {
            confirm_stream(&history, decided_at);
        }
    }
    println!("{methods:?} {partial} partial, {rules:?}");
    for method in ["linear", "saturation"] {
        assert!(methods[method] >= all / 100, "{methods:?}");
    }
    for rule in ["time", "reads", "first", "chain", "block", "source", "excluded", "unreadable"] {
        assert!(rules.contains_key(rule), "{rule}: {rules:?}");
    }
}

/// Reading the recording from a file, event by event, gives the same position and a valid proof.
fn confirm_stream(history: &History<Value>, decided_at: usize) {
    let text = write_history(Format::Text, Vec::new(), history).expect("memory is there");
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    file.write_all(&text).expect("there is room");
    let input = Input::File(file.path().to_owned());
    let judgement = judge(&input, None, &Options::default());
    let Finding::Violation(violation) = judgement.finding else {
        panic!("{:?} of {}", judgement.finding, drawn(history))
    };
    confirm(history, &violation);
    assert_eq!(violation.decided_at.0, decided_at, "{}", drawn(history));
}

#[test]
fn every_violation_of_the_corpus_is_certified() {
    let all = either(
        &[Family::Twins, Family::ManyWriters][..],
        &[Family::Twins, Family::ManyWriters, Family::Published, Family::Cases, Family::Hard],
    );
    let mut violations = 0;
    for case in all.iter().flat_map(|family| family.cases()) {
        let Recorded::Snapshot(history) = &case.history else { continue };
        if let Finding::Violation(violation) = judged(history, None) {
            confirm(history, &violation);
            violations += 1;
        }
    }
    println!("{violations} violations");
    assert!(violations >= either(25, 500), "{violations}");
}
