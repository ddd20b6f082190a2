//! Proofs of a component of segments, lifted to the whole history; and the position of the first
//! violation, with either component undecided.

use std::collections::HashMap;

use snapshot_core::certificate::{refutation, witness};
use snapshot_core::check::{Checker, Report, check, check_by};
use snapshot_core::history::{Action, Declaration, HistoryBuilder, Writers};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Cause, Method, Verdict};
use snapshot_core::{History, Segment};

use crate::judge::checkers::{agreed_verdict, drawing};
use crate::judge::forgetting::{self, Draw, Shape};
use crate::judge::partial::concurrent;
use test_support::effort::either;

fn unlimited<T>(run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    run(&mut Budget { memory: usize::MAX, proceed: &mut || true })
}

/// Reads the history of lines such as `p1 update s0 5`, `p1 scan`, `p1 ok _ 5` and `p1 fail`.
fn recorded(segments: usize, text: &str) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(segments).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("a sound declaration");
    let mut scanning = HashMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let process: usize = words[0][1..].parse().expect("a process");
        let pushed = match words[1] {
            "update" => {
                scanning.insert(process, false);
                let segment = words[2][1..].parse().expect("a segment");
                history.invoke_update(process, segment, words[3].parse().expect("a value"))
            }
            "scan" => {
                scanning.insert(process, true);
                history.invoke_scan(process)
            }
            "fail" => history.fail(process),
            _ if scanning[&process] => {
                let entries: Vec<(usize, i64)> = words[2..]
                    .iter()
                    .enumerate()
                    .filter_map(|(segment, word)| Some((segment, word.parse().ok()?)))
                    .collect();
                history.respond_partial_scan(process, &entries)
            }
            _ => history.respond_update(process),
        };
        pushed.expect("the event is admissible");
    }
    history.finish()
}

/// The whole history confirms the proof of a violation, and the proof names nothing after its
/// position.
fn confirm(history: &History<i64>, report: &Report<i64>) {
    let Verdict::Violation(operations) = &report.verdict else { panic!("{report:?}") };
    let explanation = report.explanation.as_ref().expect("an explanation");
    match &explanation.refutation {
        Some(lines) => refutation::check(history, lines).expect("the whole confirms it"),
        None => witness::check(history, operations).expect("the whole confirms it"),
    }
    for operation in &explanation.operations {
        let end = operation.ending.event().unwrap_or(operation.invocation);
        assert!(Some(end) <= report.decided_at, "{operation:?} {:?}", report.decided_at);
    }
}

/// A scan of segment 1 that read nothing: by its rule alone, which names the segment.
#[test]
fn lifted_line_names_the_original_segment() {
    let history = recorded(
        4,
        "p1 update s1 0\np0 update s1 0\np1 ok\np0 ok\np1 update s1 1\np1 ok\np0 scan\np0 ok _ 0 _ _",
    );
    let report = unlimited(|budget| check(&history, budget));
    confirm(&history, &report);
    let argument = report.explanation.expect("an explanation").argument(|one| one.id.to_string());
    assert!(
        argument.contains("0 for segment 1") || argument.contains("0 in segment 1"),
        "{argument}"
    );
}

/// Returns the same operations on segments from `first` on, while process 100 reads and updates
/// segment 0, which no scan joins with them.
fn beside_another(history: &History<i64>, first: usize, draw: &mut Draw) -> History<i64> {
    let declaration =
        Declaration::new(0).with_segments(history.segments() + first).with_writers(Writers::Many);
    let mut whole = History::builder(declaration).expect("a sound declaration");
    let (mut is_open, mut value) = (false, 0);
    let mut other = |whole: &mut HistoryBuilder<i64>, draw: &mut Draw| {
        match (is_open, value % 3) {
            (false, 0) => whole.invoke_scan(100),
            (false, _) => whole.invoke_update(100, 0, value),
            (true, 0) => whole.respond_partial_scan(100, &[(0, 0.max(value - 1))]),
            (true, _) => whole.respond_update(100),
        }
        .expect("the event is admissible");
        value += i64::from(is_open);
        is_open = !is_open;
        draw.below(3) > 0
    };
    for event in history.events() {
        while other(&mut whole, draw) {}
        let process = event.process.index();
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                whole.invoke_update(process, segment.index() + first, *value)
            }
            Action::InvokeScan => whole.invoke_scan(process),
            Action::RespondScan { values } => {
                let entries: Vec<(usize, i64)> =
                    values.iter().enumerate().map(|(k, value)| (k + first, *value)).collect();
                whole.respond_partial_scan(process, &entries)
            }
            Action::RespondPartialScan { entries, .. } => {
                let entries: Vec<(usize, i64)> =
                    entries.iter().map(|(k, value)| (k.index() + first, *value)).collect();
                whole.respond_partial_scan(process, &entries)
            }
            Action::RespondUpdate => whole.respond_update(process),
            Action::Fail => whole.fail(process),
            Action::Unknown => whole.unknown(process),
        }
        .expect("the event is admissible");
    }
    whole.finish()
}

