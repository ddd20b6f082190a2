//! Parts of a history share a budget: a hard part does not hide another part with a violation.

use std::collections::{BTreeMap, VecDeque};

use snapshot_core::generic::{
    History, HistoryBuilder, Outcome, Reason, Specification, check, replay,
};
use snapshot_core::search::Budget;
use snapshot_core::verdict::Exhausted;

/// Queues by key.
struct Queues;

#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum Input {
    Enqueue(u8, u8),
    Dequeue(u8),
}

impl Specification for Queues {
    type State = BTreeMap<u8, VecDeque<u8>>;
    type Input = Input;
    type Output = u8;
    type Part = u8;

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn apply(&self, state: &mut Self::State, input: &Input, output: Option<&u8>) -> bool {
        match input {
            Input::Enqueue(key, value) => {
                state.entry(*key).or_default().push_back(*value);
                true
            }
            Input::Dequeue(key) => match state.get_mut(key).and_then(VecDeque::pop_front) {
                Some(value) => output.is_none_or(|output| *output == value),
                None => false,
            },
        }
    }

    fn part(&self, input: &Input) -> u8 {
        let (Input::Enqueue(key, _) | Input::Dequeue(key)) = input;
        *key
    }
}

/// Enqueues `count` values concurrently, and dequeues them one by one against the order in which
/// the search tries them, except the last one: the part has as many states as there are orders.
fn hard(history: &mut HistoryBuilder<Input, u8>, key: u8, count: u8, last: u8) {
    let processes = usize::from(count);
    for process in 0..count {
        history.invoke(process.into(), Input::Enqueue(key, process)).unwrap();
    }
    for process in 0..processes {
        history.respond(process, 0).unwrap();
    }
    for value in (0..count).rev() {
        dequeue(history, key, if value == 0 { last } else { value });
    }
}

fn dequeue(history: &mut HistoryBuilder<Input, u8>, key: u8, value: u8) {
    history.invoke(99, Input::Dequeue(key)).unwrap();
    history.respond(99, value).unwrap();
}

/// Returns the outcome within `most` polls for time, each after 256 configurations.
fn judged(history: &History<Input, u8>, memory: usize, most: usize) -> Outcome {
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked <= most
    };
    check(&Queues, history, &mut Budget { memory, proceed: &mut proceed })
}

/// Searches of both kinds of parts; the hard ones come first.
fn several(hard_parts: u8, wrong: bool) -> History<Input, u8> {
    let mut history = HistoryBuilder::default();
    for key in 0..hard_parts {
        hard(&mut history, key, 12, 99);
    }
    for key in 100..110 {
        history.invoke(0, Input::Enqueue(key, 7)).unwrap();
        history.respond(0, 0).unwrap();
        dequeue(&mut history, key, if wrong && key == 109 { 8 } else { 7 });
    }
    history.finish()
}

#[test]
fn wrong_part_is_found_beside_hard_parts() {
    for hard_parts in 0..3 {
        // With the least memory a hard part ends within its first turn, before the wrong one has any.
        for (memory, questions) in [(usize::MAX, 100), (1 << 20, usize::MAX), (1 << 14, usize::MAX)]
        {
            let history = several(hard_parts, true);
            let outcome = judged(&history, memory, questions);
            let Outcome::NotLinearizable { reason: Reason::Searched(furthest), .. } = outcome
            else {
                panic!("{hard_parts} hard parts, {memory} bytes: {outcome:?}")
            };
            assert_eq!(furthest.due.index(), history.operations().len() - 1);
        }
    }
}

#[test]
fn undecided_parts_give_unknown() {
    for (memory, questions, which) in
        [(usize::MAX, 100, Exhausted::Time), (1 << 20, usize::MAX, Exhausted::Memory)]
    {
        let outcome = judged(&several(2, false), memory, questions);
        let Outcome::Exhausted { exhausted, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(exhausted, which);
    }
}

#[test]
fn parts_that_take_several_turns_are_decided() {
    for last in [0, 99] {
        let mut history = HistoryBuilder::default();
        // 8! orders are more than the first turn allows.
        for key in 0..3 {
            hard(&mut history, key, 8, if key == 2 { last } else { 0 });
        }
        let history = history.finish();
        match judged(&history, usize::MAX, usize::MAX) {
            Outcome::Linearizable { linearization, .. } => {
                assert_eq!(last, 0);
                replay(&Queues, &history, &linearization).unwrap();
            }
            Outcome::NotLinearizable { states, .. } => {
                assert!(last == 99 && states > 40_320, "{states}");
            }
            outcome => panic!("{outcome:?}"),
        }
    }
}
