//! A violation of every rule, with the operations that its proof names, and proofs that are none.

use std::fmt::Debug;

use snapshot_core::OperationId;
use snapshot_core::generic::objects::{
    Lock, LockInput, LockOutput, PriorityQueue, PriorityQueueInput, PriorityQueueOutput, Queue,
    QueueInput, QueueOutput, Stack, StackInput, StackOutput, SwapRegister, SwapRegisterInput,
    SwapRegisterOutput,
};
use snapshot_core::generic::{
    Debt, Outcome, Proof, ProofError, Reason, Specification, Stay, check, check_proof,
};
use snapshot_core::search::Budget;

use super::{Script, has_order};

/// The proof of a violation; with operations `named` by it, if it is the rule.
fn broken<S>(object: &S, script: &Script<S::Input, S::Output>, rule: &str, named: &[usize]) -> Proof
where
    S: Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    let history = script.history();
    assert!(!has_order(object, &history), "{history:#?}");
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    match check(object, &history, &mut budget) {
        Outcome::NotLinearizable { reason: Reason::Rule(proof), states: 0 } => {
            assert_eq!(proof.rule(), rule, "{proof:?}");
            let mut found: Vec<usize> = proof.operations().iter().map(|id| id.index()).collect();
            found.sort_unstable();
            assert_eq!(found, named, "{proof:?}");
            check_proof(object, &history, &proof).unwrap();
            proof
        }
        outcome => panic!("{rule}: {outcome:?}"),
    }
}

/// Of the events exchanged with a neighbour, the proof is refused where an order exists.
fn twins_refuse<S>(object: &S, script: &Script<S::Input, S::Output>, proof: &Proof) -> usize
where
    S: Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    let mut refused = 0;
    for twin in script.twins() {
        let history = twin.history();
        let is_first_kept = history
            .operations()
            .iter()
            .zip(script.history().operations())
            .all(|(one, other)| one.input == other.input);
        if is_first_kept && has_order(object, &history) {
            assert!(check_proof(object, &history, proof).is_err(), "{proof:?} of {history:#?}");
            refused += 1;
        }
    }
    refused
}

type QueueScript = Script<QueueInput<u8>, QueueOutput<u8>>;

fn queue(events: &[usize], calls: &[i8]) -> QueueScript {
    // Positive: enqueue; negative: dequeue; 0: empty; 100: dequeue without response.
    let call = |code: &i8| match code {
        100 => (QueueInput::Dequeue, None),
        0 => (QueueInput::Dequeue, Some(QueueOutput::Empty)),
        1.. => (QueueInput::Enqueue(*code as u8), Some(QueueOutput::Enqueued)),
        _ => (QueueInput::Dequeue, Some(QueueOutput::Dequeued(code.unsigned_abs()))),
    };
    Script { events: events.to_vec(), calls: calls.iter().map(call).collect() }
}

#[test]
fn queues() {
    let object = Queue::default();
    let script = queue(&[0, 0, 1, 1, 2, 2, 3, 3], &[1, 2, -2, -1]);
    let proof = broken(&object, &script, "overtaken", &[0, 1, 2, 3]);
    assert_eq!(twins_refuse(&object, &script, &proof), 2);
    // 1 never leaves.
    broken(&object, &queue(&[0, 0, 1, 1, 2, 2], &[1, 2, -2]), "overtaken", &[0, 1, 2]);
    // Two values must have left, and one removal had begun.
    let script = queue(&[0, 0, 1, 1, 2, 2, 3, 4, 4, 5], &[1, 2, 3, 100, -3, 100]);
    let proof = broken(&object, &script, "overdue", &[0, 1, 2, 3, 4]);
    assert_eq!(twins_refuse(&object, &script, &proof), 2);
    let script = queue(&[0, 0, 1, 1, 2, 2], &[1, 0, -1]);
    let proof = broken(&object, &script, "not-empty", &[0, 1, 2]);
    assert_eq!(twins_refuse(&object, &script, &proof), 2);
    // Two values in turn, of three.
    let events = [0, 0, 1, 1, 4, 2, 2, 3, 3, 5, 4, 5, 6, 6, 7, 7];
    let script = queue(&events, &[1, 9, 2, -1, 0, -9, -2, 0]);
    broken(&object, &script, "not-empty", &[1, 2, 3, 5, 6]);
    broken(&object, &queue(&[0, 0], &[-1]), "unfounded", &[0]);
    broken(&object, &queue(&[0, 0, 1, 1], &[-1, 1]), "unfounded", &[0]);
    broken(&object, &queue(&[0, 0, 1, 2, 1, 2], &[1, -1, -1]), "unfounded", &[0, 1, 2]);
    let mut odd = queue(&[0, 0], &[1]);
    odd.calls[0].1 = Some(QueueOutput::Empty);
    broken(&object, &odd, "impossible", &[0]);
}

