//! Random histories, too large for enumeration: up to seven operations of four processes, including
//! pending, failed and lost ones.

use std::fmt::Debug;

use proptest::prelude::*;
use snapshot_core::generic::objects::{
    Queue, QueueInput, QueueOutput, Register, RegisterInput, RegisterOutput, Set, SetInput,
    SetOutput, Stack, StackInput, StackOutput, SwapRegister, SwapRegisterInput, SwapRegisterOutput,
};
use snapshot_core::generic::{History, HistoryBuilder, Outcome, Specification, check, replay};
use snapshot_core::search::Budget;

use crate::objects::judged::agreed_verdict;
use crate::objects::oracle::{
    Machine, QueueMachine, RegisterMachine, SetMachine, StackMachine, SwapRegisterMachine,
};

/// The choices of a run: processes, and a number for each choice.
pub type Script = Vec<(usize, u8)>;

pub fn script(length: usize) -> impl Strategy<Value = Script> {
    prop::collection::vec((0..4usize, any::<u8>()), 1..length)
}

/// Runs a machine: an open operation takes effect at some step between its events, so the history
/// is linearizable except for replaced outputs. At most `operations` operations.
fn run<M: Machine>(
    script: &Script,
    operations: usize,
    input: impl Fn(u8) -> M::Input,
    other: impl Fn(&M::Input, u8) -> Option<M::Output>,
) -> History<M::Input, M::Output>
where
    M::Input: Clone,
    M::Output: Clone,
{
    run_after::<M>(HistoryBuilder::default(), script, operations, input, other)
}

/// Runs a machine behind events of processes other than its four, which do not touch it.
pub fn run_after<M: Machine>(
    mut builder: HistoryBuilder<M::Input, M::Output>,
    script: &Script,
    operations: usize,
    input: impl Fn(u8) -> M::Input,
    other: impl Fn(&M::Input, u8) -> Option<M::Output>,
) -> History<M::Input, M::Output>
where
    M::Input: Clone,
    M::Output: Clone,
{
    enum Phase<I, O> {
        Idle,
        Invoked(I),
        Done(I, O),
    }
    let mut machine = M::default();
    let mut phases: Vec<Phase<M::Input, M::Output>> = (0..4).map(|_| Phase::Idle).collect();
    let mut begun = 0;
    for &(process, number) in script {
        let phase = std::mem::replace(&mut phases[process], Phase::Idle);
        phases[process] = match phase {
            Phase::Idle if begun == operations => Phase::Idle,
            Phase::Idle => {
                begun += 1;
                let input = input(number);
                builder.invoke(process, input.clone()).expect("the process is idle");
                Phase::Invoked(input)
            }
            Phase::Invoked(_) if number.is_multiple_of(16) => {
                builder.fail(process).expect("an operation is open");
                Phase::Idle
            }
            Phase::Invoked(input) => {
                let output = machine.run(&input);
                Phase::Done(input, output)
            }
            Phase::Done(..) if number % 16 == 1 => {
                builder.unknown(process).expect("an operation is open");
                Phase::Idle
            }
            Phase::Done(input, output) => {
                let lie = if number.is_multiple_of(4) { other(&input, number / 4) } else { None };
                builder.respond(process, lie.unwrap_or(output)).expect("an operation is open");
                Phase::Idle
            }
        };
    }
    builder.finish()
}

fn register_input(number: u8) -> RegisterInput<u8> {
    if number < 128 { RegisterInput::Read } else { RegisterInput::Write(number % 3) }
}

fn register_output(input: &RegisterInput<u8>, number: u8) -> Option<RegisterOutput<u8>> {
    matches!(input, RegisterInput::Read).then_some(RegisterOutput::Read(number % 3))
}

pub fn swap_input(number: u8) -> SwapRegisterInput<u8> {
    match number % 4 {
        0 => SwapRegisterInput::Read,
        1 => SwapRegisterInput::Write(number / 4 % 3),
        _ => SwapRegisterInput::CompareAndSwap { expected: number / 4 % 3, new: number / 12 % 3 },
    }
}

