//! Operations of an object that take effect together.
//!
//! A *block* is a set of operations that take effect at one instant (Borowsky and Gafni, *Immediate
//! atomic snapshots and fast renaming*, PODC 1993; in general, *set linearizability*: Neiger,
//! PODC 1994): of all of them what comes before their `together` is done, one after the other,
//! and then what comes after it, which leaves the state alone. So a block has one effect if the
//! first parts lead to the same in every order. That is not taken for granted: whatever the
//! order, what is reached is compared, and another result is a fault of the object.
//!
//! All subsets of k operations are made with k * 2^(k-1) runs of first parts, not k!: those of a
//! set that end with one operation begin with what all orders of the others led to.

use super::data::Data;
use super::event::OperationCall;
use super::fault::{Fault, FaultKind};
use super::object::{Begun, ObjectState, Sequential};
use crate::language::Span;

/// An operation and the process that executes it.
pub type Member = (usize, OperationCall);

/// What a block does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Block {
    /// The places of its operations among those that were given, ascending.
    pub members: Vec<usize>,
    /// The state after it.
    pub state: ObjectState,
    /// What each of its operations returns.
    pub results: Vec<Option<Data>>,
}

/// What first parts lead to: the state, and how far each operation is.
type Reached = (ObjectState, Vec<Begun>);

impl Sequential<'_> {
    /// Whether others may take effect together with an operation.
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn is_together(&self, call: OperationCall) -> bool {
        self.object().operation(call.operation).together
    }

    /// The most operations with `together` that may be open at a time. With as many, which of
    /// them are in which block can come about in more than half a million ways.
    pub const MOST_TOGETHER: usize = 8;

    /// The blocks that some of these operations, of different processes, can make in a state.
    /// O(k 2^k) for k operations.
    ///
    /// # Errors
    /// If the object is faulty there: what it does has no meaning, or another effect in
    /// another order; or if there are more than [`Self::MOST_TOGETHER`].
    ///
    /// # Panics
    /// If others may not take effect together with one of them, or if there is no such process
    /// or operation.
    pub fn blocks(&self, state: &ObjectState, given: &[Member]) -> Result<Vec<Block>, Fault> {
        let limit = Self::MOST_TOGETHER;
        if let Some((_, call)) = given.get(limit) {
            return Err(FaultKind::TooManyTogether { limit }.at(self.span(*call)));
        }
        assert!(given.iter().all(|(_, call)| self.is_together(*call)), "all wait for others");
        let mut reached: Vec<Option<Reached>> = vec![None; 1 << given.len()];
        reached[0] = Some((state.clone(), Vec::new()));
        let mut blocks = Vec::new();
        for set in 1..reached.len() {
            let members: Vec<usize> = (0..given.len()).filter(|one| set >> one & 1 == 1).collect();
            reached[set] = self.first_parts(&reached, (set, &members), given)?;
            let Some((state, begun)) = &reached[set] else { continue };
            let results = members.iter().zip(begun).map(|(member, begun)| {
                let (process, call) = given[*member];
                self.finish(state, process, call, begun.clone())
            });
            let results = results.collect::<Result<_, _>>()?;
            blocks.push(Block { members, state: state.clone(), results });
        }
        Ok(blocks)
    }

    /// Where an operation is declared.
    fn span(&self, call: OperationCall) -> Span {
        let operation = self.object().operation(call.operation);
        self.object().specification.procedure(operation.effect).span
    }

    /// What all first parts of a set lead to, by what those of smaller sets do; `None` if one
    /// of them waits for another state.
    fn first_parts(
        &self,
        reached: &[Option<Reached>],
        (set, members): (usize, &[usize]),
        given: &[Member],
    ) -> Result<Option<Reached>, Fault> {
        let mut all: Option<Option<Reached>> = None;
        for (position, last) in members.iter().enumerate() {
            let (process, call) = given[*last];
            let now = match &reached[set & !(1 << last)] {
                None => None,
                Some((state, others)) => self.begin(state, process, call)?.map(|(state, begun)| {
                    let mut all = others.clone();
                    all.insert(position, begun);
                    (state, all)
                }),
            };
            match &all {
                Some(before) if *before != now => {
                    return Err(FaultKind::OrderMatters.at(self.span(call)));
                }
                _ => all = Some(now),
            }
        }
        Ok(all.flatten())
    }
}
