//! Objects whose operations take effect together, with a mistake each: how long it takes to find.
//!
//! Those of Figures 14 to 16 of Lawrence and Lowe, "Synchronisation: Specification and Testing",
//! with as many threads and operations. Their wrong implementations are not in the paper; here all are
//! [`Monitor`]s, with a mistake, executed under random schedules ([`execute`]) until one shows it.

use lineup::subjects::{Mistake, Monitor};
use lineup::together::{Fault, execute};
use snapshot_core::synchronisation::Synchronisation;
use snapshot_core::synchronisation::objects::*;

/// Executions after which a mistake is given up.
const MOST: u64 = 100_000;

/// What makes executions that are not set-linearizable, or leaves operations waiting that could
/// take effect: the names of both in records.
const FAULTS: [(&str, Fault); 2] =
    [("linearization", Fault::NotSetLinearizable), ("progress", Fault::NoProgress)];

/// The mistake and the fault that it shows, and the seed of the schedules.
#[derive(Clone, Copy, Debug)]
struct Hunt {
    mistake: Mistake,
    fault: Fault,
    seed: u64,
}

/// An object with mistakes.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// As the paper calls it.
    pub object: &'static str,
    wrong: Mistake,
    stuck: Option<Mistake>,
    find: fn(Hunt) -> Option<u64>,
}

/// Returns the object of this name, and the fault that has this name in records.
pub fn named(object: &str, fault: &str) -> Option<(&'static Meeting, Fault)> {
    let meeting = MEETINGS.iter().find(|meeting| meeting.object == object)?;
    let (_, fault) = FAULTS.iter().find(|(name, _)| *name == fault)?;
    Some((meeting, *fault))
}

impl Meeting {
    /// Whose operations two threads at once may meet as one.
    const fn crowded(object: &'static str, find: fn(Hunt) -> Option<u64>) -> Self {
        Self { object, wrong: Mistake::TwoPlaces, stuck: None, find }
    }

    /// Whose operations may forget to wait.
    const fn hasty(object: &'static str, find: fn(Hunt) -> Option<u64>) -> Self {
        Self { object, wrong: Mistake::Impatience, stuck: None, find }
    }

    /// The same, of which one thread may be woken instead of all.
    const fn sleepy(self) -> Self {
        Self { stuck: Some(Mistake::WakeOne), ..self }
    }

    /// How many executions it takes until one shows this fault, which the object's mistake for it
    /// makes. Seeds begin schedules that have none in common.
    pub fn find(&self, fault: Fault, seed: u64) -> Option<u64> {
        let mistake = match fault {
            Fault::NotSetLinearizable => Some(self.wrong),
            Fault::NoProgress => self.stuck,
            Fault::Unknown => None,
        };
        (self.find)(Hunt { mistake: mistake?, fault, seed })
    }
}

/// All, in the order of Figure 15; then the channel with more threads, as in Figure 14.
pub const MEETINGS: &[Meeting] = &[
    Meeting::crowded("Synchronous channel", channel::<2>).sleepy(),
    Meeting::crowded("Filter channel", filter_channel).sleepy(),
    Meeting::crowded("Men and women", men_and_women).sleepy(),
    Meeting::crowded("Exchanger", exchanger),
    Meeting::crowded("Counter channel", counter_channel),
    Meeting::crowded("Two families", two_families),
    Meeting::crowded("One family", one_family).sleepy(),
    Meeting::crowded("ABC", abc).sleepy(),
    Meeting::hasty("Barrier", barrier).sleepy(),
    Meeting::hasty("Enrollable barrier", enrollable_barrier),
    Meeting::crowded("Timeout channel", timeout_channel),
    Meeting::crowded("Timeout exchanger", timeout_exchanger),
    Meeting::crowded("Closeable channel", closeable_channel),
    Meeting::hasty("Terminating queue", terminating_queue),
    Meeting::crowded("Channel of 4 threads", channel::<2>),
    Meeting::crowded("Channel of 8 threads", channel::<4>),
    Meeting::crowded("Channel of 12 threads", channel::<6>),
    Meeting::crowded("Channel of 16 threads", channel::<8>),
];

