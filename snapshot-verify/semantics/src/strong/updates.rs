//! Orders of the updates alone, for *write* strong linearizability.
//!
//! An order of the updates leaves open where reads are: a configuration is the set of those of the
//! object that agree with the events so far and with the order, wherever reads take effect. Updates
//! take effect in all members at once, and a response only removes members.
//!
//! A set is *closed* if with each member it contains those in which one more read has taken effect.
//! A set that is not closed is closed before the next update takes effect, so no read that may
//! precede the update is missed.

use std::collections::BTreeMap;

use snapshot_core::Process;

use crate::interpret::{Event, Fault};
use crate::refine::Automaton;

/// Sets of the configurations of an automaton whose operations take effect one by one.
#[derive(Clone, Debug)]
pub struct UpdateOrders<A> {
    automaton: A,
}

/// Configurations in ascending order, each once; at least one.
type Members<A> = Box<[<A as Automaton>::Configuration]>;

impl<A: Automaton> UpdateOrders<A> {
    pub const fn new(automaton: A) -> Self {
        Self { automaton }
    }

    /// Calls `reach` with each configuration after one open operation has taken effect, and the
    /// operation's process.
    fn next(
        &self,
        one: &A::Configuration,
        reach: &mut dyn FnMut(Process, A::Configuration),
    ) -> Result<(), Fault> {
        self.automaton.take_effect(one, &mut |next| {
            let process = self.automaton.taking_effect(one, &next).next();
            reach(process.expect("an operation takes effect"), next);
        })
    }

    fn closed(&self, members: &Members<A>) -> Result<Members<A>, Fault> {
        let mut all = members.to_vec();
        let mut done = 0;
        while done < all.len() {
            let one = all[done].clone();
            self.next(&one, &mut |process, next| {
                if !self.automaton.may_change(&one, process) && !all.contains(&next) {
                    all.push(next);
                }
            })?;
            done += 1;
        }
        Ok(sorted(all))
    }
}

fn sorted<C: Ord>(all: Vec<C>) -> Box<[C]> {
    let mut all = all;
    all.sort_unstable();
    all.dedup();
    all.into()
}

impl<A: Automaton> Automaton for UpdateOrders<A> {
    type Configuration = Members<A>;

    fn processes(&self) -> usize {
        self.automaton.processes()
    }

    fn initial(&self) -> Members<A> {
        [self.automaton.initial()].into()
    }

    fn after(&self, members: &Members<A>, event: &Event) -> Option<Members<A>> {
        let after = members.iter().filter_map(|one| self.automaton.after(one, event));
        let after = sorted(after.collect());
        (!after.is_empty()).then_some(after)
    }

    /// One more update takes effect; but first, as a step of its own, the set is closed.
    fn take_effect(
        &self,
        members: &Members<A>,
        reach: &mut dyn FnMut(Members<A>),
    ) -> Result<(), Fault> {
        let closed = self.closed(members)?;
        if closed != *members {
            reach(closed);
            return Ok(());
        }
        let mut updated: BTreeMap<Process, Vec<A::Configuration>> = BTreeMap::new();
        for one in members {
            self.next(one, &mut |process, next| {
                if self.automaton.may_change(one, process) {
                    updated.entry(process).or_default().push(next);
                }
            })?;
        }
        updated.into_values().for_each(|after| reach(sorted(after)));
        Ok(())
    }

    fn may_change(&self, members: &Members<A>, process: Process) -> bool {
        members.iter().any(|one| self.automaton.may_change(one, process))
    }

    /// Returns true if the operation has taken effect in all members: a read may still take effect
    /// elsewhere.
    fn has_taken_effect(&self, members: &Members<A>, process: Process) -> bool {
        members.iter().all(|one| self.automaton.has_taken_effect(one, process))
    }

    fn values(&self, members: &Members<A>, found: &mut Vec<u32>) {
        members.iter().for_each(|one| self.automaton.values(one, found));
    }

    fn renamed(&self, members: &Members<A>, rename: &mut dyn FnMut(u32) -> u32) -> Members<A> {
        sorted(members.iter().map(|one| self.automaton.renamed(one, rename)).collect())
    }

    fn bytes(&self) -> usize {
        self.automaton.bytes()
    }

    fn size(&self, members: &Members<A>) -> usize {
        members.iter().map(|one| self.automaton.size(one)).sum()
    }
}
