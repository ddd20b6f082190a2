//! `constant`: what can hold one scalar only is that scalar.
//!
//! In (i, j)-simple executions the cells of the other segments never change, and
//! neither does much of what is computed from them. This reduction finds out
//! which scalars each slot may hold, whatever the order of steps: for a shared
//! slot the initial one and whatever any process assigns, for a slot of a process
//! what that process assigns. The sets grow from below until no block that can
//! run adds a scalar, so at every reachable state each slot holds a scalar of its
//! set (by induction over the steps: all assignments that lead there were
//! counted). Variables of operations have such a set for every place in the graph, for
//! the same reason. Therefore, and until nothing changes any more:
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
//!   of other processes, so every execution has one in which it comes at once; and no
//!   execution is new. As long as responses and invocations are steps of their own, that
//!   one has the same history. Once [`crate::passes::lipton`] has fused them (this reduction is
//!   applied again after that), such a step may hold a response: then it comes earlier,
//!   and the history has more precedence. It is linearizable only if the other is: the
//!   same case as *Move* in the argument of [`crate::passes::lipton`].

use rayon::prelude::*;

use crate::deadline::{Deadline, Stopped};
use crate::instance::fold::{Knowledge, folded};
use crate::instance::scalars::Scalars;
use crate::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Location, NONE, Owner, Reaction,
    Scalar, SlotId, Target, Term,
};
use crate::passes::cone_of_influence::irrelevant;
use crate::passes::step_fusion::{fused, without_circles};

/// Propagates constants, removes what is constant or irrelevant, and the steps
/// whose access that was.
///
/// # Errors
/// If the deadline comes first.
pub fn propagate_constants(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    loop {
        let folded = Analysis::new(&reduced, deadline)?.fold(&reduced, deadline)?;
        let irrelevant = irrelevant(&folded, deadline)?;
        let removed = |slot: SlotId| irrelevant.contains(slot.index()).then_some(Term::NONE);
        let next = folded.without(&removed, deadline)?;
        if next == reduced {
            break;
        }
        reduced = next;
    }
    let slots = &reduced.slots.clone();
    reduced.graphs_parallel_mut().try_for_each(|graph| {
        let mut local: Vec<Location> = Vec::new();
        for location in graph.every_location().skip(1) {
            deadline.check()?;
            if is_private_access(graph, location, slots) {
                local.push(location);
            }
        }
        let local = without_circles(graph, &local, deadline)?;
        *graph = fused(graph, &local);
        Ok(())
    })?;
    debug_assert_eq!(reduced.validity(), Ok(()));
    Ok(reduced)
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
    /// By slot, where it stands in the [`Local`] of its process, if it is distinguished
    /// by place.
    local: Vec<Option<usize>>,
    /// Per process and block, the local slots where the block begins.
    entries: Vec<Vec<Local>>,
    /// Per process and location, the local slots while the process stands there.
    standing: Vec<Vec<Local>>,
    grown: bool,
}

/// What some slots of operations may hold at some place.
type Local = Vec<Scalars>;

/// What is known at some place.
struct Here<'a> {
    analysis: &'a Analysis,
    local: &'a [Scalars],
}

impl Knowledge for Here<'_> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        match self.analysis.local[slot.index()] {
            Some(at) => self.local[at].clone(),
            None => self.analysis.scalars[slot.index()].clone(),
        }
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.analysis.domains[slot.index()]
    }
}

