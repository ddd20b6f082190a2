//! The second method: refinement of the algorithm against the atomic snapshot.
//!
//! A breadth-first search over pairs of a state of the interpreter and a set of
//! configurations of the normalised [`SnapshotSpecification`]; a violation is an event
//! after which the set is empty. For full executions over a small value domain as
//! well as for simple ones. It is PAT's refinement checking of linearizability
//! (Liu, Chen, Liu and Sun, *Model checking linearizability via refinement*, FM
//! 2009), the baseline that the method of Amram et al. is compared with: with its
//! partial order reduction, and with linearization points where a text has them.
//!
//! It exists to disagree: it shares nothing with the observer, with instances,
//! reductions or the explorer, only the program and the interpreter. So where it
//! and the explorer give the same verdict, an error must have been made twice.
//!
//! States are distinguished up to the names of versions, so programs with versions
//! have finitely many states without a bound on the number of operations. So have programs with
//! nodes: the numbers of nodes do not count either, and nodes that nothing reaches are gone.
//! Programs with counters do not: bound them.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `subsets` | normalisation on the fly |
//! | `specification`, `object` | what is normalised: the atomic snapshot, or an object of the text |
//! | `states` | states of the interpreter as rows of numbers |
//! | `nodes` | states that differ in the numbers of their nodes only are one |
//! | `symmetry` | states that differ in which process does what only are one |
//! | `slices` | what is known of many states, in few allocations |
//! | `footprint` | which steps are independent of all others |
//! | `table` | rows, each once, with their parents |
//! | `clients` | what may be begun, by number, and where the specification is involved in that |
//! | `waiting` | whether an object itself keeps operations from returning |
//! | `search` | the product of all these, breadth-first |
//!
//! **Partial order reduction** (section 4.2 of the paper). Where a process is about
//! to make an invisible step that no other process can ever interfere with
//! (`footprint`), this step alone is explored (`tau`, Fig. 3). So is a response
//! that every configuration of the set allows (`visible`, Fig. 4): it reads and
//! writes nothing, leaves the same configurations but for its own operation, and
//! the later it comes, the more is allowed. A step is not put first if it leads
//! to a state that was expanded before: the paper asks this of the states on its
//! depth-first stack; breadth-first, numbers of states ascend along steps put
//! first, so none is put off for ever round a circle. Invocations are never put
//! first, though Fig. 4 as printed does so where a process has only one to make:
//! an operation that begins earlier overlaps more, so violations would be missed
//! (process 1 may scan only; that it returns something old is right if its scan
//! begins before process 0's update ends, and wrong after).
//!
//! Of an object, what may be begun (`when`) depends on the set of configurations. Neither kind
//! of step that is put first changes that: one is invisible, and before the other the operation
//! has taken effect in every configuration of the set, so that only its own entry changes.
//!
//! With the reduction, a counterexample is a shortest one among the executions
//! that are left: steps put first may lengthen it.

mod clients;
mod footprint;
mod nodes;
mod object;
mod search;
mod slices;
mod specification;
mod states;
mod subsets;
mod symmetry;
mod table;
mod waiting;

pub use object::ObjectSpecification;
pub use specification::{Misplacement, SnapshotSpecification};
pub use subsets::{Letter, LetterId, Possibilities, Successor};

use crate::interpret::{Client, ClientError, Fault, Machine, Move, Sequential};
use crate::program::anonymity;
use crate::program::linearization::{Points, at_points};
pub(crate) use clients::{ObjectWorld, SnapshotWorld, World};

/// What a search may cost.
pub struct Budget<'a> {
    /// The largest number of states.
    pub states: usize,
    /// Bytes that it may take.
    pub memory: usize,
    /// Asked from time to time; `false` ends the search.
    pub proceed: &'a mut dyn FnMut(&Progress) -> bool,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// States reached.
    pub states: u64,
    /// States that were reached and not yet expanded.
    pub frontier: u64,
    /// How far from the first state those that are being expanded are.
    pub depth: u32,
    /// Bytes in use.
    pub bytes: u64,
}

/// How to search.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Means {
    /// With partial order reduction.
    pub partial_order: bool,
    /// Operations of which the text says where they take effect do so there.
    pub points: bool,
    /// States that differ in locals only that no step will read are one.
    pub forgetting: bool,
    /// Of an object whose processes are anonymous, states that differ in which process does what
    /// only are one.
    pub symmetry: bool,
}

impl Means {
    /// Every state as it is, without linearization points.
    pub const NONE: Self =
        Self { partial_order: false, points: false, forgetting: false, symmetry: false };
    /// As [`Self::default`], and with all that makes states one.
    pub const ALL: Self =
        Self { partial_order: true, forgetting: true, symmetry: true, ..Self::NONE };
}

impl Default for Means {
    /// With partial order reduction, without linearization points: the published method.
    fn default() -> Self {
        Self { partial_order: true, ..Self::NONE }
    }
}

/// What a search found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refinement {
    /// The answer.
    pub verdict: RefinementVerdict,
    /// How many states of algorithm, client and specification were reached.
    pub states: usize,
    /// How many moves were tried.
    pub transitions: u64,
    /// The length of the longest shortest path to a state.
    pub depth: usize,
    /// How many sets of configurations occurred.
    pub possibilities: usize,
    /// The most bytes that were in use.
    pub peak_bytes: usize,
}

/// Whether all executions are linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RefinementVerdict {
    /// They are: all executions of this client were explored.
    Verified,
    /// This execution is not, and there is no shorter one: with partial order
    /// reduction, none among those that are left.
    Violation(Vec<Move>),
    /// In this execution operations do not take effect at their linearization
    /// points, though its history is linearizable. Of the algorithm nothing else
    /// is known.
    Misplaced {
        /// The moves.
        moves: Vec<Move>,
        /// What is wrong with the points.
        misplacement: Misplacement,
    },
    /// The last of these moves has no meaning.
    Faulty {
        /// The moves.
        moves: Vec<Move>,
        /// What is wrong with the last of them.
        fault: Fault,
    },
    /// After these moves the specification itself, an object that the text declares, has no
    /// meaning.
    InObject {
        /// The moves.
        moves: Vec<Move>,
        /// What is wrong with the object.
        fault: Fault,
    },
    /// A budget ran out.
    Unknown(Unfinished),
}

/// Why a search was not finished.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// It reached as many states as it may.
    States,
    /// It took as much memory as it may.
    Memory,
    /// Some executions need more nodes than there may be; all others were explored.
    Nodes,
    /// Its caller ended it.
    Ended,
}

/// Explores all executions of a client.
///
/// # Errors
/// If the client does not suit the number of processes, or its executions are
/// too many to search all.
///
/// # Panics
/// If [`Means::points`] are asked for of a machine that is not at points, or the other way round.
pub fn refine(
    machine: &Machine<'_>,
    client: &Client,
    means: Means,
    budget: &mut Budget<'_>,
) -> Result<Refinement, ClientError> {
    assert_eq!(machine.is_at_points(), means.points, "a machine at points iff they are used");
    client.validate(machine.processes())?;
    let n = machine.processes();
    let points = if means.points { Points::new(machine.program()) } else { Points::NONE };
    let world = SnapshotWorld::new(*client, n, points);
    Ok(search::Search::new(machine, world, means).run(budget))
}

/// Explores all executions of a client of an object that the text declares. Of the client,
/// the values, the operations and the processes that take part count.
///
/// # Errors
/// As [`refine`].
///
/// # Panics
/// As [`refine`], or if the object is not that of the machine's program, for as many processes.
pub fn refine_object(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    client: &Client,
    means: Means,
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
