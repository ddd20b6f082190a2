//! Judges of executions that are being made against all orders of each prefix.

use std::fmt::Debug;

use snapshot_core::generic::objects::{
    Counter, Lock, LockInput, LockOutput, PriorityQueue, PriorityQueueInput, PriorityQueueOutput,
    Queue, QueueInput, QueueOutput, Register, RegisterInput, RegisterOutput, Set, Stack,
    StackInput, StackOutput,
};
use snapshot_core::generic::{ByValues, Ending, History};
use snapshot_core::object::{Answer, ObjectKind, Watch, completion};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::Single;
use test_support::effort;

use super::objects::Tried;
use super::random::{Drawn, Draws, execute};
use super::small::{for_all, orders};
use super::{Script, has_order};

/// What was watched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Counts {
    right: usize,
    /// Alarms at the first wrong prefix, and later ones.
    first: usize,
    late: usize,
    /// Executions that the judge left to others before any alarm.
    lost: usize,
    /// Executions of which operations were forgotten, and these operations.
    cut: usize,
    forgotten: usize,
}

/// When an alarm must come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum When {
    /// At the first prefix that has no order.
    First,
    /// When the operations have ended that were open at it.
    Ended,
}

/// An event of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Deed {
    Invoke(usize),
    Respond(usize),
    Fail(usize),
    Unknown(usize),
}

fn deeds<I, O>(script: &Script<I, O>) -> Vec<Deed> {
    let mut is_open = vec![false; script.calls.len()];
    let deed = |operation: &usize| {
        let is_open = std::mem::replace(&mut is_open[*operation], true);
        if is_open { Deed::Respond(*operation) } else { Deed::Invoke(*operation) }
    };
    script.events.iter().map(deed).collect()
}

/// The histories of the prefixes, the shortest first.
fn prefixes<I: Clone, O: Clone>(deeds: &[Deed], calls: &[(I, Option<O>)]) -> Vec<History<I, O>> {
    let mut builder = History::builder();
    let next = |deed: &Deed| {
        match *deed {
            Deed::Invoke(operation) => builder.invoke(operation, calls[operation].0.clone()),
            Deed::Respond(operation) => {
                builder.respond(operation, calls[operation].1.clone().unwrap())
            }
            Deed::Fail(operation) => builder.fail(operation),
            Deed::Unknown(operation) => builder.unknown(operation),
        }
        .unwrap();
        builder.so_far().clone()
    };
    deeds.iter().map(next).collect()
}

/// Returns the number of events after which an alarm has come, if the prefix of `wrong` is the first
/// without an order.
fn latest(deeds: &[Deed], wrong: usize, when: When) -> usize {
    if when == When::First {
        return wrong;
    }
    let end = |operation: usize| {
        let is_end =
            |deed: &Deed| matches!(deed, Deed::Respond(one) | Deed::Fail(one) if *one == operation);
        deeds.iter().position(is_end).unwrap_or(usize::MAX)
    };
    let begun = deeds[..wrong].iter().filter_map(|deed| match deed {
        Deed::Invoke(operation) => Some(end(*operation)),
        _ => None,
    });
    begun.max().unwrap_or(0).saturating_add(1).max(wrong)
}

