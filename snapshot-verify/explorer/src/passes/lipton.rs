//! `shrink`: makes operations as short as possible, and steps as long as possible.
//!
//! # Fused steps
//!
//! A step of process p is a *mover* if it reads no slot that another process assigns, and assigns
//! no slot that another process reads or assigns. Slots of other processes are taken from all
//! reachable code of their graphs. A mover commutes with every step of every other process: made
//! just before or just after, it takes the same branches and leads to the same state. Movers are
//! local computation, responses, reads of cells that only the process itself writes, and writes of
//! cells that no other process reads or writes.
//!
//! * A mover is fused with the step before it. Responses, as movers, are fused with the last
//!   access.
//! * An invocation, and movers right after it, are fused with the first non-mover after them: the
//!   first access. (If all steps are movers, with the response.)
//!
//! So a step consists of an invocation and movers, or nothing; at most one non-mover; movers, and
//! perhaps the response. This is Lipton's reduction (Comm. ACM 18(12), 1975) with invocations as
//! right movers.
//!
//! # Soundness
//!
//! Every execution of the result is an execution of the original, so no violation is new. For the
//! other direction take an execution of the original that ends in a violating response or in a
//! fault. All steps are deterministic, and enabled regardless of the steps of others.
//!
//! 1. *Finish.* Where a process made its non-mover, but not the movers that are fused with it,
//!    insert these right after it. They commute with all later steps, so the rest runs as before,
//!    up to the last step. The insertion may include a response. If the history with it were
//!    linearizable, the same order would linearize the history without it, where the operation is
//!    pending.
//! 2. *Drop.* Where a process made an invocation and movers, but not the non-mover that they are
//!    fused with, drop them. No process read the slots they assigned. A pending operation vanishes
//!    from the history; if the history without it were linearizable, the same order would linearize
//!    the history with it. A fault is not dropped. An execution ends with its first fault, so if a
//!    process faulted in one of these movers, the execution ends there, and invocation, movers and
//!    fault are a whole step of the result. If movers inserted in (1) fault, the process could have
//!    made them in the original: the execution up to the fault is an execution of the original.
//! 3. *Move.* Each mover moves left to its non-mover; each invocation, and each mover before its
//!    non-mover, moves right to it. States change accordingly, but the result of each scan does
//!    not. Responses come earlier and invocations later: operations shrink, so all precedences
//!    stay, and a history with more precedence has no linearization that the history with less does
//!    not have.
//!
//! Reactions do not affect this argument: they touch only slots that no other process touches, and
//! are optional. Where a reaction leads to movers, these become part of it, except a mover that
//! assigns a cell or breaks a link of another process. Such a mover keeps its pause, on the paths
//! of steps too.
//!
//! A loop of movers alone would be an infinite step, and a reaction that leads, by movers, back to
//! a location with reactions would never come to rest. So in each cycle of such steps and
//! reactions, one step keeps its pause. The choice does not matter for soundness: fusing a mover is
//! optional.
//!
//! A fused step still counts its accesses in its own blocks, so that a trace of long steps expands
//! to the steps of the text.

use std::collections::BTreeSet;

use rayon::prelude::*;
use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, BlockId, End, Graph, Instance, Location, Owner, SlotId, Term};
use crate::passes::step_fusion::{fused, without_circles};

/// Fuses invocations with first accesses, and movers, including responses, with the step before.
pub fn fuse_steps(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    fuse_invocations(&fuse_movers(instance, deadline)?, deadline)
}

/// Fuses movers, including responses, with the step before. Can be repeated: after variables were
/// forgotten there may be more movers.
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
        // Reactions continue through movers, except through movers that assign cells or break links
        // of others.
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

/// Fuses invocations with first accesses. Applies only once: an operation begins at the latest with
/// its first access.
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

/// Returns true if the step of the location assigns a slot that is not the process's own: a cell,
/// or a link of another process, even if no process reads the link.
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

/// Returns true if the step of the location is a mover. To break an own link commutes with the
/// steps of others on this link: they only break it, too.
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

/// By slot, the processes that read and assign it.
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

/// Makes operations begin with a step: copies the code before it, and continues at the pause.
fn invoked_with_access(graph: &Graph) -> Graph {
    let mut reduced = graph.clone();
    reduced.invocations.update = with_access(graph, graph.invocations.update, &mut reduced.blocks);
    reduced.invocations.scan = with_access(graph, graph.invocations.scan, &mut reduced.blocks);
    reduced.tidied()
}

/// Copies the code of an invocation, and returns its first block.
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
