//! Rounds of workers in threads, and in processes (simulated by threads) connected by sockets.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use snapshot_cluster::{Cluster, ClusterError};
use snapshot_explorer::search::distributed::{Engine, Failure, Job, Part, Place, Send};
use snapshot_io::hosts::Members;

const PATIENCE: Duration = Duration::from_secs(30);

/// In every round each part sends each part some words with the round and the sender; some parts
/// send many, and some are slow.
struct Talk {
    rounds: u64,
    /// The number of words of a message.
    length: usize,
    /// The worker that panics, with the round.
    leaves: Option<(usize, u64)>,
    /// The number of messages that all parts received.
    received: Mutex<u64>,
}

struct Talker<'a> {
    talk: &'a Talk,
    place: Place,
    round: u64,
    /// The number of messages still to be sent in this round.
    left: u64,
    received: u64,
}

/// Returns the number of messages that a worker sends to each part in a round.
const fn messages(worker: usize, round: u64) -> u64 {
    (worker as u64 * 7 + round * 3) % 11
}

impl Job for Talk {
    fn part(&self, place: Place) -> Box<dyn Part + '_> {
        let left = messages(place.worker, 0);
        Box::new(Talker { talk: self, place, round: 0, left, received: 0 })
    }
}

impl Part for Talker<'_> {
    fn work(&mut self, send: &mut Send<'_>) -> bool {
        if self.place.worker == 1 {
            thread::sleep(Duration::from_micros(300));
        }
        if self.talk.leaves == Some((self.place.worker, self.round)) {
            panic!("it leaves");
        }
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            for to in 0..self.place.workers {
                let mut words = vec![self.round; self.talk.length];
                words[0] = self.place.worker as u64;
                send(to, words);
            }
        }
        self.left > 0
    }

    fn receive(&mut self, words: &[u64]) {
        assert_eq!(words.len(), self.talk.length);
        assert!(words[1..].iter().all(|round| *round == self.round), "sent in another round");
        self.received += 1;
    }

    fn report(&mut self) -> Vec<u64> {
        let all = (0..self.place.workers).map(|worker| messages(worker, self.round));
        assert_eq!(self.received, all.sum::<u64>(), "all that was sent has been received");
        *self.talk.received.lock().unwrap() += self.received;
        vec![self.place.worker as u64, self.round]
    }

    fn decide(&mut self, reports: &[Vec<u64>]) -> bool {
        let expected = (0..self.place.workers as u64).map(|worker| vec![worker, self.round]);
        assert!(reports.iter().cloned().eq(expected), "reports of all, in order: {reports:?}");
        self.round += 1;
        (self.left, self.received) = (messages(self.place.worker, self.round), 0);
        self.round < self.talk.rounds
    }
}

const fn talk(rounds: u64, length: usize) -> Talk {
    Talk { rounds, length, leaves: None, received: Mutex::new(0) }
}

fn sum(workers: usize, rounds: u64) -> u64 {
    let sent = (0..rounds).flat_map(|round| (0..workers).map(move |of| messages(of, round)));
    sent.sum::<u64>() * workers as u64
}

fn number(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

#[test]
fn messages_are_received_in_their_round() {
    for workers in [1, 2, 3, 4] {
        let cluster = Cluster::of_threads(number(workers)).unwrap();
        assert_eq!(cluster.workers(), workers);
        // Several jobs follow each other; their messages are small, or fill several windows.
        for (rounds, length) in [(60, 3), (1, 2), (8, 30_000)] {
            let talk = talk(rounds, length);
            assert_eq!(cluster.run(&talk), Ok(()));
            assert_eq!(talk.received.into_inner().unwrap(), sum(workers, rounds));
        }
        assert!(cluster.bytes_sent() > 0);
    }
}

/// Worker 0 is slow; the others wait for it, and report the processor time of their wait.
struct Slow;

struct Waiting {
    place: Place,
    /// The processor time of this thread at the start of the round.
    began: Duration,
}

impl Job for Slow {
    fn part(&self, place: Place) -> Box<dyn Part + '_> {
        Box::new(Waiting { place, began: processor_time() })
    }
}

impl Part for Waiting {
    fn work(&mut self, _: &mut Send<'_>) -> bool {
        if self.place.worker == 0 {
            thread::sleep(Duration::from_millis(400));
        }
        false
    }

    fn receive(&mut self, _: &[u64]) {}

    fn report(&mut self) -> Vec<u64> {
        let taken = processor_time() - self.began;
        vec![u64::try_from(taken.as_millis()).unwrap()]
    }

    fn decide(&mut self, reports: &[Vec<u64>]) -> bool {
        for taken in reports.iter().flatten() {
            assert!(*taken < 100, "{taken} ms of processor time while 400 ms passed");
        }
        false
    }
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

#[test]
fn waiting_workers_sleep() {
    assert_eq!(Cluster::of_threads(number(3)).unwrap().run(&Slow), Ok(()));
    with_all(2, 1, |_, cluster| assert_eq!(cluster.run(&Slow), Ok(())));
}

/// Returns addresses without a listener.
fn addresses(count: usize) -> Vec<String> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|of| of.local_addr().unwrap().to_string()).collect()
}