/// Watches an execution event by event: alarms, and the judgement of what is left at the end.
fn watch<S>(
    object: &S,
    deeds: &[Deed],
    calls: &[(S::Input, Option<S::Output>)],
    when: fn(&History<S::Input, S::Output>) -> When,
    counts: &mut Counts,
) where
    S: ByValues<Input: Clone + Debug, Output: Clone + Debug> + Clone,
{
    let prefixes = prefixes(deeds, calls);
    let history = &prefixes[prefixes.len() - 1];
    let when = when(history);
    let is_wrong = |history: &History<_, _>| !has_order(object, history);
    let wrong = is_wrong(history).then(|| prefixes.iter().position(is_wrong).unwrap() + 1);
    let by = wrong.map(|wrong| latest(deeds, wrong, when));
    let kind = Single(object.clone());
    let mut watch = Watch::new(&kind, 0);
    assert!(watch.is_forgetting());
    let mut alarm = None;
    for (event, deed) in deeds.iter().enumerate() {
        match *deed {
            Deed::Invoke(operation) => watch.invoke(operation, calls[operation].0.clone()),
            Deed::Respond(operation) => {
                watch.respond(operation, calls[operation].1.clone().unwrap())
            }
            Deed::Fail(operation) => watch.fail(operation),
            Deed::Unknown(operation) => watch.unknown(operation),
        }
        .unwrap();
        if watch.is_violation(&mut || true) {
            alarm = Some(event + 1);
            break;
        }
        if !watch.is_forgetting() {
            counts.lost += 1;
            break;
        }
        assert!(by.is_none_or(|by| event + 1 < by), "no alarm at {by:?}: {deeds:?} {calls:?}");
    }
    watch.end();
    counts.cut += usize::from(watch.forgotten() > 0);
    counts.forgotten += watch.forgotten() as usize;
    if alarm.is_none() && !watch.is_forgetting() {
        return;
    }
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let left = watch.object().judge(watch.history(), &mut budget).answer;
    match (alarm, wrong, left) {
        (None, None, Answer::Correct(_)) => counts.right += 1,
        (None, Some(_), Answer::Violation(_)) => counts.late += 1,
        (Some(alarm), Some(wrong), Answer::Violation(left)) => {
            assert!(alarm >= wrong, "an alarm at {alarm}, not {wrong}: {deeds:?} {calls:?}");
            if alarm == wrong {
                counts.first += 1;
            } else {
                counts.late += 1;
            }
            let is_failed = deeds.iter().any(|deed| matches!(deed, Deed::Fail(_)));
            if when == When::First && !is_failed {
                let at = completion(watch.object(), watch.history(), &left, &mut budget);
                assert_eq!(at.event + 1, wrong, "{deeds:?} {calls:?}");
            }
        }
        other => panic!("{other:?}: {deeds:?} {calls:?}; left: {:#?}", watch.history()),
    }
}

fn all<S>(
    object: &S,
    (quick, slow): (usize, usize),
    when: fn(&History<S::Input, S::Output>) -> When,
) -> Counts
where
    S: Tried + ByValues<Input: Debug, Output: Debug> + Clone,
{
    let mut counts = Counts::default();
    for operations in 1..=effort::either(quick, slow) {
        for_all(object, operations, &mut |script| {
            watch(object, &deeds(script), &script.calls, when, &mut counts);
        });
    }
    eprintln!("{counts:?}");
    counts
}

/// Watches executions that were made or almost made: some operations fail or are given up.
fn random<S>(object: &S, when: fn(&History<S::Input, S::Output>) -> When, rounds: u64) -> Counts
where
    S: Drawn + ByValues + Clone,
{
    let mut counts = Counts::default();
    for round in 0..effort::either(rounds, 50 * rounds) {
        let mut draws = Draws(round);
        let size = 5 + draws.below(8);
        let script = execute(object, &mut draws, (4, size), round % 4 > 0, round % 3 == 0);
        let mut deeds = deeds(&script);
        for deed in &mut deeds {
            if let Deed::Respond(operation) = *deed
                && round % 5 < 2
                && draws.below(6) == 0
            {
                let is_failed = draws.below(2) == 0;
                *deed = if is_failed { Deed::Fail(operation) } else { Deed::Unknown(operation) };
            }
        }
        watch(object, &deeds, &script.calls, when, &mut counts);
        if round % 8 == 0 {
            for twin in script.twins() {
                watch(object, &self::deeds(&twin), &twin.calls, when, &mut counts);
            }
        }
    }
    eprintln!("{counts:?}");
    counts
}

