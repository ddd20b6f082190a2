//! The pass over an execution in memory that decides it.
//!
//! Unlike the monitor, the pass compares vectors late, in batches: vectors that no later vector can
//! come between are *settled*, in ascending order. Then each condition takes at most one comparison
//! per entry. By I1, I2 and I4 the vector of an operation exceeds the *floor*, the largest vector
//! returned before its invocation; so vectors below the floors of all open operations can be
//! settled. (A vector that does not exceed its floor, which is settled later or together with it,
//! is found when the two are compared, or when it is compared with the vectors settled before.) Let
//! X be the vector of (j, s), and A the largest one below X:
//!
//! * I2 is A <= X, and equality where sums are equal;
//! * I3 is A at j < s, for then every vector with entry s or more at j is X or above it.
//!
//! Settled vectors are in their final order, so the blocks of a proof are recorded immediately. An
//! operation that failed unseen is taken back, and its number is reused for the next one of its
//! process.

use std::hash::Hash;

use super::blocks::SetLinearization;
use super::history::{Action, History};
use super::monitor::Repeated;
use crate::seeded::SeededMap;
use crate::{OperationId, Process};

/// Number of vectors in the first batch to be settled.
const BATCH: usize = 64;

/// Operations are forgotten in groups of at least this size.
const FORGOTTEN: usize = 1 << 6;

/// After this many steps back in time, values are found by hashing: while an operation stays
/// pending, no vector is settled.
const PATIENCE: usize = 64;

/// The reason why the pass ends early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    Violation,
    Undecided(Repeated),
}

/// An operation that has not failed.
#[derive(Debug)]
struct Written<'h, V> {
    value: &'h V,
    operation: OperationId,
}

/// The operations of a process that have not failed, numbered from 1.
#[derive(Debug)]
struct Writes<'h, V> {
    /// Operations whose values can still be returned, and some before them.
    recent: Vec<Written<'h, V>>,
    /// Number of operations before `recent`.
    past: usize,
    /// The last number of each value among the first `indexed` operations.
    index: SeededMap<&'h V, u32>,
    indexed: usize,
}

impl<'h, V: Eq + Hash> Writes<'h, V> {
    fn new() -> Self {
        Self { recent: Vec::new(), past: 0, index: SeededMap::default(), indexed: 0 }
    }

    /// Number of the last operation; 0 before the first.
    const fn newest(&self) -> usize {
        self.past + self.recent.len()
    }

    /// Returns the operation with a number, whose value can still be returned.
    fn operation(&self, number: u32) -> OperationId {
        self.recent[number as usize - 1 - self.past].operation
    }

    /// Returns the last number of a value, if it is not below `oldest`. Usually one of the last.
    #[inline]
    fn find(&mut self, value: &V, oldest: usize) -> Option<u32> {
        let first = oldest.saturating_sub(1 + self.past);
        let close = first.max(self.recent.len().saturating_sub(PATIENCE));
        match self.recent[close..].iter().rposition(|written| written.value == value) {
            Some(position) => Some((self.past + close + position) as u32 + 1),
            None if close == first => None,
            None => self.find_by_hash(value, self.past + first),
        }
    }

    #[cold]
    fn find_by_hash(&mut self, value: &V, first: usize) -> Option<u32> {
        let indexed = self.indexed.max(self.past);
        for (at, written) in self.recent.iter().enumerate().skip(indexed - self.past) {
            self.index.insert(written.value, (self.past + at) as u32 + 1);
        }
        self.indexed = self.newest();
        self.index.get(value).copied().filter(|&number| number as usize > first)
    }

    /// Takes back the last operation, which failed unseen.
    fn take_back(&mut self) {
        let Some(written) = self.recent.pop() else { return };
        if self.indexed > self.newest() {
            self.index.remove(written.value);
            self.indexed = self.newest();
        }
    }

    /// Forgets operations below this number, whose values are returned no more. O(1) per operation,
    /// amortized.
    fn forget(&mut self, oldest: usize) {
        let gone = oldest.saturating_sub(1 + self.past);
        if gone >= FORGOTTEN && 2 * gone >= self.recent.len() {
            self.recent.drain(..gone);
            self.past += gone;
        }
    }
}

