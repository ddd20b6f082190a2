//! All histories of two or three processes and a few operations.
//!
//! The expected counts keep the enumeration honest: a space that silently loses
//! histories fails.

use std::fmt::Debug;

use snapshot_core::generic::objects::{
    Queue, QueueInput, QueueOutput, Register, RegisterInput, RegisterOutput, Semaphore,
    SemaphoreInput, SemaphoreOutput, Set, SetInput, SetOutput, Stack, StackInput, StackOutput,
    SwapRegister, SwapRegisterInput, SwapRegisterOutput,
};
use snapshot_core::generic::{HistoryBuilder, Specification};

use crate::objects::judged::agreed_verdict;
use crate::objects::oracle::{
    Machine, Permits, QueueMachine, RegisterMachine, RoomForOne, SetMachine, StackMachine,
    SwapRegisterMachine,
};

/// The histories of some processes that begin at most some operations, each
/// with one of these inputs and the outputs that go with it.
struct Space<I, O> {
    processes: usize,
    operations: usize,
    calls: Vec<(I, Vec<O>)>,
}

#[derive(Debug, Default, Eq, PartialEq)]
struct Counts {
    histories: usize,
    linearizable: usize,
}

impl<I: Clone + Debug, O: Clone + Debug + PartialEq> Space<I, O> {
    fn explore<S, M>(&self, specification: &S) -> Counts
    where
        S: Specification<Input = I, Output = O>,
        M: Machine<Input = I, Output = O>,
    {
        let mut counts = Counts::default();
        let builder = HistoryBuilder::default();
        self.extend::<S, M>(specification, &builder, &vec![None; self.processes], 0, &mut counts);
        counts
    }

    /// `open`: for each process, its open call.
    fn extend<S, M>(
        &self,
        specification: &S,
        builder: &HistoryBuilder<I, O>,
        open: &[Option<usize>],
        begun: usize,
        counts: &mut Counts,
    ) where
        S: Specification<Input = I, Output = O>,
        M: Machine<Input = I, Output = O>,
    {
        counts.histories += 1;
        let verdict = agreed_verdict::<S, M>(specification, &builder.clone().finish());
        counts.linearizable += usize::from(verdict);
        for process in 0..self.processes {
            let mut go_on = |event: &dyn Fn(&mut HistoryBuilder<I, O>), call, begun| {
                let (mut builder, mut open) = (builder.clone(), open.to_vec());
                event(&mut builder);
                open[process] = call;
                self.extend::<S, M>(specification, &builder, &open, begun, counts);
            };
            match open[process] {
                Some(call) => {
                    for output in &self.calls[call].1 {
                        let respond = |builder: &mut HistoryBuilder<I, O>| {
                            builder.respond(process, output.clone()).expect("an operation is open");
                        };
                        go_on(&respond, None, begun);
                    }
                }
                None if begun < self.operations => {
                    for (call, (input, _)) in self.calls.iter().enumerate() {
                        let invoke = |builder: &mut HistoryBuilder<I, O>| {
                            builder.invoke(process, input.clone()).expect("the process is idle");
                        };
                        go_on(&invoke, Some(call), begun + 1);
                    }
                }
                None => {}
            }
        }
    }
}

#[test]
fn registers() {
    use RegisterInput::{Read, Write};
    use RegisterOutput::{Read as Got, Written};
    let calls = vec![
        (Write(1), vec![Written]),
        (Write(2), vec![Written]),
        (Read, vec![Got(0), Got(1), Got(2)]),
    ];
    let counts = Space { processes: 2, operations: 4, calls }
        .explore::<_, RegisterMachine>(&Register::default());
    assert_eq!(counts, Counts { histories: 142_315, linearizable: 36_911 });
}

#[test]
fn swap_registers() {
    use SwapRegisterInput::{CompareAndSwap, Read};
    use SwapRegisterOutput::{Read as Got, Swapped};
    let answers = vec![Swapped(true), Swapped(false)];
    let calls = vec![
        (CompareAndSwap { expected: 0, new: 1 }, answers.clone()),
        (CompareAndSwap { expected: 1, new: 0 }, answers),
        (Read, vec![Got(0), Got(1)]),
    ];
    let counts = Space { processes: 2, operations: 4, calls }
        .explore::<_, SwapRegisterMachine>(&SwapRegister::default());
    assert_eq!(counts, Counts { histories: 270_469, linearizable: 43_419 });
}

#[test]
fn queues() {
    use QueueInput::{Dequeue, Enqueue};
    use QueueOutput::{Dequeued, Empty, Enqueued};
    let calls = vec![
        (Enqueue(1), vec![Enqueued]),
        (Enqueue(2), vec![Enqueued]),
        (Dequeue, vec![Dequeued(1), Dequeued(2), Empty]),
    ];
    let counts =
        Space { processes: 2, operations: 4, calls }.explore::<_, QueueMachine>(&Queue::default());
    assert_eq!(counts, Counts { histories: 142_315, linearizable: 36_167 });
}

#[test]
fn stacks() {
    use StackInput::{Pop, Push};
    use StackOutput::{Empty, Popped, Pushed};
    let calls = vec![
        (Push(1), vec![Pushed]),
        (Push(2), vec![Pushed]),
        (Pop, vec![Popped(1), Popped(2), Empty]),
    ];
    let counts =
        Space { processes: 2, operations: 4, calls }.explore::<_, StackMachine>(&Stack::default());
    assert_eq!(counts, Counts { histories: 142_315, linearizable: 38_255 });
}

#[test]
fn sets() {
    use SetInput::{Add, Contains, Remove};
    let answers = || vec![SetOutput(true), SetOutput(false)];
    let calls = vec![
        (Add(1), answers()),
        (Remove(1), answers()),
        (Contains(1), answers()),
        (Add(2), answers()),
    ];
    let counts =
        Space { processes: 2, operations: 3, calls }.explore::<_, SetMachine>(&Set::default());
    assert_eq!(counts, Counts { histories: 26_425, linearizable: 6_337 });
}

#[test]
fn three_processes() {
    use QueueInput::{Dequeue, Enqueue};
    use QueueOutput::{Dequeued, Enqueued};
    let calls = vec![(Enqueue(1), vec![Enqueued]), (Dequeue, vec![Dequeued(1)])];
    let counts =
        Space { processes: 3, operations: 4, calls }.explore::<_, QueueMachine>(&Queue::default());
    assert_eq!(counts, Counts { histories: 65_869, linearizable: 36_289 });
}

#[test]
fn bounded_queues() {
    use QueueInput::{Dequeue, Enqueue};
    use QueueOutput::{Dequeued, Empty, Enqueued, Full};
    let calls = vec![
        (Enqueue(1), vec![Enqueued, Full]),
        (Enqueue(2), vec![Enqueued, Full]),
        (Dequeue, vec![Dequeued(1), Dequeued(2), Empty]),
    ];
    let counts =
        Space { processes: 2, operations: 4, calls }.explore::<_, RoomForOne>(&Queue::bounded(1));
    assert_eq!(counts, Counts { histories: 469_935, linearizable: 50_871 });
}

#[test]
fn semaphores() {
    use SemaphoreInput::{Release, TryAcquire};
    use SemaphoreOutput::{Done, Tried};
    let calls = vec![(TryAcquire, vec![Tried(true), Tried(false)]), (Release, vec![Done])];
    let counts = Space { processes: 3, operations: 4, calls }
        .explore::<_, Permits>(&Semaphore { permits: 0 });
    assert_eq!(counts, Counts { histories: 251_989, linearizable: 116_989 });
}
