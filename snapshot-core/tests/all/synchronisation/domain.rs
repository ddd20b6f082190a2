//! Objects with small domains, and executions of them: all small ones, and random ones.

use std::fmt::Debug;

use snapshot_core::generic::History;
use snapshot_core::synchronisation::objects::*;
use snapshot_core::synchronisation::{Bond, Member, Synchronisation};

/// An object with the operations of its executions: each input with its possible outputs.
pub struct Domain<S: Synchronisation> {
    pub object: S,
    pub operations: Vec<(S::Input, Vec<S::Output>)>,
}

pub type Recording<S> = History<<S as Synchronisation>::Input, <S as Synchronisation>::Output>;

/// An event of an execution under construction; every operation has its own process.
#[derive(Clone, Debug)]
pub enum Event<I, O> {
    Invoke(I),
    /// The response of an operation, by its number.
    Respond(usize, O),
}

pub type Events<S> = Vec<Event<<S as Synchronisation>::Input, <S as Synchronisation>::Output>>;

impl<S: Synchronisation> Domain<S>
where
    S::Input: Clone + Debug,
    S::Output: Clone + Debug,
{
    pub fn history(events: &[Event<S::Input, S::Output>]) -> Recording<S> {
        let mut history = History::builder();
        let mut invoked = 0;
        for event in events {
            match event {
                Event::Invoke(input) => {
                    history.invoke(invoked, input.clone()).unwrap();
                    invoked += 1;
                }
                Event::Respond(operation, output) => {
                    history.respond(*operation, output.clone()).unwrap();
                }
            }
        }
        history.finish()
    }

    /// All executions of this many operations, complete or not.
    pub fn all(&self, operations: usize, judge: &mut dyn FnMut(&Recording<S>)) {
        self.extend(operations, &mut Vec::new(), &mut Vec::new(), judge);
    }

    fn extend(
        &self,
        operations: usize,
        events: &mut Events<S>,
        open: &mut Vec<(usize, usize)>,
        judge: &mut dyn FnMut(&Recording<S>),
    ) {
        let invoked = events.iter().filter(|event| matches!(event, Event::Invoke(_))).count();
        if invoked == operations {
            judge(&Self::history(events));
        } else {
            for (kind, (input, _)) in self.operations.iter().enumerate() {
                events.push(Event::Invoke(input.clone()));
                open.push((invoked, kind));
                self.extend(operations, events, open, judge);
                open.pop();
                events.pop();
            }
        }
        for index in 0..open.len() {
            let (operation, kind) = open.remove(index);
            for output in &self.operations[kind].1 {
                events.push(Event::Respond(operation, output.clone()));
                self.extend(operations, events, open, judge);
                events.pop();
            }
            open.insert(index, (operation, kind));
        }
    }

    /// Returns an execution of a correct object, of at most this many operations, at most `width`
    /// of them open together; with `slip`, one output or the order of two events is changed.
    pub fn random(
        &self,
        random: &mut Random,
        most: usize,
        width: usize,
        slip: bool,
    ) -> Recording<S> {
        let mut state = self.object.initial();
        let mut events: Events<S> = Vec::new();
        // Operations by state: waiting ones, and ones that took effect with an output.
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        let mut taken: Vec<(usize, S::Output)> = Vec::new();
        let mut invoked = 0;
        for _ in 0..6 * most {
            match random.below(3) {
                0 if invoked < most && waiting.len() + taken.len() < width => {
                    let kind = random.below(self.operations.len());
                    waiting.push((invoked, kind));
                    events.push(Event::Invoke(self.operations[kind].0.clone()));
                    invoked += 1;
                }
                1 => self.take(random, &mut state, &mut waiting, &mut taken),
                _ if !taken.is_empty() => {
                    let (operation, output) = taken.swap_remove(random.below(taken.len()));
                    events.push(Event::Respond(operation, output));
                }
                _ => {}
            }
        }
        if slip {
            self.slip(random, &mut events);
        }
        Self::history(&events)
    }

    /// Lets a random group of waiting operations take effect, if the one drawn is possible.
    fn take(
        &self,
        random: &mut Random,
        state: &mut S::State,
        waiting: &mut Vec<(usize, usize)>,
        taken: &mut Vec<(usize, S::Output)>,
    ) {
        for _ in 0..30 {
            let mut left = waiting.clone();
            let largest = (*self.object.arities().end()).min(4).min(left.len());
            if largest == 0 {
                return;
            }
            let size = 1 + random.below(largest);
            let drawn: Vec<(usize, usize)> =
                (0..size).map(|_| left.swap_remove(random.below(left.len()))).collect();
            let outputs: Vec<S::Output> = drawn
                .iter()
                .map(|(_, kind)| {
                    let outputs = &self.operations[*kind].1;
                    outputs[random.below(outputs.len())].clone()
                })
                .collect();
            let members: Vec<Member<'_, S::Input, S::Output>> = drawn
                .iter()
                .zip(&outputs)
                .map(|((_, kind), output)| (&self.operations[*kind].0, Some(output)))
                .collect();
            let mut after = state.clone();
            if self.object.together(&mut after, &members) == Bond::Yes {
                *state = after;
                *waiting = left;
                taken.extend(drawn.iter().map(|(operation, _)| *operation).zip(outputs));
                return;
            }
        }
    }

    /// Lets an operation respond that did not take effect.
    fn respond_early(&self, random: &mut Random, events: &mut Events<S>) {
        let responded = |operation: usize| {
            events
                .iter()
                .any(|event| matches!(event, Event::Respond(other, _) if *other == operation))
        };
        let inputs = events.iter().filter_map(|event| match event {
            Event::Invoke(input) => Some(format!("{input:?}")),
            Event::Respond(..) => None,
        });
        let waiting: Vec<(usize, String)> =
            inputs.enumerate().filter(|(operation, _)| !responded(*operation)).collect();
        if waiting.is_empty() {
            return;
        }
        let (operation, input) = &waiting[random.below(waiting.len())];
        let same = |(other, _): &&(S::Input, Vec<S::Output>)| format!("{other:?}") == *input;
        let kind = self.operations.iter().find(same).unwrap();
        let output = kind.1[random.below(kind.1.len())].clone();
        events.push(Event::Respond(*operation, output));
    }

    fn slip(&self, random: &mut Random, events: &mut Events<S>) {
        if random.below(3) == 0 {
            self.respond_early(random, events);
        }
        if events.len() < 2 {
            return;
        }
        for _ in 0..=random.below(4) {
            let at = random.below(events.len() - 1);
            match &events[at] {
                Event::Respond(operation, _) if random.below(2) == 0 => {
                    let invoked = events.iter().filter_map(|event| match event {
                        Event::Invoke(input) => Some(input),
                        Event::Respond(..) => None,
                    });
                    let input = invoked.clone().nth(*operation).map(|input| format!("{input:?}"));
                    let same = |(other, _): &&(S::Input, Vec<S::Output>)| {
                        Some(format!("{other:?}")) == input
                    };
                    let kind = self.operations.iter().find(same).unwrap();
                    let output = kind.1[random.below(kind.1.len())].clone();
                    events[at] = Event::Respond(*operation, output);
                }
                // Moves a response earlier, but after its invocation.
                Event::Invoke(_) => {
                    if let Some(Event::Respond(operation, _)) = events.get(at + 1)
                        && *operation
                            < events[..at]
                                .iter()
                                .filter(|event| matches!(event, Event::Invoke(_)))
                                .count()
                    {
                        events.swap(at, at + 1);
                    }
                }
                Event::Respond(..) => {}
            }
        }
    }
}

