//! The second method: refinement of the algorithm against the atomic snapshot.
//!
//! A breadth-first search over pairs of a state of the interpreter and a set of configurations of
//! the normalised [`SnapshotSpecification`]. A violation is an event after which the set is empty.
//! The search covers full executions over a small value domain as well as simple ones. It is PAT's
//! refinement checking of linearizability (Liu, Chen, Liu and Sun, *Model checking linearizability
//! via refinement*, FM 2009), the baseline that the method of Amram et al. is compared with: with
//! its partial order reduction, and with linearization points where a text has them.
//!
//! Its purpose is to disagree. It shares only the program and the interpreter with the explorer,
//! but not the observer, instances, reductions or search. So an error in a common verdict must have
//! been made twice.
//!
//! States are distinguished up to the names of versions, so programs with versions have finitely
//! many states without a bound on the number of operations. The same holds for programs with nodes:
//! states are distinguished up to the numbers of nodes, and unreachable nodes are removed. Programs
//! with counters need a bound.
//!
//! | file | content |
//! | --- | --- |
//! | `subsets` | normalisation on the fly |
//! | `specification`, `object` | the normalised specification: the atomic snapshot, or an object of
//! the text |
//! | `clients` | operations that may begin, by number, together with the specification |
//! | `waiting` | whether an object itself keeps operations from returning |
//! | `path` | the execution that leads to a state |
//! | `expand` | transitions of the product of these with the states of `product` |
//! | `ahead` | expansion by several threads |
//! | `search` | the product, breadth-first |
//!
//! **Partial order reduction** (section 4.2 of the paper). If a process is about to make an
//! invisible step that no other process can ever interfere with (`product`), only this step is
//! explored (`tau`, Fig. 3). The same holds for a response that every configuration of the set
//! allows (`visible`, Fig. 4): it accesses no cell, removes only its own operation from the
//! configurations, and a delay only makes it easier to allow.
//!
//! A step is not put first if it leads to a state that was expanded before. The paper requires this
//! for the states on its depth-first stack. Breadth-first, the numbers of states ascend along steps
//! put first, so no step is postponed for ever around a cycle.
//!
//! Invocations are never put first, though Fig. 4 as printed does so if a process has only one to
//! make. An operation that begins earlier overlaps more, so violations would be missed. For
//! example, let process 1 only scan: an old result is right if its scan begins before process 0's
//! update ends, and wrong after.
//!
//! The operations of an object that may begin (`when`) depend on the set of configurations. Neither
//! kind of step that is put first changes this: the first kind is invisible; before the second, the
//! operation has taken effect in every configuration of the set, so that only its own entry
//! changes.
//!
//! **Fusion.** A step that is put first is made in one transition with the step before it, without
//! a state between. If the client is free (`World::is_free`), so are an invocation with the first
//! step on which others depend, and a response with the step before it: an operation that begins
//! later and ends earlier overlaps fewer others, so every order that explains the new history
//! explains the old one. The moves of a process between its accesses change nothing that others
//! read. If guards depend on the operations of others, or barriers are counted, a delay may forbid
//! an invocation, and only steps that are put first are fused.
//!
//! Responses may be put first although barriers are counted. Until the first response of an
//! interval, invocations only add configurations. So they can be moved to its begin, and the
//! response is explored behind them, too.
//!
//! A step on a field of a node is put first, too, while no shared variable and no other process
//! reaches the node: others reach it only by a later step of this process. The node must not be
//! freed, since others could allocate it again.
//!
//! With the reduction, a counterexample is a shortest one among the remaining executions: steps put
//! first may lengthen it.

mod ahead;
mod clients;
mod expand;
mod object;
mod path;
mod search;
mod specification;
mod subsets;
mod waiting;

use std::num::NonZeroUsize;

pub use object::{AtomicObject, ObjectSpecification};
pub use specification::{AtomicSnapshot, Misplacement, SnapshotSpecification};
pub use subsets::{Automaton, Letter, LetterId, Possibilities, Successor};

use crate::interpret::{Client, ClientError, Fault, Machine, Move, Sequential};
use crate::program::anonymity;
use crate::program::linearization::{Points, at_points};
pub(crate) use clients::{Choice, ObjectWorld, SnapshotWorld, World};

/// Limits on the cost of a search.
pub struct Budget<'a> {
    pub states: usize,
    /// In bytes.
    pub memory: usize,
    /// Threads that expand states. Their number has no influence on the result.
    pub threads: NonZeroUsize,
    /// Called periodically; `false` ends the search.
    pub proceed: &'a mut dyn FnMut(&Progress) -> bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    pub states: u64,
    /// States that were reached and not yet expanded.
    pub frontier: u64,
    /// Distance of the states being expanded from the initial state.
    pub depth: u32,
    pub bytes: u64,
}

