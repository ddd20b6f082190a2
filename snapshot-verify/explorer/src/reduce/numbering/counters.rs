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
//! # What is left behind
//!
//! Where the program names no number, counters below all those that successors may
//! yet be taken from are *left behind*: whatever is computed from now on is
//! larger than they are. Of them matter remainders, if they are taken, and which of
//! two is larger, if they may be compared ([`Class::related`]). So each is numbered by
//! the longest chain of compared ones below it, as in [`super::versions`] those that
//! are compared and equal together.
//!
//! [`widen`]: CounterClass::widen

use fixedbitset::FixedBitSet;
use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use super::{FEW, Few};
use crate::instance::{NONE, Scalar, SlotId};

/// Counters, seldom many.
type Counters = SmallVec<[Scalar; FEW]>;

/// One class of counters.
#[derive(Clone, Debug)]
pub struct CounterClass {
    slots: Vec<SlotId>,
    modulus: Scalar,
    cap: Scalar,
    /// The largest number that the program names, if it names any: numbers up
    /// to it are kept as they are.
    named: Option<Scalar>,
    /// Per slot, by position, the positions of related slots.
    related: Vec<Vec<usize>>,
    /// The positions of slots that successors may yet be taken from.
    rising: FixedBitSet,
    /// The positions of slots that remainders may yet be taken from.
    divided: FixedBitSet,
}

impl CounterClass {
    /// Of this class; gaps are capped at `cap`.
    pub fn new(class: &Class, cap: Scalar) -> Self {
        Self {
            slots: class.slots.clone(),
            modulus: class.modulus,
            cap,
            named: class.constants.last().copied(),
            related: class.related(),
            rising: class.origins(&class.succeeded),
            divided: class.origins(&class.divided),
        }
    }

    /// Per slot the largest number in a normal state.
    pub fn largest(&self) -> impl Iterator<Item = (SlotId, Scalar)> {
        let widest = self.cap + self.modulus - 1;
        let start = self.named.map_or(self.modulus - 1, |named| named + widest);
        let largest = start + widest * self.slots.len() as Scalar;
        self.slots.iter().map(move |&slot| (slot, largest))
    }

    /// Its slots.
    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    fn values(&self, slots: &[Scalar]) -> Counters {
        let mut values: Counters = self
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
        let least = self.least_rising(slots);
        let (behind, above) = values.split_at(values.partition_point(|&value| value < least));
        let behind = self.left_behind(behind, slots);
        let left_behind = behind.iter().filter(|&&number| number != NONE);
        let lowest = left_behind.max().map_or(0, |largest| largest + 1);
        let mut numbers = Counters::with_capacity(above.len());
        // What the value before this one was, and what its number is.
        let mut last = self.named.map(|named| (named, named));
        for &value in above {
            let number = match last {
                Some((before, _)) if value <= before => value,
                Some((before, number)) => number + self.gap(value - before),
                None => lowest + (value - lowest).rem_euclid(self.modulus),
            };
            if last.is_none_or(|(before, _)| value > before) {
                last = Some((value, number));
            }
            numbers.push(number);
        }
        for slot in &self.slots {
            let value = &mut slots[slot.index()];
            if let Ok(at) = above.binary_search(value) {
                *value = numbers[at];
            }
        }
        for (slot, number) in self.slots.iter().zip(behind) {
            if number != NONE {
                slots[slot.index()] = number;
            }
        }
    }

    /// The least counter that a successor may yet be taken from: those below are left
    /// behind.
    fn least_rising(&self, slots: &[Scalar]) -> Scalar {
        if self.named.is_some() {
            return Scalar::MIN;
        }
        let rising = self.rising.ones().map(|at| slots[self.slots[at].index()]);
        rising.filter(|&value| value != NONE).min().unwrap_or(Scalar::MAX)
    }

    /// Numbers for the slots that hold these values, ascending, by position; none for
    /// other slots.
    fn left_behind(&self, values: &[Scalar], slots: &[Scalar]) -> Counters {
        if values.is_empty() {
            return Counters::new();
        }
        let held = |position: usize| slots[self.slots[position].index()];
        let mut numbers: Counters = smallvec![NONE; self.slots.len()];
        for &value in values {
            for start in 0..self.slots.len() {
                if held(start) != value || numbers[start] != NONE {
                    continue;
                }
                // What is compared and equal, is numbered together.
                let mut members: Few = smallvec![start];
                let mut number = 0;
                let mut next = 0;
                while let Some(&member) = members.get(next) {
                    next += 1;
                    for &other in &self.related[member] {
                        if held(other) == value && !members.contains(&other) {
                            members.push(other);
                        } else if numbers[other] != NONE {
                            number = number.max(numbers[other] + 1);
                        }
                    }
                }
                if members.iter().any(|&member| self.divided[member]) {
                    number += (value - number).rem_euclid(self.modulus);
                }
                members.into_iter().for_each(|member| numbers[member] = number);
            }
        }
        numbers
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
        // Nothing will be computed from what is left behind.
        let least = self.least_rising(slots);
        values.retain(|value| *value >= least);
        if let Some(named) = self.named {
            values.retain(|value| *value > named);
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
