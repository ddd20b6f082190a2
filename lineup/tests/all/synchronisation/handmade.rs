//! Typical implementations by hand, with typical mistakes.

use lineup::sync::{Condvar, Mutex};
use snapshot_core::synchronisation::objects::{
    Barrier, Channel, ChannelInput, ChannelOutput, Exchanger, LeaderBarrier,
};

use super::explore;

const SCHEDULES: u64 = 400;

/// A channel with one place for a value.
struct Slot {
    shared: Mutex<Place>,
    changed: Condvar,
}

#[derive(Default)]
struct Place {
    value: Option<u8>,
    /// The value was received, and its sender has not yet seen it.
    is_taken: bool,
    is_busy: bool,
}

#[derive(Clone, Copy)]
enum Wait {
    /// A sender waits until its own value was received.
    Receiver,
    /// A sender waits until the place is empty: another sender may fill it before it looks.
    EmptyPlace,
    /// A sender does not wait: the place is a buffer.
    Nothing,
}

impl Slot {
    fn new() -> Self {
        Self { shared: Mutex::default(), changed: Condvar::new() }
    }

    fn send(&self, value: u8, wait: Wait) {
        let mut shared = self.shared.lock().unwrap();
        while shared.value.is_some() || shared.is_busy {
            shared = self.changed.wait(shared).unwrap();
        }
        shared.value = Some(value);
        self.changed.notify_all();
        match wait {
            Wait::Receiver => {
                shared.is_busy = true;
                while !shared.is_taken {
                    shared = self.changed.wait(shared).unwrap();
                }
                (shared.is_taken, shared.is_busy) = (false, false);
                self.changed.notify_all();
            }
            Wait::EmptyPlace => {
                while shared.value.is_some() {
                    shared = self.changed.wait(shared).unwrap();
                }
            }
            Wait::Nothing => {}
        }
    }

    fn receive(&self) -> u8 {
        let mut shared = self.shared.lock().unwrap();
        loop {
            if let Some(value) = shared.value.take() {
                shared.is_taken = shared.is_busy;
                self.changed.notify_all();
                return value;
            }
            shared = self.changed.wait(shared).unwrap();
        }
    }
}

#[test]
fn send_waits_for_the_receiver_of_its_value() {
    use ChannelInput::{Receive, Send};
    let explore_with = |wait: Wait, threads: &[Vec<ChannelInput<u8>>]| {
        explore(&Channel::default(), SCHEDULES, threads, Slot::new, move |slot: &Slot, _, input| {
            match input {
                Send(value) => {
                    slot.send(value, wait);
                    ChannelOutput::Sent
                }
                Receive => ChannelOutput::Received(slot.receive()),
            }
        })
    };
    let even = [vec![Send(1), Send(2)], vec![Receive; 2], vec![Send(3)], vec![Receive]];
    let right = explore_with(Wait::Receiver, &even);
    right.assert_right("channel");
    assert_eq!(right.stuck, 0);
    let wrong = explore_with(Wait::Nothing, &even);
    assert!(wrong.wrong > 0, "{wrong:?}");
    // Two sends and one receive: a sender that was received waits behind the other one's value.
    let odd = [vec![Send(1)], vec![Receive], vec![Send(2)]];
    let right = explore_with(Wait::Receiver, &odd);
    right.assert_right("channel");
    assert_eq!(right.stuck, right.executions);
    let wrong = explore_with(Wait::EmptyPlace, &odd);
    assert!(wrong.missed > 0 && wrong.wrong == 0, "{wrong:?}");
}

/// An exchanger with one place.
struct Meeting {
    shared: Mutex<Stage>,
    changed: Condvar,
    /// True if the second thread leaves its value to the first, and the place to the next,
    /// immediately.
    is_hasty: bool,
}

#[derive(Default)]
struct Stage {
    first: Option<u8>,
    second: Option<u8>,
}

