//! `dead`: resets slots that a process will not read again.
//!
//! A slot that only one process reads, and that this process will assign before it reads it again,
//! cannot influence anything: two states that differ only there are bisimilar, and the observer
//! sees the same. So the slot is reset to a fixed scalar, its *blank*. Liveness is defined in
//! [`crate::dataflow::live_variables`], so slots that are only moved about are dead, too.
//!
//! * Assignments to dead slots are dropped.
//! * At the end of a step, slots that were live or assigned in it and are dead now are assigned
//!   their blanks. This breaks links that no process will test; writes of others leave them broken.
//! * Reactions whose condition reads a dead slot are dropped: a reaction only adds knowledge, which
//!   is optional and here irrelevant.
//!
//! The blank of a link is 0. The blank of process names, versions, counters and anonymous bits
//! ([`crate::quotient::canonical_renaming`]) is `none`, so that it is invariant under every
//! renaming. The blank of any other slot is its least scalar.
//!
//! PAT's encodings keep dead variables; Liu et al. (FM 2009) do not discuss them.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use snapshot_core::Process;

use crate::dataflow::live_variables::Liveness;
use crate::dataflow::{self, Forward};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Location, NONE, Owner, Scalar, Slot,
    SlotId, Target, Term,
};
use crate::quotient::canonical_renaming::classes::Classes;

pub fn reset_dead_variables(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    forget(instance, false, deadline)
}

/// Resets dead slots, with the same assignments at all steps that end at one location, even where
/// some are redundant: so equal code stays equal.
pub fn reset_uniformly(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    forget(instance, true, deadline)
}

fn forget(
    instance: &Instance,
    uniformly: bool,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    // Assignments to dead slots are dropped first: the remaining assignments decide which bits are
    // anonymous.
    let mut reduced = instance.clone();
    reduced.graphs_parallel_mut().enumerate().try_for_each(|(index, graph)| {
        let liveness = Liveness::new(instance, Process::from_index(index), deadline)?;
        drop_assignments(graph, &liveness, deadline)
    })?;
    make_room_for_blanks(&mut reduced);
    let instance = &reduced.clone();
    let graphs = reduced.graphs_parallel_mut().enumerate();
    let unused_when_idle = graphs.map(|(index, graph)| {
        let process = Process::from_index(index);
        let liveness = Liveness::new(instance, process, deadline)?;
        forget_argument(graph, &liveness);
        drop_reactions(graph, &liveness);
        blank_at_pauses(graph, &instance.slots, &liveness, uniformly, deadline)?;
        let own = |slot: &SlotId| instance.slot(*slot).owner.reader() == Some(process);
        let unused = |slot: &SlotId| liveness.is_dead(Location::IDLE, *slot);
        let slots = (0..instance.slots.len() as u32).map(SlotId);
        Ok(slots.filter(own).filter(unused).collect())
    });
    let unused_when_idle: Vec<Vec<SlotId>> = unused_when_idle.collect::<Result<_, Stopped>>()?;
    for slot in unused_when_idle.into_iter().flatten() {
        let described = &mut reduced.slots[slot.index()];
        described.initial = blank(described);
    }
    #[cfg(debug_assertions)]
    reduced.validate();
    Ok(reduced)
}

/// Returns the content of a dead slot.
#[must_use]
pub fn blank(slot: &Slot) -> Scalar {
    match (slot.owner, slot.domain) {
        (Owner::Link(_), _) => 0,
        (_, Domain::Range { names_processes: false, optional, low, .. }) => {
            if optional {
                NONE
            } else {
                low
            }
        }
        (_, Domain::Range { .. } | Domain::Version { .. } | Domain::Counter { .. }) => NONE,
    }
}

/// Adds `none` to the domains of the slots whose blank is `none`.
fn make_room_for_blanks(instance: &mut Instance) {
    let mut anonymous = FixedBitSet::with_capacity(instance.slots.len());
    for class in Classes::new(instance).iter() {
        class.slots.iter().for_each(|slot| anonymous.insert(slot.index()));
    }
    for (slot, described) in instance.slots.iter_mut().enumerate() {
        if matches!(described.owner, Owner::Shared | Owner::Link(_)) {
            continue;
        }
        match &mut described.domain {
            Domain::Range { names_processes: false, .. } if !anonymous[slot] => {}
            Domain::Range { optional, .. }
            | Domain::Version { optional }
            | Domain::Counter { optional } => *optional = true,
        }
    }
}

fn forget_argument(graph: &mut Graph, liveness: &Liveness) {
    if let Some(argument) = graph.argument
        && !liveness.before(graph.invocations.update)[argument.index()]
    {
        graph.argument = None;
    }
}

