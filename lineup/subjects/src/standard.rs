//! Objects of `std`, through the stand-in.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock};

/// Both ends of a channel, the receiver behind a lock.
pub struct Ends(SyncSender<u32>, Mutex<Receiver<u32>>);

fn ends() -> Ends {
    let (sender, receiver) = sync_channel(1);
    Ends(sender, Mutex::new(receiver))
}

lineup::subject! {
    /// A channel of one slot.
    pub StdMpsc(channel: Ends) = ends();
    try_send(v: u32) in [10, 20] => channel.0.try_send(v);
    send(v: u32) in [30] => channel.0.send(v);
    try_recv() => channel.1.lock().unwrap().try_recv();
}

lineup::subject! {
    /// A semaphore of a lock and a condition variable.
    pub StdSemaphore(permits: (Mutex<u32>, Condvar)) = (Mutex::new(1), Condvar::new());
    acquire() => {
        let mut free = permits.0.lock().unwrap();
        while *free == 0 {
            free = permits.1.wait(free).unwrap();
        }
        *free -= 1;
    };
    release() => {
        *permits.0.lock().unwrap() += 1;
        permits.1.notify_one();
    };
    available() => *permits.0.lock().unwrap();
}

lineup::subject! {
    /// A lock for readers and writers.
    pub StdRwLock(lock: RwLock<u32>) = RwLock::new(0);
    add(n: u32) in [1, 2] => *lock.write().unwrap() += n;
    read() => *lock.read().unwrap();
    try_read() => lock.try_read().map(|value| *value).ok();
}

lineup::subject! {
    /// A cell that is set once.
    pub StdOnceLock(cell: OnceLock<u32>) = OnceLock::new();
    set(v: u32) in [1, 2] => cell.set(v);
    get() => cell.get().copied();
    get_or_init(v: u32) in [3] => *cell.get_or_init(|| v);
}

lineup::subject! {
    /// Two threads that wait for each other.
    pub StdBarrier(barrier: Barrier) = Barrier::new(2);
    wait() => { barrier.wait(); };
}
