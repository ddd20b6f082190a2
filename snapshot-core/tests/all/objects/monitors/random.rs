//! Random histories of 5 to 12 operations, which an execution made or almost made, and their twins
//! one event apart, against all orders.

use std::fmt::Debug;

use snapshot_core::generic::Specification;
use snapshot_core::generic::objects::{
    Counter, CounterInput, CounterOutput, Lock, LockInput, LockOutput, PriorityQueue,
    PriorityQueueInput, PriorityQueueOutput, Queue, QueueInput, QueueOutput, Register,
    RegisterInput, RegisterOutput, Set, SetInput, SetOutput, Stack, StackInput, StackOutput,
    SwapRegister, SwapRegisterInput, SwapRegisterOutput,
};
use test_support::effort;

use super::{Script, Tally, has_order, judged};

/// Numbers that look random.
#[derive(Clone)]
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// An object with inputs to draw, and the outputs that an input may have.
pub trait Drawn: Specification<Input: Clone + Debug, Output: Clone + Debug> {
    /// The input of the operation with this number, the k-th of its process.
    fn input(&self, draws: &mut Draws, process: (usize, usize), number: usize) -> Self::Input;

    /// Outputs, of which the state allows one at most.
    fn outputs(&self, input: &Self::Input, most: usize) -> Vec<Self::Output>;
}

/// Executes operations of `processes`: each takes effect at some instant, if the state allows it.
/// Some do not respond. With `lies`, some return another output.
pub fn execute<S: Drawn>(
    object: &S,
    draws: &mut Draws,
    (processes, operations): (usize, usize),
    lies: bool,
    losses: bool,
) -> Script<S::Input, S::Output> {
    let mut script = Script { events: Vec::new(), calls: Vec::new() };
    // Per process its open operation, and whether it took effect.
    let mut open: Vec<Option<(usize, bool)>> = vec![None; processes];
    let mut state = object.initial();
    let mut counts = vec![0; processes];
    let mut idle = 0;
    while (script.calls.len() < operations || open.iter().any(Option::is_some)) && idle < 60 {
        let process = draws.below(processes);
        idle += 1;
        match open[process] {
            None if script.calls.len() < operations => {
                let number = script.calls.len();
                open[process] = Some((number, false));
                script.events.push(number);
                let input = object.input(draws, (process, counts[process]), number);
                script.calls.push((input, None));
                counts[process] += 1;
                idle = 0;
            }
            None => {}
            Some((number, false)) => {
                let (input, output) = &mut script.calls[number];
                for possible in object.outputs(input, operations) {
                    let mut next = state.clone();
                    if object.apply(&mut next, input, Some(&possible)) {
                        (*output, state) = (Some(possible), next);
                        open[process] = Some((number, true));
                        idle = 0;
                        break;
                    }
                }
            }
            Some((number, true)) => {
                open[process] = None;
                idle = 0;
                if losses && draws.below(10) == 0 {
                    script.calls[number].1 = None;
                    continue;
                }
                let (input, output) = &mut script.calls[number];
                if lies && draws.below(30) == 0 {
                    let others = object.outputs(input, operations);
                    *output = Some(others[draws.below(others.len())].clone());
                }
                script.events.push(number);
            }
        }
    }
    for (number, (_, output)) in script.calls.iter_mut().enumerate() {
        if script.events.iter().filter(|one| **one == number).count() < 2 {
            *output = None;
        }
    }
    if lies {
        disturb(&mut script, draws);
    }
    script
}

/// Exchanges what two operations returned, and some events with their neighbours.
fn disturb<I: Eq, O>(script: &mut Script<I, O>, draws: &mut Draws) {
    for _ in 0..4 {
        let (one, other) = (draws.below(script.calls.len()), draws.below(script.calls.len()));
        let [low, high] = [one.min(other), one.max(other)];
        let (front, back) = script.calls.split_at_mut(high);
        if let (Some(first), Some(second)) = (front.get_mut(low), back.first_mut())
            && first.0 == second.0
            && first.1.is_some() == second.1.is_some()
        {
            std::mem::swap(&mut first.1, &mut second.1);
        }
        let at = draws.below(script.events.len() - 1);
        if draws.below(2) == 0 && script.events[at] != script.events[at + 1] {
            script.events.swap(at, at + 1);
        }
    }
}

