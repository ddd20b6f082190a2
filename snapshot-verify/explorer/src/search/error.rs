//! Errors of a search.

use thiserror::Error;

use super::checkpoint::CheckpointError;
use super::code::CodeError;
use super::distributed::Failure;
use super::layout::LayoutError;
use super::self_check::Defect;

/// Why an instance cannot be explored.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ExploreError {
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The memory does not suffice to begin.
    #[error("a memory budget of {given} bytes is too small: at least {least} are needed")]
    Memory {
        /// The budget in bytes.
        given: u64,
        /// The least budget in bytes.
        least: u64,
    },
    /// The self-check has found a bug of this program.
    #[error("BUG in this program, please report it: {0}. Its verdicts cannot be trusted")]
    SelfCheck(Box<Defect>),
    /// The workers of several threads or processes cannot continue together.
    #[error(transparent)]
    Cluster(#[from] Failure),
    /// The disk failed or is full.
    #[error("states on the disk: {reason}; give --disk a folder with more room")]
    Disk {
        /// The error of the operating system.
        reason: String,
    },
    /// The search cannot resume from its checkpoint.
    #[error("checkpoint {place}: {error}")]
    Checkpoint {
        /// The location of the checkpoint.
        place: String,
        error: CheckpointError,
    },
}
