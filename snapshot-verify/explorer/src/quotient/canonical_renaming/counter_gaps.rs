//! Counters: their order, exact small gaps, and remainders.
//!
//! The distinct counters of a class in a state are renumbered in ascending order. Each gets the
//! least number that keeps its remainder and its gap to the previous counter, where a gap of `cap`
//! or more counts as *at least* `cap`. Equality, order, the successor relation, and remainders are
//! unchanged.
//!
//! One thing is lost: after successors were taken of the counter below a gap of at least `cap`, it
//! is unknown whether the gap is still at least `cap`. So a normal state represents several states,
//! and moves are tried from some of them, its *widenings* (`widening`). These cover every behaviour
//! of the program, so *verified* is right. They may include other behaviours, so a violation counts
//! only once it has been replayed.
//!
//! **Lemma.** Let a move take at most `k` successors of counters of this class. Number the gaps of
//! a normal state, let gap g be `cap + r`, and let `T = ceil((k - r) / modulus)`, or 0 if that is
//! negative. Every state with this normal form makes the same move, to the same normal state, as
//! the state in which each gap is wider by t(g) moduli, for some t with t(g) <= T(g) and a sum of
//! at most `k`.
//!
//! *Proof.* Let gap g be wider by w(g) moduli in the state, and let the move take d(g) successors
//! that lie in gap g: a chain of successors from the counter below it, each the successor of the
//! previous one.
//!
//! 1. The sum of all d is at most `k`. Only gaps with d(g) > 0 matter: the others grow, merge with
//!    other gaps, or stay, and in all three cases their normal form depends only on `cap + r` and
//!    on the modulus.
//! 2. Choose t(g) as the least of w(g) and ceil((d(g) - r) / modulus), which is at most T(g) and at
//!    most d(g).
//! 3. If t(g) = w(g), the gap is unchanged.
//! 4. If t(g) < w(g), then in both states the rest of the gap after d(g) successors is at least
//!    `cap`, and the same modulo the modulus. So every comparison on the way has the same outcome
//!    (the successors stay below the upper counter, by 2 at least), and afterwards the normal gap
//!    is the same.
//! 5. Successors beyond a gap, in the next one, occur only where w(g) = t(g).
//!
//! The premise, that `k` is known: every cycle of blocks passes a pause, and a successor is always
//! the whole value of an assignment. This includes successors in comparisons, which the compiler
//! assigns to a slot first ([`crate::instance::Instance::validate`] checks both). So a move,
//! including reactions of all processes, is a path through a finite graph; [`super::successors`]
//! computes the longest. A class without such a bound is not renumbered at all.
//!
//! # Counters left behind
//!
//! Where the program names no number, counters below all counters that may yet be incremented are
//! *left behind*: every number computed from now on is larger. Only two properties of them matter:
//! remainders, if they are taken, and the order of two counters, if they may be compared
//! ([`Class::related`]). So each is numbered by the longest chain of compared counters below it; as
//! in [`super::version_renaming`], compared and equal counters are numbered together.

use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use super::{Few, INLINE_SLOTS};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{NONE, Scalar, SlotId};

/// Counters, seldom many.
type Counters = SmallVec<[Scalar; INLINE_SLOTS]>;

/// One class of counters. Search keys depend on its `Debug` output, so it has no bit sets: these
/// show their addresses instead of their contents.
#[derive(Clone, Debug)]
pub struct CounterClass {
    slots: Vec<SlotId>,
    modulus: Scalar,
    cap: Scalar,
    /// The largest number that the program names, if it names any. Numbers up to it are unchanged.
    named: Option<Scalar>,
    /// Per slot, by position, the positions of related slots.
    related: Vec<Vec<usize>>,
    /// The positions of slots of which successors may yet be taken.
    rising: Vec<usize>,
    /// Per slot, by position, whether remainders may yet be taken.
    divided: Vec<bool>,
    /// The greatest number of successors of its counters in a move.
    most_successors: u32,
}

impl CounterClass {
    /// Prepares the renumbering of a class. Gaps are capped at `cap`, and a move takes at most
    /// `most_successors` successors of its counters.
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

    /// Returns per slot the largest number in a normal state.
    pub fn largest(&self) -> impl Iterator<Item = (SlotId, Scalar)> {
        let widest = self.cap + self.modulus - 1;
        let start = self.named.map_or(self.modulus - 1, |named| named + widest);
        let largest = start + widest * self.slots.len() as Scalar;
        self.slots.iter().map(move |&slot| (slot, largest))
    }

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

    /// Renumbers the counters of the class.
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let values = self.values(slots);
        let least = self.least_rising(slots);
        let (behind, above) = values.split_at(values.partition_point(|&value| value < least));
        let behind = self.left_behind(behind, slots);
        let left_behind = behind.iter().filter(|&&number| number != NONE);
        let lowest = left_behind.max().map_or(0, |largest| largest + 1);
        let mut numbers = Counters::with_capacity(above.len());
        // The previous value, and its number.
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

    /// Returns the least counter of which a successor may yet be taken: smaller counters are left
    /// behind.
    fn least_rising(&self, slots: &[Scalar]) -> Scalar {
        if self.named.is_some() {
            return Scalar::MIN;
        }
        let rising = self.rising.iter().map(|&at| slots[self.slots[at].index()]);
        rising.filter(|&value| value != NONE).min().unwrap_or(Scalar::MAX)
    }

    /// Returns numbers, by position, for the slots that hold these values, ascending; [`NONE`] for
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
                // Compared and equal slots are numbered together.
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

    /// Returns the least gap that is indistinguishable from this one.
    const fn gap(&self, gap: Scalar) -> Scalar {
        if gap < self.cap {
            return gap;
        }
        self.cap + (gap - self.cap).rem_euclid(self.modulus)
    }

    /// Returns the greatest number of successors of its counters in a move.
    pub const fn most_successors(&self) -> u32 {
        self.most_successors
    }

    /// Returns the gaps of a normal state that moves may make indistinguishable: the counter above
    /// each, ascending, and the number of widenings it may need.
    pub fn gaps(&self, slots: &[Scalar]) -> SmallVec<[(Scalar, u32); INLINE_SLOTS]> {
        let mut values = self.values(slots);
        // No number will be computed from counters left behind.
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

    /// Widens the gaps, as returned by [`Self::gaps`], by this many moduli each.
    pub fn widen(&self, slots: &mut [Scalar], gaps: impl Iterator<Item = (Scalar, u32)>) {
        let wider: SmallVec<[(Scalar, Scalar); INLINE_SLOTS]> =
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
