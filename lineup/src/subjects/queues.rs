//! Queues behind a lock (`ConcurrentQueue` of the paper, and of its Figures 1 and 7).

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Takes the lock; a panic of another operation that held it does not matter here.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A queue with a blocking `take`.
#[derive(Debug, Default)]
pub struct Blocking {
    values: Mutex<VecDeque<u32>>,
    added: Condvar,
}

impl Blocking {
    fn add(&self, value: u32) {
        locked(&self.values).push_back(value);
        self.added.notify_one();
    }

    fn take(&self) -> u32 {
        let mut values = locked(&self.values);
        loop {
            match values.pop_front() {
                Some(value) => return value,
                None => {
                    values = self.added.wait(values).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn try_take(&self) -> Option<u32> {
        locked(&self.values).pop_front()
    }

    /// Takes the lock as with a time limit that has passed (bug B).
    fn hasty_try_take(&self) -> Option<u32> {
        match self.values.try_lock() {
            Ok(mut values) => values.pop_front(),
            Err(TryLockError::Poisoned(values)) => values.into_inner().pop_front(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

crate::subject! {
    /// A queue whose `take` waits for a value.
    pub Queue(queue: Blocking) = Blocking::default();
    add(value: u32) in [200, 400] => queue.add(value);
    try_take() => queue.try_take();
    take() => queue.take();
}

crate::subject! {
    /// Bug B: `try_take` gives up while the lock is held, though the queue is not empty.
    pub QueuePre(queue: Blocking) = Blocking::default();
    add(value: u32) in [200, 400] => queue.add(value);
    try_take() => queue.hasty_try_take();
    take() => queue.take();
}