/// Pseudorandom numbers, the same ones in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

pub fn channel() -> Domain<Channel<u8>> {
    use ChannelInput::{Receive, Send};
    use ChannelOutput::{Received, Sent};
    Domain {
        object: Channel::default(),
        operations: vec![
            (Send(1), vec![Sent]),
            (Send(2), vec![Sent]),
            (Receive, vec![Received(1), Received(2)]),
        ],
    }
}

pub fn filter_channel() -> Domain<FilterChannel<u8>> {
    use ChannelOutput::{Received, Sent};
    use FilterInput::{Receive, Send};
    Domain {
        object: FilterChannel::default(),
        operations: vec![
            (Send(1), vec![Sent]),
            (Send(2), vec![Sent]),
            (Receive(vec![1]), vec![Received(1)]),
            (Receive(vec![1, 2]), vec![Received(1), Received(2)]),
        ],
    }
}

pub fn men_and_women() -> Domain<MenAndWomen<u8>> {
    use PairInput::{First, Second};
    Domain {
        object: MenAndWomen::default(),
        operations: vec![
            (First(1), vec![1, 2]),
            (First(2), vec![1, 2]),
            (Second(1), vec![1, 2]),
            (Second(2), vec![1, 2]),
        ],
    }
}

pub fn exchanger() -> Domain<Exchanger<u8>> {
    let operations = vec![(1, vec![1, 2]), (2, vec![1, 2])];
    Domain { object: Exchanger::default(), operations }
}

