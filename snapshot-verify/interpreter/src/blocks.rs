//! Operations of an object that take effect together.
//!
//! A *block* is a set of operations that take effect at one instant (Borowsky and Gafni, *Immediate
//! atomic snapshots and fast renaming*, PODC 1993; in general, *set linearizability*: Neiger, PODC
//! 1994). The first parts of its operations, before their `together`, run one after the other. Then
//! the second parts run, which leave the state unchanged. So a block has one effect if the first
//! parts lead to the same result in every order. This is checked: the results of all orders are
//! compared, and a difference is a fault of the object.
//!
//! All subsets of k operations take k * 2^(k-1) runs of first parts, not k!: for each last
//! operation of a set, the run starts from the common result of the others.

use super::data::Data;
use super::event::OperationCall;
use super::fault::{Fault, FaultKind};
use super::object::{Begun, ObjectState, Sequential};
use crate::language::Span;

/// Process of an operation, and the operation.
pub type Member = (usize, OperationCall);

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Block {
    /// Positions of its operations in the given list, ascending.
    pub members: Vec<usize>,
    pub state: ObjectState,
    /// Result of each of its operations.
    pub results: Vec<Option<Data>>,
}

/// Result of first parts: the state, and the progress of each operation.
type Reached = (ObjectState, Vec<Begun>);

impl Sequential<'_> {
    /// Returns true if others may take effect together with an operation.
    ///
    /// # Panics
    /// If the operation does not exist.
    pub fn is_together(&self, call: OperationCall) -> bool {
        self.object().operation(call.operation).together
    }

    /// Most operations with `together` that may be open at a time. This many can form blocks in
    /// more than half a million ways.
    pub const MOST_TOGETHER: usize = 8;

    /// Returns the blocks that subsets of these operations, of different processes, can form in a
    /// state. O(k 2^k) for k operations.
    ///
    /// # Errors
    /// If the object is faulty there (an operation has no meaning, or the effect depends on the
    /// order), or if there are more than [`Self::MOST_TOGETHER`] operations.
    ///
    /// # Panics
    /// If others may not take effect together with one of them, or if the process or operation
    /// does not exist.
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

    /// Returns the declaration of an operation.
    fn span(&self, call: OperationCall) -> Span {
        let operation = self.object().operation(call.operation);
        self.object().specification.procedure(operation.effect).span
    }

    /// Returns the common result of the first parts of a set, from the results of smaller sets;
    /// `None` if one of them waits for another state.
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
