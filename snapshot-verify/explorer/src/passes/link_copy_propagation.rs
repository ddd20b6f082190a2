//! Values stored under an unbroken link, in terms of the content of the cell.
//!
//! `x := LL(C) ; ... ; SC(C, x + 1)` stores the successor of x. As the SC succeeds only
//! if no process has written C since, x is what C holds: the SC stores the successor of C.
//! Put that way, it shows that C only ever counts up, and that no copy of C, however
//! old, will ever be counted up from. Counters that are only compared need not be kept
//! as exactly as others ([`crate::quotient::canonical_renaming::counter_gaps`]).
//!
//! Per process, a forward data flow of facts that hold on every way to a place:
//!
//! * *now*, x = y or x = y + 1, for a variable x of the process and a counter y that is
//!   part of a cell: because x was just read from y, or found equal to what was;
//! * *under a link l*, the same as long as l is unbroken.
//!
//! A link l *guards* y if every block of every process that assigns y breaks l. Then
//! what holds now goes on to hold under l when the step ends: whichever process changes y breaks
//! l, and only the process itself assigns x. When the process links again, l says
//! nothing any more of what was before. Where a branch finds l unbroken, what holds
//! under l holds now; and what is then assigned to y, being y + 1, is put as such.
//!
//! **Sound**, since only terms are replaced, by terms that are equal wherever they are
//! evaluated.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::dataflow::{self, Forward, Lattice};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, Domain, Graph, Instance, Operator, Owner, SlotId, Target, Term,
};

/// With cells counted up from what they hold.
///
/// # Errors
/// If the deadline comes first.
pub fn propagate_link_copies(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut rewritten = instance.clone();
    let guards = Guards::new(instance);
    if guards.pairs.is_empty() {
        return Ok(rewritten);
    }
    rewritten.graphs_parallel_mut().enumerate().try_for_each(|(index, graph)| {
        // Reactions are none of a process's steps; here there are none yet.
        if graph.locations.iter().all(|standing| standing.reactions.is_empty()) {
            let flow = Flow { instance, guards: &guards, process: index };
            let begin = [graph.invocations.update, graph.invocations.scan];
            let begin = begin.map(|block| (block, Facts::default()));
            let entries = dataflow::forward(graph, &flow, begin, deadline)?;
            flow.rewrite(graph, &entries);
        }
        Ok(())
    })?;
    #[cfg(debug_assertions)]
    rewritten.validate();
    Ok(rewritten)
}

/// A variable of the process, a counter of a cell, and by how much the first is more:
/// 0 or 1.
type Difference = (SlotId, SlotId, u8);

/// Which links break whenever a counter is assigned.
struct Guards {
    /// Links and counters.
    pairs: BTreeSet<(SlotId, SlotId)>,
}

impl Guards {
    fn new(instance: &Instance) -> Self {
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

/// What is known at some place of a process.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Facts {
    now: BTreeSet<Difference>,
    /// With the links under which they hold.
    held: BTreeSet<(SlotId, Difference)>,
}

impl Lattice for Facts {
    /// What holds on both ways: what is known is less.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.now.len(), self.held.len());
        self.now.retain(|fact| other.now.contains(fact));
        self.held.retain(|fact| other.held.contains(fact));
        before != (self.now.len(), self.held.len())
    }
}

impl Facts {
    /// A slot is assigned something else.
    fn forget(&mut self, slot: SlotId) {
        self.now.retain(|(x, y, _)| *x != slot && *y != slot);
        self.held.retain(|(link, (x, y, _))| *link != slot && *x != slot && *y != slot);
    }

    /// `to` is what `from` was, or the successor of that.
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

/// The data flow of one process.
struct Flow<'a> {
    instance: &'a Instance,
    guards: &'a Guards,
    process: usize,
}

impl Forward for Flow<'_> {
    type Fact = Facts;

    fn block(&self, block: &Block, before: &Facts) -> Facts {
        let mut facts = before.clone();
        block.assignments.iter().for_each(|assignment| self.assign(&mut facts, assignment));
        facts
    }

    fn branch(&self, condition: &Term, outcome: bool, after: &Facts) -> Facts {
        let mut facts = after.clone();
        self.learn(&mut facts, condition, outcome);
        facts
    }

    fn pause(&self, Facts { now, mut held }: Facts) -> Option<Facts> {
        for (x, y, by) in now {
            let guards = self.guards.pairs.iter().filter(|(_, counter)| *counter == y);
            held.extend(guards.map(|(link, _)| (*link, (x, y, by))));
        }
        Some(Facts { now: BTreeSet::new(), held })
    }
}

