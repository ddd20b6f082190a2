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

/// An object with mistakes.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// As the paper calls it.
    pub object: &'static str,
    /// What makes executions that are not set-linearizable.
    pub wrong: Mistake,
    /// What leaves operations waiting, if the paper has such a figure.
    pub stuck: Option<Mistake>,
    find: fn(Mistake, Fault, u64) -> Option<u64>,
}

impl Meeting {
    /// The one with this name.
    pub fn named(object: &str) -> Option<&'static Self> {
        let growing = GROWING.iter().map(|(_, meeting)| meeting);
        MEETINGS.iter().chain(growing).find(|meeting| meeting.object == object)
    }

    /// How many executions it takes until one shows this fault, which the object's mistake for it
    /// makes. Seeds begin schedules that have none in common.
    pub fn find(&self, fault: Fault, seed: u64) -> Option<u64> {
        let mistake = match fault {
            Fault::NotSetLinearizable => Some(self.wrong),
            Fault::NoProgress => self.stuck,
            Fault::Unknown => None,
        };
        (self.find)(mistake?, fault, seed)
    }
}

/// The channel with more threads, as in Figure 14, and how many they are.
pub const GROWING: &[(u32, Meeting)] = &[
    (4, Meeting { object: "Channel of 4 threads", find: channel_of::<2>, ..CHANNEL }),
    (8, Meeting { object: "Channel of 8 threads", find: channel_of::<4>, ..CHANNEL }),
    (12, Meeting { object: "Channel of 12 threads", find: channel_of::<6>, ..CHANNEL }),
    (16, Meeting { object: "Channel of 16 threads", find: channel_of::<8>, ..CHANNEL }),
];

const CHANNEL: Meeting = Meeting {
    object: "Synchronous channel",
    wrong: Mistake::TwoPlaces,
    stuck: Some(Mistake::WakeOne),
    find: channel,
};

/// All, in the order of Figure 15.
pub const MEETINGS: &[Meeting] = &[
    CHANNEL,
    Meeting {
        object: "Filter channel",
        wrong: Mistake::TwoPlaces,
        stuck: Some(Mistake::WakeOne),
        find: filter_channel,
    },
    Meeting {
        object: "Men and women",
        wrong: Mistake::TwoPlaces,
        stuck: Some(Mistake::WakeOne),
        find: men_and_women,
    },
    Meeting { object: "Exchanger", wrong: Mistake::TwoPlaces, stuck: None, find: exchanger },
    Meeting {
        object: "Counter channel",
        wrong: Mistake::TwoPlaces,
        stuck: None,
        find: counter_channel,
    },
    Meeting { object: "Two families", wrong: Mistake::TwoPlaces, stuck: None, find: two_families },
    Meeting {
        object: "One family",
        wrong: Mistake::TwoPlaces,
        stuck: Some(Mistake::WakeOne),
        find: one_family,
    },
    Meeting { object: "ABC", wrong: Mistake::TwoPlaces, stuck: Some(Mistake::WakeOne), find: abc },
    Meeting {
        object: "Barrier",
        wrong: Mistake::Impatience,
        stuck: Some(Mistake::WakeOne),
        find: barrier,
    },
    Meeting {
        object: "Enrollable barrier",
        wrong: Mistake::Impatience,
        stuck: None,
        find: enrollable_barrier,
    },
    Meeting {
        object: "Timeout channel",
        wrong: Mistake::TwoPlaces,
        stuck: None,
        find: timeout_channel,
    },
    Meeting {
        object: "Timeout exchanger",
        wrong: Mistake::TwoPlaces,
        stuck: None,
        find: timeout_exchanger,
    },
    Meeting {
        object: "Closeable channel",
        wrong: Mistake::TwoPlaces,
        stuck: None,
        find: closeable_channel,
    },
    Meeting {
        object: "Terminating queue",
        wrong: Mistake::Impatience,
        stuck: None,
        find: terminating_queue,
    },
];