pub fn timeout_channel() -> Domain<TimeoutChannel<u8>> {
    use ChannelInput::{Receive, Send};
    use TimeoutOutput::{Received, Sent};
    Domain {
        object: TimeoutChannel::default(),
        operations: vec![
            (Send(1), vec![Sent(true), Sent(false)]),
            (Send(2), vec![Sent(true)]),
            (Receive, vec![Received(Some(1)), Received(Some(2)), Received(None)]),
        ],
    }
}

pub fn timeout_exchanger() -> Domain<TimeoutExchanger<u8>> {
    let outputs = vec![Some(1), Some(2), None];
    Domain {
        object: TimeoutExchanger::default(),
        operations: vec![(1, outputs.clone()), (2, outputs)],
    }
}

pub fn counter_channel() -> Domain<CounterChannel<u8>> {
    use ChannelInput::{Receive, Send};
    use CounterOutput::{Received, Sent};
    Domain {
        object: CounterChannel::default(),
        operations: vec![
            (Send(1), vec![Sent(1), Sent(2), Sent(3)]),
            (Receive, vec![Received(1, 1), Received(1, 2), Received(1, 3)]),
        ],
    }
}

pub fn two_families() -> Domain<TwoFamilies<u8>> {
    use PairInput::{First, Second};
    Domain {
        object: TwoFamilies::default(),
        operations: vec![
            (First(1), vec![1, 2]),
            (First(2), vec![1]),
            (Second(1), vec![1, 2]),
            (Second(2), vec![1, 2]),
        ],
    }
}

pub fn one_family() -> Domain<OneFamily<u8>> {
    Domain {
        object: OneFamily::default(),
        operations: vec![(1, vec![2, 3]), (2, vec![1, 3]), (3, vec![1, 2])],
    }
}

pub fn abc() -> Domain<Abc<u8>> {
    use AbcInput::{A, B, C};
    Domain {
        object: Abc::default(),
        operations: vec![
            (A(1), vec![(1, 1), (2, 1)]),
            (B(1), vec![(1, 1)]),
            (B(2), vec![(1, 1)]),
            (C(1), vec![(1, 1), (1, 2)]),
        ],
    }
}

pub fn barrier(threads: usize) -> Domain<Barrier> {
    Domain { object: Barrier { threads }, operations: vec![((), vec![()])] }
}

pub fn leader_barrier(threads: usize) -> Domain<LeaderBarrier> {
    Domain { object: LeaderBarrier { threads }, operations: vec![((), vec![true, false])] }
}

pub fn enrollable_barrier() -> Domain<EnrollableBarrier<u8>> {
    use EnrollableInput::{Enrol, Resign, Sync};
    let inputs = [Sync(1), Sync(2), Enrol(1), Enrol(2), Resign(1)];
    Domain {
        object: EnrollableBarrier::default(),
        operations: inputs.map(|input| (input, vec![()])).into(),
    }
}

pub fn closeable_channel() -> Domain<CloseableChannel<u8>> {
    use CloseableInput::{Close, Receive, Send};
    use CloseableOutput::{Closed, Received, Sent};
    Domain {
        object: CloseableChannel::default(),
        operations: vec![
            (Send(1), vec![Sent, Closed]),
            (Receive, vec![Received(1), Closed]),
            (Close, vec![Closed]),
        ],
    }
}

pub fn terminating_queue(threads: usize) -> Domain<TerminatingQueue<u8>> {
    use TerminatingInput::{Dequeue, Enqueue};
    use TerminatingOutput::{Dequeued, Ended, Enqueued};
    Domain {
        object: TerminatingQueue::new(threads),
        operations: vec![
            (Enqueue(1), vec![Enqueued]),
            (Enqueue(2), vec![Enqueued]),
            (Dequeue, vec![Dequeued(1), Dequeued(2), Ended]),
        ],
    }
}

pub fn atomic_broadcast(receivers: usize) -> Domain<AtomicBroadcast<u8>> {
    use ChannelInput::{Receive, Send};
    use ChannelOutput::{Received, Sent};
    Domain {
        object: AtomicBroadcast::new(receivers),
        operations: vec![
            (Send(1), vec![Sent]),
            (Send(2), vec![Sent]),
            (Receive, vec![Received(1), Received(2)]),
        ],
    }
}
