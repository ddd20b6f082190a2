//! `constant`: what can hold one scalar only is that scalar.
//!
//! In (i, j)-simple executions the cells of the other segments never change, and
//! neither does much of what is computed from them. This reduction finds out
//! which scalars each slot may hold, whatever the order of steps: for a shared
//! slot the initial one and whatever any process assigns, for a slot of a process
//! what that process assigns. The sets grow from below until no block that can
//! run adds a scalar, so at every reachable state each slot holds a scalar of its
//! set (by induction over the steps: all assignments that lead there were
//! counted). Therefore, and until nothing changes any more:
//!
//! * terms that can evaluate to one scalar only are that scalar; branches on them
//!   are decided, and range checks that cannot fail vanish;
//! * slots that can hold one scalar only are removed;
//! * slots that nothing looks at (module `relevance`) are removed;
//! * the domains of the others become as small as their sets.
//!
//! None of this changes what a step does to what remains, so the executions are
//! the same, event by event. Then accesses to cells of which nothing remains are
//! no steps any more:
//!
//! * A step that makes an access and touches nothing that another process could
//!   touch is made at once with the step before it. It commutes with all steps
//!   of other processes, so every execution has one with the same history in
//!   which it comes at once; and no execution is new.
//!
//! Responses and invocations remain steps of their own; [`super::shrink`] fuses
//! them too.

use super::fuse::{fused, without_circles};
use super::relevance::irrelevant;
use crate::instance::fold::{Knowledge, folded};
use crate::instance::scalars::Scalars;
use crate::instance::{
    Assignment, Block, Domain, End, Graph, Instance, Location, NONE, Owner, Reaction, Scalar,
    SlotId, Target, Term,
};

/// Propagates constants, removes what is constant or irrelevant, and the steps
/// whose access that was.
#[must_use]
pub fn constant(instance: &Instance) -> Instance {
    let mut reduced = instance.clone();
    loop {
        let folded = Analysis::of(&reduced).fold(&reduced);
        let irrelevant = irrelevant(&folded);
        let next = folded.without(&|slot| irrelevant.contains(slot.index()).then_some(Term::NONE));
        if next == reduced {
            break;
        }
        reduced = next;
    }
    for graph in &mut reduced.graphs {
        let local: Vec<Location> = graph
            .every_location()
            .skip(1)
            .filter(|location| is_private_access(graph, *location, &reduced.slots))
            .collect();
        let local = without_circles(graph, &local);
        *graph = fused(graph, &local);
    }
    debug_assert_eq!(reduced.validity(), Ok(()));
    reduced
}

/// Whether the step makes an access of the text, but touches only slots of its
/// process.
fn is_private_access(graph: &Graph, location: Location, slots: &[crate::instance::Slot]) -> bool {
    let Some(begin) = graph.standing(location).step else { return false };
    let private =
        |slot: SlotId| matches!(slots[slot.index()].owner, Owner::Operation(_) | Owner::Process(_));
    let mut accesses = 0;
    let mut all_private = true;
    for block in graph.step_from(begin) {
        let block = graph.block(block);
        accesses += block.accesses;
        block.terms(&mut |term| term.slots(&mut |slot| all_private &= private(slot)));
        for assignment in &block.assignments {
            assignment.target.slots(&mut |slot| all_private &= private(slot));
        }
    }
    accesses > 0 && all_private
}

/// Which scalars each slot may hold, and which blocks may run.
struct Analysis {
    scalars: Vec<Scalars>,
    domains: Vec<Domain>,
    /// Per process and block.
    runs: Vec<Vec<bool>>,
    grown: bool,
}

impl Knowledge for Analysis {
    fn scalars(&self, slot: SlotId) -> Scalars {
        self.scalars[slot.index()].clone()
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.domains[slot.index()]
    }
}

impl Analysis {
    fn of(instance: &Instance) -> Self {
        let mut analysis = Self {
            scalars: vec![Scalars::EMPTY; instance.slots.len()],
            domains: instance.slots.iter().map(|slot| slot.domain).collect(),
            runs: instance.graphs.iter().map(|graph| vec![false; graph.blocks.len()]).collect(),
            grown: true,
        };
        for (slot, described) in analysis.scalars.iter_mut().zip(&instance.slots) {
            if !matches!(described.owner, Owner::Operation(_)) {
                *slot = Scalars::one(described.initial);
            }
        }
        for graph in &instance.graphs {
            let operations =
                |slot: SlotId| matches!(instance.slot(slot).owner, Owner::Operation(_));
            for slot in graph.used_unassigned(&operations) {
                analysis.scalars[slot.index()] = Scalars::one(instance.slot(slot).initial);
            }
            if let Some(argument) = graph.argument {
                analysis.scalars[argument.index()] = Scalars::between(0, 1, false);
            }
        }
        while std::mem::take(&mut analysis.grown) {
            for (process, graph) in instance.graphs.iter().enumerate() {
                analysis.graph(process, graph);
            }
        }
        analysis
    }

