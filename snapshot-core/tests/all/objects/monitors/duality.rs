//! Three values, added and removed, in all orders of the six operations; and a history run backwards: additions are
//! removals of a queue that runs the other way, and of a stack.

use snapshot_core::generic::Specification;
use snapshot_core::generic::objects::{
    PriorityQueue, PriorityQueueInput, PriorityQueueOutput, Queue, QueueInput, QueueOutput, Stack,
    StackInput, StackOutput,
};
use test_support::effort;

use super::random::Draws;
use super::{Script, Tally, has_order, judged};

/// Random orders of the events of this many operations, all of which respond.
fn shuffled(draws: &mut Draws, operations: usize) -> Vec<usize> {
    let mut events: Vec<usize> = (0..operations).flat_map(|one| [one, one]).collect();
    for place in (1..events.len()).rev() {
        // Near ones are exchanged, so that some operations do not overlap.
        events.swap(place, place - draws.below(place.min(4) + 1));
    }
    events
}

fn is_linearizable<S: Specification<Input: Clone, Output: Clone>>(
    object: &S,
    script: &Script<S::Input, S::Output>,
) -> bool {
    use snapshot_core::generic::{Outcome, check};
    let mut budget = snapshot_core::search::Budget { memory: usize::MAX, proceed: &mut || true };
    matches!(check(object, &script.history(), &mut budget), Outcome::Linearizable { .. })
}

fn reversed<I, O>(
    script: &Script<I, O>,
    call: impl Fn(&(I, Option<O>)) -> (I, Option<O>),
) -> Script<I, O> {
    Script {
        events: script.events.iter().rev().copied().collect(),
        calls: script.calls.iter().map(call).collect(),
    }
}

#[test]
fn reversed_histories_have_the_same_verdict() {
    let mut draws = Draws(3);
    let mut counts = [[0; 2]; 2];
    for _ in 0..effort::either(4_000, 200_000) {
        let values = 3 + draws.below(4) as u8;
        let events = shuffled(&mut draws, 2 * usize::from(values) + 1);
        let mut queue =
            Script { events, calls: vec![(QueueInput::Dequeue, Some(QueueOutput::Empty))] };
        let mut stack = Script {
            events: queue.events.clone(),
            calls: vec![(StackInput::Pop, Some(StackOutput::Empty))],
        };
        for value in 0..values {
            queue.calls.push((QueueInput::Enqueue(value), Some(QueueOutput::Enqueued)));
            queue.calls.push((QueueInput::Dequeue, Some(QueueOutput::Dequeued(value))));
            stack.calls.push((StackInput::Push(value), Some(StackOutput::Pushed)));
            stack.calls.push((StackInput::Pop, Some(StackOutput::Popped(value))));
        }
        let queue_back = reversed(&queue, |call| match call {
            (QueueInput::Enqueue(value), _) => {
                (QueueInput::Dequeue, Some(QueueOutput::Dequeued(*value)))
            }
            (_, Some(QueueOutput::Dequeued(value))) => {
                (QueueInput::Enqueue(*value), Some(QueueOutput::Enqueued))
            }
            other => *other,
        });
        let stack_back = reversed(&stack, |call| match call {
            (StackInput::Push(value), _) => (StackInput::Pop, Some(StackOutput::Popped(*value))),
            (_, Some(StackOutput::Popped(value))) => {
                (StackInput::Push(*value), Some(StackOutput::Pushed))
            }
            other => *other,
        });
        let found = is_linearizable(&Queue::default(), &queue);
        assert_eq!(found, is_linearizable(&Queue::default(), &queue_back), "{queue:?}");
        counts[0][usize::from(found)] += 1;
        let found = is_linearizable(&Stack::default(), &stack);
        assert_eq!(found, is_linearizable(&Stack::default(), &stack_back), "{stack:?}");
        counts[1][usize::from(found)] += 1;
    }
    eprintln!("{counts:?}");
    assert!(counts.iter().flatten().all(|count| *count > 100), "{counts:?}");
}

/// Calls `judge` with the orders of the events of six operations in which all respond: each
/// `stride`-th.
fn three_values(stride: usize, mut judge: impl FnMut(&[usize])) -> usize {
    fn extend(left: &mut [u8; 6], events: &mut Vec<usize>, found: &mut dyn FnMut(&[usize])) {
        if events.len() == 12 {
            return found(events);
        }
        for operation in 0..6 {
            if left[operation] > 0 {
                left[operation] -= 1;
                events.push(operation);
                extend(left, events, found);
                events.pop();
                left[operation] += 1;
            }
        }
    }
    let mut count = 0;
    extend(&mut [2; 6], &mut Vec::new(), &mut |events| {
        if count % stride == 0 {
            judge(events);
        }
        count += 1;
    });
    count
}

/// 12! / 2^6.
const ORDERS: usize = 7_484_400;

#[test]
fn three_values_in_all_orders() {
    let mut tallies = [(); 3].map(|()| Tally::default());
    // A prime, so that all ends of orders come.
    let stride = effort::either(997, 1);
    let count = three_values(stride, |events| {
        let events = events.to_vec();
        let mut queue = Script { events: events.clone(), calls: Vec::new() };
        let mut stack = Script { events: events.clone(), calls: Vec::new() };
        let mut priorities = Script { events, calls: Vec::new() };
        for value in 1..=3_u8 {
            queue.calls.push((QueueInput::Enqueue(value), Some(QueueOutput::Enqueued)));
            queue.calls.push((QueueInput::Dequeue, Some(QueueOutput::Dequeued(value))));
            stack.calls.push((StackInput::Push(value), Some(StackOutput::Pushed)));
            stack.calls.push((StackInput::Pop, Some(StackOutput::Popped(value))));
            let (input, output) = (PriorityQueueInput::Add(value), PriorityQueueOutput::Added);
            priorities.calls.push((input, Some(output)));
            let removed = PriorityQueueOutput::Removed(value);
            priorities.calls.push((PriorityQueueInput::Remove, Some(removed)));
        }
        let (queue, stack, priorities) = (queue.history(), stack.history(), priorities.history());
        let [of_queue, of_stack, of_priorities] = &mut tallies;
        let object = Queue::default();
        judged(&object, &queue, has_order(&object, &queue), of_queue);
        let object = Stack::default();
        judged(&object, &stack, has_order(&object, &stack), of_stack);
        let object = PriorityQueue::default();
        judged(&object, &priorities, has_order(&object, &priorities), of_priorities);
    });
    assert_eq!(count, ORDERS);
    eprintln!("{tallies:?}");
    for tally in &tallies {
        assert_eq!(tally.linearizable + tally.violations, ORDERS.div_ceil(stride));
        assert_eq!(tally.beyond, 0, "{tally:?}");
        assert!(tally.linearizable > 300 && tally.violations > 300, "{tally:?}");
    }
}
