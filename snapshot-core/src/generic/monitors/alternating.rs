//! One bit, and a number that only grows, in O(n log n): an element of a set, whatever repeats; a
//! counter without decrements.
//!
//! Events are passed in the order of time. Operations that change nothing take effect as soon as the
//! state allows them. A change takes effect only if an operation is about to end that has not: it
//! needs another state, or is a change itself. Then, of the open changes that lead on, the one that ends first does;
//! those without response come last.
//!
//! *Why that finds an order if there is one.* (1) Of changes alike, the one that ends first may go
//! first: exchange the two. (2) Waiting loses nothing. A bit has two states, and a change and its
//! opposite that both could take effect now can do so later, too, side by side, until one is about to
//! end; a number passes each value once, so an operation that returned n takes effect at n whatever is
//! done before. (3) An open increment that returned n, the number now, goes before others,
//! since it can go at no other number. With decrements (2) is wrong: let an increment be about to end, and a
//! decrement and a read of 0 be open at 1; decrement, read, increment is right, and the rule
//! increments.
//!
//! The argument is a sketch; each order is replayed, and where the rule finds none, the search
//! decides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::part::{NEVER, Part};
use super::{Beyond, Found};
use crate::generic::effect::Effect;
use crate::seeded::{SeededMap, SeededSet};

/// A set of operations by their numbers.
pub(in crate::generic) trait Flags {
    fn set(&mut self, operation: u32);

    /// Returns true if the operation is in the set; its end is looked at once.
    fn take(&mut self, operation: u32) -> bool;
}

impl Flags for Vec<bool> {
    fn set(&mut self, operation: u32) {
        self[operation as usize] = true;
    }

    fn take(&mut self, operation: u32) -> bool {
        self[operation as usize]
    }
}

impl Flags for SeededSet<u32> {
    fn set(&mut self, operation: u32) {
        self.insert(operation);
    }

    fn take(&mut self, operation: u32) -> bool {
        self.remove(&operation)
    }
}

/// A rule that takes events in the order of time.
pub(in crate::generic) trait Rule<V> {
    /// Begins an operation that ends at a time, or [`NEVER`]. Returns false if no order is found.
    fn begin(&mut self, operation: u32, ends: u32, effect: &Effect<V>) -> bool;

    /// Ends an operation. Returns false if no order is found.
    fn end(&mut self, operation: u32, effect: &Effect<V>) -> bool;
}

/// Open changes, the first to end at the top.
type Open = BinaryHeap<Reverse<(u32, u32)>>;

/// Gives a part to a rule.
fn run<V>(part: &Part<V>, rule: &mut impl Rule<V>) -> Result<(), Found> {
    let mut at = vec![(NEVER, false); part.events as usize];
    for operation in 0..part.ids.len() {
        at[part.invoked[operation] as usize] = (operation as u32, false);
        if let Some(at) = at.get_mut(part.responded[operation] as usize) {
            *at = (operation as u32, true);
        }
    }
    for (operation, is_end) in at {
        let index = operation as usize;
        let effect = &part.effects[index];
        let is_possible = if is_end {
            rule.end(operation, effect)
        } else {
            rule.begin(operation, part.responded[index], effect)
        };
        if !is_possible {
            return Err(Found::Beyond(Beyond::Operation(part.ids[index])));
        }
    }
    Ok(())
}

/// Decides a bit that is set at first or not.
pub(super) fn bit(part: &Part<bool>, initial: bool) -> Found {
    let mut bit = Bit::new(initial, vec![false; part.ids.len()]);
    bit.order.reserve(part.ids.len());
    run(part, &mut bit).map_or_else(|found| found, |()| Found::Order(bit.order))
}

/// Decides a number that is 0 at first.
pub(super) fn number(part: &Part<i64>) -> Found {
    let mut count = Count::new(vec![false; part.ids.len()]);
    count.order.reserve(part.ids.len());
    run(part, &mut count).map_or_else(|found| found, |()| Found::Order(count.order))
}

/// The rule of a bit.
#[derive(Debug, Default)]
pub(in crate::generic) struct Bit<T> {
    pub state: bool,
    /// By the state that they lead to, and that they find.
    changes: [Open; 2],
    waiting: [Vec<u32>; 2],
    /// Operations that took effect and have not ended.
    pub taken: T,
    /// Operations in the order in which they took effect.
    pub order: Vec<u32>,
}

