//! `shrink`: operations as short as they can be, steps as long as they can be.
//!
//! # What is fused
//!
//! Call a step of process p a *mover* if it reads no slot that another process
//! assigns, and assigns no slot that another process reads or assigns. What
//! others do is seen as a whole: all code of their graphs that can be reached. A
//! mover commutes with every step of every other process: whether it is made
//! just before or just after, it takes the same branches and the same state is
//! reached. Local computation is a mover, and so are responses, reads of
//! cells that only the process itself writes, and writes of cells that no process
//! else reads or writes.
//!
//! * A mover is made at once with the step before it. Responses, as movers, come
//!   with the last access.
//! * An invocation, and movers right after it, are made at once with the first
//!   step after them that is none: the first access. (Or with the response, if
//!   all steps are movers.)
//!
//! So a step is: an invocation and movers, or nothing; at most one step that is
//! no mover; movers, and perhaps the response. This is Lipton's reduction
//! (Comm. ACM 18(12), 1975) with invocations as right movers.
//!
//! # Why it suffices
//!
//! Every execution of the result is one of the original, so no violation is new.
//! For the other direction take an execution of the original that ends in a
//! violating response or in a fault. All steps are deterministic, and enabled
//! whatever others did.
//!
//! 1. *Finish.* Where a process made its non-mover, but not the movers that are
//!    fused with it, insert them right after it: they commute with all that
//!    follows, so the rest runs as before, up to the last step. Inserting may
//!    insert a response. If the history with it were linearizable, the same order
//!    would do for the history without it, where the operation is pending.
//! 2. *Drop.* Where a process made an invocation, and movers, but not the
//!    non-mover that they are fused with, drop them. No process read what they
//!    assigned. A pending operation vanishes from the history; if the history
//!    without it were linearizable, the same order would do for the one with it.
//!    A fault is not dropped: an execution ends with its first one, so if a process has
//!    met it among these movers, the execution ends there, and invocation, movers and
//!    fault are a whole step of the result. And where movers that are inserted (1) fault,
//!    they would have, had the process gone on: the execution up to there is one of the
//!    original, and ends in a fault.
//! 3. *Move.* Each mover goes left, up to its non-mover; each invocation, and
//!    each mover that comes before its non-mover, goes right, up to it. States
//!    change accordingly, the result of each scan does not. Responses come
//!    earlier and invocations later: operations shrink, so whatever preceded
//!    still precedes, and a history with more precedence has no linearization
//!    that the one with less does not have.
//!
//! Reactions change nothing of this: they touch only what their process alone
//! touches, and are offers that need not be taken. Where a reaction leads to a
//! mover, and by it to others, they become part of it, up to one that assigns to a cell, or
//! breaks a link of another process: that one keeps its pause, on the ways of steps too.
//!
//! A loop of movers only would be a step without end, and a reaction that leads, by
//! movers, back to where the process reacts would never come to rest: in each circle of
//! such steps and reactions, one step keeps its pause. Which one does not matter for the
//! above: a mover may be fused or not.
//!
//! A step that is fused counts its accesses in the blocks it came with, so
//! that a trace of long steps expands to the steps of the text.

use std::collections::BTreeSet;

use rayon::prelude::*;
use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, BlockId, End, Graph, Instance, Location, Owner, SlotId, Term};
use crate::passes::step_fusion::{fused, without_circles};

/// Fuses invocations with first accesses, responses with last ones, and what
/// commutes with the step before it.
///
/// # Errors
/// If the deadline comes first.
pub fn fuse_steps(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    fuse_invocations(&fuse_movers(instance, deadline)?, deadline)
}

/// Fuses responses with last accesses, and what commutes with the step before it. Once
/// variables were forgotten there may be more of that: it can be done again.
///
/// # Errors
/// If the deadline comes first.
pub fn fuse_movers(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    let touched = Touched::by_all(instance);
    reduced.graphs_parallel_mut().enumerate().try_for_each(|(process, graph)| {
        deadline.check()?;
        let mut movers: Vec<Location> = Vec::new();
        for location in graph.every_location().skip(1) {
            deadline.check()?;
            if is_mover(graph, location, &touched, instance, process) {
                movers.push(location);
            }
        }
        let writers: BTreeSet<Location> =
            movers.iter().copied().filter(|at| writes(graph, *at, instance, process)).collect();
        // Reactions go on through movers, but not through those that assign to cells, or break
        // links of others.
        let goes_on = |at: Location| movers.binary_search(&at).is_ok() && !writers.contains(&at);
        let reacted = graph.reacted(goes_on);
        movers.retain(|at| !(reacted.contains(at) && writers.contains(at)));
        let movers = without_circles(graph, &movers, deadline)?;
        *graph = fused(graph, &movers);
        Ok(())
    })?;
    debug_assert_eq!(reduced.validity(), Ok(()));
    Ok(reduced)
}

