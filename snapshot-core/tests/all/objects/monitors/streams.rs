//! Long executions that are judged while they are made: the bounds of what is kept.

use std::fmt::Debug;

use snapshot_core::generic::ByValues;
use snapshot_core::generic::objects::{
    Counter, CounterInput, CounterOutput, Lock, LockInput, LockOutput, Map, MapInput, MapOutput,
    PriorityQueue, PriorityQueueInput, PriorityQueueOutput, Queue, QueueInput, QueueOutput,
    Register, RegisterInput, RegisterOutput, Set, SetInput, SetOutput, Stack, StackInput,
    StackOutput, SwapRegister, SwapRegisterInput, SwapRegisterOutput,
};
use snapshot_core::object::Watch;
use snapshot_core::synchronisation::Single;
use test_support::effort;

use super::random::Draws;

/// Settled operations that a stream keeps.
const SETTLED: usize = 256;

/// Watches a long execution by eight processes, of operations that `act` makes take effect as
/// they begin; `lie` makes a response that no state allows. Returns the most operations that were
/// kept.
fn stream<S>(
    object: &S,
    mut act: impl FnMut(&mut Draws) -> (S::Input, S::Output),
    lie: (S::Input, S::Output),
) -> usize
where
    S: ByValues<Input: Clone + Debug, Output: Clone + Debug> + Clone,
{
    let kind = Single(object.clone());
    let mut watch = Watch::new(&kind, SETTLED);
    let mut draws = Draws(7);
    let mut open: Vec<Option<S::Output>> = vec![None; 8];
    let mut left = effort::either(60_000, 1_000_000);
    while left > 0 || open.iter().any(Option::is_some) {
        let process = draws.below(open.len());
        match open[process].take() {
            Some(output) => _ = watch.respond(process, output).unwrap(),
            None if left > 0 => {
                let (input, output) = act(&mut draws);
                watch.invoke(process, input).unwrap();
                open[process] = Some(output);
                left -= 1;
            }
            None => {}
        }
        let is_alarm = watch.is_violation(&mut || true);
        assert!(!is_alarm && watch.is_forgetting(), "{is_alarm}: {:?}", watch.history());
    }
    watch.invoke(0, lie.0).unwrap();
    watch.respond(0, lie.1).unwrap();
    assert!(watch.is_violation(&mut || true));
    watch.most()
}

#[test]
fn streams_keep_what_is_open_or_inside() {
    let (mut next, mut inside) = (0, std::collections::VecDeque::new());
    let queue = |draws: &mut Draws| {
        if inside.len() < 40 && draws.below(2) == 0 {
            next += 1;
            inside.push_back(next);
            return (QueueInput::Enqueue(next), QueueOutput::Enqueued);
        }
        let found = inside.pop_front().map_or(QueueOutput::Empty, QueueOutput::Dequeued);
        (QueueInput::Dequeue, found)
    };
    let wrong = (QueueInput::Dequeue, QueueOutput::Dequeued(u64::MAX));
    let mut most = vec![stream(&Queue::default(), queue, wrong)];
    let (mut next, mut heap) = (0, std::collections::BTreeSet::new());
    let priority = |draws: &mut Draws| {
        if heap.len() < 40 && draws.below(2) == 0 {
            // Values come again.
            next = (next + 7) % 1_009;
            if heap.insert(next) {
                return (PriorityQueueInput::Add(next), PriorityQueueOutput::Added);
            }
        }
        let least = heap.pop_first();
        let found = least.map_or(PriorityQueueOutput::Empty, PriorityQueueOutput::Removed);
        (PriorityQueueInput::Remove, found)
    };
    let wrong = (PriorityQueueInput::Remove, PriorityQueueOutput::Removed(u64::MAX));
    most.push(stream(&PriorityQueue::default(), priority, wrong));
    let (mut next, mut pushed) = (0, Vec::new());
    let stack = |draws: &mut Draws| {
        if pushed.len() < 4 && draws.below(2) == 0 {
            next += 1;
            pushed.push(next);
            return (StackInput::Push(next), StackOutput::Pushed);
        }
        (StackInput::Pop, pushed.pop().map_or(StackOutput::Empty, StackOutput::Popped))
    };
    let wrong = (StackInput::Pop, StackOutput::Popped(u64::MAX));
    most.push(stream(&Stack::default(), stack, wrong));
    let mut value = 0;
    let register = |draws: &mut Draws| {
        if draws.below(2) == 0 {
            value += 1;
            return (RegisterInput::Write(value), RegisterOutput::Written);
        }
        (RegisterInput::Read, RegisterOutput::Read(value))
    };
    let wrong = (RegisterInput::Read, RegisterOutput::Read(1));
    most.push(stream(&Register { initial: 0_u64 }, register, wrong));
    let (mut values, mut written) = ([None; 3], 0);
    let map = |draws: &mut Draws| {
        let key = draws.below(3);
        if draws.below(2) == 0 {
            written += 1;
            values[key] = Some(written);
            return (MapInput::Put(key, written), MapOutput::Done);
        }
        (MapInput::Get(key), MapOutput::Found(values[key]))
    };
    let wrong = (MapInput::Get(2), MapOutput::Found(Some(u64::MAX)));
    most.push(stream(&Map::default(), map, wrong));
    let mut number = 0;
    let counter = |draws: &mut Draws| match draws.below(3) {
        0 => (CounterInput::Read, CounterOutput::Number(number)),
        one => {
            number += 1;
            let before = CounterOutput::Number(number - 1);
            (CounterInput::Increment, if one == 1 { CounterOutput::Changed } else { before })
        }
    };
    let wrong = (CounterInput::Read, CounterOutput::Number(5));
    most.push(stream(&Counter::default(), counter, wrong));
    let mut elements = [false; 4];
    let set = |draws: &mut Draws| {
        let element = draws.below(4);
        let is_there = elements[element];
        match draws.below(3) {
            0 => (SetInput::Contains(element), SetOutput(is_there)),
            1 => {
                elements[element] = true;
                (SetInput::Add(element), SetOutput(!is_there))
            }
            _ => {
                elements[element] = false;
                (SetInput::Remove(element), SetOutput(is_there))
            }
        }
    };
    let wrong = (SetInput::Contains(9), SetOutput(true));
    most.push(stream(&Set::default(), set, wrong));
    // What is settled, as many others, and those that come before they are forgotten.
    assert!(most.iter().all(|most| *most < 3 * SETTLED), "{most:?}");
}

