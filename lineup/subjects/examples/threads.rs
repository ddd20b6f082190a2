//! Findings 1 and 2 (FINDINGS.md) on real threads, without Line-Up:
//! `cargo run --release --example threads`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_channel::{TryRecvError, bounded};
use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::ArrayQueue;

const ROUNDS: usize = 3_000;

/// Runs `ours` here, while another thread runs `theirs`, on a new object in each round.
fn race<T: Send + Sync + 'static>(
    make: impl Fn() -> Arc<T>,
    theirs: impl Fn(&T) + Send + 'static,
    mut ours: impl FnMut(&T, &dyn Fn()),
) {
    let (turn, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let shared = Arc::new(Mutex::new(make()));
    let (its_turn, its_done, its_shared) = (turn.clone(), done.clone(), shared.clone());
    let other = std::thread::spawn(move || {
        for round in 1..=ROUNDS {
            while its_turn.load(SeqCst) < round {
                std::hint::spin_loop();
            }
            let object = its_shared.lock().unwrap().clone();
            theirs(&object);
            its_done.store(round, SeqCst);
        }
    });
    for round in 1..=ROUNDS {
        let object = make();
        *shared.lock().unwrap() = object.clone();
        turn.store(round, SeqCst);
        for _ in 0..round % 200 {
            std::hint::spin_loop();
        }
        ours(&object, &|| {
            while done.load(SeqCst) < round {
                std::hint::spin_loop();
            }
        });
    }
    other.join().unwrap();
}

fn main() {
    let mut lost = 0;
    race(
        || {
            let queue = ConcurrentQueue::bounded(2);
            queue.push(10).unwrap();
            queue.push(20).unwrap();
            Arc::new(queue)
        },
        |queue| drop(queue.force_push(30)),
        |queue, wait| {
            assert!(queue.close());
            wait();
            lost += usize::from(!queue.is_closed());
        },
    );
    println!("concurrent-queue: {lost} of {ROUNDS} closes lost");

    let (mut lost, mut empty, mut sent, mut again) = (0, 0, 0, 0);
    race(
        || {
            let channel = bounded(2);
            channel.0.try_send(10).unwrap();
            channel.0.try_send(20).unwrap();
            Arc::new(channel)
        },
        |channel| drop(channel.0.force_send(30)),
        |(sender, receiver), wait| {
            assert!(sender.close());
            wait();
            if !receiver.is_closed() {
                lost += 1;
                while receiver.try_recv().is_ok() {}
                empty += usize::from(receiver.try_recv() == Err(TryRecvError::Empty));
                sent += usize::from(sender.try_send(40).is_ok());
                again += usize::from(sender.close());
            }
        },
    );
    println!(
        "async-channel: {lost} of {ROUNDS} closes lost; then empty and not closed {empty}, sent \
         to {sent}, closed again {again}"
    );

    let queue = Arc::new(ArrayQueue::new(1));
    queue.force_push(10);
    let (pushing, stop) = (queue.clone(), Arc::new(AtomicBool::new(false)));
    let stopped = stop.clone();
    let other = std::thread::spawn(move || {
        while !stopped.load(SeqCst) {
            pushing.force_push(20);
        }
    });
    let (start, mut all, mut none, mut empty) = (Instant::now(), 0, 0, 0);
    while start.elapsed() < Duration::from_secs(2) {
        all += 1;
        none += usize::from(queue.len() == 0);
        empty += usize::from(queue.is_empty());
    }
    stop.store(true, SeqCst);
    other.join().unwrap();
    println!("ArrayQueue(1), never empty: len() is 0 {none} times, is_empty() {empty}, of {all}");
}