/// Reductions and options of a search.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Techniques {
    pub partial_order: bool,
    /// Operations with linearization points in the text take effect there.
    pub points: bool,
    /// Identifies states that differ only in locals that no step will read.
    pub forgetting: bool,
    /// For an object with anonymous processes, identifies states up to the order of processes.
    pub symmetry: bool,
    /// Makes steps that are put first in one transition with the step before them. If the client is
    /// free (`World::is_free`), operations begin and end beside their accesses.
    pub fusion: bool,
}

impl Techniques {
    /// No reductions and no linearization points.
    pub const NONE: Self = Self {
        partial_order: false,
        points: false,
        forgetting: false,
        symmetry: false,
        fusion: false,
    };
    /// [`Self::default`], with all identifications of states.
    pub const ALL: Self =
        Self { partial_order: true, points: false, forgetting: true, symmetry: true, fusion: true };
}

impl Default for Techniques {
    /// The published method: with partial order reduction, without linearization points.
    fn default() -> Self {
        Self { partial_order: true, ..Self::NONE }
    }
}

/// Result of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refinement {
    pub verdict: RefinementVerdict,
    /// Number of states of algorithm, client and specification that were reached.
    pub states: usize,
    pub transitions: u64,
    /// Length of the longest shortest path to a state.
    pub depth: usize,
    /// Number of distinct sets of configurations.
    pub possibilities: usize,
    pub peak_bytes: usize,
}

/// Answer whether all executions are linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RefinementVerdict {
    /// All executions of this client were explored, and are linearizable.
    Verified,
    /// This execution is a shortest violation; with partial order reduction, shortest among the
    /// remaining executions.
    Violation(Vec<Move>),
    /// In this execution, operations do not take effect at their linearization points, though its
    /// history is linearizable. Nothing else is known about the algorithm.
    Misplaced {
        moves: Vec<Move>,
        /// Fault of the points.
        misplacement: Misplacement,
    },
    /// The last of these moves is a fault.
    Faulty {
        moves: Vec<Move>,
        /// Fault of the last move.
        fault: Fault,
    },
    /// After these moves, the specification itself, an object that the text declares, is faulty.
    InObject {
        moves: Vec<Move>,
        /// Fault of the object.
        fault: Fault,
    },
    Unknown(Unfinished),
}

/// Reason why a search was not finished.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// The search reached the limit on states.
    States,
    /// The search reached the limit on memory.
    Memory,
    /// Some executions need more nodes than the limit; all others were explored.
    Nodes,
    /// The caller ended the search.
    Ended,
}

/// Explores all executions of a client.
///
/// # Errors
/// If the client does not suit the number of processes, or its executions are too many to search
/// all.
///
/// # Panics
/// If [`Techniques::points`] and the machine disagree about the use of points.
pub fn refine(
    machine: &Machine<'_>,
    client: &Client,
    means: Techniques,
    budget: &mut Budget<'_>,
) -> Result<Refinement, ClientError> {
    assert_eq!(machine.is_at_points(), means.points, "a machine at points iff they are used");
    client.validate(machine.processes())?;
    let n = machine.processes();
    let points = if means.points { Points::new(machine.program()) } else { Points::NONE };
    let world = SnapshotWorld::new(*client, n, points);
    Ok(search::Search::new(machine, world, means).run(budget))
}

/// Explores all executions of a client of an object that the text declares. Of the client, only the
/// values, the operations and the participating processes count.
///
/// # Errors
/// As [`refine`].
///
/// # Panics
/// As [`refine`], or if the machine and the object differ in the number of processes.
pub fn refine_object(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    client: &Client,
    means: Techniques,
    budget: &mut Budget<'_>,
) -> Result<Refinement, ClientError> {
    assert_eq!(machine.is_at_points(), means.points, "a machine at points iff they are used");
    assert_eq!(machine.processes(), sequential.processes(), "one n for both");
    client.validate(machine.processes())?;
    client.validate_object(sequential)?;
    let at_points = if means.points { at_points(machine.program()) } else { Box::default() };
    let is_anonymous = anonymity::is_anonymous(machine.program());
    let world = ObjectWorld::new(*client, sequential.clone(), at_points, is_anonymous);
    Ok(search::Search::new(machine, world, means).run(budget))
}