fn search<S>(
    object: S,
    threads: &[Vec<S::Input>],
    outputs: fn(&S::Input) -> Vec<S::Output>,
    hunt: Hunt,
) -> Option<u64>
where
    S: Synchronisation + Copy + Send + Sync + 'static,
    S::State: Send,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
{
    (0..MOST).map(|number| number + 1).find(|number| {
        let new = move || Monitor::new(object, outputs, hunt.mistake);
        let operate = |monitor: &Monitor<S>, _: usize, input: S::Input| monitor.operate(input);
        let schedule = hunt.seed * MOST + number;
        execute(&object, schedule, threads, new, operate).fault == Some(hunt.fault)
    })
}

/// Two senders and two receivers, four operations each; no value is sent twice.
fn channel_threads<I: Clone>(send: fn(u8) -> I, receive: &I) -> Vec<Vec<I>> {
    let senders = [(1..=4).map(send).collect(), (5..=8).map(send).collect()];
    let receivers = vec![vec![receive.clone(); 4]; 2];
    senders.into_iter().chain(receivers).collect()
}

/// What a receive may return.
fn values<O>(output: fn(u8) -> O) -> Vec<O> {
    (1..=8).map(output).collect()
}

/// As many senders, and as many receivers, with four operations each.
fn channel<const PAIRS: u8>(hunt: Hunt) -> Option<u64> {
    let sender = |me: u8| (1..=4).map(|number| ChannelInput::Send(4 * me + number)).collect();
    let receiver = |_| vec![ChannelInput::Receive; 4];
    let threads: Vec<_> = (0..PAIRS).map(sender).chain((0..PAIRS).map(receiver)).collect();
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => vec![ChannelOutput::Sent],
        ChannelInput::Receive => (1..=4 * PAIRS).map(ChannelOutput::Received).collect(),
    };
    search(Channel::default(), &threads, outputs, hunt)
}

fn filter_channel(hunt: Hunt) -> Option<u64> {
    let accepts = |values: [u8; 4]| FilterInput::Receive(values.to_vec());
    // One takes odd values, the other one even ones.
    let mut threads = channel_threads(FilterInput::Send, &accepts([1, 3, 5, 7]));
    threads[3] = vec![accepts([2, 4, 6, 8]); 4];
    let outputs = |input: &FilterInput<u8>| match input {
        FilterInput::Send(_) => vec![ChannelOutput::Sent],
        FilterInput::Receive(accepted) => {
            accepted.iter().copied().map(ChannelOutput::Received).collect()
        }
    };
    search(FilterChannel::default(), &threads, outputs, hunt)
}

fn pairs(operations: usize) -> Vec<Vec<PairInput<u8>>> {
    let (first, second) = (PairInput::First, PairInput::Second);
    [first(1), first(2), second(1), second(2)].map(|input| vec![input; operations]).to_vec()
}

fn men_and_women(hunt: Hunt) -> Option<u64> {
    search(MenAndWomen::default(), &pairs(4), |_| vec![1, 2], hunt)
}

fn two_families(hunt: Hunt) -> Option<u64> {
    search(TwoFamilies::default(), &pairs(2), |_| vec![1, 2], hunt)
}

/// Eight threads with an operation each, as in the paper: with more, some may wait for ever.
fn exchanger(hunt: Hunt) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=8).map(|value| vec![value]).collect();
    search(Exchanger::default(), &threads, |_| values(|value| value), hunt)
}

fn counter_channel(hunt: Hunt) -> Option<u64> {
    let threads = channel_threads(ChannelInput::Send, &ChannelInput::Receive);
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => (1..=8).map(CounterOutput::Sent).collect(),
        ChannelInput::Receive => (1..=8)
            .flat_map(|count| (1..=8).map(move |value| CounterOutput::Received(value, count)))
            .collect(),
    };
    search(CounterChannel::default(), &threads, outputs, hunt)
}

