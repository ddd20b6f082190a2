//! Value sets: the scalars that each slot may hold, in any order of steps.
//!
//! The set of a shared slot has the initial scalar and all scalars that any process assigns; the
//! set of a process's slot has all scalars that the process assigns. The sets grow from below until
//! no reachable block adds a scalar. So in every reachable state each slot holds a scalar of its
//! set (by induction over the steps: all assignments that lead there were counted). Variables of
//! operations have such a set at every point of the graph, for the same reason. These sets are the
//! facts of one process's data flow, which is resumed whenever the global sets have grown.

use std::borrow::Cow;

use super::{Facts, Forward, Lattice, resume};
use crate::deadline::{Deadline, Stopped};
use crate::instance::fold::{SlotValues, folded};
use crate::instance::scalars::Scalars;
use crate::instance::{
    Assignment, Block, Domain, Instance, Owner, Reaction, Scalar, Slot, SlotId, Target, Term,
};

/// The value sets at a point of the slots that are distinguished by point.
pub(crate) type Local = Vec<Scalars>;

impl Lattice for Local {
    fn join(&mut self, other: &Self) -> bool {
        let pairs = self.iter_mut().zip(other);
        pairs.fold(false, |grown, (known, scalars)| known.include(scalars) || grown)
    }
}

/// The scalars that each slot may hold, and the blocks that may run.
pub(crate) struct ValueSets {
    /// By slot, its scalars at any point.
    pub(crate) scalars: Vec<Scalars>,
    pub(crate) domains: Vec<Domain>,
    /// By slot, its position in the [`Local`] of its process, if it is distinguished by point.
    local: Vec<Option<usize>>,
    /// By process; `None` at unreachable points.
    pub(crate) facts: Vec<Facts<Option<Local>>>,
    grown: bool,
}

/// The value sets at a point.
pub(crate) struct Here<'a> {
    sets: &'a ValueSets,
    local: &'a [Scalars],
}

impl SlotValues for Here<'_> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        match self.sets.local[slot.index()] {
            Some(at) => self.local.get(at).cloned().unwrap_or(Scalars::EMPTY),
            None => self.sets.scalars[slot.index()].clone(),
        }
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.sets.domains[slot.index()]
    }
}

impl Forward for ValueSets {
    type Fact = Local;

    fn block(&mut self, block: &Block, local: &mut Local) {
        block.assignments.iter().for_each(|assignment| self.assign(assignment, local));
    }

    fn branch<'f>(&self, condition: &Term, after: &'f Local) -> [Option<Cow<'f, Local>>; 2] {
        let (_, bits) = folded(condition, &self.here(after));
        [1, 0].map(|bit| bits.contains(bit).then_some(Cow::Borrowed(after)))
    }

    fn pause<'f>(&self, after: &'f Local) -> Option<Cow<'f, Local>> {
        Some(Cow::Borrowed(after))
    }

    fn reacts(&self, reaction: &Reaction, at: &Local) -> bool {
        folded(&reaction.when, &self.here(at)).1.contains(1)
    }
}

