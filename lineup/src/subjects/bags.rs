//! A bag (`ConcurrentBag` of the paper, E and J).

use crate::sync::{Mutex, PoisonError, TryLockError};

use super::queues::locked;

/// Values in two lists, by their parity.
#[derive(Debug, Default)]
pub struct Lists([Mutex<Vec<u32>>; 2]);

impl Lists {
    fn add(&self, value: u32) {
        locked(&self.0[value as usize % 2]).push(value);
    }

    /// Takes with both locks held.
    fn take_at_once(&self, prefer: usize) -> Option<u32> {
        let (mut even, mut odd) = (locked(&self.0[0]), locked(&self.0[1]));
        let (first, second) =
            if prefer.is_multiple_of(2) { (&mut even, &mut odd) } else { (&mut odd, &mut even) };
        first.pop().or_else(|| second.pop())
    }

    /// J: one list after the other, the preferred one first.
    fn take_in_turn(&self, prefer: usize) -> Option<u32> {
        let lists = [&self.0[prefer % 2], &self.0[1 - prefer % 2]];
        lists.into_iter().find_map(|list| locked(list).pop())
    }

    /// Bug E: skips a list whose lock is held.
    fn take_what_is_free(&self, prefer: usize) -> Option<u32> {
        let lists = [&self.0[prefer % 2], &self.0[1 - prefer % 2]];
        lists.into_iter().find_map(|list| match list.try_lock() {
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
    try_take(prefer: usize) in [0, 1] => bag.take_at_once(prefer);
    count() => bag.count();
}

crate::subject! {
    /// Bug E: `try_take` skips lists that another thread has locked.
    pub BagE(bag: Lists) = Lists::default();
    add(value: u32) in [10, 21] => bag.add(value);
    try_take(prefer: usize) in [0, 1] => bag.take_what_is_free(prefer);
    count() => bag.count();
}

crate::subject! {
    /// J, nondeterministic by intention: `try_take` looks into one list after the other.
    pub BagJ(bag: Lists) = Lists::default();
    add(value: u32) in [10, 21] => bag.add(value);
    try_take(prefer: usize) in [0, 1] => bag.take_in_turn(prefer);
    count() => bag.count();
}