fn search<S>(
    object: S,
    threads: &[Vec<S::Input>],
    outputs: fn(&S::Input) -> Vec<S::Output>,
    (mistake, fault, seed): (Mistake, Fault, u64),
) -> Option<u64>
where
    S: Synchronisation + Copy + Send + Sync + 'static,
    S::State: Send,
    S::Input: Clone + Send + Sync + 'static,
    S::Output: Clone + Send + 'static,
{
    (0..MOST).map(|number| number + 1).find(|number| {
        let new = move || Monitor::new(object, outputs, mistake);
        let operate = |monitor: &Monitor<S>, _: usize, input: S::Input| monitor.operate(input);
        let schedule = seed * MOST + number;
        execute(&object, schedule, threads, new, operate).fault == Some(fault)
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

fn channel(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    channel_of::<2>(mistake, fault, seed)
}

/// As many senders, and as many receivers, with four operations each.
fn channel_of<const PAIRS: u8>(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let sender = |me: u8| (1..=4).map(|number| ChannelInput::Send(4 * me + number)).collect();
    let receiver = |_| vec![ChannelInput::Receive; 4];
    let threads: Vec<_> = (0..PAIRS).map(sender).chain((0..PAIRS).map(receiver)).collect();
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => vec![ChannelOutput::Sent],
        ChannelInput::Receive => (1..=4 * PAIRS).map(ChannelOutput::Received).collect(),
    };
    search(Channel::default(), &threads, outputs, (mistake, fault, seed))
}

fn filter_channel(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
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
    search(FilterChannel::default(), &threads, outputs, (mistake, fault, seed))
}

fn pairs(operations: usize) -> Vec<Vec<PairInput<u8>>> {
    let (first, second) = (PairInput::First, PairInput::Second);
    [first(1), first(2), second(1), second(2)].map(|input| vec![input; operations]).to_vec()
}

fn men_and_women(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    search(MenAndWomen::default(), &pairs(4), |_| vec![1, 2], (mistake, fault, seed))
}

fn two_families(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    search(TwoFamilies::default(), &pairs(2), |_| vec![1, 2], (mistake, fault, seed))
}

/// Eight threads with an operation each, as in the paper: with more, some may wait for ever.
fn exchanger(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=8).map(|value| vec![value]).collect();
    search(Exchanger::default(), &threads, |_| values(|value| value), (mistake, fault, seed))
}

fn counter_channel(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads = channel_threads(ChannelInput::Send, &ChannelInput::Receive);
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => (1..=8).map(CounterOutput::Sent).collect(),
        ChannelInput::Receive => (1..=8)
            .flat_map(|count| (1..=8).map(move |value| CounterOutput::Received(value, count)))
            .collect(),
    };
    search(CounterChannel::default(), &threads, outputs, (mistake, fault, seed))
}

fn one_family(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=4).map(|me| vec![me; 3]).collect();
    let others = |me: &u8| (1..=4).filter(|other| other != me).collect();
    search(OneFamily::default(), &threads, others, (mistake, fault, seed))
}

/// Two threads for each role.
fn abc(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let inputs = [AbcInput::A, AbcInput::B, AbcInput::C]
        .map(|role: fn(u8) -> AbcInput<u8>| [role(1), role(2)].map(|input| vec![input; 4]));
    let all = |_: &AbcInput<u8>| vec![(1, 1), (1, 2), (2, 1), (2, 2)];
    search(Abc::default(), inputs.as_flattened(), all, (mistake, fault, seed))
}

fn barrier(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads = vec![vec![(); 4]; 4];
    search(Barrier { threads: 4 }, &threads, |()| vec![()], (mistake, fault, seed))
}

fn enrollable_barrier(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let thread = |me| {
        let sync = EnrollableInput::Sync(me);
        vec![EnrollableInput::Enrol(me), sync.clone(), sync, EnrollableInput::Resign(me)]
    };
    let threads: Vec<_> = (1_u8..=4).map(thread).collect();
    search(EnrollableBarrier::default(), &threads, |_| vec![()], (mistake, fault, seed))
}

fn timeout_channel(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads = channel_threads(ChannelInput::Send, &ChannelInput::Receive);
    let outputs = |input: &ChannelInput<u8>| match input {
        ChannelInput::Send(_) => vec![TimeoutOutput::Sent(true), TimeoutOutput::Sent(false)],
        ChannelInput::Receive => optional(TimeoutOutput::Received),
    };
    search(TimeoutChannel::default(), &threads, outputs, (mistake, fault, seed))
}

/// A value, or none.
fn optional<O>(output: fn(Option<u8>) -> O) -> Vec<O> {
    (1..=8).map(Some).chain([None]).map(output).collect()
}

fn timeout_exchanger(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
    let threads: Vec<Vec<u8>> = (1..=8).map(|value| vec![value]).collect();
    let all = |_: &u8| optional(|value| value);
    search(TimeoutExchanger::default(), &threads, all, (mistake, fault, seed))
}

fn closeable_channel(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
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
    search(CloseableChannel::default(), &threads, outputs, (mistake, fault, seed))
}

fn terminating_queue(mistake: Mistake, fault: Fault, seed: u64) -> Option<u64> {
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
    search(TerminatingQueue::new(4), &threads, outputs, (mistake, fault, seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{lawrence_figure15, lawrence_figure16};

    #[test]
    fn all_objects_of_the_figures_are_there_and_their_mistakes_are_found() {
        for row in lawrence_figure15() {
            let meeting = Meeting::named(&row.object).expect("the object is there");
            let found = meeting.find(Fault::NotSetLinearizable, 1);
            assert!(found.is_some(), "{}", row.object);
        }
        for row in lawrence_figure16() {
            let meeting = Meeting::named(&row.object).expect("the object is there");
            assert!(meeting.find(Fault::NoProgress, 1).is_some(), "{}", row.object);
        }
        assert_eq!(lawrence_figure15().len(), MEETINGS.len());
    }
}
