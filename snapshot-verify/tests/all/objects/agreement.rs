//! Refinement with and without partial order reduction, the enumeration of all histories judged by
//! search, and random executions agree on every algorithm and bug.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use snapshot_verify::counterexample::ObjectCounterexample;
use snapshot_verify::enumerate::Enumeration;
use snapshot_verify::interpret::{Client, Values};
use snapshot_verify::language::Algorithm;
use snapshot_verify::refine::{RefinementVerdict, Techniques};
use test_support::effort::{either, is_slow};

use super::{Case, algorithm, enumerable};

/// Returns the number of processes with which a bug is expected to show; two for a right algorithm.
fn processes(algorithm: &Algorithm, bug: Option<&str>) -> usize {
    let expectations = algorithm.expectations().iter();
    let of_bug = expectations
        .filter(|one| bug.is_some() && one.bug.as_ref().map(|name| name.text.as_str()) == bug);
    of_bug.map(|one| one.processes as usize).min().unwrap_or(2)
}

/// Returns true if the histories of a case are enumerated: in the slow suite always; else for an
/// algorithm and every third bug, beginning with the second, with two processes, because three have
/// too many histories.
fn is_enumerated(n: usize, number: usize) -> bool {
    is_slow() || n == 2 && (number == 0 || number % 3 == 2)
}

/// Returns all histories of a case, enumerated once for all tests with this title.
fn enumerated(title: &str, case: &Case<'_>, client: &Client) -> &'static Enumeration {
    static KNOWN: Mutex<BTreeMap<String, &OnceLock<Enumeration>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let once = *known.entry(title.to_owned()).or_insert_with(|| Box::leak(Box::default()));
    drop(known);
    once.get_or_init(|| case.enumerate(client))
}

#[test]
fn all_judges_agree_on_every_algorithm_and_bug() {
    let (mut right, mut wrong, mut enumerated_wrong) = (0, 0, 0);
    for file in corpus::object_algorithms() {
        let algorithm = algorithm(file.text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
        for (number, bug) in std::iter::once(None).chain(bugs).enumerate() {
            let program = algorithm.program(bug).unwrap();
            let n = processes(&algorithm, bug);
            let case = Case::new(&program, n);
            let title = format!("{} {bug:?}", file.name);
            let client = enumerable(&program, n);
            let is_wrong = case.is_wrong(&client, true);
            assert_eq!(case.is_wrong(&client, false), is_wrong, "{title}: partial order");
            let found = case.refine_by(&client, Techniques::ALL).verdict;
            assert_eq!(found != RefinementVerdict::Verified, is_wrong, "{title}: all reductions");
            if is_enumerated(n, number) {
                let found = enumerated(&title, &case, &client);
                let enumerated = found.violations > 0 || found.faulty.is_some();
                assert_eq!(enumerated, is_wrong, "{title}: enumeration");
                enumerated_wrong += u32::from(is_wrong);
            }
            // Violations missed with two operations each may need more.
            let is_wrong = is_wrong || bug.is_some();
            let walks = if is_wrong { 20_000 } else { 400 };
            let client = Client::unbounded(Values::Full(2));
            let found = case.is_wrong_at_random(&client, walks, 30 * n);
            assert_eq!(found, is_wrong, "{title}: random executions");
            *if is_wrong { &mut wrong } else { &mut right } += 1;
        }
    }
    let all = corpus::object_algorithms().len();
    assert!(right == all && wrong >= 40, "{right} right of {all}, {wrong} wrong");
    assert!(enumerated_wrong >= 10, "{enumerated_wrong} violations are enumerated");
}

/// The first violation that refinement finds, without partial order reduction a shortest one, is as
/// long as the shortest that the enumeration finds. The cases that the other test reaches last are
/// first here, so that neither waits for the other.
#[test]
fn violations_are_shortest_and_confirmed() {
    let mut compared = 0;
    for file in corpus::object_algorithms().iter().rev() {
        let algorithm = algorithm(file.text);
        for (number, bug) in (1..).zip(algorithm.bugs()) {
            let name = Some(bug.name.text.as_str());
            let program = algorithm.program(name).unwrap();
            let n = processes(&algorithm, name);
            if !is_enumerated(n, number) {
                continue;
            }
            let case = Case::new(&program, n);
            let client = enumerable(&program, n);
            let found = case.refine(&client, false, true);
            let RefinementVerdict::Violation(moves) = found.verdict else { continue };
            let title = format!("{} {name:?}", file.name);
            let shortest = enumerated(&title, &case, &client).first.clone().unwrap();
            assert_eq!(moves.len(), shortest.len(), "{title}");
            for moves in [moves, shortest] {
                let confirmed =
                    ObjectCounterexample::validated(&case.machine, &case.sequential, &moves);
                assert_eq!(confirmed.unwrap().moves(), moves);
            }
            compared += 1;
        }
    }
    assert!(compared >= either(2, 3), "{compared}");
}

/// A right execution, and one that begins an operation that `when` forbids, are not
/// counterexamples.
#[test]
fn invalid_counterexamples_are_refused() {
    let file = corpus::algorithm("ticket_lock").unwrap();
    let algorithm = algorithm(file.text);
    let program = algorithm.program(None).unwrap();
    let case = Case::new(&program, 2);
    let refused = |moves: &[_]| {
        let found = ObjectCounterexample::validated(&case.machine, &case.sequential, moves);
        found.unwrap_err().to_string()
    };
    let call = |position: usize| case.sequential.calls(0, 2)[position];
    let begin = |position: usize| snapshot_verify::interpret::Move {
        process: snapshot_core::Process::from_index(0),
        kind: snapshot_verify::interpret::MoveKind::Begin(
            snapshot_verify::interpret::Call::Operation(call(position)),
        ),
    };
    let step = snapshot_verify::interpret::Move::step(snapshot_core::Process::from_index(0));
    let right = [begin(0), step, step, step, step];
    assert!(refused(&right).contains("is linearizable"), "{}", refused(&right));
    let forbidden = [begin(1), step, step];
    assert!(refused(&forbidden).contains("is linearizable"), "{}", refused(&forbidden));
}