/// A complete operation whose vector is not settled.
#[derive(Clone, Copy, Debug)]
struct Element {
    sum: u64,
    process: u32,
}

/// The state of the pass.
#[derive(Debug)]
pub(super) struct Pass<'h, V> {
    history: &'h History<V>,
    /// The operations of each process.
    written: Vec<Writes<'h, V>>,
    /// The floors of the open operations.
    open: Vec<Option<u64>>,
    /// The largest sum of a vector.
    floor: u64,
    elements: Vec<Element>,
    /// The operation with the largest vector.
    largest: Option<usize>,
    /// The vectors of the elements.
    vectors: Vec<u32>,
    /// Number of elements that trigger the next settling.
    batch: usize,
    /// The largest vector settled.
    settled: Vec<u32>,
    settled_sum: u64,
    /// Elements in ascending order.
    order: Vec<(u64, u32)>,
    /// The blocks so far, if wanted.
    blocks: Option<SetLinearization>,
}

impl<'h, V: Eq + Hash> Pass<'h, V> {
    /// Creates a pass before the first event; records blocks, if given.
    pub fn new(history: &'h History<V>, blocks: Option<SetLinearization>) -> Self {
        let segments = history.segments();
        Self {
            history,
            written: (0..segments).map(|_| Writes::new()).collect(),
            open: vec![None; segments],
            floor: 0,
            elements: Vec::new(),
            largest: None,
            vectors: Vec::new(),
            batch: BATCH,
            settled: vec![0; segments],
            settled_sum: 0,
            order: Vec::new(),
            blocks,
        }
    }

    /// Decides the execution. Returns the blocks, if wanted.
    ///
    /// O(length of the history), O(segments) per complete operation, plus sorting the vectors of
    /// concurrent operations.
    pub fn run(mut self) -> Result<Option<SetLinearization>, Stop> {
        let stopped = self.follow();
        if stopped == Err(Stop::Violation) || !self.settle(u64::MAX) {
            return Err(Stop::Violation);
        }
        stopped.map(|()| self.blocks)
    }

    fn follow(&mut self) -> Result<(), Stop> {
        for (id, event) in self.history.events() {
            let process = event.process;
            match event.action {
                Action::Invoke { value } => self.begin(process, value, id)?,
                Action::Respond { values } => self.respond(process, values)?,
                Action::Fail => {
                    self.open[process] = None;
                    // In a chain, the largest vector has the maximum of every entry.
                    if self.largest(process) as usize == self.written[process].newest() {
                        return Err(Stop::Violation);
                    }
                    self.written[process].take_back();
                }
                // Later operations are compared only with its value.
                Action::Unknown => self.open[process] = None,
            }
        }
        Ok(())
    }

    fn begin(&mut self, index: usize, value: &'h V, operation: OperationId) -> Result<(), Stop> {
        let oldest = self.settled[index] as usize;
        let is_repeated = self.written[index].find(value, oldest).is_some();
        if is_repeated || value == self.history.initial_value(index) {
            let process = Process::from_index(index);
            return Err(Stop::Undecided(Repeated { operation, process }));
        }
        self.written[index].recent.push(Written { value, operation });
        self.open[index] = Some(self.floor);
        Ok(())
    }

    fn respond(&mut self, process: usize, values: &[V]) -> Result<(), Stop> {
        if self.open[process].take().is_none() {
            return Ok(());
        }
        let start = self.vectors.len();
        let mut sum = 0;
        for (segment, value) in values.iter().enumerate() {
            let Some(number) = self.number(segment, value) else { return Err(Stop::Violation) };
            sum += u64::from(number);
            self.vectors.push(number);
        }
        if self.vectors[start + process] as usize != self.written[process].newest() {
            return Err(Stop::Violation);
        }
        self.floor = self.floor.max(sum);
        if self.largest.is_none_or(|largest| sum > self.elements[largest].sum) {
            self.largest = Some(self.elements.len());
        }
        self.elements.push(Element { sum, process: process as u32 });
        if self.elements.len() < self.batch {
            return Ok(());
        }
        let floor = self.open.iter().flatten().fold(self.floor, |least, &floor| least.min(floor));
        if self.settle(floor) { Ok(()) } else { Err(Stop::Violation) }
    }

