//! Counters: their order, exact small gaps, remainders.
//!
//! The distinct counters of a class in a state, in ascending order, are numbered
//! again from below: each has the least number that keeps its remainder and its
//! gap to the one before it, where a gap of `cap` or more counts as *at least*
//! `cap`. Equality, order, being the successor, and remainders are what they
//! were.
//!
//! One thing is lost: under a gap of at least `cap`, one cannot tell whether the gap is
//! still at least `cap` after successors were taken of the lower counter. So a normal
//! state stands for more than one, and moves are tried from each of some of them, its
//! *widenings* (`widening`). They include every behaviour of the program, so
//! *verified* is right; but they may include others, so a violation counts only once it
//! has been replayed.
//!
//! **Lemma.** Let a move take at most `k` successors of counters of this class. Number
//! the gaps of a normal state, let gap g be `cap + r`, and let `T = ceil((k - r) /
//! modulus)`, or 0 if that is negative. Every state that is normally this one makes the
//! same move, to the same normal state, as the one in which each gap is wider by t(g)
//! moduli, for some t with t(g) <= T(g) and a sum of at most `k`.
//!
//! *Proof.* Let gap g be wider by w(g) moduli in the state, and let the move take d(g)
//! successors that lie in gap g: a chain of successors from the counter below it, each
//! the successor of the one before. The sum of all d is at most `k`, and only gaps with
//! d(g) > 0 matter: the others only grow, vanish into a sum of gaps, or stay, and in all
//! three cases what is kept of them depends on `cap + r` and on the modulus alone. Choose
//! t(g) as the least of w(g) and ceil((d(g) - r) / modulus), which is at most T(g) and at
//! most d(g). Where it is w(g), the gap is what it was. Where it is less, then in both
//! states what is left of the gap after d(g) successors is `cap` at least, and the same
//! modulo the modulus: so on the way every comparison has the same answer (the successors
//! stay below the upper counter, by 2 at least), and afterwards the normal gap is the
//! same. Successors beyond a gap, in the next one, occur only where w(g) = t(g).
//!
//! The premise, that `k` is known: blocks form no circle but through pauses, and a
//! successor is always the whole value of an assignment, those in comparisons included,
//! which the compiler assigns to a slot first ([`crate::instance::Instance::validate`]
//! checks both). So a move, reactions of all processes included, is a path through a
//! finite graph; [`super::successors`] takes the longest. A class of which that is not
//! bounded is not renumbered at all.
//!
//! # What is left behind
//!
//! Where the program names no number, counters below all those that successors may
//! yet be taken from are *left behind*: whatever is computed from now on is
//! larger than they are. Of them matter remainders, if they are taken, and which of
//! two is larger, if they may be compared ([`Class::related`]). So each is numbered by
//! the longest chain of compared ones below it, as in [`super::version_renaming`] those that
//! are compared and equal together.

use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use super::{FEW, Few};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{NONE, Scalar, SlotId};

/// Counters, seldom many.
type Counters = SmallVec<[Scalar; FEW]>;

/// One class of counters. Searches are told apart by what `Debug` says of it, so no bit sets are in
/// it: they show where they lie, and not what they hold.
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
    rising: Vec<usize>,
    /// Per slot, by position, whether remainders may yet be taken from it.
    divided: Vec<bool>,
    /// How many successors of its counters a move takes at most.
    most_successors: u32,
}

impl CounterClass {
    /// Of this class; gaps are capped at `cap`, and a move takes at most
    /// `most_successors` successors of its counters.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn new(
        class: &Class,
        cap: Scalar,
        most_successors: u32,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let divided = class.origins(&class.divided, deadline)?;
        Ok(Self {
            slots: class.slots.clone(),
            modulus: class.modulus,
            cap,
            named: class.constants.last().copied(),
            related: class.related(deadline)?,
            rising: class.origins(&class.succeeded, deadline)?.ones().collect(),
            divided: (0..class.slots.len()).map(|at| divided[at]).collect(),
            most_successors,
        })
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
        let rising = self.rising.iter().map(|&at| slots[self.slots[at].index()]);
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

    /// The least gap that is indistinguishable from this one.
    const fn gap(&self, gap: Scalar) -> Scalar {
        if gap < self.cap {
            return gap;
        }
        self.cap + (gap - self.cap).rem_euclid(self.modulus)
    }

    /// How many successors of its counters a move takes at most.
    pub const fn most_successors(&self) -> u32 {
        self.most_successors
    }

    /// Of the gaps of a normal state that moves may make indistinguishable: the
    /// counter above each, ascending, and how often it may have to be widened.
    pub fn gaps(&self, slots: &[Scalar]) -> SmallVec<[(Scalar, u32); FEW]> {
        let mut values = self.values(slots);
        // Nothing will be computed from what is left behind.
        let least = self.least_rising(slots);
        values.retain(|value| *value >= least);
        if let Some(named) = self.named {
            values.retain(|value| *value > named);
            values.insert(0, named);
        }
        let pairs = values.windows(2).map(|pair| (pair[1], pair[1] - pair[0] - self.cap));
        let capped = pairs.filter(|(_, beyond)| *beyond >= 0);
        capped
            .map(|(above, beyond)| {
                let missing = self.most_successors.saturating_sub(beyond.unsigned_abs());
                (above, missing.div_ceil(self.modulus.unsigned_abs()))
            })
            .filter(|(_, times)| *times > 0)
            .collect()
    }

    /// Widens gaps by this many moduli each; they are those of [`Self::gaps`].
    pub fn widen(&self, slots: &mut [Scalar], gaps: impl Iterator<Item = (Scalar, u32)>) {
        let wider: SmallVec<[(Scalar, Scalar); FEW]> =
            gaps.map(|(above, times)| (above, times as Scalar * self.modulus)).collect();
        for slot in &self.slots {
            let value = &mut slots[slot.index()];
            if *value != NONE {
                let below = wider.iter().take_while(|(above, _)| *above <= *value);
                *value += below.map(|(_, by)| by).sum::<Scalar>();
            }
        }
    }
}