/// A value that comes again after it left is told apart.
#[test]
fn repeated_values() {
    let script = queue(&[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], &[1, -1, 1, 2, -2, -1]);
    broken(&Queue::default(), &script, "overtaken", &[2, 3, 4, 5]);
}

#[test]
fn stacks() {
    let object = Stack::default();
    let call = |code: &i8| match code {
        100 => (StackInput::Pop, None),
        0 => (StackInput::Pop, Some(StackOutput::Empty)),
        1.. => (StackInput::Push(*code as u8), Some(StackOutput::Pushed)),
        _ => (StackInput::Pop, Some(StackOutput::Popped(code.unsigned_abs()))),
    };
    let stack = |events: &[usize], calls: &[i8]| Script {
        events: events.to_vec(),
        calls: calls.iter().map(call).collect(),
    };
    let script = stack(&[0, 0, 1, 1, 2, 2, 3, 3], &[1, 2, -1, -2]);
    let proof = broken(&object, &script, "crossed", &[0, 1, 2, 3]);
    assert_eq!(twins_refuse(&object, &script, &proof), 3);
    // 1 and 3 cross, and so do 3 and 2.
    let events = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
    broken(&object, &stack(&events, &[1, 3, -1, 2, -3, -2]), "crossed", &[0, 1, 2, 4]);
    // 2 stays; a pop that began later cannot have taken it before.
    let script = stack(&[0, 0, 1, 1, 2, 2, 3], &[1, 2, -1, 100]);
    broken(&object, &script, "crossed", &[0, 1, 2]);
    let early = stack(&[3, 0, 0, 1, 1, 2, 2], &[1, 2, -1, 100]);
    assert!(has_order(&object, &early.history()));
    broken(&object, &stack(&[0, 0, 1, 1, 2, 2], &[1, 0, -1]), "not-empty", &[0, 1, 2]);
    broken(&object, &stack(&[0, 0], &[-1]), "unfounded", &[0]);
}

#[test]
fn priority_queues() {
    let object = PriorityQueue::default();
    let call = |code: &i8| match code {
        0 => (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Empty)),
        1.. => (PriorityQueueInput::Add(*code as u8), Some(PriorityQueueOutput::Added)),
        _ => {
            let removed = PriorityQueueOutput::Removed(code.unsigned_abs());
            (PriorityQueueInput::Remove, Some(removed))
        }
    };
    let queue = |events: &[usize], calls: &[i8]| Script {
        events: events.to_vec(),
        calls: calls.iter().map(call).collect(),
    };
    let script = queue(&[0, 0, 1, 1, 2, 2, 3, 3], &[9, 3, -9, -3]);
    let proof = broken(&object, &script, "not-least", &[0, 1, 2, 3]);
    assert_eq!(twins_refuse(&object, &script, &proof), 2);
    // 3 and then 5 were inside all the time; a greater one does not matter.
    let events = [0, 0, 1, 1, 6, 6, 2, 3, 3, 4, 4, 2, 5, 5];
    let calls = [9, 3, -9, 5, -3, -5, 12];
    broken(&object, &queue(&events, &calls), "not-least", &[0, 1, 3, 4, 5, 6]);
    broken(&object, &queue(&[0, 0, 1, 1, 2, 2], &[1, 0, -1]), "not-empty", &[0, 1, 2]);
}

#[test]
fn cells() {
    use SwapRegisterInput::{CompareAndSwap, Read, Write};
    use SwapRegisterOutput::{Read as Got, Swapped, Written};
    let object = SwapRegister::default();
    let write = |value: u8| (Write(value), Some(Written));
    let read = |value: u8| (Read, Some(Got(value)));
    let swap = |expected: u8, new: u8, is_swapped: bool| {
        (CompareAndSwap { expected, new }, Some(Swapped(is_swapped)))
    };
    let script =
        |events: &[usize], calls: &[_]| Script { events: events.to_vec(), calls: calls.to_vec() };
    broken(&object, &script(&[0, 0], &[read(7)]), "unwritten", &[0]);
    broken(&object, &script(&[0, 0, 1, 1], &[read(7), write(7)]), "reversed", &[0, 1]);
    let stale = script(&[0, 0, 1, 1, 2, 2], &[write(1), write(2), read(1)]);
    let proof = broken(&object, &stale, "interleaved", &[0, 1, 2]);
    assert_eq!(twins_refuse(&object, &stale, &proof), 2);
    let back =
        script(&[0, 1, 0, 1, 2, 2, 3, 3, 4, 4], &[write(1), write(2), read(1), read(2), read(1)]);
    broken(&object, &back, "interleaved", &[0, 1, 3, 4]);
    broken(&object, &script(&[0, 0, 1, 1], &[write(1), read(0)]), "interleaved", &[0, 1]);
    let twice = script(&[0, 1, 0, 1], &[swap(0, 1, true), swap(0, 2, true)]);
    broken(&object, &twice, "replaced-twice", &[0, 1]);
    let circle = script(&[0, 1, 0, 1], &[swap(1, 2, true), swap(2, 1, true)]);
    broken(&object, &circle, "circle", &[0, 1]);
    // 0 was replaced by 1, and that by 2, when 0 was read.
    let late = script(&[0, 0, 1, 1, 2, 2], &[swap(0, 1, true), swap(1, 2, true), read(0)]);
    broken(&object, &late, "reversed", &[0, 2]);
    let missed = script(&[0, 0, 1, 1, 2, 2], &[write(1), swap(1, 2, false), read(1)]);
    let proof = broken(&object, &missed, "not-missed", &[0, 1, 2]);
    // It may fail before the write.
    assert_eq!(twins_refuse(&object, &missed, &proof), 1);
    // What did not respond took effect, since its value was read.
    let open = (CompareAndSwap { expected: 7, new: 1 }, None);
    broken(&object, &script(&[0, 1, 1], &[open, read(1)]), "unwritten", &[0, 1]);
    let open = [(CompareAndSwap { expected: 0, new: 1 }, None), (Write(3), None)];
    assert!(has_order(&object, &script(&[0, 1, 2, 2], &[open[0], open[1], read(0)]).history()));
    let calls = [open[0], open[1], read(1), read(3), read(0)];
    let events = [0, 1, 2, 2, 3, 3, 4, 4];
    broken(&object, &script(&events, &calls), "reversed", &[0, 2, 4]);
}

