//! A result that is set once (`TaskCompletionSource` of the paper, F and G), and a barrier (L).

use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::sync::{Barrier, Condvar, Mutex, PoisonError};

use super::queues::locked;

/// A result, and a flag that it is set: a word outside the lock, which `result` reads.
#[derive(Debug, Default)]
pub struct Source {
    done: AtomicU32,
    result: Mutex<Option<u32>>,
    set: Condvar,
}

impl Source {
    fn try_set(&self, value: u32) -> bool {
        let mut result = locked(&self.result);
        if result.is_some() {
            return false;
        }
        *result = Some(value);
        self.done.store(1, SeqCst);
        self.set.notify_all();
        true
    }

    /// Bug F: checks that it is not set before the lock is taken.
    fn try_set_twice(&self, value: u32) -> bool {
        if self.done.load(SeqCst) == 1 {
            return false;
        }
        *locked(&self.result) = Some(value);
        self.done.store(1, SeqCst);
        self.set.notify_all();
        true
    }

    /// Bug G: marks it done before its result is stored.
    fn try_set_early(&self, value: u32) -> bool {
        if self.done.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            return false;
        }
        *locked(&self.result) = Some(value);
        self.set.notify_all();
        true
    }

    fn is_completed(&self) -> bool {
        self.done.load(SeqCst) == 1
    }

    fn result(&self) -> Option<u32> {
        *locked(&self.result)
    }

    fn wait(&self) -> u32 {
        let mut result = locked(&self.result);
        loop {
            match *result {
                Some(value) => return value,
                None => result = self.set.wait(result).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

crate::subject! {
    /// A result that is set once.
    pub TaskSource(source: Source) = Source::default();
    try_set(value: u32) in [1, 2] => source.try_set(value);
    result() => source.result();
    wait() => source.wait();
}

crate::subject! {
    /// Bug F: two threads set it.
    pub TaskSourceF(source: Source) = Source::default();
    try_set(value: u32) in [1, 2] => source.try_set_twice(value);
    result() => source.result();
    wait() => source.wait();
}

crate::subject! {
    /// Bug G: it is completed, and has no result.
    pub TaskSourceG(source: Source) = Source::default();
    try_set(value: u32) in [1, 2] => source.try_set_early(value);
    is_completed() => source.is_completed();
    result() => source.result();
    wait() => source.wait();
}

crate::subject! {
    /// L, not linearizable by intention: each thread waits for another one.
    pub PhaseBarrier(barrier: Barrier) = Barrier::new(2);
    signal_and_wait() => { barrier.wait(); };
}