fn some<T>(draws: &mut Draws, rest: T, number: usize, first: fn(u8) -> T) -> T {
    if draws.below(2) == 0 { rest } else { first(number as u8 + 1) }
}

impl Drawn for Queue<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), number: usize) -> QueueInput<u8> {
        some(draws, QueueInput::Dequeue, number, QueueInput::Enqueue)
    }

    fn outputs(&self, input: &QueueInput<u8>, most: usize) -> Vec<QueueOutput<u8>> {
        match input {
            QueueInput::Enqueue(_) => vec![QueueOutput::Enqueued],
            QueueInput::Dequeue => {
                let removed = (1..=most as u8).map(QueueOutput::Dequeued);
                removed.chain([QueueOutput::Empty]).collect()
            }
        }
    }
}

impl Drawn for Stack<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), number: usize) -> StackInput<u8> {
        some(draws, StackInput::Pop, number, StackInput::Push)
    }

    fn outputs(&self, input: &StackInput<u8>, most: usize) -> Vec<StackOutput<u8>> {
        match input {
            StackInput::Push(_) => vec![StackOutput::Pushed],
            StackInput::Pop => {
                let removed = (1..=most as u8).map(StackOutput::Popped);
                removed.chain([StackOutput::Empty]).collect()
            }
        }
    }
}

impl Drawn for PriorityQueue<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), number: usize) -> PriorityQueueInput<u8> {
        // Each number from 1 to 12 once, in another order.
        some(draws, PriorityQueueInput::Remove, number * 5 % 13 + 12, PriorityQueueInput::Add)
    }

    fn outputs(&self, input: &PriorityQueueInput<u8>, _: usize) -> Vec<PriorityQueueOutput<u8>> {
        match input {
            PriorityQueueInput::Add(_) => vec![PriorityQueueOutput::Added],
            PriorityQueueInput::Remove => {
                let removed = (1..=26).map(PriorityQueueOutput::Removed);
                removed.chain([PriorityQueueOutput::Empty]).collect()
            }
        }
    }
}

impl Drawn for Register<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), number: usize) -> RegisterInput<u8> {
        some(draws, RegisterInput::Read, number, RegisterInput::Write)
    }

    fn outputs(&self, input: &RegisterInput<u8>, most: usize) -> Vec<RegisterOutput<u8>> {
        match input {
            RegisterInput::Read => (0..=most as u8).map(RegisterOutput::Read).collect(),
            RegisterInput::Write(_) => vec![RegisterOutput::Written],
        }
    }
}

impl Drawn for SwapRegister<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), number: usize) -> SwapRegisterInput<u8> {
        let new = number as u8 + 1;
        match draws.below(4) {
            0 => SwapRegisterInput::Read,
            1 => SwapRegisterInput::Write(new),
            _ => {
                let expected = draws.below(number + 1) as u8;
                SwapRegisterInput::CompareAndSwap { expected, new }
            }
        }
    }

    fn outputs(&self, input: &SwapRegisterInput<u8>, most: usize) -> Vec<SwapRegisterOutput<u8>> {
        match input {
            SwapRegisterInput::Read => (0..=most as u8).map(SwapRegisterOutput::Read).collect(),
            SwapRegisterInput::Write(_) => vec![SwapRegisterOutput::Written],
            SwapRegisterInput::CompareAndSwap { .. } => {
                [true, false].map(SwapRegisterOutput::Swapped).to_vec()
            }
        }
    }
}

