//! Copies: the variables of a process that equal a counter in a cell. (Available copies, as in Aho,
//! Sethi and Ullman, Compilers, 1986, with a link in place of the promise that nothing else
//! writes.)
//!
//! A forward data flow per process. Its facts hold on every path to a point:
//!
//! * *now*: x = y or x = y + 1, for a variable x of the process and a counter y of a cell, because
//!   x was just read from y, or compared equal to such a value;
//! * *under a link l*: the same fact holds as long as l is unbroken.
//!
//! A link l *guards* y if every block of every process that assigns y breaks l. Then a fact of
//! *now* also holds under l when the step ends: any process that changes y breaks l, and only the
//! process itself assigns x. When the process links again, the facts under l are dropped. Where a
//! branch finds l unbroken, facts under l hold now. A value assigned to y that equals y + 1 is then
//! expressed as the successor of y.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Forward, Lattice};
use crate::instance::{Assignment, Block, Domain, Instance, Operator, Owner, SlotId, Target, Term};

/// A variable of the process, a counter of a cell, and the difference of the two: 0 or 1.
pub(crate) type Difference = (SlotId, SlotId, u8);

/// The links that break whenever a counter is assigned.
pub(crate) struct Guards {
    /// Pairs of a link and a counter that it guards.
    pub(crate) pairs: BTreeSet<(SlotId, SlotId)>,
}

impl Guards {
    pub(crate) fn new(instance: &Instance) -> Self {
        let slots = || (0..instance.slots.len() as u32).map(SlotId);
        let is_link = |slot: &SlotId| matches!(instance.slot(*slot).owner, Owner::Link(_));
        let is_counter = |slot: &SlotId| {
            let described = instance.slot(*slot);
            described.owner == Owner::Shared && matches!(described.domain, Domain::Counter { .. })
        };
        let mut pairs: BTreeSet<(SlotId, SlotId)> = BTreeSet::new();
        for counter in slots().filter(is_counter) {
            pairs.extend(slots().filter(is_link).map(|link| (link, counter)));
        }
        for block in instance.graphs.iter().flat_map(|graph| &graph.blocks) {
            let mut assigned: BTreeSet<SlotId> = BTreeSet::new();
            let mut broken: BTreeSet<SlotId> = BTreeSet::new();
            for Assignment { target, value } in &block.assignments {
                target.slots(&mut |slot| {
                    assigned.insert(slot);
                    broken.remove(&slot);
                });
                if let (Target::Slot(slot), Some(0)) = (target, value.constant()) {
                    broken.insert(*slot);
                }
            }
            pairs.retain(|(link, counter)| !assigned.contains(counter) || broken.contains(link));
        }
        Self { pairs }
    }
}

/// The facts at a point of a process.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Facts {
    pub(crate) now: BTreeSet<Difference>,
    /// Facts with the links under which they hold.
    held: BTreeSet<(SlotId, Difference)>,
}

impl Lattice for Facts {
    /// Keeps the facts of both: fewer facts are known.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.now.len(), self.held.len());
        self.now.retain(|fact| other.now.contains(fact));
        self.held.retain(|fact| other.held.contains(fact));
        before != (self.now.len(), self.held.len())
    }
}

impl Facts {
    /// Drops all facts about a slot that is assigned another value.
    fn forget(&mut self, slot: SlotId) {
        self.now.retain(|(x, y, _)| *x != slot && *y != slot);
        self.held.retain(|(link, (x, y, _))| *link != slot && *x != slot && *y != slot);
    }

    /// Copies the facts of `from` to `to`, which is assigned `from + more`.
    fn copy(&mut self, from: SlotId, to: SlotId, more: u8) {
        let copied =
            |&(x, y, by): &Difference| (x == from && by + more <= 1).then_some((to, y, by + more));
        let now: Vec<Difference> = self.now.iter().filter_map(copied).collect();
        let held = self.held.iter().filter_map(|(link, fact)| Some((*link, copied(fact)?)));
        let held: Vec<(SlotId, Difference)> = held.collect();
        self.now.extend(now);
        self.held.extend(held);
    }
}

/// The data flow analysis of one process.
pub(crate) struct Copies<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) guards: &'a Guards,
    pub(crate) process: usize,
}

impl Forward for Copies<'_> {
    type Fact = Facts;

    fn block(&mut self, block: &Block, facts: &mut Facts) {
        block.assignments.iter().for_each(|assignment| self.assign(facts, assignment));
    }

    fn branch<'f>(&self, condition: &Term, after: &'f Facts) -> [Option<Cow<'f, Facts>>; 2] {
        [true, false].map(|outcome| {
            let mut facts = after.clone();
            self.learn(&mut facts, condition, outcome);
            Some(Cow::Owned(facts))
        })
    }

    fn pause<'f>(&self, after: &'f Facts) -> Option<Cow<'f, Facts>> {
        if after.now.is_empty() {
            return Some(Cow::Borrowed(after));
        }
        let mut held = after.held.clone();
        for &(x, y, by) in &after.now {
            let guards = self.guards.pairs.iter().filter(|(_, counter)| *counter == y);
            held.extend(guards.map(|(link, _)| (*link, (x, y, by))));
        }
        Some(Cow::Owned(Facts { now: BTreeSet::new(), held }))
    }
}

impl Copies<'_> {
    /// Returns true if only this process assigns the slot.
    fn is_own(&self, slot: SlotId) -> bool {
        matches!(self.instance.slot(slot).owner,
            Owner::Operation(process) | Owner::Process(process) if process.index() == self.process)
    }

    fn is_cell(&self, slot: SlotId) -> bool {
        self.guards.pairs.iter().any(|(_, counter)| *counter == slot)
    }

    pub(crate) fn assign(&self, facts: &mut Facts, Assignment { target, value }: &Assignment) {
        let Target::Slot(to) = *target else {
            target.slots(&mut |slot| facts.forget(slot));
            return;
        };
        let (from, more) = match value {
            Term::Slot(from) => (*from, 0),
            Term::Successor(from) => (*from, 1),
            _ => {
                facts.forget(to);
                return;
            }
        };
        if from == to {
            if more == 1 {
                facts.forget(to);
            }
            return;
        }
        facts.forget(to);
        if self.is_own(to) {
            if self.is_cell(from) {
                facts.now.insert((to, from, more));
            }
            facts.copy(from, to, more);
        }
    }

    /// Adds the facts implied by the outcome of a condition.
    fn learn(&self, facts: &mut Facts, condition: &Term, truth: bool) {
        match condition {
            Term::Apply(Operator::Not, of) => self.learn(facts, &of[0], !truth),
            Term::Apply(Operator::And, of) if truth => {
                of.iter().for_each(|term| self.learn(facts, term, true));
            }
            Term::Slot(link) if truth => {
                let held = facts.held.iter().filter(|(under, _)| under == link);
                let held: Vec<Difference> = held.map(|(_, fact)| *fact).collect();
                facts.now.extend(held);
            }
            Term::Apply(Operator::Equal, of) if truth => {
                if let (Term::Slot(one), Term::Slot(other)) = (&of[0], &of[1]) {
                    for (from, to) in [(*one, *other), (*other, *one)] {
                        if self.is_own(to) {
                            if self.is_cell(from) {
                                facts.now.insert((to, from, 0));
                            }
                            facts.copy(from, to, 0);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