#[test]
fn locks_keep_sections_that_are_open() {
    let kind = Single(Lock::default());
    let mut watch = Watch::new(&kind, SETTLED);
    for round in 0..effort::either(5_000, 250_000) {
        let (owner, next) = (round % 5, (round + 1) % 5);
        if round == 0 {
            watch.invoke(owner, LockInput::Acquire(owner)).unwrap();
            watch.respond(owner, LockOutput).unwrap();
        }
        watch.invoke(next, LockInput::Acquire(next)).unwrap();
        assert!(!watch.is_violation(&mut || true));
        watch.invoke(owner, LockInput::Release(owner)).unwrap();
        watch.respond(next, LockOutput).unwrap();
        assert!(!watch.is_violation(&mut || true));
        watch.respond(owner, LockOutput).unwrap();
        assert!(!watch.is_violation(&mut || true) && watch.is_online());
    }
    watch.invoke(9, LockInput::Acquire(9)).unwrap();
    watch.respond(9, LockOutput).unwrap();
    assert!(watch.is_violation(&mut || true));
    assert!(watch.most() < 3 * SETTLED, "{}", watch.most());
}

/// What a judge leaves to others is judged again as it grows, with what was not forgotten.
#[test]
fn what_is_lost_is_judged_again() {
    use SwapRegisterInput::{CompareAndSwap, Read, Write};
    let kind = Single(SwapRegister { initial: 0 });
    let mut watch = Watch::new(&kind, SETTLED);
    let mut at = |input, output| {
        watch.invoke(0, input).unwrap();
        watch.respond(0, output).unwrap();
        let is_violation = watch.is_violation(&mut || true);
        (is_violation, watch.is_online(), watch.forgotten())
    };
    for value in 1..2_000 {
        let (is_violation, is_online, _) = at(Write(value), SwapRegisterOutput::Written);
        assert!(!is_violation && is_online);
    }
    let swap = CompareAndSwap { expected: 1_999, new: 2_000 };
    let (is_violation, is_online, forgotten) = at(swap, SwapRegisterOutput::Swapped(true));
    assert!(!is_violation && !is_online && forgotten > 1_900, "{forgotten}");
    // Each event is judged again: of what is left there is little.
    assert!(!at(Read, SwapRegisterOutput::Read(2_000)).0);
    let wrong = (0..2).map(|_| at(Read, SwapRegisterOutput::Read(1_999)).0);
    assert!(wrong.fold(false, |one, other| one | other));
}