/// Fuses invocations with first accesses. That can be done once only: an operation
/// begins no later than with its first access.
///
/// # Errors
/// If the deadline comes first.
pub fn fuse_invocations(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    reduced.graphs_parallel_mut().try_for_each(|graph| {
        deadline.check()?;
        *graph = invoked_with_access(graph);
        Ok(())
    })?;
    debug_assert_eq!(reduced.validity(), Ok(()));
    Ok(reduced)
}

/// Whether the step of the location assigns what is not the process's own: a cell, or a link of
/// another process, if only one that nothing reads.
fn writes(graph: &Graph, location: Location, instance: &Instance, process: usize) -> bool {
    let begin = graph.standing(location).step;
    let blocks = begin.into_iter().flat_map(|begin| graph.step_from(begin));
    let mut assignments = blocks.flat_map(|block| &graph.block(block).assignments);
    assignments.any(|assignment| {
        let mut others = false;
        let own = Some(Process::from_index(process));
        assignment.target.slots(&mut |slot| others |= instance.slot(slot).owner.reader() != own);
        others
    })
}

/// Whether the step of the location touches nothing that others care about. To
/// break an own link commutes with whatever others do to it: they only break it,
/// too.
fn is_mover(
    graph: &Graph,
    location: Location,
    touched: &Touched,
    instance: &Instance,
    process: usize,
) -> bool {
    let Some(begin) = graph.standing(location).step else { return false };
    let mut mover = true;
    for block in graph.step_from(begin) {
        let block = graph.block(block);
        block.terms(&mut |term| {
            term.slots(&mut |slot| mover &= !touched.assigned.by_others(slot, process));
        });
        for assignment in &block.assignments {
            assignment.target.slots(&mut |slot| {
                let own_link = matches!(instance.slot(slot).owner, Owner::Link(_))
                    && !touched.read.by_others(slot, process);
                if own_link && assignment.value == Term::FALSE {
                    return;
                }
                mover &= !touched.assigned.by_others(slot, process);
                mover &= !touched.read.by_others(slot, process);
            });
        }
    }
    mover
}

/// Which processes read and assign which slots.
struct Touched {
    read: Processes,
    assigned: Processes,
}

/// Per slot, a set of processes, as bits.
struct Processes(Vec<u64>);

impl Processes {
    fn insert(&mut self, slot: SlotId, process: usize) {
        self.0[slot.index()] |= 1 << process;
    }

    fn by_others(&self, slot: SlotId, process: usize) -> bool {
        self.0[slot.index()] & !(1 << process) != 0
    }
}

impl Touched {
    fn by_all(instance: &Instance) -> Self {
        let none = || Processes(vec![0; instance.slots.len()]);
        let mut touched = Self { read: none(), assigned: none() };
        for (process, graph) in instance.graphs.iter().enumerate() {
            graph.terms(&mut |term| {
                term.slots(&mut |slot| touched.read.insert(slot, process));
            });
            for assignment in graph.blocks.iter().flat_map(|block| &block.assignments) {
                assignment.target.slots(&mut |slot| touched.assigned.insert(slot, process));
            }
        }
        touched
    }
}

/// Operations begin with a step: the code before it is copied, and goes on where
/// it would pause.
fn invoked_with_access(graph: &Graph) -> Graph {
    let mut reduced = graph.clone();
    reduced.invocations.update = with_access(graph, graph.invocations.update, &mut reduced.blocks);
    reduced.invocations.scan = with_access(graph, graph.invocations.scan, &mut reduced.blocks);
    reduced.tidied()
}

/// Copies the code of an invocation; where it begins.
fn with_access(graph: &Graph, begin: BlockId, blocks: &mut Vec<Block>) -> BlockId {
    let code: Vec<BlockId> = graph.step_from(begin).into_iter().collect();
    let first = blocks.len();
    let copy = |block: BlockId| {
        let position = code.binary_search(&block).unwrap_or_default();
        BlockId((first + position) as u32)
    };
    for block in &code {
        let mut block = graph.block(*block).relinked(copy, |location| location);
        if let End::Pause(location) = block.end
            && let Some(step) = graph.standing(location).step
        {
            block.end = End::Jump(step);
        }
        blocks.push(block);
    }
    copy(begin)
}
