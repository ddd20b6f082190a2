//! A list with a count (`ConcurrentLinkedList` of the paper, bug C).

use std::collections::VecDeque;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::queues::locked;

/// A list behind a lock, and the number of its values beside it.
#[derive(Debug, Default)]
pub struct Counted {
    values: Mutex<VecDeque<u32>>,
    count: AtomicUsize,
}

impl Counted {
    fn add(&self, change: impl FnOnce(&mut VecDeque<u32>), within: bool) {
        let mut values = locked(&self.values);
        change(&mut values);
        if within {
            self.count.store(values.len(), SeqCst);
        }
        drop(values);
        if !within {
            // Bug C: outside the lock, and not in one step.
            self.count.store(self.count.load(SeqCst) + 1, SeqCst);
        }
    }

    fn remove(
        &self,
        change: impl FnOnce(&mut VecDeque<u32>) -> Option<u32>,
        within: bool,
    ) -> Option<u32> {
        let mut values = locked(&self.values);
        let removed = change(&mut values);
        if within {
            self.count.store(values.len(), SeqCst);
        }
        drop(values);
        if !within && removed.is_some() {
            self.count.store(self.count.load(SeqCst).saturating_sub(1), SeqCst);
        }
        removed
    }

    fn count(&self, within: bool) -> usize {
        let lock = within.then(|| locked(&self.values));
        let count = self.count.load(SeqCst);
        drop(lock);
        count
    }
}

crate::subject! {
    /// A list with values at both ends.
    pub LinkedList(list: Counted) = Counted::default();
    add_first(value: u32) in [10] => list.add(|values| values.push_front(value), true);
    add_last(value: u32) in [20] => list.add(|values| values.push_back(value), true);
    remove_first() => list.remove(VecDeque::pop_front, true);
    remove_last() => list.remove(VecDeque::pop_back, true);
    count() => list.count(true);
}

crate::subject! {
    /// Bug C: the count is brought up to date outside the lock.
    pub LinkedListPre(list: Counted) = Counted::default();
    add_first(value: u32) in [10] => list.add(|values| values.push_front(value), false);
    add_last(value: u32) in [20] => list.add(|values| values.push_back(value), false);
    remove_first() => list.remove(VecDeque::pop_front, false);
    remove_last() => list.remove(VecDeque::pop_back, false);
    count() => list.count(false);
}
