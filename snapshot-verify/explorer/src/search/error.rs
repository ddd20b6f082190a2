//! Why there is no search.

use thiserror::Error;

use super::checkpoint::CheckpointError;
use super::code::CodeError;
use super::distributed::Failure;
use super::layout::LayoutError;
use super::self_check::Defect;

/// Why an instance cannot be explored.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ExploreError {
    /// It has no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It has no code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// There is not even memory to begin.
    #[error("a memory budget of {given} bytes is too small: at least {least} are needed")]
    Memory {
        /// The budget.
        given: u64,
        /// What is needed.
        least: u64,
    },
    /// The self-check has found a bug of ours.
    #[error("BUG in this program, please report it: {0}. Its verdicts cannot be trusted")]
    SelfCheck(Box<Defect>),
    /// Workers of several threads or processes cannot go on together.
    #[error(transparent)]
    Cluster(#[from] Failure),
    /// States find no room on the disk, or cannot be read from there.
    #[error("states on the disk: {reason}; give --disk a folder with more room")]
    Disk {
        /// Why.
        reason: String,
    },
    /// The search cannot go on from where it was kept.
    #[error("checkpoint {place}: {error}")]
    Checkpoint {
        /// Where.
        place: String,
        /// Why.
        error: CheckpointError,
    },
}
