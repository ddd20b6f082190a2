//! A generic implementation of every object: a monitor in which operations wait until they can form
//! a group, with three optional mistakes, which students made.

use lineup::subjects::{Mistake, Monitor};
use snapshot_core::synchronisation::Synchronisation;
use snapshot_core::synchronisation::objects::*;

use super::{Seen, explore};

const RIGHT_SCHEDULES: u64 = 60;
const WRONG_SCHEDULES: u64 = 300;

/// Asserts that the monitor without mistakes is right, and that each mistake shows in some
/// execution.
fn judge<S>(
    object: S,
    threads: &[Vec<S::Input>],
    outputs: fn(&S::Input) -> Vec<S::Output>,
    mistakes: &[Mistake],
) -> Seen
where
    S: Synchronisation + Copy + Send + Sync + 'static,
    S::State: Send,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
{
    let run = |mistake: Mistake, schedules: u64| {
        let new = move || Monitor::new(object, outputs, mistake);
        let operate = |monitor: &Monitor<S>, _: usize, input: S::Input| monitor.operate(input);
        explore(&object, schedules, threads, new, operate)
    };
    let name = std::any::type_name::<S>();
    let right = run(Mistake::None, RIGHT_SCHEDULES);
    right.assert_right(name);
    for &mistake in mistakes {
        run(mistake, WRONG_SCHEDULES).assert_wrong(&format!("{name} {mistake:?}"));
    }
    right
}

