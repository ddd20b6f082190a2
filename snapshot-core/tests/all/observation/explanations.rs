//! The claims of an explanation, checked by trying every order.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use snapshot_core::observation::{
    Judgement, Observations, Outcome, SerialHistory, Shape, Thread, explain,
};

use crate::observation::automaton;
use crate::observation::literal::{self, Operation};

/// Returns true if a serial history, cut somewhere, explains the first `end` events. If `open` is
/// an operation, it must be present, and may return anything: then its responses are returned.
fn explains(
    operations: &[Operation],
    end: usize,
    open: Option<(Thread, usize)>,
    serial: &SerialHistory<u8>,
) -> Option<Option<u8>> {
    let mut all: Vec<(Thread, Option<u8>)> =
        serial.operations.iter().map(|(thread, response)| (*thread, Some(*response))).collect();
    all.extend(serial.stuck.map(|thread| (thread, None)));
    let of = |thread: Thread, index: usize| {
        operations.iter().filter(move |o| o.thread == thread).nth(index)
    };
    (0..=all.len()).find_map(|cut| {
        let mut counts = [0; 16];
        let mut order = Vec::new();
        for (thread, response) in &all[..cut] {
            let index = counts[thread.index()];
            counts[thread.index()] += 1;
            order.push((of(*thread, index)?, (*thread, index), *response));
        }
        let returned = |o: &Operation| o.end.filter(|(position, _)| *position < end);
        let right = order.iter().all(|(operation, name, response)| {
            let free = open == Some(*name) || returned(operation).is_none() && response.is_some();
            operation.call < end && (free || returned(operation).map(|(_, r)| r) == *response)
        });
        let all_there = operations.iter().filter(|o| returned(o).is_some()).all(|o| {
            order.iter().any(|(other, ..)| other.thread == o.thread && other.call == o.call)
        });
        let in_time = order.iter().enumerate().all(|(place, (later, ..))| {
            operations.iter().filter(|o| o.end.is_some_and(|(end, _)| end < later.call)).all(|o| {
                order[..place].iter().any(|(b, ..)| b.thread == o.thread && b.call == o.call)
            })
        });
        let answer = match open {
            None => Some(None),
            Some(open) => order.iter().find(|(_, name, _)| *name == open).map(|(_, _, r)| *r),
        };
        (right && all_there && in_time).then_some(answer).flatten()
    })
}

#[test]
fn explanations_hold() {
    let (mut full, mut stuck, mut alternatives) = (0, 0, 0);
    let counts = std::cell::RefCell::new((&mut full, &mut stuck, &mut alternatives));
    let mut runner = TestRunner::new(Config { cases: 6_000, ..Config::default() });
    let choices = prop::collection::vec(any::<u8>(), 0..24);
    let cases = (automaton::automaton(), automaton::columns(), choices, (any::<u8>(), any::<u8>()));
    runner
        .run(&cases, |(automaton, columns, choices, flaw)| {
            let Some(history) = automaton.concurrent(&columns, &choices, Some(flaw)) else {
                return Ok(());
            };
            let shape: Shape = automaton::shape(&columns);
            let serial = automaton.serial(&columns);
            let mut observations = Observations::new(shape);
            for history in &serial {
                observations.insert(history.clone()).unwrap();
            }
            let judgement = observations.judge(&history);
            let Some(explanation) = explain(&observations, &history) else {
                prop_assert_eq!(judgement, Judgement::Linearizable);
                return Ok(());
            };
            let mut operations = literal::operations(&history);
            if let Judgement::StuckWithoutWitness(thread) = judgement {
                operations.retain(|o| o.end.is_some() || o.thread == thread);
                *counts.borrow_mut().1 += 1;
            } else {
                *counts.borrow_mut().0 += 1;
            }
            let end = explanation.explained;
            let place = shape.place(explanation.culprit);
            let fits = |end, open| {
                let operations = &operations;
                serial.iter().filter_map(move |s| explains(operations, end, open, s))
            };
            prop_assert!(fits(end, None).next().is_some(), "all before is explained");
            prop_assert_eq!(explains(&operations, end, None, &explanation.nearest), Some(None));
            if matches!(explanation.outcome, Outcome::Returned(_)) {
                prop_assert!(fits(end + 1, None).next().is_none(), "its return is not");
            }
            let mut instead: Vec<Outcome<u8>> = fits(end, Some(place))
                .map(|answer| answer.map_or(Outcome::Stuck, Outcome::Returned))
                .collect();
            instead.dedup();
            for outcome in &instead {
                prop_assert!(explanation.instead.contains(outcome));
                prop_assert!(*outcome != explanation.outcome);
            }
            prop_assert!(explanation.instead.iter().all(|outcome| instead.contains(outcome)));
            *counts.borrow_mut().2 += usize::from(!instead.is_empty());
            Ok(())
        })
        .unwrap();
    assert!(full > 200 && stuck > 200 && alternatives > 200, "{full}, {stuck}, {alternatives}");
}
