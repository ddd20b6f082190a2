//! Counters: their order, exact small gaps, remainders.
//!
//! The distinct counters of a class in a state, in ascending order, are numbered
//! anew from below: each has the least number that keeps its remainder and its
//! gap to the one before it, where a gap of `cap` or more counts as *at least*
//! `cap`. Equality, order, being the successor, and remainders are what they
//! were.
//!
//! One thing is lost: under a gap of at least `cap`, one cannot tell whether the
//! gap, after taking a successor of the lower counter, still is at least `cap`.
//! So a normal state stands for more than one, and where a successor is taken,
//! the state with the gap wider by one modulus is tried as well ([`widen`]):
//! these two stand for all. What is explored then includes every behaviour of
//! the program, so *verified* is right; but it may include others, so a
//! violation counts only once it has been replayed.
//!
//! [`widen`]: CounterClass::widen

use super::classes::Class;
use crate::instance::{NONE, Scalar, SlotId};

/// One class of counters.
#[derive(Clone, Debug)]
pub struct CounterClass {
    slots: Vec<SlotId>,
    modulus: Scalar,
    cap: Scalar,
    /// The largest number that the program names, if it names any: numbers up
    /// to it are kept as they are.
    named: Option<Scalar>,
}

impl CounterClass {
    /// Of this class; gaps are capped at `cap`.
    pub fn new(class: &Class, cap: Scalar) -> Self {
        Self {
            slots: class.slots.clone(),
            modulus: class.modulus,
            cap,
            named: class.constants.last().copied(),
        }
    }

    /// Per slot the largest number in a normal state.
    pub fn largest(&self) -> impl Iterator<Item = (SlotId, Scalar)> {
        let widest = self.cap + self.modulus - 1;
        let start = self.named.map_or(self.modulus - 1, |named| named + widest);
        let largest = start + widest * self.slots.len() as Scalar;
        self.slots.iter().map(move |&slot| (slot, largest))
    }

    fn values(&self, slots: &[Scalar]) -> Vec<Scalar> {
        let mut values: Vec<Scalar> = self
            .slots
            .iter()
            .map(|slot| slots[slot.index()])
            .filter(|&value| value != NONE)
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Renumbers.
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let values = self.values(slots);
        let mut numbers = Vec::with_capacity(values.len());
        // What the value before this one was, and what its number is.
        let mut last = self.named.map(|named| (named, named));
        for &value in &values {
            let number = match last {
                Some((before, _)) if value <= before => value,
                Some((before, number)) => number + self.gap(value - before),
                None => value.rem_euclid(self.modulus),
            };
            if last.is_none_or(|(before, _)| value > before) {
                last = Some((value, number));
            }
            numbers.push(number);
        }
        for slot in &self.slots {
            let value = &mut slots[slot.index()];
            if let Ok(at) = values.binary_search(value) {
                *value = numbers[at];
            }
        }
    }

    /// The least gap that cannot be told from this one.
    const fn gap(&self, gap: Scalar) -> Scalar {
        if gap < self.cap {
            return gap;
        }
        self.cap + (gap - self.cap).rem_euclid(self.modulus)
    }

    /// Widens the `number`-th gap of exactly `cap` by a modulus; if there are not
    /// so many, counts `number` down by how many there are.
    pub fn widen(&self, slots: &mut [Scalar], number: &mut u32) -> bool {
        let mut values = self.values(slots);
        if let Some(named) = self.named {
            values.retain(|&value| value > named);
            values.insert(0, named);
        }
        for pair in values.windows(2) {
            if pair[1] - pair[0] == self.cap {
                if *number == 0 {
                    self.shift(slots, pair[1], self.modulus);
                    return true;
                }
                *number -= 1;
            }
        }
        false
    }

    /// Adds to all numbers from `least` on.
    fn shift(&self, slots: &mut [Scalar], least: Scalar, by: Scalar) {
        for slot in &self.slots {
            let value = &mut slots[slot.index()];
            if *value != NONE && *value >= least {
                *value += by;
            }
        }
    }
}