/// All histories of three removals behind two additions, one of which may be open.
#[test]
fn queues_with_values() {
    let mut counts = Counts::default();
    let add = |value| (QueueInput::Enqueue(value), Some(QueueOutput::Enqueued));
    let outputs = [QueueOutput::Dequeued(1), QueueOutput::Dequeued(2), QueueOutput::Empty];
    for last in 3..=4 {
        for responding in 0..8 {
            for order in orders(3, responding) {
                for chosen in 0..27 {
                    let output = |place: usize| outputs[chosen / 3_usize.pow(place as u32) % 3];
                    let mut calls = vec![add(1), add(2)];
                    calls.extend((0..3).map(|place| {
                        let is_complete = responding >> place & 1 == 1;
                        (QueueInput::Dequeue, is_complete.then(|| output(place)))
                    }));
                    let mut events = vec![0, 0, 1, 1];
                    events.truncate(last);
                    events.extend(order.iter().map(|operation| operation + 2));
                    events.extend((last == 3).then_some(1));
                    let script = Script { events, calls };
                    let object = Queue::<u8>::default();
                    watch(&object, &deeds(&script), &script.calls, of_queue, &mut counts);
                }
            }
        }
    }
    assert_eq!(counted(counts), [873, 1_125, 0, 0]);
}

/// Watches a violation, also behind operations that come first, one after the other, and are forgotten.
fn directed<S>(
    object: &S,
    before: &[(S::Input, Option<S::Output>)],
    calls: &[(S::Input, Option<S::Output>)],
    deeds: &[Deed],
) where
    S: ByValues<Input: Clone + Debug, Output: Clone + Debug> + Clone,
{
    let mut counts = Counts::default();
    watch(object, deeds, calls, first, &mut counts);
    let from = calls.len();
    let serial =
        (from..from + before.len()).flat_map(|one| [Deed::Invoke(one), Deed::Respond(one)]);
    let all: Vec<Deed> = serial.chain(deeds.iter().copied()).collect();
    watch(object, &all, &[calls, before].concat(), first, &mut counts);
    let Counts { first, late, lost, cut, .. } = counts;
    assert_eq!((first, late, lost), (2, 0, 0), "{deeds:?} {calls:?}");
    assert!(cut > 0, "{deeds:?} {calls:?}");
}

/// Violations whose proofs name operations that ended long before.
#[test]
fn what_proofs_need_is_kept() {
    use Deed::{Fail, Invoke, Respond, Unknown};
    let both = |operation| [Invoke(operation), Respond(operation)];
    let added = |value: u8| (QueueInput::Enqueue(value), Some(QueueOutput::Enqueued));
    let removed = |value: u8| (QueueInput::Dequeue, Some(QueueOutput::Dequeued(value)));
    let queue = Queue::<u8>::default();
    let earlier = [added(91), removed(91), added(92), removed(92), added(93), removed(93)];
    // Always one of 1, 2 and 3 is inside while the removal of nothing is open.
    let calls = [added(1), added(2), added(3), removed(1), removed(2)];
    let calls = [calls.as_slice(), &[(QueueInput::Dequeue, Some(QueueOutput::Empty))]].concat();
    let order = [both(0), [Invoke(5), Invoke(1)], [Respond(1), Invoke(3)]];
    let rest = [[Respond(3), Invoke(2)], [Respond(2), Invoke(4)], [Respond(4), Respond(5)]];
    directed(&queue, &earlier, &calls, &[order, rest].concat().concat());
    // 1 must have left before 2 did; operation 5, which alone remains, began later.
    let calls = [1, 2, 3, 4].map(added);
    let calls = [calls.as_slice(), &[4, 1, 2, 3].map(removed)].concat();
    let order = [both(0), both(1), both(2), both(3), [Invoke(4), Invoke(6)]];
    let rest = [[Respond(6), Invoke(5)], both(7), [Respond(4), Invoke(8)]];
    let calls = [calls.as_slice(), &[removed(9)]].concat();
    directed(&queue, &earlier, &calls, &[order.as_slice(), &rest].concat().concat());
    // The only removal that can have taken 1 fails.
    let calls = [added(1), added(2), removed(1), removed(2)];
    directed(
        &queue,
        &earlier,
        &calls,
        &[both(0), both(1), [Invoke(2), Invoke(3)], [Respond(3), Fail(2)]].concat(),
    );
    // The value was removed, and its addition fails.
    directed(
        &queue,
        &earlier,
        &[added(1), removed(1)],
        &[Invoke(0), Invoke(1), Respond(1), Fail(0)],
    );
    // The value was read, and its write fails; others were written in the meantime.
    let written = |value: u8| (RegisterInput::Write(value), Some(RegisterOutput::Written));
    let read = |value: u8| (RegisterInput::Read, Some(RegisterOutput::Read(value)));
    let register = Register { initial: 0 };
    let earlier = [91, 92, 93, 94].map(written);
    directed(
        &register,
        &earlier,
        &[written(1), read(1)],
        &[Invoke(0), Invoke(1), Respond(1), Fail(0)],
    );
    let calls = [written(1), read(1), written(2), read(2), written(3), read(3)];
    let order = [[Invoke(0), Invoke(1)], [Respond(1), Invoke(2)], [Respond(2), Invoke(3)]];
    let rest = [[Respond(3), Invoke(4)], [Respond(4), Invoke(5)], [Respond(5), Fail(0)]];
    directed(&register, &earlier, &calls, &[order, rest].concat().concat());
    // A release shows that its section was taken, while another is held.
    let acquired = |owner: u8| (LockInput::Acquire(owner), Some(LockOutput));
    let released = |owner: u8| (LockInput::Release(owner), Some(LockOutput));
    let earlier = [acquired(9), released(9), acquired(9), released(9)];
    let calls = [acquired(1), acquired(2), released(1)];
    let order = [[Invoke(0), Unknown(0)], both(1), both(2)];
    directed(&Lock::default(), &earlier, &calls, &order.concat());
    // The section of a release that fails was held all the time.
    let calls = [acquired(1), released(1), acquired(2)];
    let order = [both(0), [Invoke(1), Fail(1)], both(2)];
    directed(&Lock::default(), &earlier, &calls, &order.concat());
}