/// Runs `each` on the clusters of all processes, each on its own thread.
fn with_all<R: std::marker::Send>(
    count: usize,
    workers: usize,
    each: impl Fn(usize, Cluster) -> R + Sync,
) -> Vec<R> {
    let addresses = addresses(count);
    thread::scope(|scope| {
        let start = |process| {
            let members = Members::new(addresses.clone(), process).unwrap();
            let each = &each;
            scope.spawn(move || {
                let cluster = Cluster::of_processes(number(workers), &members, PATIENCE);
                each(process, cluster.unwrap())
            })
        };
        let running: Vec<_> = (0..count).map(start).collect();
        running.into_iter().map(|of| of.join().unwrap()).collect()
    })
}

#[test]
fn processes_receive_messages_in_their_round() {
    for (processes, workers) in [(1, 1), (2, 1), (3, 2)] {
        let received = with_all(processes, workers, |_, cluster| {
            let mut received = 0;
            for (rounds, length) in [(50, 3), (5, 30_000)] {
                let talk = talk(rounds, length);
                assert_eq!(cluster.run(&talk), Ok(()));
                received += talk.received.into_inner().unwrap();
            }
            received
        });
        let all = processes * workers;
        assert_eq!(received.iter().sum::<u64>(), sum(all, 50) + sum(all, 5));
    }
}

/// A process that ends regularly but before the others is named. Only the first such process is
/// named.
#[test]
fn a_process_that_ends_early_is_named() {
    let runs = with_all(3, 1, |process, cluster| match process {
        1 => None,
        _ => Some(cluster.run(&talk(10, 3))),
    });
    for run in runs.into_iter().flatten() {
        let named = matches!(run, Err(Failure::Ended { process: 1, .. }));
        assert!(named, "{run:?}");
    }
}

/// A process greets correctly, and then sends garbage: messages for a worker that does not exist,
/// or the end within a message.
#[test]
fn a_process_that_sends_garbage_is_named() {
    let greeting: Vec<u8> =
        [u64::from_le_bytes(*b"snapshot"), 1, 2, 1].map(u64::to_le_bytes).concat();
    // Timely's header: channel, source, first worker, worker after the last, length, number.
    let message = |words: &[u64]| words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let all: [(Vec<u8>, bool); 3] = [
        (message(&[0, 1, 5, 6, 8, 0, 0]), false),
        (message(&[0, 1, 0, 1, 1 << 40, 0]), true),
        (vec![7; 100], true),
    ];
    for (garbage, is_closed) in all {
        let addresses = addresses(2);
        let members = |process| Members::new(addresses.clone(), process).unwrap();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let began = Instant::now();
                let mut socket = loop {
                    match members(1).call(0, PATIENCE) {
                        Ok(socket) => break socket,
                        Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
                    }
                };
                socket.write_all(&greeting).unwrap();
                socket.read_exact(&mut [0; 32]).unwrap();
                socket.write_all(&garbage).unwrap();
                if is_closed {
                    socket.shutdown(Shutdown::Write).unwrap();
                }
                socket
            });
            let cluster = Cluster::of_processes(number(1), &members(0), PATIENCE).unwrap();
            let run = cluster.run(&talk(10, 3));
            assert!(matches!(run, Err(Failure::Lost { process: 1, .. })), "{run:?}");
            drop(other.join().unwrap());
        });
    }
}

/// A panic of one worker ends the other workers of its process, and is propagated.
#[test]
fn panic_of_a_worker_ends_the_others() {
    let cluster = Cluster::of_threads(number(3)).unwrap();
    let talk = Talk { leaves: Some((2, 4)), ..talk(10, 3) };
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cluster.run(&talk)));
    let panic = run.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"it leaves"));
}

#[test]
fn mismatched_and_missing_processes_are_named() {
    let addresses = addresses(2);
    let connect = |process, workers| {
        let members = Members::new(addresses.clone(), process).unwrap();
        Cluster::of_processes(number(workers), &members, Duration::from_secs(2)).unwrap_err()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| connect(1, 2));
        let differs = |error: &ClusterError, process| match error {
            ClusterError::Differs { process: named, .. } => *named == process,
            _ => false,
        };
        let error = connect(0, 1);
        assert!(differs(&error, 1), "{error}");
        let error = other.join().unwrap();
        assert!(differs(&error, 0), "{error}");
    });
    let error = connect(0, 1);
    assert!(matches!(error, ClusterError::Unreachable { process: 1, seconds: 2, .. }), "{error}");
    let error = connect(1, 1);
    assert!(matches!(error, ClusterError::Unreachable { process: 0, seconds: 2, .. }), "{error}");
}