    /// Returns the number of the operation that wrote a value, or 0, if an operation that responds
    /// now can have returned it. (The comparison of vectors decides whether it returned the initial
    /// value in time.)
    #[inline]
    fn number(&mut self, segment: usize, value: &V) -> Option<u32> {
        let oldest = self.settled[segment] as usize;
        let found = self.written[segment].find(value, oldest);
        found.or_else(|| (value == self.history.initial_value(segment)).then_some(0))
    }

    /// Returns the entry of the largest vector at a segment.
    fn largest(&self, segment: usize) -> u32 {
        self.largest
            .map_or(self.settled[segment], |at| self.vectors[at * self.settled.len() + segment])
    }

    /// Settles the vectors whose sums are below `floor`; all others, present or future, are at or
    /// above it. Returns true if I2 and I3 hold for them.
    #[inline(never)]
    fn settle(&mut self, floor: u64) -> bool {
        let width = self.settled.len();
        let sums = (0..).zip(&self.elements).map(|(at, element)| (element.sum, at));
        self.order.clear();
        self.order.extend(sums.filter(|(sum, _)| *sum < floor));
        self.order.sort_unstable();
        // The largest vector so far, and the largest one below it.
        let (mut below, mut last): (&[u32], &[u32]) = (&self.settled, &self.settled);
        let mut last_sum = self.settled_sum;
        for &(sum, at) in &self.order {
            let at = at as usize;
            let vector = &self.vectors[at * width..][..width];
            if sum == last_sum {
                if vector != last {
                    return false;
                }
            } else {
                if !at_most(last, vector) {
                    return false;
                }
                if let Some(blocks) = &mut self.blocks {
                    let grown = (0..width).filter(|&segment| vector[segment] > last[segment]);
                    let written = &self.written;
                    let is_gone =
                        |segment: usize| vector[segment] as usize > written[segment].newest();
                    // An operation was taken back that the largest vector had not seen: this vector
                    // has seen it, so they form no chain.
                    if grown.clone().any(is_gone) {
                        return false;
                    }
                    blocks.push(grown.map(|segment| written[segment].operation(vector[segment])));
                }
                (below, last, last_sum) = (last, vector, sum);
            }
            let process = self.elements[at].process as usize;
            if below[process] == vector[process] {
                return false;
            }
        }
        let (last, last_sum) = (last.to_vec(), last_sum);
        (self.settled, self.settled_sum) = (last, last_sum);
        for (written, oldest) in self.written.iter_mut().zip(&self.settled) {
            written.forget(*oldest as usize);
        }
        let mut kept = 0;
        for at in 0..self.elements.len() {
            if self.elements[at].sum >= floor {
                self.vectors.copy_within(at * width..(at + 1) * width, kept * width);
                self.elements[kept] = self.elements[at];
                kept += 1;
            }
        }
        self.vectors.truncate(kept * width);
        self.elements.truncate(kept);
        let sums = self.elements.iter().map(|element| element.sum).enumerate();
        self.largest = sums.max_by_key(|(_, sum)| *sum).map(|(at, _)| at);
        // Twice the number of kept elements, so that the total work is linear.
        self.batch = BATCH.max(2 * kept);
        true
    }
}

#[inline]
fn at_most(smaller: &[u32], larger: &[u32]) -> bool {
    smaller.iter().zip(larger).fold(true, |so_far, (a, b)| so_far & (a <= b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Declaration;

    /// Memory does not grow with the execution.
    #[test]
    fn settled_operations_are_forgotten() {
        let mut builder = History::builder(Declaration::new(0).with_segments(2)).unwrap();
        for round in 1..=10_000 {
            for process in 0..2 {
                builder.invoke(process, round).unwrap();
                let seen = if process == 0 { [round, round - 1] } else { [round, round] };
                builder.respond(process, &seen).unwrap();
            }
        }
        let history = builder.finish();
        let mut pass = Pass::new(&history, None);
        assert_eq!(pass.follow(), Ok(()));
        for written in &pass.written {
            assert_eq!(written.newest(), 10_000);
            assert!(written.recent.len() < 4 * FORGOTTEN, "{}", written.recent.len());
        }
    }
}