/// Proofs that name operations of the right kind, of which one comes too early, or there are too few.
#[test]
fn forged_proofs_are_refused() {
    use SwapRegisterInput::{CompareAndSwap, Read, Write};
    use SwapRegisterOutput::{Read as Got, Swapped, Written};
    let id = OperationId::from_index;
    let object = SwapRegister::default();
    let calls = vec![
        (Write(1), Some(Written)),
        (CompareAndSwap { expected: 1, new: 2 }, Some(Swapped(false))),
        (Read, Some(Got(1))),
        (Write(3), Some(Written)),
    ];
    // The read began before the swap ended, and 3 may have been written in between.
    let script = Script { events: vec![0, 0, 1, 2, 3, 2, 1, 3], calls };
    let history = script.history();
    assert!(has_order(&object, &history));
    let proof = Proof::NotMissed { operation: id(1), before: id(0), after: id(2) };
    assert!(matches!(check_proof(&object, &history, &proof), Err(ProofError::Time { .. })));
    let unknown = Proof::NotMissed { operation: id(1), before: id(0), after: id(9) };
    let no_such = ProofError::NoSuchOperation { operation: id(9) };
    assert_eq!(check_proof(&object, &history, &unknown), Err(no_such));
    // Two values must have left, and two removals had begun.
    let object = Queue::default();
    let script = queue(&[0, 0, 1, 1, 2, 2, 3, 4, 5, 5], &[1, 2, 3, 100, 100, -3]);
    let history = script.history();
    assert!(has_order(&object, &history));
    let later = Stay { addition: id(2), removal: Some(id(5)) };
    let debts = [0, 1].map(|one| Debt { addition: id(one), later }).to_vec();
    let proof = Proof::Overdue { debts: debts.clone(), removals: vec![id(3), id(4)] };
    assert!(matches!(check_proof(&object, &history, &proof), Err(ProofError::Count { .. })));
    let twice = Proof::Overdue {
        debts: [debts[..1].to_vec(), debts].concat(),
        removals: vec![id(3), id(4)],
    };
    assert!(matches!(check_proof(&object, &history, &twice), Err(ProofError::Count { .. })));
    // The rule of a stack says nothing of a queue.
    let chain = vec![later];
    let proof = Proof::Crossed { chain };
    assert!(matches!(check_proof(&object, &history, &proof), Err(ProofError::Object { .. })));
}

#[test]
fn locks() {
    let object = Lock::default();
    let acquire = |owner: u8| (LockInput::Acquire(owner), Some(LockOutput));
    let release = |owner: u8| (LockInput::Release(owner), Some(LockOutput));
    let script =
        |events: &[usize], calls: &[_]| Script { events: events.to_vec(), calls: calls.to_vec() };
    let both = script(&[0, 0, 1, 1, 2, 2, 3, 3], &[acquire(1), acquire(2), release(1), release(2)]);
    let proof = broken(&object, &both, "interleaved", &[0, 1, 2, 3]);
    assert_eq!(twins_refuse(&object, &both, &proof), 1);
    // Neither gives it back.
    broken(&object, &script(&[0, 1, 0, 1], &[acquire(1), acquire(2)]), "interleaved", &[0, 1]);
    // The release had not begun when the other had the lock; whether it took effect is not known.
    let mut open = script(&[0, 0, 1, 1, 2], &[acquire(1), acquire(2), release(1)]);
    open.calls[2].1 = None;
    broken(&object, &open, "interleaved", &[0, 1, 2]);
}
