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
use crate::seeded::SeededMap;

/// Open changes, the first to end at the top.
type Open = BinaryHeap<Reverse<(u32, u32)>>;

/// Events in the order of time, each an operation, and whether it ends.
fn events<V>(part: &Part<V>) -> impl Iterator<Item = (u32, bool)> + use<V> {
    let mut at = vec![(NEVER, false); part.events as usize];
    for operation in 0..part.ids.len() {
        at[part.invoked[operation] as usize] = (operation as u32, false);
        if let Some(at) = at.get_mut(part.responded[operation] as usize) {
            *at = (operation as u32, true);
        }
    }
    at.into_iter()
}

/// Decides a bit that is not set at first.
pub(super) fn bit(part: &Part<bool>) -> Found {
    let mut state = false;
    // By the state that they lead to, and that they find.
    let mut changes: [Open; 2] = Default::default();
    let mut waiting: [Vec<u32>; 2] = Default::default();
    let mut is_taken = vec![false; part.ids.len()];
    let mut order: Vec<u32> = Vec::with_capacity(part.ids.len());
    for (operation, is_end) in events(part) {
        let index = operation as usize;
        let stuck = || Found::Beyond(Beyond::Operation(part.ids[index]));
        let effect = &part.effects[index];
        if is_end {
            // What must take effect before, and then the operation itself, if it is a change.
            let needed = match *effect {
                _ if is_taken[index] => continue,
                Effect::Read(found) => [Some(found), None],
                Effect::Swap(from, to) => [Some(from).filter(|from| *from != state), Some(to)],
                _ => return stuck(),
            };
            for to in needed.into_iter().flatten() {
                let Some(Reverse((_, change))) = changes[usize::from(to)].pop() else {
                    return stuck();
                };
                state = to;
                order.push(change);
                is_taken[change as usize] = true;
                for query in waiting[usize::from(to)].drain(..) {
                    is_taken[query as usize] = true;
                    order.push(query);
                }
            }
            continue;
        }
        match *effect {
            Effect::Read(found) if found == state => {
                is_taken[index] = true;
                order.push(operation);
            }
            Effect::Read(found) => waiting[usize::from(found)].push(operation),
            Effect::Swap(from, to) if from != to => {
                changes[usize::from(to)].push(Reverse((part.responded[index], operation)));
            }
            Effect::Nothing => {}
            _ => return stuck(),
        }
    }
    Found::Order(order)
}

/// Decides a number that is 0 at first.
pub(super) fn number(part: &Part<i64>) -> Found {
    let mut count = Count {
        part,
        number: 0,
        increments: Open::new(),
        returning: SeededMap::default(),
        waiting: SeededMap::default(),
        is_taken: vec![false; part.ids.len()],
        order: Vec::with_capacity(part.ids.len()),
    };
    for (operation, is_end) in events(part) {
        let index = operation as usize;
        let is_possible = if is_end { count.end(operation) } else { count.begin(operation) };
        if !is_possible {
            return Found::Beyond(Beyond::Operation(part.ids[index]));
        }
    }
    Found::Order(count.order)
}

struct Count<'p> {
    part: &'p Part<i64>,
    number: i64,
    /// Open increments that return nothing.
    increments: Open,
    /// Open increments by the number that they returned.
    returning: SeededMap<i64, Open>,
    /// Open reads by the number that they returned.
    waiting: SeededMap<i64, Vec<u32>>,
    is_taken: Vec<bool>,
    order: Vec<u32>,
}

impl Count<'_> {
    fn begin(&mut self, operation: u32) -> bool {
        let index = operation as usize;
        let open = Reverse((self.part.responded[index], operation));
        match self.part.effects[index] {
            Effect::Read(found) if found == self.number => self.take(operation),
            Effect::Read(found) => self.waiting.entry(found).or_default().push(operation),
            Effect::Increment => self.increments.push(open),
            Effect::Swap(found, _) => self.returning.entry(found).or_default().push(open),
            Effect::Nothing => {}
            _ => return false,
        }
        true
    }

    /// Whether the operation can have taken effect by its end.
    fn end(&mut self, operation: u32) -> bool {
        let index = operation as usize;
        if self.is_taken[index] {
            return true;
        }
        match self.part.effects[index] {
            Effect::Read(found) | Effect::Swap(found, _) => {
                while self.number < found {
                    if !self.grow() {
                        return false;
                    }
                }
                if !self.is_taken[index] && self.number == found {
                    // The first to end of those that returned this number.
                    self.grow();
                }
                self.is_taken[index]
            }
            _ => {
                while !self.is_taken[index] {
                    if !self.grow() {
                        return false;
                    }
                }
                true
            }
        }
    }

    /// Lets the increment take effect that must, or that ends first.
    fn grow(&mut self) -> bool {
        let returning = self.returning.get_mut(&self.number).and_then(Open::pop);
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
        self.is_taken[operation as usize] = true;
        self.order.push(operation);
    }
}