const fn first<I, O>(_: &History<I, O>) -> When {
    When::First
}

const fn ended<I, O>(_: &History<I, O>) -> When {
    When::Ended
}

/// Where no operation found the queue empty, the first prefix is known.
fn of_queue(history: &History<QueueInput<u8>, QueueOutput<u8>>) -> When {
    let is_empty =
        |ending: &Ending<_>| matches!(ending, Ending::Complete { output: QueueOutput::Empty, .. });
    let is_asked = history.operations().iter().any(|one| is_empty(&one.ending));
    if is_asked { When::Ended } else { When::First }
}

/// Returns the numbers of executions, some of which were judged without operations that were
/// forgotten.
fn counted(counts: Counts) -> [usize; 4] {
    let Counts { right, first, late, lost, cut, forgotten } = counts;
    assert!(20 * cut > right && forgotten >= cut, "{counts:?}");
    [right, first, late, lost]
}

#[test]
fn queues() {
    let counts = all(&Queue::<u8>::default(), (3, 4), of_queue);
    assert_eq!(counted(counts), effort::either([546, 1_051, 0, 0], [12_194, 86_194, 0, 0]));
    let counts = random(&Queue::<u8>::default(), of_queue, 400);
    assert!(counts.right > 200 && counts.first > 50 && counts.forgotten > 1000, "{counts:?}");
}

#[test]
fn registers() {
    let counts = all(&Register::<u8>::default(), (3, 4), first);
    assert_eq!(counted(counts), effort::either([435, 830, 0, 0], [11_142, 70_049, 0, 0]));
    let counts = random(&Register::<u8>::default(), first, 400);
    assert!(counts.right > 200 && counts.first > 50 && counts.forgotten > 1000, "{counts:?}");
    assert_eq!(counts.late, 0);
}

#[test]
fn locks() {
    let counts = all(&Lock::<u8>::default(), (4, 4), first);
    assert_eq!(counted(counts), [1_126, 3_468, 0, 17_257]);
    let counts = random(&Lock::<u8>::default(), first, 400);
    assert!(counts.right > 200 && counts.first > 20 && counts.forgotten > 1000, "{counts:?}");
    assert_eq!(counts.late, 0);
}

