//! Loops over the crowd.
//!
//! The members that are present divide all processes into gaps: before the first, between two,
//! behind the last. In ascending order a loop passes a gap, a member, a gap, and so on. At a member
//! its body runs exactly. In a gap it runs with "any other" for the index, any number of times,
//! possibly zero: so for every n, all rounds are among these. A member whose round accesses no kept
//! variable counts as any other: it is part of the gap.

use smallvec::SmallVec;

use super::{Branch, Crowd, GAP, MEMBER, Run, set_pc};
use crate::model::{For, at};
use crate::shape::{BASE, DEAD, OTHER, SOME, UNKNOWN, integer};
use crate::term::Over;

impl Crowd {
    /// Returns the members at which a loop of a process stops, in its order.
    pub fn order(&self, this: &For, me: u8) -> SmallVec<[u8; 3]> {
        let merged = &this.merged[usize::from(me)];
        let members = self.members.iter().copied();
        members.filter(|member| !merged[usize::from(*member)]).collect()
    }
}

impl Run<'_> {
    /// Returns the branches from one position of a loop to all possible next ones.
    pub(super) fn next_round(
        &self,
        mut branch: Branch,
        this: &For,
        position: Option<u8>,
        waiting: &mut Vec<Branch>,
    ) {
        let block = self.block();
        let variable = block + this.variable;
        self.clear_others(&mut branch.state);
        let mut go = |mut branch: Branch, position: u8, index: u8| {
            branch.state[block + this.position] = position;
            branch.state[variable] = index;
            self.forget(&mut branch.state, this.body);
            set_pc(&mut branch.state, block, this.body);
            waiting.push(branch);
        };
        let except = branch.state[block + this.position + 1];
        match this.over {
            Over::Members => {
                let order = self.crowd.order(this, self.me);
                // Positions in order: a gap, a member, a gap, a member, ..., a gap.
                let positions = 2 * order.len() + 1;
                let now = position.map(|position| index_of(&order, position));
                let mut next = match now {
                    None => 0,
                    // A gap may continue.
                    Some(gap) if gap % 2 == 0 => gap,
                    Some(member) => member + 1,
                };
                while next < positions {
                    if next % 2 == 0 {
                        let at = if next == 0 { GAP } else { GAP + 1 + order[next / 2 - 1] };
                        go(branch.clone(), at, BASE + OTHER);
                        next += 1;
                        continue;
                    }
                    let member = order[next / 2];
                    match except {
                        byte if byte == BASE + member => {}
                        UNKNOWN | SOME => {
                            // It may be the index left out.
                            go(branch.clone(), MEMBER + member, BASE + member);
                        }
                        _ => {
                            go(branch, MEMBER + member, BASE + member);
                            return;
                        }
                    }
                    next += 1;
                }
            }
            Over::Range(low, count) => {
                let mut next = match position {
                    None => 0,
                    Some(_) => this.over.place(branch.state[variable]) + 1,
                };
                while next < count {
                    let index = integer(low + next as i32);
                    if except == index {
                        next += 1;
                        continue;
                    }
                    go(branch.clone(), MEMBER, index);
                    if !matches!(except, UNKNOWN | SOME) {
                        return;
                    }
                    next += 1;
                }
            }
            Over::Many => go(branch.clone(), GAP, UNKNOWN),
        }
        // The loop ends.
        branch.state[block + this.position..block + this.position + 2].fill(DEAD);
        branch.state[variable] = DEAD;
        set_pc(&mut branch.state, block, this.end);
        waiting.push(branch);
    }

    /// Clears the places of "any other": the next round is with another process.
    pub(super) fn clear_others(&self, state: &mut [u8]) {
        let block = self.block();
        let end = self.model.frames.last().map_or(at::END, |frame| frame.end);
        let slots = self.model.slots[block..block + end].iter();
        for (byte, slot) in state[block..block + end].iter_mut().zip(slots) {
            if slot.other {
                *byte = DEAD;
            }
        }
    }
}

/// Returns the number of a position among the positions of the members in this order.
fn index_of(order: &[u8], position: u8) -> usize {
    let place = |member: u8| order.iter().position(|one| *one == member).unwrap_or_default();
    match position {
        GAP => 0,
        position if position > GAP => 2 * place(position - GAP - 1) + 2,
        position => 2 * place(position - MEMBER) + 1,
    }
}
