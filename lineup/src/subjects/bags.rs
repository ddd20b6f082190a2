//! A bag (`ConcurrentBag` of the paper, E and J).

use shuttle::sync::{Mutex, PoisonError, TryLockError};

use super::queues::locked;

/// Values in two lists, by their parity.
#[derive(Debug, Default)]
pub struct Lists([Mutex<Vec<u32>>; 2]);

impl Lists {
    fn add(&self, value: u32) {
        locked(&self.0[value as usize % 2]).push(value);
    }

    /// With both locks held.
    fn take_at_once(&self) -> Option<u32> {
        let (mut even, mut odd) = (locked(&self.0[0]), locked(&self.0[1]));
        even.pop().or_else(|| odd.pop())
    }

    /// J: one list after the other.
    fn take_in_turn(&self) -> Option<u32> {
        self.0.iter().find_map(|list| locked(list).pop())
    }

    /// Bug E: a list whose lock is held is passed by.
    fn take_what_is_free(&self) -> Option<u32> {
        self.0.iter().find_map(|list| match list.try_lock() {
            Ok(mut list) => list.pop(),
            Err(TryLockError::Poisoned(list)) => PoisonError::into_inner(list).pop(),
            Err(TryLockError::WouldBlock) => None,
        })
    }

    fn count(&self) -> usize {
        let (even, odd) = (locked(&self.0[0]), locked(&self.0[1]));
        even.len() + odd.len()
    }
}

crate::subject! {
    /// A bag that takes with all locks held.
    pub Bag(bag: Lists) = Lists::default();
    add(value: u32) in [10, 21] => bag.add(value);
    try_take() => bag.take_at_once();
    count() => bag.count();
}

crate::subject! {
    /// Bug E: `try_take` passes by what another thread has locked.
    pub BagE(bag: Lists) = Lists::default();
    add(value: u32) in [10, 21] => bag.add(value);
    try_take() => bag.take_what_is_free();
    count() => bag.count();
}

crate::subject! {
    /// J, nondeterministic by intention: `try_take` looks into one list after the other.
    pub BagJ(bag: Lists) = Lists::default();
    add(value: u32) in [10, 21] => bag.add(value);
    try_take() => bag.take_in_turn();
    count() => bag.count();
}
