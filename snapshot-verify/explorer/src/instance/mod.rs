//! An instance: a program for given n, i, j, as one graph of steps per process over scalar slots.
//!
//! Everything that n, i, j and the process determine is resolved: procedures are inlined, `for`
//! loops unrolled, arrays and records flattened to scalar slots, `me` is a constant, and conditions
//! on known values are decided. The remaining language is small: **slots** hold scalars, **blocks**
//! assign to slots and branch, and a process pauses only at **locations**. A *step* runs blocks
//! from a location, or from an invocation, to the next location. Steps are atomic, so blocks treat
//! shared slots like any other; an LL/SC cell has one Boolean slot per process, its link.
//!
//! In a fresh instance every event is a separate step: an invocation pauses before the first
//! access; each access is a step; the response is a step. The reductions are functions from
//! instances to instances.
//!
//! # Meaning
//!
//! A state gives each slot a scalar and each process a [`Location`]. Initially all slots have their
//! initial scalars and all processes are [`Location::IDLE`]. An idle process may invoke a scan or
//! an update: it starts at the block that [`Graph::invocations`] names, after the argument was
//! assigned to [`Graph::argument`]. Any other process may run the step of its location. A step ends
//! in [`End::Pause`], [`End::Respond`] (the process is idle again), or [`End::Fault`]. When an
//! operation responds, the slots that it owns ([`Owner::Operation`]) return to their initial
//! scalars.
//!
//! In simple executions the argument of process i is 1 once it has invoked an update of 1, and
//! before that 0 or 1; likewise j; the argument of the other processes is 0. The observer sees
//! invocations and responses, in that order within a step.
//!
//! Invariants, see [`Instance::validate`]: every cycle of blocks passes a pause; a slot is assigned
//! only scalars of its domain; [`Owner::Operation`] and [`Owner::Process`] slots are touched only
//! by their process, and links are read only by their process.

mod block;
mod compile;
mod display;
mod drop_slots;
mod error;
pub(crate) mod fold;
mod graphs_parallel;
mod kind;
mod restrict;
pub(crate) mod scalars;
mod simplify_cfg;
mod slot;
mod validate;

pub use block::{Assignment, Block, End, Operator, Response, Target, Term};
pub use compile::{LEAST_PROCESSES, MOST_PROCESSES};
pub use error::InstanceError;
pub use kind::Kind;
pub use slot::{Domain, NONE, Owner, Scalar, Slot};
pub use validate::Broken;

use std::collections::BTreeSet;

use snapshot_core::Process;

use crate::language::Span;

/// An index into [`Instance::slots`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SlotId(pub u32);

/// An index into [`Graph::blocks`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlockId(pub u32);

/// The position of a process between two of its steps; an index into [`Graph::locations`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location(pub u32);

/// A program for given n, i, j.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Instance {
    /// n, the number of processes and of segments.
    pub processes: usize,
    /// i and j, with i < j.
    pub pair: [Process; 2],
    /// The scalars of a state, except the locations.
    pub slots: Vec<Slot>,
    /// One graph per process.
    pub graphs: Vec<Graph>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Graph {
    pub blocks: Vec<Block>,
    /// The first is [`Location::IDLE`].
    pub locations: Vec<Standing>,
    pub invocations: Invocations,
    /// The slot for the argument of an update; `None` if updates ignore it, or if it is always 0.
    pub argument: Option<SlotId>,
}

/// The first blocks of operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Invocations {
    pub update: BlockId,
    pub scan: BlockId,
}

/// A location with its step and reactions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Standing {
    /// The first block of the step; `None` at [`Location::IDLE`].
    pub step: Option<BlockId>,
    /// The text of the step's access.
    pub span: Span,
    /// A description for people, for example `scan: copy[1] := a[1]`.
    pub label: String,
    /// Whether the process is in an update rather than in a scan.
    pub updating: bool,
    /// Reactions that run between steps. A fresh instance has none.
    pub reactions: Vec<Reaction>,
}

/// A part of a step that needs no scheduler: the process runs the block as soon as the condition
/// holds, even if another process caused it.
///
/// After every step, reactions run until none applies. Their blocks assign only slots of the
/// process itself, and end in a pause elsewhere or in a response, so the order among processes does
/// not matter. Reactions form no cycle, so each process comes to rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reaction {
    /// 0 or 1.
    pub when: Term,
    pub then: BlockId,
}

impl Standing {
    /// Returns the first blocks of the step and of the reactions.
    pub fn beginnings(&self) -> impl Iterator<Item = BlockId> {
        self.step.into_iter().chain(self.reactions.iter().map(|reaction| reaction.then))
    }
}

impl Location {
    /// The location without an open operation.
    pub const IDLE: Self = Self(0);

    /// Returns the index into [`Graph::locations`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SlotId {
    /// Returns the index into [`Instance::slots`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// Returns the index into [`Graph::blocks`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Instance {
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id.index()]
    }

    /// Returns the slots in the conditions of reactions.
    pub(crate) fn watched(&self) -> BTreeSet<SlotId> {
        let standings = self.graphs.iter().flat_map(|graph| &graph.locations);
        let mut watched = BTreeSet::new();
        for reaction in standings.flat_map(|standing| &standing.reactions) {
            reaction.when.slots(&mut |slot| _ = watched.insert(slot));
        }
        watched
    }
}

impl Graph {
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }
    pub fn standing(&self, location: Location) -> &Standing {
        &self.locations[location.index()]
    }

    /// Returns all locations, idle first.
    pub fn every_location(&self) -> impl Iterator<Item = Location> + use<> {
        (0..self.locations.len() as u32).map(Location)
    }

    /// Calls `visit` for every term of the graph.
    pub fn terms(&self, visit: &mut impl FnMut(&Term)) {
        for block in &self.blocks {
            block.terms(visit);
        }
        for standing in &self.locations {
            standing.reactions.iter().for_each(|reaction| visit(&reaction.when));
        }
    }

    /// Returns the blocks at which an operation, a step or a reaction begins.
    pub fn beginnings(&self) -> Vec<BlockId> {
        let Invocations { update, scan } = self.invocations;
        let standings = self.locations.iter().flat_map(Standing::beginnings);
        [update, scan].into_iter().chain(standings).collect()
    }

    /// Returns the blocks of a step that begins with this block.
    pub(crate) fn step_from(&self, begin: BlockId) -> BTreeSet<BlockId> {
        let mut found = BTreeSet::new();
        let mut open = vec![begin];
        while let Some(block) = open.pop() {
            if found.insert(block) {
                open.extend(self.block(block).end.blocks());
            }
        }
        found
    }
}