fn drop_assignments(
    graph: &mut Graph,
    liveness: &Liveness,
    deadline: Deadline<'_>,
) -> Result<(), Stopped> {
    for block in &mut graph.blocks {
        deadline.check()?;
        let mut live = liveness.after(&block.end);
        let mut kept: Vec<Assignment> = Vec::with_capacity(block.assignments.len());
        for assignment in block.assignments.drain(..).rev() {
            if liveness.assign(&mut live, &assignment) {
                kept.push(assignment);
            }
        }
        kept.reverse();
        block.assignments = kept;
    }
    Ok(())
}

fn drop_reactions(graph: &mut Graph, liveness: &Liveness) {
    for (index, standing) in graph.locations.iter_mut().enumerate() {
        standing.reactions.retain(|reaction| {
            let mut all_live = true;
            reaction.when.slots(&mut |slot| {
                all_live &= !liveness.is_dead(Location(index as u32), slot);
            });
            all_live
        });
    }
}

/// Adds assignments of blanks at the ends of steps. Slots of an operation need none at its
/// response: they return to their initial scalars, which are blanks.
fn blank_at_pauses(
    graph: &mut Graph,
    slots: &[Slot],
    liveness: &Liveness,
    uniformly: bool,
    deadline: Deadline<'_>,
) -> Result<(), Stopped> {
    let mut stale = stale(graph, liveness, deadline)?;
    if uniformly {
        unify(graph, &mut stale);
    }
    for (block, mut stale) in graph.blocks.iter_mut().zip(stale) {
        deadline.check()?;
        match &block.end {
            End::Pause(location) => stale.difference_with(liveness.at(*location)),
            End::Respond(response) => {
                stale.difference_with(liveness.at(Location::IDLE));
                response.terms(&mut |term| term.slots(&mut |slot| stale.set(slot.index(), false)));
            }
            End::Jump(_) | End::Branch { .. } | End::Fault { .. } => continue,
        }
        let responds = matches!(block.end, End::Respond(_));
        for slot in stale.ones() {
            if !(responds && matches!(slots[slot].owner, Owner::Operation(_))) {
                block.assignments.push(Assignment {
                    target: Target::Slot(SlotId(slot as u32)),
                    value: Term::Constant(blank(&slots[slot])),
                });
            }
        }
    }
    Ok(())
}

/// Unites the stale slots of all blocks that pause at the same location.
fn unify(graph: &Graph, stale: &mut [FixedBitSet]) {
    let mut all: Vec<FixedBitSet> = vec![FixedBitSet::new(); graph.locations.len()];
    for (block, stale) in graph.blocks.iter().zip(stale.iter()) {
        if let Some(location) = block.end.location() {
            all[location.index()].union_with(stale);
        }
    }
    for (block, stale) in graph.blocks.iter().zip(stale) {
        if let Some(location) = block.end.location() {
            stale.clone_from(&all[location.index()]);
        }
    }
}

/// Dataflow within a step: the own slots that may not hold their blanks, because they were live at
/// its start or assigned in it.
struct Stale<'a>(&'a Liveness);

impl Forward for Stale<'_> {
    type Fact = FixedBitSet;

    fn block(&mut self, block: &Block, stale: &mut FixedBitSet) {
        for assignment in &block.assignments {
            assignment.target.slots(&mut |slot| {
                if self.0.own()[slot.index()] {
                    stale.insert(slot.index());
                }
            });
        }
    }

    fn pause<'f>(&self, _: &'f FixedBitSet) -> Option<Cow<'f, FixedBitSet>> {
        None
    }
}

/// Returns by block the slots that are stale at its end.
fn stale(
    graph: &Graph,
    liveness: &Liveness,
    deadline: Deadline<'_>,
) -> Result<Vec<FixedBitSet>, Stopped> {
    let mut begin: Vec<(BlockId, FixedBitSet)> = Vec::new();
    for at in graph.every_location() {
        begin.extend(graph.blocks_from(at).map(|block| (block, liveness.at(at).clone())));
    }
    if let Some(argument) = graph.argument {
        let mut given = liveness.at(Location::IDLE).clone();
        given.insert(argument.index());
        begin.push((graph.invocations.update, given));
    }
    let mut analysis = Stale(liveness);
    let before = dataflow::forward(graph, &mut analysis, begin, deadline)?;
    let after = graph.blocks.iter().zip(before.blocks).map(|(block, before)| {
        deadline.check()?;
        let nothing = || FixedBitSet::with_capacity(liveness.own().len());
        let mut stale = before.unwrap_or_else(nothing);
        analysis.block(block, &mut stale);
        Ok(stale)
    });
    after.collect()
}