fn one_family(hunt: Hunt) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=4).map(|me| vec![me; 3]).collect();
    let others = |me: &u8| (1..=4).filter(|other| other != me).collect();
    search(OneFamily::default(), &threads, others, hunt)
}

/// Two threads for each role.
fn abc(hunt: Hunt) -> Option<u64> {
    let inputs = [AbcInput::A, AbcInput::B, AbcInput::C]
        .map(|role: fn(u8) -> AbcInput<u8>| [role(1), role(2)].map(|input| vec![input; 4]));
    let all = |_: &AbcInput<u8>| vec![(1, 1), (1, 2), (2, 1), (2, 2)];
    search(Abc::default(), inputs.as_flattened(), all, hunt)
}

fn barrier(hunt: Hunt) -> Option<u64> {
    let threads = vec![vec![(); 4]; 4];
    search(Barrier { threads: 4 }, &threads, |()| vec![()], hunt)
}

fn enrollable_barrier(hunt: Hunt) -> Option<u64> {
    let thread = |me| {
        let sync = EnrollableInput::Sync(me);
        vec![EnrollableInput::Enrol(me), sync.clone(), sync, EnrollableInput::Resign(me)]
    };
    let threads: Vec<_> = (1_u8..=4).map(thread).collect();
    search(EnrollableBarrier::default(), &threads, |_| vec![()], hunt)
}

fn timeout_channel(hunt: Hunt) -> Option<u64> {
    let threads = channel_threads(ChannelInput::Send, &ChannelInput::Receive);
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => vec![TimeoutOutput::Sent(true), TimeoutOutput::Sent(false)],
        ChannelInput::Receive => optional(TimeoutOutput::Received),
    };
    search(TimeoutChannel::default(), &threads, outputs, hunt)
}

/// A value, or none.
fn optional<O>(output: fn(Option<u8>) -> O) -> Vec<O> {
    (1..=8).map(Some).chain([None]).map(output).collect()
}

fn timeout_exchanger(hunt: Hunt) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=8).map(|value| vec![value]).collect();
    let all = |_: &u8| optional(|value| value);
    search(TimeoutExchanger::default(), &threads, all, hunt)
}

fn closeable_channel(hunt: Hunt) -> Option<u64> {
    let mut threads = channel_threads(CloseableInput::Send, &CloseableInput::Receive);
    threads[0][3] = CloseableInput::Close;
    let outputs = |input: &CloseableInput<u8>| match input {
        CloseableInput::Send(_) => vec![CloseableOutput::Sent, CloseableOutput::Closed],
        CloseableInput::Receive => {
            let received = values(CloseableOutput::Received);
            received.into_iter().chain([CloseableOutput::Closed]).collect()
        }
        CloseableInput::Close => vec![CloseableOutput::Closed],
    };
    search(CloseableChannel::default(), &threads, outputs, hunt)
}

fn terminating_queue(hunt: Hunt) -> Option<u64> {
    let outputs = |input: &TerminatingInput<u8>| match input {
        TerminatingInput::Enqueue(_) => vec![TerminatingOutput::Enqueued],
        TerminatingInput::Dequeue => {
            let dequeued = values(TerminatingOutput::Dequeued);
            [TerminatingOutput::Ended].into_iter().chain(dequeued).collect()
        }
    };
    let thread = |me: u8| {
        let mut inputs = vec![TerminatingInput::Dequeue; 4];
        inputs[0] = TerminatingInput::Enqueue(me);
        inputs
    };
    let threads: Vec<Vec<TerminatingInput<u8>>> = (1..=4).map(thread).collect();
    search(TerminatingQueue::new(4), &threads, outputs, hunt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_found() {
        for meeting in MEETINGS {
            let found = meeting.find(Fault::NotSetLinearizable, 1);
            assert!(found.is_some(), "{}", meeting.object);
            let stuck = meeting.find(Fault::NoProgress, 1);
            assert_eq!(stuck.is_some(), meeting.stuck.is_some(), "{}", meeting.object);
        }
        assert_eq!(MEETINGS.iter().filter(|meeting| meeting.stuck.is_some()).count(), 6);
    }
}
