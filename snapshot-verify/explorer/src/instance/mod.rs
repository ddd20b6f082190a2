//! An instance: a program for given n, i, j, as one graph of steps per process
//! over scalar slots.
//!
//! Everything that n, i, j and the process determine is resolved: procedures
//! are inlined, `for` loops unrolled, arrays and records flattened to scalar
//! slots, `me` a constant, and where both are known a condition is decided. What
//! remains of the language is small: **slots** hold scalars, **blocks** assign
//! to slots and branch, and a process stands still only at **locations**. A
//! *step* runs blocks from a location, or from an invocation, to the next
//! location. Steps are atomic, so blocks treat shared slots like any other; an
//! LL/SC cell comes with one Boolean slot per process, its link.
//!
//! An instance is made with every event as a step of its own: an invocation
//! stops at the first access; each access is a step; the response is a step.
//! The reductions are functions from instances to instances.
//!
//! # Meaning
//!
//! A state gives each slot a scalar and each process a [`Location`]. At first
//! all slots have their initial scalars and all processes are [`Location::IDLE`].
//! A process that is idle may invoke a scan or an update: it starts at the block
//! that [`Graph::invocations`] names, after the argument was assigned to
//! [`Graph::argument`]. Any other process may run the step of its location. A
//! step ends in [`End::Pause`], [`End::Respond`] (the process is idle again), or
//! [`End::Fault`]. When an operation responds, the slots that it owns
//! ([`Owner::Operation`]) return to their initial scalars.
//!
//! In simple executions the argument of process i is 1 once it has invoked an
//! update of 1, and before that 0 or 1; likewise j; that of the others is 0.
//! The observer sees invocations and responses, in that order within a
//! step.
//!
//! Invariants, see [`Instance::validate`]: blocks form no circle but through
//! pauses; a slot is assigned scalars of its domain only; [`Owner::Operation`]
//! and [`Owner::Process`] slots are touched by their process only, and links are
//! read by their process only.

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

/// Where a process stands between two of its steps; an index into
/// [`Graph::locations`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location(pub u32);

/// A program for given n, i, j.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Instance {
    /// n, the number of processes and of segments.
    pub processes: usize,
    /// i and j, with i < j.
    pub pair: [Process; 2],
    /// The scalars of a state, but for the locations.
    pub slots: Vec<Slot>,
    /// One graph per process.
    pub graphs: Vec<Graph>,
}

/// What one process can do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Graph {
    /// Straight-line code that ends in a decision.
    pub blocks: Vec<Block>,
    /// Where the process may stand. The first is [`Location::IDLE`].
    pub locations: Vec<Standing>,
    /// Where updates and scans begin.
    pub invocations: Invocations,
    /// The slot that the argument of an update goes to; none where updates
    /// ignore it, or where it is always 0.
    pub argument: Option<SlotId>,
}

/// The blocks that operations begin with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Invocations {
    /// Of an update.
    pub update: BlockId,
    /// Of a scan.
    pub scan: BlockId,
}

/// A place where a process may stand.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Standing {
    /// The block its step begins with; of [`Location::IDLE`] none.
    pub step: Option<BlockId>,
    /// The text whose access the step makes.
    pub span: Span,
    /// For people: `scan: copy[1] := a[1]`, say.
    pub label: String,
    /// Whether the process is in an update rather than in a scan.
    pub updating: bool,
    /// What the process does at once, between steps. A fresh instance has none.
    pub reactions: Vec<Reaction>,
}

/// A part of a step that needs no turn of a scheduler: as soon as the condition holds,
/// whichever process made it hold, the process runs the block.
///
/// After every step, reactions run until none applies. Their blocks assign only
/// slots of the process itself, and end in a pause elsewhere or in a response,
/// so the order among processes does not matter. They form no circle, so each process
/// comes to rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reaction {
    /// 0 or 1.
    pub when: Term,
    /// What is done.
    pub then: BlockId,
}

impl Standing {
    /// The blocks that begin here: those of the step and of the reactions.
    pub fn beginnings(&self) -> impl Iterator<Item = BlockId> {
        self.step.into_iter().chain(self.reactions.iter().map(|reaction| reaction.then))
    }
}

impl Location {
    /// No operation is open.
    pub const IDLE: Self = Self(0);

    /// The index into [`Graph::locations`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SlotId {
    /// The index into [`Instance::slots`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// The index into [`Graph::blocks`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Instance {
    /// The slot with this id.
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id.index()]
    }

    /// The slots in the conditions of reactions.
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
    /// The block with this id.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }
    /// The standing at this location.
    pub fn standing(&self, location: Location) -> &Standing {
        &self.locations[location.index()]
    }

    /// All locations, idle first.
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

    /// The blocks that nothing of the graph precedes in a step: where an
    /// operation, a step or a reaction begins.
    pub fn beginnings(&self) -> Vec<BlockId> {
        let Invocations { update, scan } = self.invocations;
        let standings = self.locations.iter().flat_map(Standing::beginnings);
        [update, scan].into_iter().chain(standings).collect()
    }

    /// The blocks of a step that begins here.
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