impl Meeting {
    fn exchange(&self, mine: u8) -> u8 {
        let mut shared = self.shared.lock().unwrap();
        while !self.is_hasty && shared.second.is_some() {
            shared = self.changed.wait(shared).unwrap();
        }
        if let Some(theirs) = shared.first.take() {
            shared.second = Some(mine);
            self.changed.notify_all();
            return theirs;
        }
        shared.first = Some(mine);
        loop {
            shared = self.changed.wait(shared).unwrap();
            if shared.first.is_none() || self.is_hasty {
                // A hasty one overwrites an unfetched value: Figure 9 of the paper.
                let theirs = if self.is_hasty { shared.second } else { shared.second.take() };
                if let Some(theirs) = theirs {
                    self.changed.notify_all();
                    return theirs;
                }
            }
        }
    }
}

#[test]
fn an_exchanger_waits_until_the_value_is_fetched() {
    let explore_with = |is_hasty: bool| {
        let new = move || Meeting { shared: Mutex::default(), changed: Condvar::new(), is_hasty };
        let threads = [vec![1], vec![2], vec![3], vec![4], vec![5], vec![6]];
        let operate = |meeting: &Meeting, _: usize, mine: u8| meeting.exchange(mine);
        explore(&Exchanger::default(), SCHEDULES, &threads, new, operate)
    };
    let right = explore_with(false);
    right.assert_right("exchanger");
    assert_eq!(right.stuck, 0);
    let wrong = explore_with(true);
    assert!(wrong.wrong > 0, "{wrong:?}");
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Round {
    /// Rounds are counted.
    Counted,
    /// Threads wait until the count is zero again: a fast one comes back before.
    ByCount,
    /// The count is never set back.
    Once,
}

/// A barrier for three threads.
struct Gate {
    /// Number of threads that have come, number of rounds.
    shared: Mutex<(usize, usize)>,
    changed: Condvar,
    round: Round,
}

const THREADS: usize = 3;

impl Gate {
    /// Returns the order of arrival, from 1.
    fn sync(&self) -> usize {
        let mut shared = self.shared.lock().unwrap();
        shared.0 += 1;
        let (order, round) = *shared;
        if order >= THREADS {
            if self.round != Round::Once {
                *shared = (0, round + 1);
            }
            self.changed.notify_all();
            return order;
        }
        let waits = |shared: &(usize, usize)| match self.round {
            Round::Counted => shared.1 == round,
            Round::ByCount => shared.0 != 0,
            Round::Once => shared.0 < THREADS,
        };
        while waits(&shared) {
            shared = self.changed.wait(shared).unwrap();
        }
        order
    }
}

fn gate(round: Round) -> impl Fn() -> Gate + Clone + Send + Sync + 'static {
    move || Gate { shared: Mutex::default(), changed: Condvar::new(), round }
}

#[test]
fn a_barrier_counts_its_rounds() {
    let threads = vec![vec![(), ()]; THREADS];
    let explore_with = |round: Round| {
        let operate = |gate: &Gate, _: usize, ()| {
            gate.sync();
        };
        explore(&Barrier { threads: THREADS }, SCHEDULES, &threads, gate(round), operate)
    };
    let right = explore_with(Round::Counted);
    right.assert_right("barrier");
    assert_eq!(right.stuck, 0);
    let wrong = explore_with(Round::ByCount);
    assert!(wrong.missed > 0, "{wrong:?}");
    let wrong = explore_with(Round::Once);
    assert!(wrong.wrong > 0, "{wrong:?}");
}

#[test]
fn a_barrier_has_one_leader() {
    let threads = vec![vec![(), ()]; THREADS];
    let explore_with = |leaders: fn(usize) -> bool| {
        let operate = move |gate: &Gate, _: usize, ()| leaders(gate.sync());
        let object = LeaderBarrier { threads: THREADS };
        explore(&object, SCHEDULES, &threads, gate(Round::Counted), operate)
    };
    explore_with(|order| order == THREADS).assert_right("the last one leads");
    explore_with(|order| order == 1).assert_right("the first one leads");
    let wrong = explore_with(|order| order == 1 || order == THREADS);
    assert_eq!(wrong.wrong, wrong.executions);
    let wrong = explore_with(|_| false);
    assert_eq!(wrong.wrong, wrong.executions);
}
