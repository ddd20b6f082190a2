//! Linearizability of an object for every number of processes, by backward coverability.
//!
//! Shared memory, the object and the variables of a process are finite, and processes are
//! anonymous. So a state of any number of processes is a *global* state (shared memory and the
//! object) with a number of processes in each *local* state. A step of one process changes the
//! global state and its own local state; it needs nothing of the others. So a state with more
//! processes can make the same steps: states are well quasi-ordered, steps are monotonic, and the
//! states from which an error can be reached are the upward closure of finitely many minimal ones.
//! These are computed backwards from the errors (Abdulla, Čerāns, Jonsson and Tsay, *General
//! decidability theorems for infinite-state systems*, LICS 1996; the counting of processes: German
//! and Sistla, JACM 39(3), 1992). The object is linearizable for every n iff none of them is below
//! an initial state, up to the linearization points:
//!
//! * An operation that may change the object passes exactly one linearization point, at which it
//!   takes effect. So the object has one state, and its results are known at the points. A point
//!   that is missing, or a second one, is an error; as in refinement, it shows nothing about the
//!   algorithm.
//! * An operation without points must not change the object. It may take effect anywhere. At most
//!   one of them is *watched*: it belongs to the global state, with the results that were right at
//!   some instant since it began. It is an error if it returns another one. Every execution with a
//!   wrong operation without points is one in which that operation is watched.
//!
//! Errors are also faults of the program, and operations that take effect where `await` forbids it.
//!
//! The search is restricted to global and local states that can occur together, by an
//! over-approximation that forgets how many processes there are (thread-modular reachability:
//! Flanagan and Qadeer, SPIN 2003). So faults that no execution can reach cost nothing.
//!
//! | file | content |
//! | --- | --- |
//! | `system` | global and local states, and the steps of one process |
//! | `pairs` | the pairs of them that can occur together |
//! | `backward` | the minimal states that lead to an error |
//! | `certificate` | these states as text, and a check of it |

mod backward;
mod certificate;
mod pairs;
mod system;

use thiserror::Error;

pub use backward::{Covered, Upward, backward};
pub use certificate::{Claim, Refusal, TITLE, check, read, written};
pub use pairs::Pairs;
pub use system::{Global, GlobalId, Local, LocalId, Mistake, Standing, System, Watched};

use crate::certificate::{Budget, Unfinished};
use crate::interpret::{Fault, MachineError};
use crate::program::anonymity::{is_anonymous, is_uniform};
use crate::program::linearization::at_points;
use crate::program::{OperationId, Program, Type};

/// Reason why an algorithm has no answer for every number of processes.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Unsuitable {
    #[error("the program declares no object")]
    NoObject,
    #[error("it has nodes, versions or counters: its states are infinitely many")]
    Infinite,
    #[error(
        "processes are not anonymous: `me`, a process, a segment, `by`, or LL/SC distinguishes them"
    )]
    Named,
    #[error("the program or its object depends on n")]
    DependsOnN,
    #[error("operations take effect together")]
    Together,
    #[error(
        "the operation `{0}` may change the object, and has no linearization point: mark one with \
         `linearizes` (`snapshot-verify points` finds some)"
    )]
    NoPoint(String),
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// An operation of the object has no meaning in some state.
    #[error("the object is faulty: {0}")]
    Object(Fault),
    #[error("{} ran out", .0.name())]
    Unfinished(Unfinished),
}

impl From<Unfinished> for Unsuitable {
    fn from(cause: Unfinished) -> Self {
        Self::Unfinished(cause)
    }
}

/// Result of a search for every number of processes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The minimal states that lead to an error.
    pub upward: Upward,
    /// Number of processes with which an error can be reached, the smallest; `None`: with none.
    pub wrong: Option<usize>,
    pub globals: usize,
    pub locals: usize,
    pub transitions: usize,
}

/// Requires that a program suits the method.
///
/// # Errors
/// The reason if it does not.
pub fn require_suitable(program: &Program) -> Result<(), Unsuitable> {
    let object = program.object().ok_or(Unsuitable::NoObject)?;
    let infinite = |content: &Type| {
        content.any(&|part| matches!(part, Type::Version | Type::Node { .. } | Type::Counter))
    };
    let mut types = program.types().chain(object.specification.types());
    if !program.nodes.is_empty() || types.any(infinite) {
        return Err(Unsuitable::Infinite);
    }
    if !is_anonymous(program) {
        return Err(Unsuitable::Named);
    }
    if !is_uniform(program) {
        return Err(Unsuitable::DependsOnN);
    }
    if object.has_blocks() {
        return Err(Unsuitable::Together);
    }
    let ids = (0..object.operations.len() as u16).map(OperationId);
    let has_point = at_points(program);
    let missing = ids.zip(&has_point).find(|(id, has_point)| !**has_point && object.changes(*id));
    match missing {
        Some((id, _)) => Err(Unsuitable::NoPoint(object.name_of(id).to_owned())),
        None => Ok(()),
    }
}

/// Decides whether some number of processes can make an error, with this many values.
///
/// # Errors
/// If the program does not suit the method, or the budget runs out.
pub fn coverability(
    program: &Program,
    values: u32,
    budget: &mut Budget<'_>,
) -> Result<Found, Unsuitable> {
    let mut system = System::new(program, values)?;
    let pairs = Pairs::new(&mut system, budget)?;
    let upward = backward(&pairs, budget)?;
    let wrong = match upward.initial(&system) {
        Covered::By(processes) => Some(processes),
        Covered::Not => None,
    };
    Ok(Found {
        upward,
        wrong,
        globals: system.globals(),
        locals: system.locals(),
        transitions: pairs.transitions().len(),
    })
}
