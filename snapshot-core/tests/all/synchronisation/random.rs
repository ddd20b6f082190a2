//! Random executions of every object: correct ones, and ones with a slip.

use std::any::type_name;
use std::fmt::Debug;

use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{
    Keyed, Matching, Synchronisation, Verdict, by_search, matching,
};
use test_support::effort::either;

use super::domain::{self, Domain, Random, Recording};
use super::oracle::{Truth, truth};
use super::{Tally, keyed, matched, searched};

type Judge<S> = fn(&S, &Recording<S>, &mut Tally) -> Truth;

/// Correct executions are set-linearizable; the definition decides the ones with a slip.
fn judge<S: Synchronisation>(domain: &Domain<S>, seed: u64, judge: Judge<S>) -> Tally
where
    S::Input: Clone + Debug,
    S::Output: Clone + Debug,
{
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for round in 0..500 {
        let right = domain.random(&mut random, 6 + round % 20, 3 + round % 4, false);
        let found = judge(&domain.object, &right, &mut Tally::default());
        assert!(found.is_set_linearizable, "{right:#?}");
        let wrong = domain.random(&mut random, 5 + round % 4, 3 + round % 2, true);
        let found = judge(&domain.object, &wrong, &mut tally);
        assert_eq!(found, truth(&domain.object, &wrong), "{wrong:#?}");
    }
    let refused = tally.histories - tally.set_linearizable;
    assert!(tally.set_linearizable > 50 && refused > 50, "{}: {tally:?}", type_name::<S>());
    tally
}

#[test]
fn stateless_objects_of_pairs() {
    let tallies = [
        judge(&domain::channel(), 1, keyed),
        judge(&domain::filter_channel(), 2, keyed),
        judge(&domain::men_and_women(), 3, keyed),
        judge(&domain::exchanger(), 4, keyed),
        judge(&domain::timeout_channel(), 5, keyed),
        judge(&domain::timeout_exchanger(), 6, keyed),
        judge(&domain::leader_barrier(2), 7, matched),
    ];
    let several: u64 = tallies.iter().map(|tally| tally.of_several).sum();
    assert!(several > 50, "few of the proofs have several components: {several}");
}

#[test]
fn stateful_objects_and_larger_groups() {
    judge(&domain::counter_channel(), 11, searched);
    judge(&domain::two_families(), 12, searched);
    judge(&domain::one_family(), 13, searched);
    judge(&domain::abc(), 14, searched);
    judge(&domain::barrier(3), 15, searched);
    judge(&domain::leader_barrier(3), 16, searched);
    judge(&domain::enrollable_barrier(), 17, searched);
    judge(&domain::closeable_channel(), 18, searched);
    judge(&domain::terminating_queue(3), 19, searched);
    judge(&domain::atomic_broadcast(2), 20, searched);
}

/// Returns true if all complete operations can have partners, by trying all matchings.
fn can_match<S: Keyed>(object: &S, history: &Recording<S>, left: &mut Vec<bool>) -> bool {
    use snapshot_core::synchronisation::Bond;
    let operations = history.operations();
    let next = (0..left.len()).find(|&id| left[id] && operations[id].response().is_some());
    let Some(id) = next else { return true };
    let member = |id: usize| (&operations[id].input, operations[id].output());
    left[id] = false;
    let mut found =
        object.together(&mut (), &[member(id)]) == Bond::Yes && can_match(object, history, left);
    for other in 0..left.len() {
        let overlaps = !operations[id].precedes(&operations[other])
            && !operations[other].precedes(&operations[id]);
        if found || !left[other] || !overlaps {
            continue;
        }
        if object.together(&mut (), &[member(id), member(other)]) == Bond::Yes {
            left[other] = false;
            found = can_match(object, history, left);
            left[other] = true;
        }
    }
    left[id] = true;
    found
}

/// Compares the rule for keys with all matchings. Returns the number of perfect ones.
fn rule<S: Keyed>(domain: &Domain<S>, seed: u64, rounds: usize) -> usize
where
    S::Input: Clone + Debug,
    S::Output: Clone + Debug,
{
    let mut random = Random(seed);
    let mut perfect = 0;
    for round in 0..rounds {
        let history = domain.random(&mut random, 6 + round % 10, 2 + round % 7, round % 4 != 0);
        let mut left = vec![true; history.operations().len()];
        let expected = can_match(&domain.object, &history, &mut left);
        match matching(&domain.object, &history, true) {
            Matching::Perfect(_) => assert!(expected, "{history:#?}"),
            Matching::None(_) => assert!(!expected, "{history:#?}"),
            Matching::Undecided(_) => {
                let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
                let verdict = by_search(&domain.object, &history, &mut budget);
                assert_eq!(matches!(verdict, Verdict::SetLinearizable(_)), expected);
            }
        }
        perfect += usize::from(expected);
    }
    perfect
}

/// Two sides, one side, and both together (an exchanger of equal and of different values).
#[test]
fn key_rule_is_right_in_random_cases() {
    let [many, few] = either([5_000, 2_000], [20_000, 5_000]);
    let perfect = [
        rule(&domain::channel(), 21, many),
        rule(&domain::exchanger(), 22, many),
        rule(&domain::timeout_exchanger(), 23, few),
        rule(&domain::timeout_channel(), 24, few),
        rule(&domain::men_and_women(), 25, few),
        rule(&domain::filter_channel(), 26, few),
    ];
    let sum: usize = perfect.iter().sum();
    let (least, most) = either((400, 15_000), (1_000, 50_000));
    assert!(perfect.iter().all(|&perfect| perfect > least) && sum < most, "{perfect:?}");
}
