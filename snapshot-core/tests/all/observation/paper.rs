//! Examples of the paper.

use snapshot_core::observation::{
    ConcurrentHistory, Event, Judgement, Observations, Outcome, SerialHistory, Shape, Thread,
    explain,
};

const A: Thread = Thread::from_index(0);
const B: Thread = Thread::from_index(1);
/// `Fail`, and `ok` of an `Add`.
const FAIL: u32 = 0;

/// Figure 7: Add(200) Add(400) against Take() TryTake().
fn figure_7() -> Observations<u32> {
    let mut observations = Observations::new(Shape::new(&[2, 2]).unwrap());
    let orders: [(&[(Thread, u32)], _); 4] = [
        (&[(A, 0), (B, 200), (B, FAIL), (A, 0)], None),
        (&[(A, 0), (A, 0), (B, 200), (B, 400)], None),
        (&[(A, 0), (B, 200), (A, 0), (B, 400)], None),
        (&[], Some(B)),
    ];
    for (operations, stuck) in orders {
        let history = SerialHistory { operations: operations.to_vec(), stuck };
        assert!(observations.insert(history).unwrap());
    }
    observations
}

#[test]
fn figure_7_has_three_groups_and_refuses_the_violation() {
    let observations = figure_7();
    let groups: Vec<Vec<String>> = observations
        .groups()
        .map(|group| group.histories().map(|history| history.letters()).collect())
        .collect();
    assert_eq!(groups, [vec!["ABBA"], vec!["AABB", "ABAB"], vec!["B#"]]);
    // 1[ 3[ ]1 2[ ]3 ]2 4[ ]4
    let events = [
        Event::Call(A),
        Event::Call(B),
        Event::Return(A, 0),
        Event::Call(A),
        Event::Return(B, 200),
        Event::Return(A, 0),
        Event::Call(B),
        Event::Return(B, FAIL),
    ];
    let shape = *observations.shape();
    let history = ConcurrentHistory::new(&shape, events.to_vec(), false).unwrap();
    assert_eq!(observations.judge(&history), Judgement::NoWitness);
    let explanation = explain(&observations, &history).unwrap();
    assert_eq!(explanation.culprit, shape.operation(B, 1));
    assert_eq!(explanation.outcome, Outcome::Returned(FAIL));
    assert_eq!(explanation.instead, [Outcome::Returned(400)]);
    assert_eq!(explanation.before.len(), 3);
    // With the second Add still open when TryTake is called, it may fail.
    let twin = [0, 1, 2, 3, 4, 6, 7, 5].map(|event: usize| events[event].clone());
    let twin = ConcurrentHistory::new(&shape, twin.to_vec(), false).unwrap();
    assert_eq!(observations.judge(&twin), Judgement::Linearizable);
}

/// Section 2.2.2: the stuck history of Counter2 has no witness, since inc never waits.
#[test]
fn counter_2_is_refused_by_the_automaton_of_figure_3() {
    let shape = Shape::new(&[2, 1]).unwrap();
    let mut observations = Observations::new(shape);
    let orders: [&[(Thread, u32)]; 3] =
        [&[(A, 0), (A, 1), (B, 0)], &[(A, 0), (B, 0), (A, 2)], &[(B, 0), (A, 0), (A, 2)]];
    for operations in orders {
        let history = SerialHistory { operations: operations.to_vec(), stuck: None };
        observations.insert(history).unwrap();
    }
    let events = vec![
        Event::Call(A),
        Event::Return(A, 0),
        Event::Call(A),
        Event::Return(A, 1),
        Event::Call(B),
    ];
    let history = ConcurrentHistory::new(&shape, events, true).unwrap();
    assert_eq!(observations.judge(&history), Judgement::StuckWithoutWitness(B));
    let explanation = explain(&observations, &history).unwrap();
    assert_eq!(explanation.outcome, Outcome::Stuck);
    assert_eq!(explanation.instead, [Outcome::Returned(0)]);
}
