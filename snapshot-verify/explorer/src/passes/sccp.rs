//! `constant`: propagates constants and removes slots without influence.
//!
//! In (i, j)-simple executions the cells of the other segments never change, and neither do most
//! values computed from them. [`crate::dataflow::value_sets`] finds the scalars that each slot may
//! hold, and the blocks that may run (sparse conditional constant propagation: Wegman and Zadeck,
//! Constant propagation with conditional branches, TOPLAS 13, 1991, with sets in place of single
//! constants). The following is repeated until nothing changes:
//!
//! * terms that can evaluate to one scalar only are replaced by it; branches on them are resolved,
//!   and range checks that cannot fail vanish;
//! * slots that can hold one scalar only are removed;
//! * slots without influence ([`crate::dataflow::cone_of_influence`]) are removed;
//! * the domains of the other slots shrink to their sets.
//!
//! This does not change the effect of a step on the remaining slots, so executions are the same,
//! event by event. Accesses to removed cells are then fused:
//!
//! * A step with an access that touches no slot another process could touch is fused with the step
//!   before it. It commutes with all steps of other processes, so every execution has an equivalent
//!   one in which it directly follows that step, and no execution is new. As long as responses and
//!   invocations are separate steps, that execution has the same history. After
//!   [`crate::passes::lipton`] (this reduction runs again after it) such a step may include a
//!   response. Then the response comes earlier, and the history has more precedence. It is
//!   linearizable only if the original is: the case *Move* in the argument of
//!   [`crate::passes::lipton`].

use rayon::prelude::*;

use crate::dataflow::cone_of_influence::irrelevant;
use crate::dataflow::value_sets::{Here, Local, ValueSets};
use crate::deadline::{Deadline, Stopped};
use crate::instance::fold::folded;
use crate::instance::scalars::Scalars;
use crate::instance::{
    Assignment, Block, Domain, Graph, Instance, Location, NONE, Owner, Scalar, SlotId, Target, Term,
};
use crate::passes::step_fusion::{fused, without_circles};

/// Propagates constants; removes constant and irrelevant slots, and the steps that only accessed
/// them.
pub fn propagate_constants(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    loop {
        let folded = fold(&reduced, &ValueSets::new(&reduced, deadline)?, deadline)?;
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

/// Returns true if the step makes an access of the text, but touches only slots of its process.
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

/// Returns the instance with known values substituted.
fn fold(
    instance: &Instance,
    sets: &ValueSets,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    reduced.graphs_parallel_mut().enumerate().try_for_each(|(process, graph)| {
        let facts = &sets.facts[process];
        for (index, block) in graph.blocks.iter_mut().enumerate() {
            deadline.check()?;
            if let Some(entry) = &facts.blocks[index] {
                *block = folded_block(block, sets, entry);
            }
        }
        let nothing = Local::default();
        for (standing, local) in graph.locations.iter_mut().zip(&facts.locations) {
            let here = sets.here(local.as_ref().unwrap_or(&nothing));
            for reaction in &mut standing.reactions {
                reaction.when = folded(&reaction.when, &here).0;
            }
            standing.reactions.retain(|reaction| reaction.when != Term::FALSE);
        }
        *graph = graph.tidied();
        Ok(())
    })?;
    for (slot, scalars) in reduced.slots.iter_mut().zip(&sets.scalars) {
        slot.domain = narrowed(slot.domain, scalars);
        if !slot.domain.contains(slot.initial) {
            slot.initial = scalars.numbers().map_or(NONE, |(low, _)| low);
        }
    }
    let removed = |slot: SlotId| {
        let scalar = sets.scalars[slot.index()].single()?;
        Some(Term::scalar(scalar, sets.domains[slot.index()]))
    };
    reduced.without(&removed, deadline)
}

fn folded_block(block: &Block, sets: &ValueSets, entry: &Local) -> Block {
    let mut local = entry.clone();
    let mut assignments = Vec::with_capacity(block.assignments.len());
    for assignment in &block.assignments {
        let here = sets.here(&local);
        let (folded_value, value) = folded(&assignment.value, &here);
        let target = match &assignment.target {
            Target::Slot(slot) => Target::Slot(*slot),
            Target::Element { index, of } => element(index, of, &here),
        };
        let only = matches!(target, Target::Slot(_));
        target.slots(&mut |slot| sets.hold(slot, &value, only, &mut local));
        assignments.push(Assignment { target, value: folded_value });
    }
    let end = block.end.map(&mut |term| folded(term, &sets.here(&local)).0);
    Block { accesses: block.accesses, assignments, end }
}

/// Keeps only the elements that the index can select, and fills the other positions.
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

/// Returns the part of the domain that covers these scalars.
fn narrowed(domain: Domain, scalars: &Scalars) -> Domain {
    match (domain, scalars.numbers()) {
        (Domain::Range { names_processes, .. }, Some((low, high))) => {
            let optional = scalars.contains(NONE);
            Domain::Range { low, high, optional, names_processes }
        }
        (domain, _) => domain,
    }
}
