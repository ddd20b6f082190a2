//! Errors of verification.

use snapshot_invariant::check::Uncovered;
use thiserror::Error;

use crate::counterexample::CounterexampleError;
use crate::instance::InstanceError;
use crate::interpret::{ClientError, Fault, MachineError, MoveError};
use crate::language::Span;
use crate::search::ExploreError;
use crate::search::distributed::Failure;

/// Reason for no answer, not even *unknown*: the request cannot be met, or this program is wrong.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The program has no instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The instance cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// The interpreter cannot run the program.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The requested executions do not exist.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// More threads than the system has.
    #[error("{threads} threads cannot be started ({reason}): ask for fewer (--threads)")]
    Threads {
        /// Requested threads; no more than there are processes.
        threads: usize,
        /// Message of the system.
        reason: String,
    },
    /// All executions over some values, or those of one updater, by the wrong method.
    #[error(
        "exploration supports only simple executions in which every process may update and \
         scan: for others, use refinement"
    )]
    SimpleOnly,
    /// Barriers by refinement, or with another bound.
    #[error(
        "--barriers works with exploration and with objects, and also bounds the operations: \
         leave out other bounds and methods"
    )]
    Barriers,
    /// There are no marked linearization points.
    #[error(
        "no statement is marked as a linearization point: write `linearizes` behind those at \
         which operations take effect, or leave out --points"
    )]
    NoPoints,
    /// Refinement does not abstract counters.
    #[error(
        "the program counts without bound, so for refinement it has infinitely many states: bound \
         the operations (--operations 1, say, or grow), or use --method exploration"
    )]
    Counters,
    /// A declared object, by the wrong method.
    #[error(
        "the algorithm declares an object: it is checked by refinement of all executions over a \
         few values only"
    )]
    Object,
    /// An object, or an algorithm of one, with infinitely many states.
    #[error(
        "the algorithm or its object counts without bound, so there are infinitely many states: \
         bound the operations (--operations 2, say, or grow)"
    )]
    ObjectCounters,
    /// Orders of writes alone, for operations in blocks.
    #[error(
        "operations of the object take effect together, and --strong=write needs operations that \
         take effect one at a time: use --strong"
    )]
    Together,
    /// The object itself is faulty.
    #[error("the object goes wrong (after {moves} moves of the algorithm): {fault}")]
    ObjectFault {
        /// Moves that lead to the fault.
        moves: usize,
        fault: Fault,
    },
    /// An execution that does not exist: our fault.
    #[error(
        "BUG in this program, please report it: refinement claims an execution that the \
         interpreter cannot repeat: {0}. Its verdicts cannot be trusted"
    )]
    NotRepeated(#[source] MoveError),
    /// An execution with more barriers than were explored: our fault.
    #[error(
        "BUG in this program, please report it: of executions with at most {most} barriers it \
         found one that has {found}. Its verdicts cannot be trusted"
    )]
    TooManyBarriers {
        /// Barriers of the execution.
        found: u32,
        /// Permitted barriers.
        most: u32,
    },
    /// An invalid violation: our fault.
    #[error(transparent)]
    Counterexample(#[from] CounterexampleError),
    /// The search and the proof for every n contradict each other: our fault.
    #[error(
        "BUG in this program, please report it: the search has found a violation, and there is a \
         proof for every n. Its verdicts cannot be trusted"
    )]
    Contradiction,
    /// An execution contradicts a proof for every n: our fault.
    #[error("BUG in this program, please report it: {0}. Its verdicts cannot be trusted")]
    Uncovered(Uncovered),
    /// The certificate of a proof for every n is refused: our fault.
    #[error(
        "BUG in this program, please report it: the certificate of its proof for every n is \
         refused: {0}. Its verdicts cannot be trusted"
    )]
    Refused(String),
    /// An execution or a tree of them that is no argument: our fault.
    #[error("BUG in this program, please report it: {0}. Its verdicts cannot be trusted")]
    Unjudged(String),
    /// An invalid fault of the program: our fault.
    #[error(
        "BUG in this program, please report it: a search claims that the algorithm goes wrong \
         ({what}), but the interpreter cannot see it. Its verdicts cannot be trusted"
    )]
    NoFault {
        /// The claimed fault.
        what: &'static str,
    },
}

impl VerifyError {
    /// Returns the relevant place in the text, if any.
    pub const fn span(&self) -> Option<Span> {
        match self {
            Self::Instance(
                InstanceError::TooManySlots { span, .. }
                | InstanceError::TooManyBlocks { span, .. }
                | InstanceError::NumberedValue { span }
                | InstanceError::BadInitial { span, .. },
            )
            | Self::Machine(MachineError::Initial { fault: Fault { span, .. }, .. })
            | Self::ObjectFault { fault: Fault { span, .. }, .. } => Some(*span),
            Self::Instance(InstanceError::Extent(error))
            | Self::Machine(MachineError::Extent { error, .. }) => Some(error.span()),
            _ => None,
        }
    }

    /// Returns true if this program is at fault rather than the request.
    pub const fn is_ours(&self) -> bool {
        matches!(
            self,
            Self::Counterexample(_)
                | Self::NoFault { .. }
                | Self::Contradiction
                | Self::Uncovered(_)
                | Self::Refused(_)
                | Self::TooManyBarriers { .. }
                | Self::NotRepeated(_)
                | Self::Unjudged(_)
                | Self::Explore(
                    ExploreError::SelfCheck(_) | ExploreError::Cluster(Failure::Defect { .. })
                )
                | Self::Instance(InstanceError::Unassigned { .. })
        )
    }
}
