//! A collection with an end (`BlockingCollection` of the paper, D, H, I and K).

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicIsize, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex, PoisonError};

use super::queues::locked;

/// State under the lock.
#[derive(Debug, Default)]
struct State {
    values: VecDeque<u32>,
    completed: bool,
}

/// A queue that can be closed for adding.
#[derive(Debug, Default)]
pub struct Collection {
    state: Mutex<State>,
    changed: Condvar,
    /// Number of values that may be taken, used by the lock-free operations.
    permits: AtomicIsize,
}

impl Collection {
    fn add(&self, value: u32) -> bool {
        let mut state = locked(&self.state);
        if state.completed {
            return false;
        }
        state.values.push_back(value);
        self.permits.fetch_add(1, SeqCst);
        self.changed.notify_one();
        true
    }

    /// K: checks once, before the lock, that adding is still allowed.
    fn add_late(&self, value: u32) -> bool {
        if locked(&self.state).completed {
            return false;
        }
        let mut state = locked(&self.state);
        state.values.push_back(value);
        self.changed.notify_one();
        true
    }

    /// Waits for a value; `None` if there is none and adding is complete.
    fn take(&self) -> Option<u32> {
        let mut state = locked(&self.state);
        loop {
            match state.values.pop_front() {
                Some(value) => {
                    self.permits.fetch_sub(1, SeqCst);
                    return Some(value);
                }
                None if state.completed => return None,
                None => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn try_take(&self) -> Option<u32> {
        let mut state = locked(&self.state);
        let value = state.values.pop_front()?;
        self.permits.fetch_sub(1, SeqCst);
        Some(value)
    }

    /// H and I: takes a permit first, and gives it back if there is no value.
    fn try_take_by_permit(&self) -> Option<u32> {
        if self.permits.fetch_sub(1, SeqCst) <= 0 {
            self.permits.fetch_add(1, SeqCst);
            return None;
        }
        locked(&self.state).values.pop_front()
    }

    fn complete(&self, wakes: bool) {
        locked(&self.state).completed = true;
        // Bug D: waiting threads are not woken.
        if wakes {
            self.changed.notify_all();
        }
    }

    fn count(&self) -> usize {
        locked(&self.state).values.len()
    }

    fn count_of_permits(&self) -> usize {
        usize::try_from(self.permits.load(SeqCst)).unwrap_or(0)
    }
}

crate::subject! {
    /// A queue that can be closed for adding.
    pub BlockingCollection(queue: Collection) = Collection::default();
    add(value: u32) in [10, 20] => queue.add(value);
    take() => queue.take();
    try_take() => queue.try_take();
    count() => queue.count();
    complete_adding() => queue.complete(true);
}

crate::subject! {
    /// Bug D: `complete_adding` wakes nothing that waits in `take`.
    pub BlockingCollectionD(queue: Collection) = Collection::default();
    add(value: u32) in [10, 20] => queue.add(value);
    take() => queue.take();
    try_take() => queue.try_take();
    count() => queue.count();
    complete_adding() => queue.complete(false);
}

crate::subject! {
    /// H and I, nondeterministic by intention: `count` and `try_take` use permits, which another
    /// `try_take` may hold for a while.
    pub BlockingCollectionHI(queue: Collection) = Collection::default();
    add(value: u32) in [10, 20] => queue.add(value);
    try_take() => queue.try_take_by_permit();
    count() => queue.count_of_permits();
}

crate::subject! {
    /// K, not linearizable by intention: values are added after `complete_adding` returned.
    pub BlockingCollectionK(queue: Collection) = Collection::default();
    add(value: u32) in [10, 20] => queue.add_late(value);
    try_take() => queue.try_take();
    count() => queue.count();
    complete_adding() => queue.complete(true);
}
