//! The report of a contradiction between judges, which no known history causes, and the parts of
//! violations without a derivation, which are rare.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::minimize::minimize;
use super::violation::shortest_prefix;
use super::{decide, method};
use crate::history::{Declaration, History, Writers};
use crate::search::Budget;
use crate::verdict::{Dispute, Witness};
use crate::{OperationId, certificate};

/// An update, and a scan that returns its value or, too late, the initial one.
fn simple(returned: i64) -> History<i64> {
    let mut history = History::builder(Declaration::new(0).with_segments(2)).expect("it is valid");
    history.invoke_update(0, 0, 5).expect("it can begin");
    history.respond_update(0).expect("it can end");
    history.invoke_scan(1).expect("it can begin");
    history.respond_scan(1, &[returned, 0]).expect("it can end");
    history.finish()
}

#[test]
fn check_contradicting_the_observer_is_disputed() {
    let (observer, pass) = (Dispute::OBSERVER, Dispute::PASS);
    assert!(method(&simple(5), true).is_ok() && method(&simple(0), false).is_ok());
    let right = method(&simple(5), false);
    assert_eq!(right, Err(Dispute { accepting: observer, refusing: pass }));
    let wrong = method(&simple(0), true);
    let dispute = Dispute { accepting: pass, refusing: observer };
    assert_eq!(wrong, Err(dispute));
    assert!(dispute.to_string().contains("BUG in this program"));
}

/// A history of two writers and two scanners over three segments, with few values. A scan returns
/// the last value of each segment, or the one before.
fn arbitrary(choices: &[u32]) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(3).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("it is valid");
    let mut contents = [[0; 2]; 3];
    let mut open = [None; 4];
    for &choice in choices {
        let (process, segment) = (choice as usize % 4, (choice >> 8) as usize % 3);
        let values = [0, 1, 2].map(|k: usize| contents[k][(choice >> (2 + k) & 1) as usize]);
        let (event, next) = match (open[process], process < 2, choice >> 16 & 7) {
            (None, true, value) => {
                let value = i64::from(value % 3);
                contents[segment] = [value, contents[segment][0]];
                (history.invoke_update(process, segment, value), Some(()))
            }
            (None, false, _) => (history.invoke_scan(process), Some(())),
            (Some(()), _, 0) => (history.fail(process), None),
            (Some(()), true, _) => (history.respond_update(process), None),
            (Some(()), false, 1 | 2) => {
                let entries = [(0, values[0]), (2, values[2])];
                (history.respond_partial_scan(process, &entries), None)
            }
            (Some(()), false, _) => (history.respond_scan(process, &values), None),
        };
        event.expect("the process is idle, or its operation is open");
        open[process] = next;
    }
    history.finish()
}

/// No scan, and no segment, can be left out of a minimized violation.
#[test]
fn minimized_violations_are_violations_and_minimal() {
    let mut runner = TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u32>(), 4..40);
    let (mut violations, mut updates, mut shown, mut larger) = (0, 0, 0, 0);
    for _ in 0..2_000 {
        let history = arbitrary(&choices.new_tree(&mut runner).expect("a list").current());
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        if decide(&history, &mut budget) != Some(false) {
            continue;
        }
        let first = shortest_prefix(&history, history.len(), &mut budget);
        let history = history.prefix(first.event + 1);
        let witness = minimize(&history, &mut budget);
        let is_proof = |witness: &Witness| certificate::witness::check(&history, witness).is_ok();
        assert!(is_proof(&witness), "{witness:?} of {history:?}");
        let is_update = |id: &OperationId| history.operation(*id).segment().is_some();
        for &id in &witness.operations {
            if !is_update(&id) {
                let mut less = witness.clone();
                less.operations.retain(|other| *other != id);
                assert!(!is_proof(&less), "without {id:?}: {witness:?} of {history:?}");
            }
        }
        for &segment in &witness.segments {
            let mut less = witness.clone();
            less.segments.retain(|other| *other != segment);
            less.operations.retain(|id| history.operation(*id).segment() != Some(segment));
            assert!(!is_proof(&less), "without {segment:?}: {witness:?} of {history:?}");
        }
        let all = history.operation_ids().filter(is_update);
        let is_listed = |id: &OperationId| {
            let segment = history.operation(*id).segment();
            segment.is_some_and(|segment| witness.segments.contains(&segment))
        };
        violations += 1;
        updates += all.filter(is_listed).count();
        shown += witness.operations.iter().filter(|id| is_update(id)).count();
        larger += usize::from(witness.operations.iter().filter(|id| !is_update(id)).count() > 1);
    }
    assert!(violations > 500 && larger > 50, "{violations} {larger}");
    assert!(3 * shown < 2 * updates, "{shown} of {updates}");
}
