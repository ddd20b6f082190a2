//! The operations of each object that are tried: with values that are told apart.

use snapshot_core::generic::Specification;
use snapshot_core::generic::objects::{
    Counter, CounterInput, CounterOutput, Lock, LockInput, LockOutput, PriorityQueue,
    PriorityQueueInput, PriorityQueueOutput, Queue, QueueInput, QueueOutput, Register,
    RegisterInput, RegisterOutput, Set, SetInput, SetOutput, Stack, StackInput, StackOutput,
    SwapRegister, SwapRegisterInput, SwapRegisterOutput,
};

/// A call and what it returns; nothing if it does not respond.
pub type Call<S> = (<S as Specification>::Input, Option<<S as Specification>::Output>);

/// An object with calls to try.
pub trait Tried: Specification<Input: Clone, Output: Clone> {
    /// The calls that may follow these, which are of operations that began before.
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>>;
}

/// The operations of a collection with their outputs.
struct Collection<I, O> {
    add: fn(u8) -> I,
    added: O,
    remove: I,
    removed: fn(u8) -> O,
    empty: O,
}

impl<I: Clone, O: Clone> Collection<I, O> {
    /// Its calls; `fresh` are values that may be added.
    fn calls(
        &self,
        fresh: impl Iterator<Item = u8>,
        is_complete: bool,
        most: u8,
    ) -> Vec<(I, Option<O>)> {
        let added = is_complete.then_some(&self.added);
        let mut calls: Vec<_> = fresh.map(|value| ((self.add)(value), added.cloned())).collect();
        if is_complete {
            let removed = (1..most).map(|value| (self.removed)(value));
            let outputs = removed.chain([self.empty.clone()]);
            calls.extend(outputs.map(|output| (self.remove.clone(), Some(output))));
        } else {
            calls.push((self.remove.clone(), None));
        }
        calls
    }
}

impl Tried for Queue<u8> {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let added = before.iter().filter(|(input, _)| matches!(input, QueueInput::Enqueue(_)));
        let next = added.count() as u8 + 1;
        let collection = Collection {
            add: QueueInput::Enqueue,
            added: QueueOutput::Enqueued,
            remove: QueueInput::Dequeue,
            removed: QueueOutput::Dequeued,
            empty: QueueOutput::Empty,
        };
        collection.calls(next..=next, is_complete, most)
    }
}

impl Tried for Stack<u8> {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let added = before.iter().filter(|(input, _)| matches!(input, StackInput::Push(_)));
        let next = added.count() as u8 + 1;
        let collection = Collection {
            add: StackInput::Push,
            added: StackOutput::Pushed,
            remove: StackInput::Pop,
            removed: StackOutput::Popped,
            empty: StackOutput::Empty,
        };
        collection.calls(next..=next, is_complete, most)
    }
}

impl Tried for PriorityQueue<u8> {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let is_fresh =
            |value: &u8| before.iter().all(|(input, _)| *input != PriorityQueueInput::Add(*value));
        let collection = Collection {
            add: PriorityQueueInput::Add,
            added: PriorityQueueOutput::Added,
            remove: PriorityQueueInput::Remove,
            removed: PriorityQueueOutput::Removed,
            empty: PriorityQueueOutput::Empty,
        };
        collection.calls((1..most).filter(is_fresh), is_complete, most)
    }
}

impl Tried for Register<u8> {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let written = before.iter().filter(|(input, _)| matches!(input, RegisterInput::Write(_)));
        let next = written.count() as u8 + 1;
        let mut calls =
            vec![(RegisterInput::Write(next), is_complete.then_some(RegisterOutput::Written))];
        if is_complete {
            let read = |value| (RegisterInput::Read, Some(RegisterOutput::Read(value)));
            calls.extend((0..most).map(read));
        }
        calls
    }
}

impl Tried for SwapRegister<u8> {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        use SwapRegisterInput::{CompareAndSwap, Read, Write};
        let next = before.iter().filter(|(input, _)| *input != Read).count() as u8 + 1;
        let mut calls = vec![(Write(next), is_complete.then_some(SwapRegisterOutput::Written))];
        for expected in 0..most {
            let input = CompareAndSwap { expected, new: next };
            if is_complete {
                calls.push((Read, Some(SwapRegisterOutput::Read(expected))));
                for is_swapped in [true, false] {
                    calls.push((input, Some(SwapRegisterOutput::Swapped(is_swapped))));
                }
            } else {
                calls.push((input, None));
            }
        }
        calls
    }
}

impl Tried for Lock<u8> {
    /// Those of one owner alternate.
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let output = is_complete.then_some(LockOutput);
        let count = |owner| before.iter().filter(|(input, _)| *input.owner() == owner).count();
        (1..most.max(2))
            .map(|owner| match count(owner) % 2 {
                0 => (LockInput::Acquire(owner), output),
                _ => (LockInput::Release(owner), output),
            })
            .collect()
    }
}

impl Tried for Set<u8> {
    fn calls(&self, _: &[Call<Self>], is_complete: bool, _: u8) -> Vec<Call<Self>> {
        let answers: &[Option<SetOutput>] =
            if is_complete { &[Some(SetOutput(true)), Some(SetOutput(false))] } else { &[None] };
        [SetInput::Add(1), SetInput::Remove(1), SetInput::Contains(1)]
            .into_iter()
            .flat_map(|input| answers.iter().map(move |answer| (input, *answer)))
            .collect()
    }
}

impl Tried for Counter {
    fn calls(&self, _: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        if !is_complete {
            return vec![(CounterInput::Increment, None)];
        }
        let mut calls = vec![(CounterInput::Increment, Some(CounterOutput::Changed))];
        for number in 0..i64::from(most) {
            for input in [CounterInput::Increment, CounterInput::Read] {
                calls.push((input, Some(CounterOutput::Number(number))));
            }
        }
        calls
    }
}