#[test]
fn sets() {
    let counts = all(&Set::<u8>::default(), (3, 4), ended);
    assert_eq!(
        counted(counts),
        effort::either([1_999, 1_472, 1_920, 0], [72_062, 51_242, 102_488, 0])
    );
    let counts = random(&Set::<u8>::default(), ended, 400);
    assert!(counts.right > 200 && counts.first > 20 && counts.forgotten > 1000, "{counts:?}");
}

#[test]
fn counters() {
    let counts = all(&Counter::default(), (3, 4), ended);
    assert_eq!(
        counted(counts),
        effort::either([1_688, 1_928, 2_398, 4], [84_134, 179_984, 510_246, 840])
    );
    let counts = random(&Counter::default(), ended, 400);
    assert!(counts.right > 200 && counts.first > 20 && counts.forgotten > 1000, "{counts:?}");
}

#[test]
fn priority_queues() {
    let counts = all(&PriorityQueue::<u8>::default(), (3, 4), ended);
    assert_eq!(counted(counts), effort::either([936, 1_563, 0, 0], [59_408, 227_994, 720, 0]));
    let counts = random(&PriorityQueue::<u8>::default(), ended, 400);
    assert!(counts.right > 200 && counts.first > 50 && counts.forgotten > 1000, "{counts:?}");
}

/// Short stacks are judged at each event, by rules.
#[test]
fn stacks() {
    let counts = all(&Stack::<u8>::default(), (3, 4), ended);
    assert_eq!(counted(counts), effort::either([558, 1_039, 0, 0], [12_752, 85_526, 110, 0]));
    let counts = random(&Stack::<u8>::default(), ended, 400);
    assert!(counts.right > 200 && counts.first > 50 && counts.forgotten > 1000, "{counts:?}");
}

/// Violations whose proofs name values that left while a removal was open, or between gaps.
#[test]
fn what_priority_queues_and_stacks_need_is_kept() {
    use Deed::{Fail, Invoke, Respond};
    let both = |operation| [Invoke(operation), Respond(operation)];
    let added = |value: u8| (PriorityQueueInput::Add(value), Some(PriorityQueueOutput::Added));
    let removed =
        |value: u8| (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Removed(value)));
    let object = PriorityQueue::<u8>::default();
    let earlier = [added(91), removed(91), added(92), removed(92), added(93), removed(93)];
    // While the removal of 9 was open, 3 and then 5 was inside; the removal of 1 did not take 5.
    let calls = [added(3), added(9), removed(9), added(5), removed(3), added(1), removed(1)];
    let order = [both(0), both(1), [Invoke(2), Invoke(3)], [Respond(3), Invoke(4)]];
    let rest = [[Invoke(6), Respond(4)], [Respond(2), Invoke(5)], [Respond(5), Respond(6)]];
    directed(&object, &earlier, &calls, &[order.as_slice(), &rest].concat().concat());
    // A removal that failed found no value, and nothing.
    let calls = [added(1), removed(1), removed(9)];
    directed(&object, &earlier, &calls, &[both(0), [Invoke(1), Fail(1)], both(2)].concat());
    // A value that is added while it is inside leaves the rest to others.
    let mut counts = Counts::default();
    let deeds = [both(0), both(1), both(2)].concat();
    watch(&object, &deeds, &[added(1), added(1), removed(1)], ended, &mut counts);
    assert_eq!(counts.lost, 1);
    // 1 was popped before 3 could be, and 2, between them, was pushed after 1 and popped after it.
    let push = |value: u8| (StackInput::Push(value), Some(StackOutput::Pushed));
    let pop = |value: u8| (StackInput::Pop, Some(StackOutput::Popped(value)));
    let calls = [push(1), push(2), pop(1), push(3), pop(2), pop(3)];
    let order = [both(0), both(1), [Invoke(2), Invoke(3)], [Respond(3), Invoke(4)]];
    let rest = [[Respond(2), Invoke(5)], [Respond(4), Respond(5)]];
    let deeds = [order.as_slice(), &rest].concat().concat();
    let mut counts = Counts::default();
    watch(&Stack::<u8>::default(), &deeds, &calls, ended, &mut counts);
    assert_eq!((counts.first + counts.late, counts.lost), (1, 0));
}
