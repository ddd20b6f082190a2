//! Deciding linearizability of a few operations by trying all orders.
//!
//! This is Definition 1 of Amram, Hayoun, Mizrahi and Weiss (DISC 2022), word for word: some
//! pending operations are given a response, the others are left out. The complete operations are
//! then put into a linear order that extends precedence and in which every scan returns, entry by
//! entry, the value of the last update of that segment before it, or the initial value if there is
//! no such update. A pending scan is always left out, since its response constrains only itself.
//!
//! Nothing is assumed about the writers of segments: updates of one segment may overlap, values may
//! repeat. The search builds the order from its front. Two observations make it practical:
//!
//! * The possible continuations depend only on the set of operations that are placed and on the
//!   current value of each segment, so such a pair is explored once (Wing and Gong, JPDC 1993;
//!   Lowe, CCPE 2017).
//! * A scan that may be placed next, and returned the current values, is placed immediately: a scan
//!   changes no value, so in any order of the rest it may be moved to the front.
//!
//! The number of states is exponential in the number of operations, hence the
//! limit of [`MAX_OPERATIONS`] and the budget of states; a state takes memory in
//! proportion to the number of segments, hence [`MAX_BYTES`].

use thiserror::Error;

use crate::seeded::SeededSet;

/// The largest number of operations that can be decided.
pub const MAX_OPERATIONS: usize = 128;

/// The most memory that the states of one search may take, in bytes.
pub const MAX_BYTES: usize = 256 << 20;

/// The effect of an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action<V> {
    /// Wrote one value.
    Update {
        /// The segment, from 0.
        segment: usize,
        /// The value written.
        value: V,
    },
    /// Returned one value per segment.
    Scan {
        /// The values, entry `k` for segment `k`; ignored while pending.
        values: Vec<V>,
    },
    /// Returned values for only some segments.
    PartialScan {
        /// Segments with their values; ignored while pending.
        entries: Vec<(usize, V)>,
    },
}

/// One operation, of any process.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operation<V> {
    /// Time of the invocation.
    pub invocation: usize,
    /// Time of the response, not before `invocation`; `None` if pending. Operations with equal
    /// times are concurrent.
    pub response: Option<usize>,
    /// The effect.
    pub action: Action<V>,
}

impl<V> Operation<V> {
    fn precedes(&self, other: &Self) -> bool {
        self.response.is_some_and(|response| response < other.invocation)
    }
}

/// A question: do these operations have a linearization?
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Instance<V> {
    /// The initial value of each segment; its length is the number of segments.
    pub initial: Vec<V>,
    /// The operations, in any order.
    pub operations: Vec<Operation<V>>,
}

/// The reason for a missing answer.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum BruteForceError {
    /// More operations than can be decided.
    #[error("{given} operations are too many to try all orders: at most {limit} are possible")]
    TooLarge {
        /// Number of operations.
        given: usize,
        /// The limit, [`MAX_OPERATIONS`].
        limit: usize,
    },
    /// The budget ran out.
    #[error("no answer after {limit} states; allow more states or give fewer operations")]
    OutOfBudget {
        /// The budget in states.
        limit: usize,
    },
    /// The states would take more memory than [`MAX_BYTES`].
    #[error(
        "no answer after {states} states, which take {limit} bytes; give fewer operations or \
         segments"
    )]
    OutOfMemory {
        /// The states explored.
        states: usize,
        /// The limit, [`MAX_BYTES`].
        limit: usize,
    },
    /// An operation updates a segment that does not exist, returned more or
    /// fewer values than there are segments, or responded before it was invoked.
    #[error(
        "operation number {operation} cannot exist: its segment or its number of values \
         does not fit {segments} segments, or it responds before it is invoked"
    )]
    Malformed {
        /// Index of the operation in the instance.
        operation: usize,
        /// Number of segments.
        segments: usize,
    },
}

impl<V: Eq> Instance<V> {
    /// Returns a linearization, as indices of operations, or `None` if none exists. Visits at most
    /// `budget` states, in at most [`MAX_BYTES`]; exponential in the number of operations.
    ///
    /// # Errors
    /// If there are more than [`MAX_OPERATIONS`] operations, if the budget or the
    /// memory runs out, or if an operation cannot exist.
    pub fn linearization(&self, budget: usize) -> Result<Option<Vec<usize>>, BruteForceError> {
        self.linearization_in(budget, MAX_BYTES)
    }

    /// As [`Self::linearization`], with another limit of memory.
    fn linearization_in(
        &self,
        budget: usize,
        bytes: usize,
    ) -> Result<Option<Vec<usize>>, BruteForceError> {
        if self.operations.len() > MAX_OPERATIONS {
            return Err(BruteForceError::TooLarge {
                given: self.operations.len(),
                limit: MAX_OPERATIONS,
            });
        }
        let mut search = Search::new(self, budget, bytes)?;
        let mut state = vec![0; self.initial.len()];
        let found = search.extend(0, &mut state)?;
        Ok(found.then_some(search.order))
    }