impl ValueSets {
    /// Computes the sets first without distinguishing points. Computes them again by point for the
    /// slots of operations that may hold several scalars and are assigned at several points: a
    /// variable that copies one cell after another is constant only at some points.
    pub(crate) fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        let everywhere = Self::telling_apart(instance, &|_| false, deadline)?;
        let mut places = vec![0; instance.slots.len()];
        for assignment in instance.graphs.iter().flat_map(|graph| &graph.blocks) {
            for assignment in &assignment.assignments {
                assignment.target.slots(&mut |slot| places[slot.index()] += 1);
            }
        }
        let is_local = |slot: SlotId| {
            let described = instance.slot(slot);
            let several = everywhere.scalars[slot.index()].single().is_none();
            let is_argument = instance.graphs.iter().any(|graph| graph.argument == Some(slot));
            matches!(described.owner, Owner::Operation(_))
                && matches!(described.domain, Domain::Range { .. })
                && several
                && !is_argument
                && places[slot.index()] > 1
        };
        let is_any_local = (0..instance.slots.len() as u32).map(SlotId).any(is_local);
        if is_any_local {
            Self::telling_apart(instance, &is_local, deadline)
        } else {
            Ok(everywhere)
        }
    }

    fn telling_apart(
        instance: &Instance,
        is_local: &dyn Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let mut local = vec![None; instance.slots.len()];
        let mut counts = vec![0; instance.processes];
        for (index, slot) in instance.slots.iter().enumerate() {
            if let Owner::Operation(process) = slot.owner
                && is_local(SlotId(index as u32))
            {
                local[index] = Some(counts[process.index()]);
                counts[process.index()] += 1;
            }
        }
        let is_operations = |slot: SlotId| matches!(instance.slot(slot).owner, Owner::Operation(_));
        let at_first = |(slot, described): (u32, &Slot)| match is_operations(SlotId(slot)) {
            true => Scalars::EMPTY,
            false => Scalars::one(described.initial),
        };
        let mut sets = Self {
            scalars: (0..).zip(&instance.slots).map(at_first).collect(),
            domains: instance.slots.iter().map(|slot| slot.domain).collect(),
            facts: Vec::with_capacity(instance.processes),
            local,
            grown: true,
        };
        for (graph, count) in instance.graphs.iter().zip(counts) {
            let mut begin = vec![Scalars::EMPTY; count];
            for slot in graph.used_unassigned(&is_operations, deadline)? {
                let initial = Scalars::one(instance.slot(slot).initial);
                if let Some(at) = sets.local[slot.index()] {
                    begin[at] = initial.clone();
                }
                sets.scalars[slot.index()] = initial;
            }
            if let Some(argument) = graph.argument {
                sets.scalars[argument.index()] = Scalars::between(0, 1, false);
            }
            let mut facts = Facts::all(graph, &None);
            for block in [graph.invocations.update, graph.invocations.scan] {
                facts.blocks[block.index()] = Some(begin.clone());
            }
            sets.facts.push(facts);
        }
        while std::mem::take(&mut sets.grown) {
            for (process, graph) in instance.graphs.iter().enumerate() {
                let mut facts = std::mem::take(&mut sets.facts[process]);
                resume(graph, &mut sets, &mut facts, deadline)?;
                sets.facts[process] = facts;
            }
        }
        Ok(sets)
    }

    /// Returns the value sets where these local sets hold.
    pub(crate) fn here<'a>(&'a self, local: &'a [Scalars]) -> Here<'a> {
        Here { sets: self, local }
    }

    fn assign(&mut self, assignment: &Assignment, local: &mut Local) {
        let (_, value) = folded(&assignment.value, &self.here(local));
        match &assignment.target {
            Target::Slot(slot) => {
                self.hold(*slot, &value, true, local);
                self.grow(*slot, &value);
            }
            Target::Element { index, of } => {
                let (_, indices) = folded(index, &self.here(local));
                for (position, slot) in of.iter().enumerate() {
                    if indices.contains(position as Scalar) {
                        self.hold(*slot, &value, false, local);
                        self.grow(*slot, &value);
                    }
                }
            }
        }
    }

    /// Adds scalars to a slot's set at this point; with `only`, replaces the set.
    pub(crate) fn hold(&self, slot: SlotId, value: &Scalars, only: bool, local: &mut Local) {
        if let Some(at) = self.local[slot.index()] {
            let value = value.intersection(self.domains[slot.index()]);
            local[at] = if only { value } else { local[at].union(&value) };
        }
    }

    /// Adds scalars to a slot's global set. A large set grows to the whole domain in one step, so
    /// that growth ends soon.
    fn grow(&mut self, slot: SlotId, value: &Scalars) {
        let domain = self.domains[slot.index()];
        let known = &mut self.scalars[slot.index()];
        let mut next = known.union(&value.intersection(domain));
        if next != *known {
            if !matches!(next, Scalars::Exact(_)) {
                next = Scalars::of_domain(domain);
            }
            self.grown |= next != *known;
            *known = next;
        }
    }
}