impl Flow<'_> {
    /// Whether only this process assigns the slot.
    fn is_own(&self, slot: SlotId) -> bool {
        matches!(self.instance.slot(slot).owner,
            Owner::Operation(process) | Owner::Process(process) if process.index() == self.process)
    }

    fn is_cell(&self, slot: SlotId) -> bool {
        self.guards.pairs.iter().any(|(_, counter)| *counter == slot)
    }

    fn assign(&self, facts: &mut Facts, Assignment { target, value }: &Assignment) {
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

    /// The condition has this outcome.
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

    /// Puts what is assigned to cells in terms of what they hold.
    fn rewrite(&self, graph: &mut Graph, entries: &[Option<Facts>]) {
        for (Block { assignments, .. }, entry) in graph.blocks.iter_mut().zip(entries) {
            let Some(mut facts) = entry.clone() else { continue };
            for assignment in assignments {
                if let Target::Slot(cell) = assignment.target {
                    let is = |x: SlotId, by| facts.now.contains(&(x, cell, by));
                    let rewritten = match assignment.value {
                        Term::Slot(x) if is(x, 0) => Some(Term::Slot(cell)),
                        Term::Slot(x) if is(x, 1) => Some(Term::Successor(cell)),
                        Term::Successor(x) if is(x, 0) => Some(Term::Successor(cell)),
                        _ => None,
                    };
                    if let Some(rewritten) = rewritten {
                        assignment.value = rewritten;
                    }
                }
                self.assign(&mut facts, assignment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;
    use crate::language::parse;

    /// What is assigned to the counter of the cell, by process 0, in the order of the
    /// text, with an update of these statements.
    fn stored(statements: &[&str], change: impl Fn(&mut Instance)) -> Vec<String> {
        let lines = statements.iter().map(|line| format!("    {line}\n")).collect::<String>();
        let text = format!(
            "algorithm linking\nshared c: llsc counter\nshared whole: view\nupdate(v):\n{lines}    \
             atomic: w := whole; w[me] := v; whole := w\nscan:\n    w := whole\n    return w\n"
        );
        let program = parse("linking", &text).unwrap().program(None).unwrap();
        let mut instance = Instance::new(&program, 2, (0, 1)).unwrap();
        change(&mut instance);
        let linked = propagate_link_copies(&instance, Deadline::NEVER).unwrap();
        let name = |slot: SlotId| linked.slot(slot).name.as_str();
        let assignments = linked.graphs[0].blocks.iter().flat_map(|block| &block.assignments);
        let stored = assignments.filter_map(|Assignment { target, value }| match (target, value) {
            (Target::Slot(cell), Term::Slot(of)) if name(*cell) == "c" => {
                Some(name(*of).to_owned())
            }
            (Target::Slot(cell), Term::Successor(of)) if name(*cell) == "c" => {
                Some(format!("{} + 1", name(*of)))
            }
            _ => None,
        });
        stored.collect()
    }

    fn nothing(_: &mut Instance) {}

    #[test]
    fn what_was_read_under_the_link_is_what_the_cell_holds() {
        let read = ["x := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&read, nothing), ["c + 1"]);
        let read_later = ["x := LL(c)", "y := c", "z := y", "SC(c, z + 1)"];
        assert_eq!(stored(&read_later, nothing), ["c + 1"]);
        let found_equal = ["s := c", "if LL(c) + 1 = s: SC(c, s)"];
        assert_eq!(stored(&found_equal, nothing), ["c + 1"]);
        let on_both_ways = ["x := LL(c)", "y := c", "if y = x: x := y", "SC(c, x + 1)"];
        assert_eq!(stored(&on_both_ways, nothing), ["c + 1"]);
    }

    #[test]
    fn what_was_read_before_the_link_or_on_some_ways_only_is_not() {
        let read_before = ["x := c", "y := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&read_before, nothing), ["p0.update.x + 1"]);
        let linked_anew = ["x := LL(c)", "y := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&linked_anew, nothing), ["p0.update.x + 1"]);
        let on_one_way = ["z := c", "x := LL(c)", "if z != x: x := z", "SC(c, x + 1)"];
        assert_eq!(stored(&on_one_way, nothing), ["p0.update.x + 1"]);
        let found_unequal = ["s := c", "if LL(c) + 1 != s: SC(c, s)"];
        assert_eq!(stored(&found_unequal, nothing), ["p0.update.s"]);
    }

    #[test]
    fn a_link_that_somebody_leaves_unbroken_says_nothing() {
        let read = ["x := LL(c)", "SC(c, x + 1)"];
        let unbroken = |instance: &mut Instance| {
            let slots = instance.slots.clone();
            for block in &mut instance.graphs[1].blocks {
                block.assignments.retain(|Assignment { target, value }| {
                    let of_p0 = target
                        .choices()
                        .iter()
                        .any(|slot| slots[slot.index()].name == "link c of p0");
                    !(of_p0 && value.constant() == Some(0))
                });
            }
        };
        assert_eq!(stored(&read, unbroken), ["p0.update.x + 1"]);
    }
}