impl<T: Flags> Bit<T> {
    pub fn new(state: bool, taken: T) -> Self {
        let (changes, waiting, order) = Default::default();
        Self { state, changes, waiting, taken, order }
    }

    fn take(&mut self, operation: u32) {
        self.taken.set(operation);
        self.order.push(operation);
    }
}

impl<T: Flags> Rule<bool> for Bit<T> {
    fn begin(&mut self, operation: u32, ends: u32, effect: &Effect<bool>) -> bool {
        match *effect {
            Effect::Read(found) if found == self.state => self.take(operation),
            Effect::Read(found) => self.waiting[usize::from(found)].push(operation),
            Effect::Swap(from, to) if from != to => {
                self.changes[usize::from(to)].push(Reverse((ends, operation)));
            }
            Effect::Nothing => {}
            _ => return false,
        }
        true
    }

    fn end(&mut self, operation: u32, effect: &Effect<bool>) -> bool {
        if self.taken.take(operation) {
            return true;
        }
        // What must take effect before, and then the operation itself, if it is a change.
        let needed = match *effect {
            Effect::Read(found) => [Some(found), None],
            Effect::Swap(from, to) => [Some(from).filter(|from| *from != self.state), Some(to)],
            _ => return false,
        };
        for to in needed.into_iter().flatten() {
            let Some(Reverse((_, change))) = self.changes[usize::from(to)].pop() else {
                return false;
            };
            self.state = to;
            self.take(change);
            for query in std::mem::take(&mut self.waiting[usize::from(to)]) {
                self.take(query);
            }
        }
        self.taken.take(operation)
    }
}

/// The rule of a number.
#[derive(Debug, Default)]
pub(in crate::generic) struct Count<T> {
    pub number: i64,
    /// Open increments that return nothing.
    increments: Open,
    /// Open increments by the number that they returned.
    returning: SeededMap<i64, Open>,
    /// Open reads by the number that they returned.
    waiting: SeededMap<i64, Vec<u32>>,
    /// Operations that took effect and have not ended.
    pub taken: T,
    /// Operations in the order in which they took effect.
    pub order: Vec<u32>,
}

impl<T: Flags> Count<T> {
    pub fn new(taken: T) -> Self {
        let (returning, waiting) = Default::default();
        Self { number: 0, increments: Open::new(), returning, waiting, taken, order: Vec::new() }
    }

    /// Lets the increment take effect that must, or that ends first.
    fn grow(&mut self) -> bool {
        let returning = match self.returning.get_mut(&self.number) {
            None => None,
            Some(open) if open.len() > 1 => open.pop(),
            Some(_) => self.returning.remove(&self.number).and_then(|mut open| open.pop()),
        };
        let Some(Reverse((_, increment))) = returning.or_else(|| self.increments.pop()) else {
            return false;
        };
        self.take(increment);
        self.number = self.number.wrapping_add(1);
        for read in self.waiting.remove(&self.number).unwrap_or_default() {
            self.take(read);
        }
        true
    }

    fn take(&mut self, operation: u32) {
        self.taken.set(operation);
        self.order.push(operation);
    }
}

impl<T: Flags> Rule<i64> for Count<T> {
    fn begin(&mut self, operation: u32, ends: u32, effect: &Effect<i64>) -> bool {
        let open = Reverse((ends, operation));
        match *effect {
            Effect::Read(found) if found == self.number => self.take(operation),
            Effect::Read(found) => self.waiting.entry(found).or_default().push(operation),
            Effect::Increment => self.increments.push(open),
            Effect::Swap(found, _) => self.returning.entry(found).or_default().push(open),
            Effect::Nothing => {}
            _ => return false,
        }
        true
    }

    fn end(&mut self, operation: u32, effect: &Effect<i64>) -> bool {
        if self.taken.take(operation) {
            return true;
        }
        match *effect {
            Effect::Read(found) | Effect::Swap(found, _) => {
                while self.number < found {
                    if !self.grow() {
                        return false;
                    }
                }
                let is_taken = self.taken.take(operation);
                if !is_taken && self.number == found {
                    // The first to end of those that returned this number.
                    self.grow();
                    return self.taken.take(operation);
                }
                is_taken
            }
            _ => {
                while !self.taken.take(operation) {
                    if !self.grow() {
                        return false;
                    }
                }
                true
            }
        }
    }
}
