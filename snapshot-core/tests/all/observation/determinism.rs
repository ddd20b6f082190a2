//! Nondeterminism is found exactly where two histories have a longest common prefix that
//! ends in a call.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use snapshot_core::observation::{ObservationError, Observations, SerialHistory, Shape, Thread};

use crate::observation::automaton;

/// The events of a serial history: calls (`None`), returns and being stuck.
fn word(history: &SerialHistory<u8>) -> Vec<(usize, Option<Option<u8>>)> {
    let mut word = Vec::new();
    for (thread, response) in &history.operations {
        word.push((thread.index(), None));
        word.push((thread.index(), Some(Some(*response))));
    }
    if let Some(thread) = history.stuck {
        word.push((thread.index(), None));
        word.push((thread.index(), Some(None)));
    }
    word
}

fn contradict(one: &SerialHistory<u8>, two: &SerialHistory<u8>) -> bool {
    let (one, two) = (word(one), word(two));
    let common = one.iter().zip(&two).take_while(|(one, two)| one == two).count();
    common % 2 == 1 && common < one.len() && common < two.len()
}

#[test]
fn contradictions_agree_with_the_definition() {
    let (mut refused, mut accepted) = (0, 0);
    let mut runner = TestRunner::new(Config { cases: 8_000, ..Config::default() });
    let counts = std::cell::RefCell::new((&mut refused, &mut accepted));
    let cases = (
        (automaton::automaton(), automaton::columns()),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    );
    runner
        .run(&cases, |((automaton, columns), changes)| {
            let mut all = automaton.serial(&columns);
            for (which, change) in changes {
                let at = which.index(all.len());
                let length = all[at].operations.len();
                if let Some((_, response)) =
                    all[at].operations.get_mut(usize::from(change) % length.max(1))
                {
                    *response ^= 1;
                }
            }
            let mut observations = Observations::new(automaton::shape(&columns));
            let mut kept: Vec<SerialHistory<u8>> = Vec::new();
            for history in all {
                let expected = kept.iter().any(|other| contradict(other, &history));
                match observations.insert(history.clone()) {
                    Ok(fresh) => {
                        prop_assert!(!expected && fresh != kept.contains(&history));
                        kept.push(history);
                        *counts.borrow_mut().1 += 1;
                    }
                    Err(ObservationError::Nondeterministic(pair)) => {
                        prop_assert!(expected);
                        prop_assert!(kept.contains(&pair.first) && pair.second == history);
                        prop_assert!(contradict(&pair.first, &pair.second));
                        let (one, two) = (word(&pair.first), word(&pair.second));
                        let same = one.iter().zip(&two).take_while(|(one, two)| one == two);
                        prop_assert_eq!(same.count(), 2 * pair.common + 1);
                        *counts.borrow_mut().0 += 1;
                    }
                    Err(ObservationError::OtherTest) => {
                        prop_assert!(false, "the history fits this test")
                    }
                    Err(_) => prop_assert!(false, "another error"),
                }
            }
            kept.dedup();
            prop_assert!(observations.histories().all(|history| kept.contains(&history)));
            Ok(())
        })
        .unwrap();
    assert!(refused > 500 && accepted > 5_000, "{refused} refused, {accepted} accepted");
}

#[test]
fn histories_of_other_tests_are_refused() {
    let mut observations = Observations::new(Shape::new(&[1, 1]).unwrap());
    let (a, b, c) = (Thread::from_index(0), Thread::from_index(1), Thread::from_index(2));
    let not = [
        (vec![(a, 0)], None),
        (vec![(a, 0), (a, 0)], None),
        (vec![(a, 0), (b, 0)], Some(a)),
        (vec![(a, 0), (c, 0)], None),
    ];
    for (operations, stuck) in not {
        let refused = observations.insert(SerialHistory { operations, stuck });
        assert_eq!(refused, Err(ObservationError::OtherTest));
    }
    assert!(
        observations.insert(SerialHistory { operations: vec![(a, 0)], stuck: Some(b) }).unwrap()
    );
    assert_eq!((observations.len(), observations.stuck()), (1, 1));
}
