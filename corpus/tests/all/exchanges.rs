//! Executions of immediate snapshots break exactly the announced conditions, by the definitions
//! alone.

use std::collections::BTreeSet;

use corpus::family::{immediate, profiles};
use corpus::generate::{Exchanges, Flaw};
use corpus::{Expected, exchange_twins};
use snapshot_core::OperationId;
use snapshot_core::immediate::History;

/// A complete operation: its process, its number there, and per segment the number of the operation
/// whose value it returned (`None`: no operation wrote it).
struct Complete {
    process: usize,
    number: usize,
    response: usize,
    vector: Vec<Option<usize>>,
}

/// Per process and number from 1: the value, the invocation, and true if it failed.
type Written = Vec<Vec<(i64, usize, bool)>>;

fn read(history: &History<i64>) -> (Written, Vec<Complete>) {
    let mut written: Written = vec![Vec::new(); history.segments()];
    let mut complete = Vec::new();
    for id in history.operation_ids() {
        let operation = history.operation(id);
        let process = operation.process.index();
        written[process].push((*history.written(id), operation.invocation, operation.is_failed()));
        if let Some(response) = operation.response() {
            let number = written[process].len();
            complete.push((id, Complete { process, number, response, vector: Vec::new() }));
        }
    }
    let complete = complete.into_iter().map(|(id, mut one)| {
        let returned = history.returned(id).expect("it is complete").iter().enumerate();
        one.vector = returned
            .map(|(segment, value)| match *value == *history.initial_value(segment) {
                true => Some(0),
                false => written[segment].iter().position(|w| w.0 == *value).map(|at| at + 1),
            })
            .collect();
        one
    });
    let complete = complete.collect();
    (written, complete)
}

fn at_most(a: &Complete, b: &Complete) -> bool {
    a.vector.iter().zip(&b.vector).all(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => a <= b,
        // A value that was never written breaks validity, and cannot be compared.
        _ => true,
    })
}

fn broken(history: &History<i64>) -> BTreeSet<&'static str> {
    let (written, complete) = read(history);
    let mut broken = BTreeSet::new();
    for one in &complete {
        if one.vector[one.process] != Some(one.number) {
            broken.insert("own-value");
        }
        for (segment, entry) in one.vector.iter().enumerate() {
            let is_there = match entry {
                None => false,
                Some(0) => true,
                Some(number) => {
                    let (_, invocation, is_failed) = written[segment][number - 1];
                    invocation < one.response && !is_failed
                }
            };
            if !is_there {
                broken.insert("validity");
            }
        }
        for other in &complete {
            if !at_most(one, other) && !at_most(other, one) {
                broken.insert("containment");
            }
            if one.vector[other.process] == Some(other.number) && !at_most(other, one) {
                broken.insert("immediacy");
            }
        }
    }
    broken
}

fn expected(expected: Expected) -> BTreeSet<&'static str> {
    match expected {
        Expected::Violation { reason } => reason.into_iter().collect(),
        Expected::Linearizable => BTreeSet::new(),
    }
}

#[test]
fn members_break_exactly_the_named_condition() {
    let (mut bad, mut good) = (0, 0);
    for member in immediate() {
        let found = broken(&member.history);
        assert_eq!(found, expected(member.expected), "{}", member.name);
        *(if found.is_empty() { &mut good } else { &mut bad }) += 1;
    }
    assert_eq!((bad, good), (72 + 6, 72 + 13));
}

#[test]
fn there_are_nineteen_profiles_and_thirteen_are_immediate() {
    let immediate = profiles().filter(|one| one.expected.is_linearizable()).count();
    assert_eq!((profiles().count(), immediate), (19, 13));
}

/// Source of the value of a lie.
#[derive(Debug, Eq, PartialEq)]
enum Source {
    /// An earlier content: the initial value, or the value of an earlier operation.
    Earlier,
    /// An operation writes it after the liar has responded.
    Later,
    /// An operation that failed.
    Failed,
    /// No operation writes it.
    None,
}

fn source_of_lie(bad: &History<i64>, good: &History<i64>, liar: OperationId) -> Source {
    let returned = |history: &History<i64>| history.returned(liar).unwrap_or_default().to_vec();
    let (lie, truth) = (returned(bad), returned(good));
    let mut segments = (0..lie.len()).filter(|&segment| lie[segment] != truth[segment]);
    let segment = segments.next().expect("a lie is another value");
    assert_eq!(segments.next(), None, "of one segment");
    let writes = |id: &OperationId| {
        bad.operation(*id).process.index() == segment && *bad.written(*id) == lie[segment]
    };
    let Some(writer) = bad.operation_ids().find(writes).map(|id| *bad.operation(id)) else {
        return if lie[segment] == 0 { Source::Earlier } else { Source::None };
    };
    match bad.operation(liar).response().is_some_and(|end| end < writer.invocation) {
        true => Source::Later,
        false if writer.is_failed() => Source::Failed,
        false => Source::Earlier,
    }
}