    /// Returns the number of a value among the distinct values of its segment.
    fn number(known: &mut Vec<V>, value: &V) -> u16
    where
        V: Clone,
    {
        let number = known.iter().position(|other| other == value).unwrap_or_else(|| {
            known.push(value.clone());
            known.len() - 1
        });
        number as u16
    }
}

/// An operation with numbers for its values; 0 is the initial value.
enum Numbered {
    Update {
        segment: usize,
        value: u16,
    },
    /// Entry `k` for segment `k`; [`MISSING`] if the scan did not return segment `k`.
    Scan {
        values: Vec<u16>,
    },
}

/// Number of a missing entry.
const MISSING: u16 = u16::MAX;

struct Search {
    actions: Vec<Numbered>,
    /// For each operation, the set of operations that precede it.
    predecessors: Vec<u128>,
    /// The complete operations, all of which must be placed.
    complete: u128,
    /// The explored states: placed operations and current values.
    visited: SeededSet<(u128, Box<[u16]>)>,
    /// The largest number of states.
    budget: usize,
    /// The largest number of bytes for the states.
    bytes: usize,
    order: Vec<usize>,
}

impl Search {
    fn new<V: Eq>(
        instance: &Instance<V>,
        budget: usize,
        bytes: usize,
    ) -> Result<Self, BruteForceError> {
        let segments = instance.initial.len();
        let mut known: Vec<Vec<&V>> = instance.initial.iter().map(|value| vec![value]).collect();
        let mut actions = Vec::with_capacity(instance.operations.len());
        let mut complete = 0;
        for (index, operation) in instance.operations.iter().enumerate() {
            let malformed = Err(BruteForceError::Malformed { operation: index, segments });
            if operation.response.is_some_and(|response| response < operation.invocation) {
                return malformed;
            }
            if operation.response.is_some() {
                complete |= 1 << index;
            }
            actions.push(match &operation.action {
                Action::Update { segment, .. } if *segment >= segments => return malformed,
                Action::Update { segment, value } => Numbered::Update {
                    segment: *segment,
                    value: Instance::number(&mut known[*segment], &value),
                },
                Action::Scan { .. } | Action::PartialScan { .. }
                    if operation.response.is_none() =>
                {
                    Numbered::Scan { values: Vec::new() }
                }
                Action::Scan { values } if values.len() != segments => return malformed,
                Action::PartialScan { entries } => {
                    let mut values = vec![MISSING; segments];
                    for (segment, value) in entries {
                        let Some(known) = known.get_mut(*segment) else { return malformed };
                        values[*segment] = Instance::number(known, &value);
                    }
                    Numbered::Scan { values }
                }
                Action::Scan { values } => Numbered::Scan {
                    values: (values.iter().zip(&mut known))
                        .map(|(value, known)| Instance::number(known, &value))
                        .collect(),
                },
            });
        }
        let predecessors = (instance.operations.iter())
            .map(|operation| {
                (instance.operations.iter().enumerate())
                    .filter(|(_, other)| other.precedes(operation))
                    .fold(0, |set, (index, _)| set | 1 << index)
            })
            .collect();
        let visited = SeededSet::default();
        Ok(Self { actions, predecessors, complete, visited, budget, bytes, order: Vec::new() })
    }

    /// Extends the order of the operations `placed`, which leaves the values `state`, to a
    /// linearization. If none exists, leaves the order unchanged.
    fn extend(&mut self, placed: u128, state: &mut [u16]) -> Result<bool, BruteForceError> {
        let length = self.order.len();
        let placed = self.place_scans(placed, state);
        if placed & self.complete == self.complete {
            return Ok(true);
        }
        if self.visited.insert((placed, state.into())) {
            let states = self.visited.len();
            if states > self.budget {
                return Err(BruteForceError::OutOfBudget { limit: self.budget });
            }
            if states.saturating_mul(state_bytes(state.len())) > self.bytes {
                return Err(BruteForceError::OutOfMemory { states, limit: self.bytes });
            }
            for index in 0..self.actions.len() {
                let Numbered::Update { segment, value } = self.actions[index] else { continue };
                if !self.may_follow(index, placed) {
                    continue;
                }
                let overwritten = std::mem::replace(&mut state[segment], value);
                self.order.push(index);
                if self.extend(placed | 1 << index, state)? {
                    return Ok(true);
                }
                self.order.pop();
                state[segment] = overwritten;
            }
        }
        self.order.truncate(length);
        Ok(false)
    }