impl Drawn for Lock<u8> {
    fn input(&self, _: &mut Draws, (process, count): (usize, usize), _: usize) -> LockInput<u8> {
        let owner = process as u8;
        if count % 2 == 0 { LockInput::Acquire(owner) } else { LockInput::Release(owner) }
    }

    fn outputs(&self, _: &LockInput<u8>, _: usize) -> Vec<LockOutput> {
        vec![LockOutput]
    }
}

impl Drawn for Set<u8> {
    fn input(&self, draws: &mut Draws, _: (usize, usize), _: usize) -> SetInput<u8> {
        let element = draws.below(2) as u8;
        [SetInput::Add, SetInput::Remove, SetInput::Contains][draws.below(3)](element)
    }

    fn outputs(&self, _: &SetInput<u8>, _: usize) -> Vec<SetOutput> {
        [true, false].map(SetOutput).to_vec()
    }
}

impl Drawn for Counter {
    fn input(&self, draws: &mut Draws, _: (usize, usize), _: usize) -> CounterInput {
        [CounterInput::Increment, CounterInput::Read][draws.below(2)]
    }

    fn outputs(&self, input: &CounterInput, most: usize) -> Vec<CounterOutput> {
        let mut all: Vec<_> = (0..most as i64).map(CounterOutput::Number).collect();
        if *input == CounterInput::Increment {
            all.push(CounterOutput::Changed);
        }
        all
    }
}

/// Judges random histories and the twins of some.
fn tally<S: Drawn>(object: &S) -> Tally {
    let mut draws = Draws(1);
    let mut tally = Tally::default();
    for round in 0..effort::either(1_500, 60_000) {
        let size = (2 + draws.below(5), 5 + draws.below(8));
        let (lies, losses) = (round % 3 != 0, round % 2 == 0);
        let script = execute(object, &mut draws, size, lies, losses);
        let mut judge = |script: &Script<S::Input, S::Output>| {
            let history = script.history();
            judged(object, &history, has_order(object, &history), &mut tally);
        };
        judge(&script);
        if round % 3 == 0 {
            script.twins().for_each(|twin| judge(&twin));
        }
    }
    eprintln!("{tally:?}");
    tally
}

#[test]
fn queues() {
    let tally = tally(&Queue::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    for rule in ["overtaken", "not-empty", "unfounded"] {
        assert!(tally.rules.get(rule) > Some(&5), "{rule}: {tally:?}");
    }
}

#[test]
fn stacks() {
    let tally = tally(&Stack::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    for rule in ["crossed", "not-empty", "unfounded"] {
        assert!(tally.rules.get(rule) > Some(&5), "{rule}: {tally:?}");
    }
}

#[test]
fn priority_queues() {
    let tally = tally(&PriorityQueue::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    for rule in ["not-least", "not-empty", "unfounded"] {
        assert!(tally.rules.get(rule) > Some(&5), "{rule}: {tally:?}");
    }
}

#[test]
fn registers() {
    let tally = tally(&Register::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    assert_eq!(tally.beyond, 0);
    for rule in ["unwritten", "reversed", "interleaved"] {
        assert!(tally.rules.get(rule) > Some(&5), "{rule}: {tally:?}");
    }
}

#[test]
fn swap_registers() {
    let tally = tally(&SwapRegister::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    for rule in ["unwritten", "reversed", "interleaved", "replaced-twice", "not-missed"] {
        assert!(tally.rules.get(rule) > Some(&1), "{rule}: {tally:?}");
    }
}

#[test]
fn locks() {
    let tally = tally(&Lock::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 50, "{tally:?}");
    assert!(tally.rules.get("interleaved") > Some(&5), "{tally:?}");
}

#[test]
fn sets() {
    let tally = tally(&Set::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    assert_eq!(tally.beyond, tally.violations, "orders are found without search");
}

#[test]
fn counters() {
    let tally = tally(&Counter::default());
    assert!(tally.linearizable > 1_000 && tally.violations > 150, "{tally:?}");
    assert_eq!(tally.beyond, tally.violations, "orders are found without search");
}