#[test]
fn every_flaw_at_any_size_is_one_event_from_its_twin() {
    for flaw in Flaw::ALL {
        for seed in 0..60 {
            let processes = flaw.processes() + seed as usize % 4;
            let operations = flaw.operations() + 3 * (seed as usize % 7);
            let mut recipe = Exchanges::new(processes, operations, seed);
            recipe.violation = Some(flaw);
            recipe.pending = seed as usize % 3;
            recipe.failures = if seed % 2 == 0 { 0.2 } else { 0.0 };
            recipe.after = [0.0, 0.5, 1.0][seed as usize % 3];
            let (bad, good) = (recipe.history().unwrap(), recipe.twin().history().unwrap());
            assert_eq!(bad.operations().len(), operations, "{recipe:?}");
            let found = broken(&bad);
            assert_eq!(found, BTreeSet::from([flaw.condition()]), "{recipe:?}");
            assert!(broken(&good).is_empty(), "{recipe:?}");
            let mut differing = bad.events().zip(good.events()).filter(|(a, b)| a != b);
            let ((liar, _), _) = differing.next().unwrap();
            assert_eq!((bad.len(), differing.count()), (good.len(), 0), "{recipe:?}");
            let source = source_of_lie(&bad, &good, liar);
            let expected = match flaw {
                Flaw::Future => Source::Later,
                Flaw::NeverWritten => Source::None,
                Flaw::Failed => Source::Failed,
                Flaw::OwnValue | Flaw::Containment | Flaw::Immediacy => Source::Earlier,
            };
            assert_eq!(source, expected, "{recipe:?}");
        }
    }
}

#[test]
fn runs_have_blocks_pending_operations_and_failures() {
    let (mut shared, mut pending, mut failed, mut seen_pending) = (0, 0, 0, 0);
    for seed in 0..100 {
        let mut recipe = Exchanges::new(5, 60, seed);
        (recipe.pending, recipe.failures) = (3, 0.1);
        let history = recipe.history().unwrap();
        assert!(broken(&history).is_empty(), "{recipe:?}");
        let (_, complete) = read(&history);
        let mut vectors: Vec<_> = complete.iter().map(|one| &one.vector).collect();
        vectors.sort();
        shared += vectors.windows(2).filter(|pair| pair[0] == pair[1]).count();
        for id in history.operation_ids() {
            let operation = history.operation(id);
            failed += usize::from(operation.is_failed());
            if !operation.is_complete() && !operation.is_failed() {
                pending += 1;
                let (segment, value) = (operation.process.index(), history.written(id));
                let sees = |id| history.returned(id).is_some_and(|all| all[segment] == *value);
                seen_pending += usize::from(history.operation_ids().any(sees));
            }
        }
    }
    assert!(shared > 500 && pending > 200 && failed > 300, "{shared} {pending} {failed}");
    assert!(seen_pending > 50 && seen_pending < pending, "{seen_pending} of {pending}");
}

#[test]
fn unsatisfiable_recipes_are_refused() {
    let mut recipe = Exchanges::new(0, 10, 0);
    assert!(recipe.events().is_err());
    recipe = Exchanges::new(2, 10, 0);
    recipe.violation = Some(Flaw::Immediacy);
    let error = recipe.events().unwrap_err().to_string();
    assert!(error.contains("`immediacy` takes at least 3 processes"), "{error}");
    recipe = Exchanges::new(2, 10, 0);
    recipe.failures = 1.5;
    assert!(recipe.events().unwrap_err().to_string().contains("share"));
}

#[test]
fn names_of_flaws_and_verdicts_round_trip() {
    for flaw in Flaw::ALL {
        assert_eq!(Flaw::from_name(flaw.name()), Some(flaw));
        let expected = Expected::Violation { reason: Some(flaw.condition()) };
        assert_eq!(Expected::from_name(&expected.to_string()), Some(expected));
    }
}

#[test]
fn hand_written_twins_differ_in_one_event() {
    let cases = exchange_twins();
    let mut conditions = BTreeSet::new();
    for case in &cases {
        let twin = cases.iter().find(|other| Some(other.name) == case.twin).unwrap();
        assert_eq!(twin.twin, Some(case.name));
        assert_ne!(twin.expected.is_linearizable(), case.expected.is_linearizable());
        let events = |source: &'static str| source.lines().filter(|line| line.starts_with('p'));
        let pairs = events(case.source).zip(events(twin.source));
        assert_eq!(pairs.filter(|(a, b)| a != b).count(), 1, "{}", case.name);
        assert_eq!(events(case.source).count(), events(twin.source).count());
        conditions.extend(expected(case.expected));
    }
    assert_eq!(conditions.len(), 4, "{conditions:?}");
}