/// The violations of a test, by reason, and by rules of their derivations.
#[derive(Default)]
struct Found {
    violations: usize,
    reasons: HashMap<&'static str, usize>,
    rules: HashMap<&'static str, usize>,
}

impl Found {
    /// Judges a history on segments that do not begin at 0.
    fn judge(&mut self, alone: &History<i64>, draw: &mut Draw) {
        let first = 1 + draw.below(3);
        let whole = beside_another(alone, first, draw);
        let report = unlimited(|budget| check(&whole, budget));
        if !matches!(report.verdict, Verdict::Violation(_)) {
            return;
        }
        confirm(&whole, &report);
        assert!(report.is_first, "{}", drawing(&whole));
        let explanation = report.explanation.expect("an explanation");
        let segments = &explanation.witness.segments;
        assert!(segments.iter().all(|segment| segment.index() >= first), "{segments:?}");
        self.violations += 1;
        *self.reasons.entry(explanation.witness.reason.name()).or_default() += 1;
        for line in explanation.refutation.iter().flat_map(|lines| &lines.lines) {
            *self.rules.entry(line.rule.name()).or_default() += 1;
        }
    }
}

/// Every rule of derivations occurs in a component that does not begin at segment 0, and is
/// confirmed there.
#[test]
fn every_rule_is_lifted() {
    let shape = Shape {
        segments: 2,
        processes: 4,
        events: 40,
        unknown: 9,
        failed: 9,
        repeated: 2,
        wrong: 12,
    };
    let shapes = [
        shape,
        Shape { repeated: 0, failed: 0, wrong: 4, ..shape },
        Shape { segments: 1, events: 30, wrong: 4, ..shape },
        Shape { segments: 3, processes: 6, repeated: 0, events: 80, ..shape },
    ];
    let mut found = Found::default();
    for (number, shape) in shapes.into_iter().enumerate() {
        for seed in 0..either(100, 1500) {
            let mut draw = Draw(seed << 8 | number as u64);
            found.judge(&forgetting::history(shape, &mut draw), &mut draw);
        }
    }
    for seed in 0..either(100, 1500) {
        let mut draw = Draw(seed << 8 | 0xff);
        let mut scans = vec![Vec::new(); 5 + draw.below(6)];
        for scan in &mut scans {
            let is_in = |segment| (segment, draw.below(4) as i64);
            *scan = (0..4).map(is_in).filter(|(_, value)| (1..3).contains(value)).collect();
        }
        found.judge(&concurrent(4, 2, &scans), &mut draw);
    }
    let Found { violations, reasons, rules } = found;
    println!("{violations} violations, {reasons:?}, {rules:?}");
    for rule in [
        "time",
        "reads",
        "first",
        "chain",
        "block",
        "suppose",
        "otherwise",
        "source",
        "excluded",
        "unreadable",
    ] {
        assert!(rules.contains_key(rule), "{rule}: {rules:?}");
    }
}

/// Segment 0 has overlapping updates, which the linear-time conditions leave undecided, and no scan
/// can have read 13 there; one event later segment 1 is wrong, too.
const EARLIER: &str = "p2 update s0 11\np3 update s0 12\np0 update s0 13\np4 scan\n\
    p1 update s2 13\np5 update s1 14\np2 ok\np2 scan\np3 ok\np1 fail\np5 fail\np0 fail\n\
    p2 ok 13 _ _\np4 ok _ 14 _";

