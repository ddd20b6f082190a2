//! Larger histories: monitors against the search, with values that come again, too; and what the
//! search did not decide.

use std::fmt::Debug;

use snapshot_core::generic::objects::{
    Counter, Lock, PriorityQueue, Queue, QueueInput, QueueOutput, Register, Set, Stack,
    SwapRegister,
};
use snapshot_core::generic::{History, Outcome, check, replay, search};
use snapshot_core::search::Budget;
use test_support::effort;

use super::random::{Drawn, Draws, execute};

/// Both answers for histories of up to 60 operations of 3 processes.
fn compare<S: Drawn>(object: &S) {
    let mut draws = Draws(9);
    let (mut right, mut wrong, mut searched) = (0, 0, 0);
    for round in 0..effort::either(300, 5_000) {
        let size = (2 + draws.below(2), 20 + draws.below(40));
        let history = execute(object, &mut draws, size, round % 2 == 1, false).history();
        let mut budget = Budget { memory: 1 << 26, proceed: &mut || true };
        let by_search = search(object, &history, &mut budget);
        let found = check(object, &history, &mut budget);
        match (&by_search, &found) {
            (Outcome::Linearizable { .. }, Outcome::Linearizable { linearization, states }) => {
                replay(object, &history, linearization).unwrap();
                searched += usize::from(*states > 0);
                right += 1;
            }
            (Outcome::NotLinearizable { .. }, Outcome::NotLinearizable { .. }) => wrong += 1,
            (Outcome::Exhausted { .. }, _) => {}
            _ => panic!("{by_search:?} but {found:?}: {history:#?}"),
        }
    }
    eprintln!("{right} {wrong} {searched}");
    assert!(right > 100 && wrong > 20, "{right} right, {wrong} wrong");
    assert_eq!(searched, 0);
}

#[test]
fn monitors_agree_with_the_search() {
    compare(&Queue::default());
    compare(&Stack::default());
    compare(&PriorityQueue::default());
    compare(&Register::default());
    compare(&Set::default());
    compare(&Counter::default());
}

/// Failed swaps are left to the search; locks, whose operations are not told apart, are not.
#[test]
fn swaps_are_searched_where_rules_do_not_decide_and_locks_never() {
    let mut draws = Draws(11);
    let (mut swaps, mut locks) = (0, 0);
    for _ in 0..effort::either(200, 2_000) {
        let history =
            execute(&SwapRegister::default(), &mut draws, (3, 40), false, false).history();
        swaps += usize::from(states(&SwapRegister::default(), &history) > 0);
        let history = execute(&Lock::default(), &mut draws, (3, 24), false, false).history();
        locks += usize::from(states(&Lock::default(), &history) > 0);
    }
    assert!(swaps >= 10, "{swaps} histories of swaps were searched");
    assert_eq!(locks, 0, "histories of locks were searched");
}

/// Returns the number of states that the search met, for a linearizable history.
fn states<S: Drawn>(object: &S, history: &History<S::Input, S::Output>) -> u64
where
    S::Input: Debug,
{
    let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
    match check(object, history, &mut budget) {
        Outcome::Linearizable { linearization, states } => {
            replay(object, history, &linearization).unwrap();
            states
        }
        outcome => panic!("{outcome:?} of {history:#?}"),
    }
}

/// Thirty operations of eight processes that overlap, which no search has decided.
#[test]
fn thirty_operations_of_eight_processes_take_no_search() {
    let mut history = History::builder();
    for process in 0..8 {
        history.invoke(process, QueueInput::Enqueue(process)).unwrap();
    }
    let mut open = [true; 8];
    for value in 8..15 {
        let process = value % 8;
        history.respond(process, QueueOutput::Enqueued).unwrap();
        history.invoke(process, QueueInput::Enqueue(value)).unwrap();
    }
    for (process, is_open) in open.iter_mut().enumerate() {
        history.respond(process, QueueOutput::Enqueued).unwrap();
        *is_open = false;
    }
    // 14 to 8 were enqueued at once, behind 0 to 6; 7 overlaps all.
    for value in [6, 5, 4, 3, 2, 1, 0, 14, 13, 12, 11, 10, 9, 8, 7] {
        history.invoke(0, QueueInput::Dequeue).unwrap();
        history.respond(0, QueueOutput::Dequeued(value)).unwrap();
    }
    let history = history.finish();
    assert_eq!(history.operations().len(), 30);
    let mut budget = Budget { memory: 0, proceed: &mut || false };
    match check(&Queue::default(), &history, &mut budget) {
        Outcome::Linearizable { linearization, states: 0 } => {
            replay(&Queue::default(), &history, &linearization).unwrap();
        }
        outcome => panic!("{outcome:?}"),
    }
}
