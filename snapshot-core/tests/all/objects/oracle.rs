//! The definition of linearizability, taken literally, and objects that are
//! executed, not specified: they share nothing with the checker.

use std::collections::{BTreeSet, VecDeque};

use snapshot_core::generic::objects::{
    QueueInput, QueueOutput, RegisterInput, RegisterOutput, SemaphoreInput, SemaphoreOutput,
    SetInput, SetOutput, StackInput, StackOutput, SwapRegisterInput, SwapRegisterOutput,
};
use snapshot_core::generic::{History, Operation};

/// An object that runs.
pub trait Machine: Clone + Default {
    type Input;
    type Output: PartialEq;
    fn run(&mut self, input: &Self::Input) -> Self::Output;
}

/// The largest number of operations that [`decide`] accepts.
const LIMIT: usize = 7;

/// Returns true if some order of all complete and some pending operations respects precedence and
/// agrees with the machine. Tries all orders.
pub fn decide<M: Machine>(history: &History<M::Input, M::Output>) -> bool {
    let happened = |operation: &&Operation<M::Input, M::Output>| !operation.is_failed();
    let (complete, pending): (Vec<_>, Vec<_>) =
        history.operations().iter().filter(happened).partition(|o| o.response().is_some());
    assert!(complete.len() + pending.len() <= LIMIT, "the history is too long for this oracle");
    (0..1u32 << pending.len()).any(|subset| {
        let mut operations = complete.clone();
        let chosen = pending.iter().enumerate().filter(|(k, _)| subset >> k & 1 == 1);
        operations.extend(chosen.map(|(_, operation)| *operation));
        some_order(&mut operations, 0, &mut |order| {
            respects_precedence(order) && is_executed::<M>(order)
        })
    })
}

/// Returns true if some permutation of `list`, from `fixed` on, is `wanted`.
fn some_order<T: Copy>(
    list: &mut [T],
    fixed: usize,
    wanted: &mut impl FnMut(&[T]) -> bool,
) -> bool {
    if fixed == list.len() {
        return wanted(list);
    }
    for next in fixed..list.len() {
        list.swap(fixed, next);
        let found = some_order(list, fixed + 1, wanted);
        list.swap(fixed, next);
        if found {
            return true;
        }
    }
    false
}

fn respects_precedence<I, O>(order: &[&Operation<I, O>]) -> bool {
    order.iter().enumerate().all(|(place, earlier)| {
        order[place + 1..]
            .iter()
            .all(|later| later.response().is_none_or(|response| response > earlier.invocation))
    })
}

fn is_executed<M: Machine>(order: &[&Operation<M::Input, M::Output>]) -> bool {
    let mut machine = M::default();
    order.iter().all(|operation| {
        let output = machine.run(&operation.input);
        operation.output().is_none_or(|returned| *returned == output)
    })
}

#[derive(Clone, Default)]
pub struct RegisterMachine(u8);

impl Machine for RegisterMachine {
    type Input = RegisterInput<u8>;
    type Output = RegisterOutput<u8>;

    fn run(&mut self, input: &RegisterInput<u8>) -> RegisterOutput<u8> {
        match input {
            RegisterInput::Read => RegisterOutput::Read(self.0),
            RegisterInput::Write(value) => {
                self.0 = *value;
                RegisterOutput::Written
            }
        }
    }
}

#[derive(Clone, Default)]
pub struct SwapRegisterMachine(u8);

impl Machine for SwapRegisterMachine {
    type Input = SwapRegisterInput<u8>;
    type Output = SwapRegisterOutput<u8>;

    fn run(&mut self, input: &SwapRegisterInput<u8>) -> SwapRegisterOutput<u8> {
        match *input {
            SwapRegisterInput::Read => SwapRegisterOutput::Read(self.0),
            SwapRegisterInput::Write(value) => {
                self.0 = value;
                SwapRegisterOutput::Written
            }
            SwapRegisterInput::CompareAndSwap { expected, new } if self.0 == expected => {
                self.0 = new;
                SwapRegisterOutput::Swapped(true)
            }
            SwapRegisterInput::CompareAndSwap { .. } => SwapRegisterOutput::Swapped(false),
        }
    }
}

#[derive(Clone, Default)]
pub struct QueueMachine(VecDeque<u8>);

impl Machine for QueueMachine {
    type Input = QueueInput<u8>;
    type Output = QueueOutput<u8>;

    fn run(&mut self, input: &QueueInput<u8>) -> QueueOutput<u8> {
        match input {
            QueueInput::Enqueue(value) => {
                self.0.push_back(*value);
                QueueOutput::Enqueued
            }
            QueueInput::Dequeue => {
                self.0.pop_front().map_or(QueueOutput::Empty, QueueOutput::Dequeued)
            }
        }
    }
}

#[derive(Clone, Default)]
pub struct StackMachine(VecDeque<u8>);

impl Machine for StackMachine {
    type Input = StackInput<u8>;
    type Output = StackOutput<u8>;

    fn run(&mut self, input: &StackInput<u8>) -> StackOutput<u8> {
        match input {
            StackInput::Push(value) => {
                self.0.push_front(*value);
                StackOutput::Pushed
            }
            StackInput::Pop => self.0.pop_front().map_or(StackOutput::Empty, StackOutput::Popped),
        }
    }
}

#[derive(Clone, Default)]
pub struct SetMachine(BTreeSet<u8>);

impl Machine for SetMachine {
    type Input = SetInput<u8>;
    type Output = SetOutput;

    fn run(&mut self, input: &SetInput<u8>) -> SetOutput {
        SetOutput(match input {
            SetInput::Add(element) => self.0.insert(*element),
            SetInput::Remove(element) => self.0.remove(element),
            SetInput::Contains(element) => self.0.contains(element),
        })
    }
}

/// A queue with room for one value.
#[derive(Clone, Default)]
pub struct RoomForOne(Option<u8>);

impl Machine for RoomForOne {
    type Input = QueueInput<u8>;
    type Output = QueueOutput<u8>;

    fn run(&mut self, input: &QueueInput<u8>) -> QueueOutput<u8> {
        match (input, self.0) {
            (QueueInput::Enqueue(_), Some(_)) => QueueOutput::Full,
            (QueueInput::Enqueue(value), None) => {
                self.0 = Some(*value);
                QueueOutput::Enqueued
            }
            (QueueInput::Dequeue, _) => {
                self.0.take().map_or(QueueOutput::Empty, QueueOutput::Dequeued)
            }
        }
    }
}

/// A semaphore without permits at first, of which permits are only tried.
#[derive(Clone, Default)]
pub struct Permits(u8);

impl Machine for Permits {
    type Input = SemaphoreInput;
    type Output = SemaphoreOutput;

    fn run(&mut self, input: &SemaphoreInput) -> SemaphoreOutput {
        if *input == SemaphoreInput::Release {
            self.0 += 1;
            return SemaphoreOutput::Done;
        }
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        SemaphoreOutput::Tried(left.is_some())
    }
}