    /// Places all complete scans that may come next and returned `state`.
    fn place_scans(&mut self, mut placed: u128, state: &[u16]) -> u128 {
        loop {
            let next = (0..self.actions.len()).find(|&index| {
                let agrees = |(value, held): (&u16, &u16)| *value == MISSING || value == held;
                matches!(&self.actions[index], Numbered::Scan { values }
                         if values.iter().zip(state).all(agrees))
                    && self.complete >> index & 1 == 1
                    && self.may_follow(index, placed)
            });
            let Some(index) = next else { return placed };
            self.order.push(index);
            placed |= 1 << index;
        }
    }

    /// Returns true if an operation is not placed, but all its predecessors are.
    fn may_follow(&self, index: usize, placed: u128) -> bool {
        placed >> index & 1 == 0 && self.predecessors[index] & !placed == 0
    }
}

/// Returns the bytes of a state with this many segments: its entry in a table that may be half
/// empty, its values, and the overhead of an allocation.
const fn state_bytes(segments: usize) -> usize {
    2 * (size_of::<(u128, Box<[u16]>)>() + 1) + size_of::<u16>() * segments + 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(
        invocation: usize,
        response: Option<usize>,
        segment: usize,
        value: u8,
    ) -> Operation<u8> {
        Operation { invocation, response, action: Action::Update { segment, value } }
    }

    fn scan(invocation: usize, response: Option<usize>, values: &[u8]) -> Operation<u8> {
        Operation { invocation, response, action: Action::Scan { values: values.to_vec() } }
    }

    fn order(initial: &[u8], operations: &[Operation<u8>]) -> Option<Vec<usize>> {
        let instance = Instance { initial: initial.to_vec(), operations: operations.to_vec() };
        instance.linearization(1000).unwrap()
    }

    #[test]
    fn the_first_figure_of_the_paper_is_linearizable() {
        let figure = [
            update(0, None, 0, 1),
            update(1, Some(2), 1, 2),
            scan(3, Some(4), &[1, 2]),
            scan(5, None, &[]),
        ];
        assert_eq!(order(&[0, 0], &figure), Some(vec![0, 1, 2]));
    }

    #[test]
    fn equal_times_are_concurrent() {
        assert!(order(&[0], &[update(0, Some(5), 0, 1), scan(5, Some(6), &[0])]).is_some());
        assert!(order(&[0], &[update(0, Some(4), 0, 1), scan(5, Some(6), &[0])]).is_none());
    }

    #[test]
    fn updates_of_one_segment_may_overlap() {
        let updates = [update(0, Some(9), 0, 1), update(0, Some(9), 0, 2)];
        let reads = |first, second| {
            let mut operations = updates.to_vec();
            operations.extend([scan(10, Some(11), &[first]), scan(12, Some(13), &[second])]);
            order(&[0], &operations).is_some()
        };
        assert!(reads(1, 1) && reads(2, 2));
        assert!(!reads(1, 2) && !reads(0, 1));
    }

    #[test]
    fn order_of_overlapping_updates_is_part_of_the_state() {
        let mut operations = vec![update(0, Some(9), 0, 1), update(0, Some(9), 0, 2)];
        operations.extend([update(10, Some(11), 1, 5), scan(12, Some(13), &[1, 5])]);
        assert_eq!(order(&[0, 0], &operations), Some(vec![1, 0, 2, 3]));
    }

    #[test]
    fn undecidable_instances_are_errors() {
        let many = Instance { initial: vec![0], operations: vec![update(0, None, 0, 1); 129] };
        let error = BruteForceError::TooLarge { given: 129, limit: 128 };
        assert_eq!(many.linearization(1), Err(error));

        let mut operations: Vec<_> = (0..9).map(|k| update(0, Some(1), k, 1)).collect();
        operations.push(scan(2, Some(3), &[0; 9]));
        let hard = Instance { initial: vec![0; 9], operations };
        assert_eq!(hard.linearization(511), Err(BruteForceError::OutOfBudget { limit: 511 }));
        assert_eq!(hard.linearization(512), Ok(None));

        let bytes = 100 * state_bytes(9);
        let error = BruteForceError::OutOfMemory { states: 101, limit: bytes };
        assert_eq!(hard.linearization_in(512, bytes), Err(error));
        assert_eq!(hard.linearization_in(512, 512 * state_bytes(9)), Ok(None));

        for bad in [update(0, Some(1), 1, 1), scan(0, Some(1), &[0, 0]), update(1, Some(0), 0, 1)] {
            let instance = Instance { initial: vec![0], operations: vec![bad] };
            let error = BruteForceError::Malformed { operation: 0, segments: 1 };
            assert_eq!(instance.linearization(10), Err(error));
        }
    }

    #[test]
    fn the_largest_instance_is_decided() {
        let mut operations: Vec<_> =
            (0..127).map(|t| update(2 * t, Some(2 * t + 1), 0, 1)).collect();
        operations.push(scan(300, Some(301), &[1]));
        assert_eq!(order(&[0], &operations), Some((0..128).collect()));
        operations[127] = scan(300, Some(301), &[0]);
        assert_eq!(order(&[0], &operations), None);
    }
}
