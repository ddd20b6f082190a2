//! The values of one segment that an open operation may still return.
//!
//! Few values are found by comparison, newest first, and more by hash: most operations return the
//! latest value.

use std::collections::VecDeque;
use std::hash::Hash;

use crate::seeded::SeededMap;

/// Up to this many values are found by comparison.
const MAX_COMPARED: usize = 12;

/// A value with the number of its operation within the process, from 1.
#[derive(Clone, Debug)]
struct Written<V> {
    number: u64,
    operation: u64,
    value: V,
}

/// The values of one segment, oldest first. Numbers ascend; 0 is the initial value.
#[derive(Clone, Debug)]
pub(super) struct Window<V> {
    written: VecDeque<Written<V>>,
    /// Number and operation by value; filled while more than [`MAX_COMPARED`] values are kept.
    index: SeededMap<V, (u64, u64)>,
    is_indexed: bool,
    /// Number of the newest operation.
    newest: u64,
    /// Number of the newest complete operation.
    responded: u64,
}

impl<V> Default for Window<V> {
    fn default() -> Self {
        Self {
            written: VecDeque::new(),
            index: SeededMap::default(),
            is_indexed: false,
            newest: 0,
            responded: 0,
        }
    }
}

impl<V: Clone + Eq + Hash> Window<V> {
    /// Number of values kept.
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Number of the newest operation, failed ones included; 0 before the first.
    #[inline]
    pub const fn newest(&self) -> u64 {
        self.newest
    }

    /// Number of the newest complete operation; 0 before the first.
    #[inline]
    pub const fn responded(&self) -> u64 {
        self.responded
    }

    /// Records the response of the newest operation, and returns its number.
    #[inline]
    pub const fn respond(&mut self) -> u64 {
        self.responded = self.newest;
        self.newest
    }

    /// Returns the operation with this number, if kept.
    pub fn operation(&self, number: u64) -> Option<u64> {
        let at = self.written.binary_search_by_key(&number, |written| written.number).ok()?;
        Some(self.written[at].operation)
    }

    /// Returns the number and the operation of a value, if kept.
    #[inline]
    pub fn find(&self, value: &V) -> Option<(u64, u64)> {
        if self.is_indexed {
            // Most operations return the newest value, or the one before.
            if let Some(last) = self.written.back()
                && last.value == *value
            {
                return Some((last.number, last.operation));
            }
            return self.index.get(value).copied();
        }
        let found = self.written.iter().rev().find(|written| written.value == *value)?;
        Some((found.number, found.operation))
    }

    /// Records an operation that writes a value.
    pub fn write(&mut self, value: &V, operation: u64) {
        self.newest += 1;
        let number = self.newest;
        self.written.push_back(Written { number, operation, value: value.clone() });
        if self.is_indexed {
            self.index.insert(value.clone(), (number, operation));
        } else if self.written.len() > MAX_COMPARED {
            let all = self.written.iter();
            self.index = all.map(|w| (w.value.clone(), (w.number, w.operation))).collect();
            self.is_indexed = true;
        }
    }

    /// Removes the newest operation, which failed: its value was never there.
    pub fn fail(&mut self) {
        if let Some(newest) = self.written.back()
            && newest.number == self.newest
        {
            self.index.remove(&newest.value);
            self.written.pop_back();
        }
    }

    /// Forgets the operations before number `oldest`.
    pub fn forget_before(&mut self, oldest: u64) {
        while let Some(written) = self.written.front()
            && written.number < oldest
        {
            self.index.remove(&written.value);
            self.written.pop_front();
        }
        if self.is_indexed && self.written.len() <= MAX_COMPARED / 2 {
            self.index.clear();
            self.is_indexed = false;
        }
    }
}