impl Analysis {
    /// First without regard to place, then again with regard to it for the slots of
    /// operations that may hold several scalars and are assigned at several places: a
    /// variable that copies one cell after the other holds constants only at some.
    fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
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
        // As large as all blocks times all variables may be.
        let nothing = |process: usize, places: usize| -> Result<Vec<Local>, Stopped> {
            let place = |_| deadline.check().map(|()| vec![Scalars::EMPTY; counts[process]]);
            (0..places).map(place).collect()
        };
        let graphs = || instance.graphs.iter().enumerate();
        let entries = graphs().map(|(at, graph)| nothing(at, graph.blocks.len()));
        let standing = graphs().map(|(at, graph)| nothing(at, graph.locations.len()));
        let mut analysis = Self {
            scalars: vec![Scalars::EMPTY; instance.slots.len()],
            domains: instance.slots.iter().map(|slot| slot.domain).collect(),
            runs: instance.graphs.iter().map(|graph| vec![false; graph.blocks.len()]).collect(),
            entries: entries.collect::<Result<_, _>>()?,
            standing: standing.collect::<Result<_, _>>()?,
            local,
            grown: true,
        };
        for (slot, described) in analysis.scalars.iter_mut().zip(&instance.slots) {
            if !matches!(described.owner, Owner::Operation(_)) {
                *slot = Scalars::one(described.initial);
            }
        }
        for (process, graph) in instance.graphs.iter().enumerate() {
            let operations =
                |slot: SlotId| matches!(instance.slot(slot).owner, Owner::Operation(_));
            for slot in graph.used_unassigned(&operations, deadline)? {
                let initial = Scalars::one(instance.slot(slot).initial);
                if let Some(at) = analysis.local[slot.index()] {
                    for begin in [graph.invocations.update, graph.invocations.scan] {
                        analysis.entries[process][begin.index()][at] = initial.clone();
                    }
                }
                analysis.scalars[slot.index()] = initial;
            }
            if let Some(argument) = graph.argument {
                analysis.scalars[argument.index()] = Scalars::between(0, 1, false);
            }
        }
        while std::mem::take(&mut analysis.grown) {
            for (process, graph) in instance.graphs.iter().enumerate() {
                analysis.graph(process, graph, deadline)?;
            }
        }
        Ok(analysis)
    }

    /// Runs everything of one process that may run, until nothing is new there.
    fn graph(
        &mut self,
        process: usize,
        graph: &Graph,
        deadline: Deadline<'_>,
    ) -> Result<(), Stopped> {
        let mut open = vec![graph.invocations.update, graph.invocations.scan];
        let mut visited = vec![false; graph.blocks.len()];
        while let Some(block) = open.pop() {
            deadline.check()?;
            visited[block.index()] = true;
            self.runs[process][block.index()] = true;
            let Block { assignments, end, .. } = graph.block(block);
            let mut local = self.entries[process][block.index()].clone();
            assignments.iter().for_each(|assignment| self.assign(assignment, &mut local));
            let next: Vec<BlockId> = match end {
                End::Jump(next) => vec![*next],
                End::Branch { condition, then, otherwise } => {
                    let (_, bits) = folded(condition, &self.here(&local));
                    let then = bits.contains(1).then_some(*then);
                    then.into_iter().chain(bits.contains(0).then_some(*otherwise)).collect()
                }
                End::Pause(location) => {
                    join(&mut self.standing[process][location.index()], &local);
                    local.clone_from(&self.standing[process][location.index()]);
                    let standing = graph.standing(*location);
                    let reactions =
                        standing.reactions.iter().filter(|Reaction { when, .. }| {
                            folded(when, &self.here(&local)).1.contains(1)
                        });
                    standing
                        .step
                        .into_iter()
                        .chain(reactions.map(|reaction| reaction.then))
                        .collect()
                }
                End::Respond(_) | End::Fault { .. } => Vec::new(),
            };
            for next in next {
                let grown = join(&mut self.entries[process][next.index()], &local);
                if grown || !visited[next.index()] {
                    visited[next.index()] = true;
                    open.push(next);
                }
            }
        }
        Ok(())
    }

    fn here<'a>(&'a self, local: &'a [Scalars]) -> Here<'a> {
        Here { analysis: self, local }
    }

    fn assign(&mut self, assignment: &Assignment, local: &mut Local) {
        let (_, value) = folded(&assignment.value, &self.here(local));
        match &assignment.target {
            Target::Slot(slot) => {
                if let Some(at) = self.local[slot.index()] {
                    local[at] = value.intersection(self.domains[slot.index()]);
                }
                self.grow(*slot, &value);
            }
            Target::Element { index, of } => {
                let (_, indices) = folded(index, &self.here(local));
                for (position, slot) in of.iter().enumerate() {
                    if indices.contains(position as Scalar) {
                        if let Some(at) = self.local[slot.index()] {
                            let value = value.intersection(self.domains[slot.index()]);
                            local[at] = local[at].union(&value);
                        }
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
    fn fold(&self, instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
        let mut reduced = instance.clone();
        reduced.graphs_parallel_mut().enumerate().try_for_each(|(process, graph)| {
            for (index, block) in graph.blocks.iter_mut().enumerate() {
                deadline.check()?;
                if self.runs[process][index] {
                    *block = self.block(block, &self.entries[process][index]);
                }
            }
            for (standing, local) in graph.locations.iter_mut().zip(&self.standing[process]) {
                for reaction in &mut standing.reactions {
                    reaction.when = folded(&reaction.when, &self.here(local)).0;
                }
                standing.reactions.retain(|reaction| reaction.when != Term::FALSE);
            }
            *graph = graph.tidied();
            Ok(())
        })?;
        for (slot, scalars) in reduced.slots.iter_mut().zip(&self.scalars) {
            slot.domain = narrowed(slot.domain, scalars);
            if !slot.domain.contains(slot.initial) {
                slot.initial = scalars.numbers().map_or(NONE, |(low, _)| low);
            }
        }
        let removed = |slot: SlotId| {
            let scalar = self.scalars[slot.index()].single()?;
            Some(Term::scalar(scalar, self.domains[slot.index()]))
        };
        reduced.without(&removed, deadline)
    }

    fn block(&self, block: &Block, entry: &Local) -> Block {
        let mut local = entry.clone();
        let mut assignments = Vec::with_capacity(block.assignments.len());
        for assignment in &block.assignments {
            let here = self.here(&local);
            let (folded_value, value) = folded(&assignment.value, &here);
            let target = match &assignment.target {
                Target::Slot(slot) => Target::Slot(*slot),
                Target::Element { index, of } => element(index, of, &here),
            };
            for slot in target.choices() {
                let Some(at) = self.local[slot.index()] else { continue };
                let value = value.intersection(self.domains[slot.index()]);
                local[at] = match target {
                    Target::Slot(_) => value,
                    Target::Element { .. } => local[at].union(&value),
                };
            }
            assignments.push(Assignment { target, value: folded_value });
        }
        let end = block.end.map(&mut |term| folded(term, &self.here(&local)).0);
        Block { accesses: block.accesses, assignments, end }
    }
}

/// Only what the index can choose counts, and the rest is filled up.
fn element(index: &Term, of: &[SlotId], here: &Here<'_>) -> Target {
    let (index, indices) = folded(index, here);
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

/// Adds what else may be held; whether that is new.
fn join(known: &mut Local, local: &Local) -> bool {
    let pairs = known.iter_mut().zip(local);
    pairs.fold(false, |grown, (known, scalars)| known.include(scalars) || grown)
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