pub fn swap_output(input: &SwapRegisterInput<u8>, number: u8) -> Option<SwapRegisterOutput<u8>> {
    match input {
        SwapRegisterInput::Read => Some(SwapRegisterOutput::Read(number % 3)),
        SwapRegisterInput::Write(_) => None,
        SwapRegisterInput::CompareAndSwap { .. } => {
            Some(SwapRegisterOutput::Swapped(number.is_multiple_of(2)))
        }
    }
}

fn queue_input(number: u8) -> QueueInput<u8> {
    if number < 128 { QueueInput::Dequeue } else { QueueInput::Enqueue(number % 4) }
}

fn queue_output(input: &QueueInput<u8>, number: u8) -> Option<QueueOutput<u8>> {
    let output =
        if number % 5 == 4 { QueueOutput::Empty } else { QueueOutput::Dequeued(number % 5) };
    matches!(input, QueueInput::Dequeue).then_some(output)
}

fn stack_input(number: u8) -> StackInput<u8> {
    if number < 128 { StackInput::Pop } else { StackInput::Push(number % 4) }
}

fn stack_output(input: &StackInput<u8>, number: u8) -> Option<StackOutput<u8>> {
    let output = if number % 5 == 4 { StackOutput::Empty } else { StackOutput::Popped(number % 5) };
    matches!(input, StackInput::Pop).then_some(output)
}

fn set_input(number: u8) -> SetInput<u8> {
    let element = number / 3 % 2;
    match number % 3 {
        0 => SetInput::Add(element),
        1 => SetInput::Remove(element),
        _ => SetInput::Contains(element),
    }
}

fn set_output(_: &SetInput<u8>, number: u8) -> Option<SetOutput> {
    Some(SetOutput(number.is_multiple_of(2)))
}

/// Proves that a long run without falsified outputs is linearizable.
fn is_proved<S>(specification: &S, history: &History<S::Input, S::Output>) -> bool
where
    S: Specification<Input: Debug, Output: Debug>,
{
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    match check(specification, history, &mut budget) {
        Outcome::Linearizable { linearization, .. } => {
            replay(specification, history, &linearization).is_ok()
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn registers(script in script(22)) {
        let history = run::<RegisterMachine>(&script, 6, register_input, register_output);
        agreed_verdict::<_, RegisterMachine>(&Register::default(), &history);
    }

    #[test]
    fn swap_registers(script in script(22)) {
        let history = run::<SwapRegisterMachine>(&script, 6, swap_input, swap_output);
        agreed_verdict::<_, SwapRegisterMachine>(&SwapRegister::default(), &history);
    }

    #[test]
    fn queues(script in script(22)) {
        let history = run::<QueueMachine>(&script, 6, queue_input, queue_output);
        agreed_verdict::<_, QueueMachine>(&Queue::default(), &history);
    }

    #[test]
    fn stacks(script in script(22)) {
        let history = run::<StackMachine>(&script, 6, stack_input, stack_output);
        agreed_verdict::<_, StackMachine>(&Stack::default(), &history);
    }

    #[test]
    fn sets(script in script(22)) {
        let history = run::<SetMachine>(&script, 6, set_input, set_output);
        agreed_verdict::<_, SetMachine>(&Set::default(), &history);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn long_runs_are_proved(script in script(120)) {
        let registers = run::<RegisterMachine>(&script, usize::MAX, register_input, |_, _| None);
        prop_assert!(is_proved(&Register::default(), &registers));
        let queues = run::<QueueMachine>(&script, usize::MAX, queue_input, |_, _| None);
        prop_assert!(is_proved(&Queue::default(), &queues));
        let sets = run::<SetMachine>(&script, usize::MAX, set_input, |_, _| None);
        prop_assert!(is_proved(&Set::default(), &sets));
    }
}