    /// Runs everything of one process that may run, once.
    fn graph(&mut self, process: usize, graph: &Graph) {
        let mut open = vec![graph.invocations.update, graph.invocations.scan];
        let mut visited = vec![false; graph.blocks.len()];
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut visited[block.index()], true) {
                continue;
            }
            self.runs[process][block.index()] = true;
            let Block { assignments, end, .. } = graph.block(block);
            assignments.iter().for_each(|assignment| self.assign(assignment));
            match end {
                End::Jump(next) => open.push(*next),
                End::Branch { condition, then, otherwise } => {
                    let (_, bits) = folded(condition, self);
                    open.extend(bits.contains(1).then_some(*then));
                    open.extend(bits.contains(0).then_some(*otherwise));
                }
                End::Pause(location) => {
                    let standing = graph.standing(*location);
                    open.extend(standing.step);
                    for Reaction { when, then } in &standing.reactions {
                        open.extend(folded(when, self).1.contains(1).then_some(*then));
                    }
                }
                End::Respond(_) | End::Fault { .. } => {}
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let (_, value) = folded(&assignment.value, self);
        match &assignment.target {
            Target::Slot(slot) => self.grow(*slot, &value),
            Target::Element { index, of } => {
                let (_, indices) = folded(index, self);
                for (position, slot) in of.iter().enumerate() {
                    if indices.contains(position as Scalar) {
                        self.grow(*slot, &value);
                    }
                }
            }
        }
    }

    /// The slot may hold these too. Large sets grow to all of the domain at
    /// once, so that growing ends soon.
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

    /// The instance with everything in it that is known.
    fn fold(&self, instance: &Instance) -> Instance {
        let mut reduced = instance.clone();
        for (process, graph) in reduced.graphs.iter_mut().enumerate() {
            for (block, runs) in graph.blocks.iter_mut().zip(&self.runs[process]) {
                if *runs {
                    *block = self.block(block);
                }
            }
            for standing in &mut graph.locations {
                for reaction in &mut standing.reactions {
                    reaction.when = folded(&reaction.when, self).0;
                }
                standing.reactions.retain(|reaction| reaction.when != Term::FALSE);
            }
            *graph = graph.tidied();
        }
        for (slot, scalars) in reduced.slots.iter_mut().zip(&self.scalars) {
            slot.domain = narrowed(slot.domain, scalars);
            if !slot.domain.contains(slot.initial) {
                slot.initial = scalars.numbers().map_or(NONE, |(low, _)| low);
            }
        }
        reduced.without(&|slot| {
            let scalar = self.scalars[slot.index()].single()?;
            Some(Term::scalar(scalar, self.domains[slot.index()]))
        })
    }

    fn block(&self, block: &Block) -> Block {
        let assignments = block.assignments.iter().map(|assignment| {
            let (value, _) = folded(&assignment.value, self);
            let target = match &assignment.target {
                Target::Slot(slot) => Target::Slot(*slot),
                Target::Element { index, of } => self.element(index, of),
            };
            Assignment { target, value }
        });
        let assignments = assignments.collect();
        let end = block.end.map(&mut |term| folded(term, self).0);
        Block { accesses: block.accesses, assignments, end }
    }

    /// Only what the index can choose counts, and the rest is filled up.
    fn element(&self, index: &Term, of: &[SlotId]) -> Target {
        let (index, indices) = folded(index, self);
        let possible = |position: usize| indices.contains(position as Scalar);
        let Some(filler) = (0..of.len()).find(|position| possible(*position)) else {
            return Target::Element { index, of: of.to_vec() };
        };
        if indices.single().is_some() {
            return Target::Slot(of[filler]);
        }
        let chosen = (0..of.len()).map(|at| if possible(at) { of[at] } else { of[filler] });
        Target::Element { index, of: chosen.collect() }
    }
}

/// A domain of no more than these.
fn narrowed(domain: Domain, scalars: &Scalars) -> Domain {
    match (domain, scalars.numbers()) {
        (Domain::Range { names_processes, .. }, Some((low, high))) => {
            let optional = scalars.contains(NONE);
            Domain::Range { low, high, optional, names_processes }
        }
        (domain, _) => domain,
    }
}
