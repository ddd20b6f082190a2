//! Enumeration of the groups that open operations can form, one after the other.
//!
//! Operations have a fixed order, and combinations are visited in lexicographic order: each is
//! extended by later operations unless [`Bond::No`] forbids it, so a barrier of n does not
//! enumerate 2^n sets. Of interchangeable operations (same input, same output) only the first ones
//! are combined.

use super::specification::{Bond, Member, Synchronisation};
use crate::generic::problem::{Item, UNIQUE};
use crate::search::Budget;
use crate::verdict::Exhausted;

/// The budget of time is checked every this many combinations.
const PERIOD: u64 = 256;

/// The current combination, as positions within the operations, ascending.
pub(super) struct Combination<'h, S: Synchronisation> {
    pub indices: Vec<usize>,
    group: Vec<Member<'h, S::Input, S::Output>>,
    /// The combined operations, in order.
    members: Vec<Member<'h, S::Input, S::Output>>,
    /// The state after the group found last.
    pub state: S::State,
    /// Combinations tried so far.
    tried: u64,
}

/// Operations to be combined, by their items.
pub(super) struct Candidates<'a, 'h, I, O> {
    pub items: &'a [Item<'h, I, O>],
    /// Open operations, in the order of combination.
    pub open: &'a [u32],
    /// True if every group must contain the first operation.
    pub with_first: bool,
}

impl<'h, I, O> Candidates<'_, 'h, I, O> {
    fn item(&self, index: usize) -> &Item<'h, I, O> {
        &self.items[self.open[index] as usize]
    }

    /// Returns true if all interchangeable operations before this one are combined.
    fn is_first_of_its_kind(&self, index: usize, combined: &[usize]) -> bool {
        let class = self.item(index).class;
        if class == UNIQUE {
            return true;
        }
        let before = (0..index).rev().find(|&other| self.item(other).class == class);
        before.is_none_or(|before| combined.binary_search(&before).is_ok())
    }
}

impl<'h, S: Synchronisation> Combination<'h, S> {
    pub fn new(specification: &S) -> Self {
        let state = specification.initial();
        Self { indices: Vec::new(), group: Vec::new(), members: Vec::new(), state, tried: 0 }
    }

    /// Finds the first group that these operations can form in a state, or with `again` the next
    /// one after `indices`. If a group exists, returns true and leaves it in `indices`, with
    /// `state` after it.
    ///
    /// # Errors
    /// If the budget of time is exhausted.
    pub fn find(
        &mut self,
        specification: &S,
        state: &S::State,
        candidates: &Candidates<'_, 'h, S::Input, S::Output>,
        again: bool,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Exhausted> {
        let most = *specification.arities().end();
        self.group.clear();
        if !again {
            self.indices.clear();
        }
        self.group.extend(self.indices.iter().map(|&index| member(candidates.item(index))));
        self.members.clear();
        self.members.extend((0..candidates.open.len()).map(|index| member(candidates.item(index))));
        let mut next = self.indices.last().map_or(0, |last| last + 1);
        if again && self.indices.len() >= most {
            self.pop();
        }
        loop {
            let is_over = next == candidates.open.len()
                || (candidates.with_first && self.indices.is_empty() && next > 0);
            if is_over {
                match self.pop() {
                    None => return Ok(false),
                    Some(last) => next = last + 1,
                }
                continue;
            }
            let index = next;
            next += 1;
            if !candidates.is_first_of_its_kind(index, &self.indices) {
                continue;
            }
            self.indices.push(index);
            self.group.push(self.members[index]);
            self.tried += 1;
            if self.tried.is_multiple_of(PERIOD) && !(budget.proceed)() {
                return Err(Exhausted::Time);
            }
            self.state.clone_from(state);
            match specification.together(&mut self.state, &self.group) {
                Bond::Yes => return Ok(true),
                Bond::Prefix
                    if self.indices.len() < most
                        && specification.can_complete(
                            state,
                            &self.group,
                            &self.members[next..],
                        ) => {}
                Bond::Prefix | Bond::No => {
                    self.pop();
                }
            }
        }
    }

    fn pop(&mut self) -> Option<usize> {
        self.group.pop();
        self.indices.pop()
    }
}

fn member<'h, I, O>(item: &Item<'h, I, O>) -> Member<'h, I, O> {
    (item.input, item.output)
}