#[test]
fn first_violation_is_found_with_either_component_undecided() {
    let history = recorded(3, EARLIER);
    assert!(!agreed_verdict(&history));
    let checkers = [Checker::Linear, Checker::Saturation, Checker::Search, Checker::Generic];
    let by = checkers.map(|checker| {
        let report = unlimited(|budget| check_by(checker, &history, budget));
        report.expect("there is a violation")
    });
    for report in by.iter().chain([&unlimited(|budget| check(&history, budget))]) {
        assert_eq!((report.decided_at, report.is_first), (Some(12), true), "{report:?}");
        confirm(&history, report);
    }
}

/// Without a budget the earlier violation is not found, and the report does not rule it out.
#[test]
fn possibly_late_violation_is_reported_as_such() {
    let history = recorded(3, EARLIER);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || false };
    let report = check_by(Checker::Linear, &history, &mut budget).expect("there is a violation");
    assert_eq!((report.decided_at, report.is_first), (Some(13), false), "{report:?}");
    confirm(&history, &report);
    let size = snapshot_core::verdict::Size::new(&history);
    let told = report.render(&size, |event| format!("{}:1", event + 1));
    assert!(told.contains("is complete not after 14:1 (event 13)"), "{told}");
}

/// The prefix known to be linearizable ends where the first component is undecided.
#[test]
fn linearizable_prefix_ends_at_the_first_undecided_event() {
    let mut text = String::new();
    for round in 0..4 {
        text += &format!("p0 update s0 {round}\np0 ok\np1 update s1 {round}\np1 ok\n");
    }
    // Segment 1 is undecided first, segment 0 later.
    text += "p1 update s1 8\np2 update s1 8\np3 scan\np3 ok _ 8\n";
    text += "p4 update s0 8\np0 update s0 8\np3 scan\np3 ok 8 _";
    let history = recorded(2, &text);
    let undecided = unlimited(|budget| check_by(Checker::Linear, &history, budget));
    let undecided = undecided.expect_err("updates overlap");
    assert_eq!(undecided.event, 19, "{undecided:?}");
    let Cause::OverlappingUpdates { first, .. } = undecided.cause else { panic!("{undecided:?}") };
    assert_eq!(history.operation(first).segment(), Some(Segment::from_index(1)));
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || false };
    let Verdict::Unknown(unknown) = check(&history, &mut budget).verdict else {
        panic!("there is no budget")
    };
    assert!(unknown.linearizable_events <= 19, "{unknown:?}");
}

/// Event 12 completes the violation, and the refutation by certain facts belongs to event 15.
#[test]
fn argument_concerns_the_reported_prefix() {
    let history = recorded(
        1,
        "p0 update s0 2\np1 update s0 11\np1 ok\np1 update s0 12\np1 ok\np1 update s0 2\np0 ok\n\
         p1 ok\np1 update s0 1\np0 scan\np1 ok\np1 scan\np1 ok 2\np1 scan\np0 ok 1\np1 ok 12",
    );
    let report = unlimited(|budget| check(&history, budget));
    assert_eq!((report.decided_at, report.is_first), (Some(12), true));
    confirm(&history, &report);
}

/// A scan that returned a value before an update of it was invoked, which failed in the end: the
/// update was no reason at that position.
#[test]
fn update_that_fails_later_is_a_future_read() {
    let history = recorded(
        1,
        "p0 update s0 1\np1 update s0 2\np0 ok\np1 ok\np2 scan\np2 ok 7\np0 update s0 7\np0 fail",
    );
    let report = unlimited(|budget| check(&history, budget));
    assert_eq!(report.decided_at, Some(5));
    let Verdict::Violation(found) = &report.verdict else { panic!("{}", drawing(&history)) };
    assert_eq!(found.reason.name(), "future");
    witness::check(&history, found).unwrap();
}

/// `linear` insists on its conditions, though a simple history also suits the observer.
#[test]
fn requested_method_is_reported() {
    let text = "p0 update s0 1\np0 ok\np2 scan\np2 ok 0 0\np1 update s1 1";
    let declaration = Declaration::new(0).with_segments(2);
    let mut single = History::builder(declaration).unwrap();
    for event in recorded(2, text).events() {
        single.push(&event).unwrap();
    }
    let simple = single.finish();
    let method = |events: usize| {
        let history = simple.prefix(events);
        let asked = unlimited(|budget| check_by(Checker::Linear, &history, budget));
        (unlimited(|budget| check(&history, budget)).method, asked.expect("decided").method)
    };
    assert_eq!(method(3), (Method::Simple, Method::Linear));
    assert_eq!(method(5), (Method::Simple, Method::Linear));
}