#[test]
fn channels() {
    use ChannelInput::{Receive, Send};
    let sent = vec![Send(1), Send(2)];
    let threads = [sent.clone(), vec![Receive, Receive], sent, vec![Receive, Receive]];
    let outputs = |input: &ChannelInput<u8>| match input {
        Send(_) => vec![ChannelOutput::Sent],
        Receive => vec![ChannelOutput::Received(1), ChannelOutput::Received(2)],
    };
    let right = judge(
        Channel::default(),
        &threads,
        outputs,
        &[Mistake::TwoPlaces, Mistake::WakeOne, Mistake::Impatience],
    );
    assert_eq!(right.stuck, 0);
    // One receive too many, which waits for ever, as it should.
    let more = [vec![Send(1)], vec![Receive, Receive], vec![Send(2)], vec![Receive]];
    let right = judge(Channel::default(), &more, outputs, &[Mistake::WakeOne]);
    assert_eq!(right.stuck, right.executions);
    let threads = [vec![Send(1)], vec![Receive], vec![Send(2)], vec![Receive]];
    let outputs = |input: &ChannelInput<u8>| match input {
        Send(_) => vec![TimeoutOutput::Sent(true), TimeoutOutput::Sent(false)],
        Receive => vec![Some(1), Some(2), None].into_iter().map(TimeoutOutput::Received).collect(),
    };
    judge(TimeoutChannel::default(), &threads, outputs, &[Mistake::TwoPlaces]);
    let outputs = |input: &ChannelInput<u8>| match input {
        Send(_) => (1..=2).map(CounterOutput::Sent).collect(),
        Receive => [1, 2]
            .into_iter()
            .flat_map(|number| [1, 2].map(|value| CounterOutput::Received(value, number)))
            .collect(),
    };
    judge(CounterChannel::default(), &threads, outputs, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let outputs = |input: &ChannelInput<u8>| match input {
        Send(_) => vec![ChannelOutput::Sent],
        Receive => vec![ChannelOutput::Received(1)],
    };
    let threads = [vec![Send(1), Send(1)], vec![Receive; 2], vec![Receive; 2]];
    judge(AtomicBroadcast::new(2), &threads, outputs, &[Mistake::WakeOne, Mistake::Impatience]);
}

#[test]
fn filtering_and_closeable_channels() {
    use ChannelOutput::{Received, Sent};
    let outputs = |input: &FilterInput<u8>| match input {
        FilterInput::Send(_) => vec![Sent],
        FilterInput::Receive(accepted) => accepted.iter().copied().map(Received).collect(),
    };
    let send = |value| vec![FilterInput::Send(value)];
    let threads = [
        send(1),
        send(2),
        vec![FilterInput::Receive(vec![2])],
        vec![FilterInput::Receive(vec![1, 2])],
    ];
    judge(FilterChannel::default(), &threads, outputs, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let outputs = |input: &CloseableInput<u8>| match input {
        CloseableInput::Send(_) => vec![CloseableOutput::Sent, CloseableOutput::Closed],
        CloseableInput::Receive => vec![CloseableOutput::Received(1), CloseableOutput::Closed],
        CloseableInput::Close => vec![CloseableOutput::Closed],
    };
    let threads = [
        vec![CloseableInput::Send(1)],
        vec![CloseableInput::Receive],
        vec![CloseableInput::Close],
        vec![CloseableInput::Send(1)],
    ];
    judge(
        CloseableChannel::default(),
        &threads,
        outputs,
        &[Mistake::TwoPlaces, Mistake::Impatience],
    );
}

#[test]
fn exchangers_and_families() {
    let all = |_: &u8| vec![1, 2, 3, 4];
    let threads = [vec![1], vec![2], vec![3], vec![4]];
    judge(Exchanger::default(), &threads, all, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let all = |_: &u8| vec![Some(1), Some(2), Some(3), Some(4), None];
    judge(TimeoutExchanger::default(), &threads, all, &[Mistake::TwoPlaces]);
    let all = |_: &PairInput<u8>| vec![1, 2];
    let (first, second) = (PairInput::First, PairInput::Second);
    let threads = [vec![first(1)], vec![first(2)], vec![second(1)], vec![second(2)]];
    judge(MenAndWomen::default(), &threads, all, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let threads = [vec![first(1); 2], vec![first(2); 2], vec![second(1); 2], vec![second(2); 2]];
    judge(TwoFamilies::default(), &threads, all, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let all = |me: &u8| (1..=3).filter(|other| other != me).collect();
    let threads = [vec![1; 2], vec![2; 2], vec![3; 2]];
    judge(OneFamily::default(), &threads, all, &[Mistake::TwoPlaces, Mistake::Impatience]);
    let all = |_: &AbcInput<u8>| vec![(1, 1)];
    let threads = [vec![AbcInput::A(1); 2], vec![AbcInput::B(1); 2], vec![AbcInput::C(1); 2]];
    judge(Abc::default(), &threads, all, &[Mistake::WakeOne, Mistake::Impatience]);
}

#[test]
fn barriers_and_terminating_queues() {
    let threads = vec![vec![(), ()]; 3];
    judge(
        Barrier { threads: 3 },
        &threads,
        |()| vec![()],
        &[Mistake::TwoPlaces, Mistake::WakeOne, Mistake::Impatience],
    );
    let leads = |(): &()| vec![true, false];
    judge(
        LeaderBarrier { threads: 3 },
        &threads,
        leads,
        &[Mistake::TwoPlaces, Mistake::WakeOne, Mistake::Impatience],
    );
    let thread = |me| {
        vec![EnrollableInput::Enrol(me), EnrollableInput::Sync(me), EnrollableInput::Resign(me)]
    };
    let threads = [thread(1), thread(2), thread(3)];
    judge(EnrollableBarrier::default(), &threads, |_| vec![()], &[Mistake::Impatience]);
    let outputs = |input: &TerminatingInput<u8>| match input {
        TerminatingInput::Enqueue(_) => vec![TerminatingOutput::Enqueued],
        TerminatingInput::Dequeue => {
            vec![TerminatingOutput::Ended, TerminatingOutput::Dequeued(1)]
        }
    };
    let dequeue = TerminatingInput::Dequeue;
    let threads = [
        vec![TerminatingInput::Enqueue(1), dequeue.clone(), dequeue.clone()],
        vec![dequeue.clone(), dequeue],
    ];
    judge(TerminatingQueue::new(2), &threads, outputs, &[Mistake::Impatience]);
}
