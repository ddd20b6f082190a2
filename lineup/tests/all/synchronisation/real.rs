//! Real objects on real threads, as they come: channels without a buffer of the standard library
//! and of crossbeam, and the barrier of the standard library.

use std::sync::{Barrier, Mutex, mpsc};
use std::thread;

use crossbeam_channel::bounded;
use snapshot_core::synchronisation::objects::{
    Channel, ChannelInput, ChannelOutput, LeaderBarrier,
};

use lineup::together::{Fault, Log, judge};

const ROUNDS: usize = 20;
const OPERATIONS: usize = 50;

type ChannelLog = Log<ChannelInput<u32>, ChannelOutput<u32>>;

fn value(sender: usize, number: usize) -> u32 {
    // Values repeat: the judges cannot rely on them alone.
    ((sender + number) % 3) as u32
}

fn send(log: &ChannelLog, process: usize, sent: impl Fn(u32)) {
    for number in 0..OPERATIONS {
        log.call(process, ChannelInput::Send(value(process, number)), |input| {
            if let ChannelInput::Send(value) = input {
                sent(value);
            }
            ChannelOutput::Sent
        });
    }
}

fn receive(log: &ChannelLog, process: usize, operations: usize, received: impl Fn() -> u32) {
    for _ in 0..operations {
        log.call(process, ChannelInput::Receive, |_| ChannelOutput::Received(received()));
    }
}

#[test]
fn the_channel_of_the_standard_library_is_synchronous() {
    for _ in 0..ROUNDS {
        let log = ChannelLog::default();
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::scope(|scope| {
            for process in 0..2 {
                let (log, sender) = (log.clone(), sender.clone());
                scope.spawn(move || send(&log, process, |value| sender.send(value).unwrap()));
            }
            let log = log.clone();
            scope.spawn(move || receive(&log, 2, 2 * OPERATIONS, || receiver.recv().unwrap()));
        });
        assert_eq!(judge(&Channel::default(), &log.history()), None);
    }
}

#[test]
fn the_channel_of_crossbeam_is_synchronous() {
    for _ in 0..ROUNDS {
        let log = ChannelLog::default();
        let (sender, receiver) = bounded(0);
        thread::scope(|scope| {
            for process in 0..2 {
                let (sending, sender) = (log.clone(), sender.clone());
                scope.spawn(move || send(&sending, process, |value| sender.send(value).unwrap()));
                let (receiving, receiver) = (log.clone(), receiver.clone());
                scope.spawn(move || {
                    receive(&receiving, 2 + process, OPERATIONS, || receiver.recv().unwrap());
                });
            }
        });
        assert_eq!(judge(&Channel::default(), &log.history()), None);
    }
}

/// A buffer differs from a channel: the send returns before anything is received.
#[test]
fn a_channel_with_a_buffer_is_not_synchronous() {
    let log = ChannelLog::default();
    let (sender, receiver) = mpsc::sync_channel(1);
    let receiver = Mutex::new(receiver);
    log.call(0, ChannelInput::Send(7), |_| {
        sender.send(7).unwrap();
        ChannelOutput::Sent
    });
    log.call(1, ChannelInput::Receive, |_| {
        ChannelOutput::Received(receiver.lock().unwrap().recv().unwrap())
    });
    assert_eq!(judge(&Channel::default(), &log.history()), Some(Fault::NotSetLinearizable));
}

#[test]
fn the_barrier_of_the_standard_library_has_one_leader() {
    const THREADS: usize = 4;
    for _ in 0..ROUNDS {
        let log = Log::<(), bool>::default();
        let barrier = Barrier::new(THREADS);
        thread::scope(|scope| {
            for process in 0..THREADS {
                let (log, barrier) = (log.clone(), &barrier);
                scope.spawn(move || {
                    for _ in 0..OPERATIONS {
                        log.call(process, (), |()| barrier.wait().is_leader());
                    }
                });
            }
        });
        assert_eq!(judge(&LeaderBarrier { threads: THREADS }, &log.history()), None);
    }
}
