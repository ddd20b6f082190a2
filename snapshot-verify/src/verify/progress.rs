//! Progress of a running search, and the request to stop it.

use std::sync::atomic::AtomicBool;

use snapshot_core::Process;

use super::schedule::Effort;
use crate::search::Progress;
use crate::search::checkpoint::Keeper;
use crate::search::distributed::Engine;
use crate::search::spill::Disk;

/// Watches searches.
pub trait Watch {
    /// Set to stop the search, which then ends soon, as unknown.
    fn stop(&self) -> &AtomicBool;

    /// A search begins: of a pair, or of all executions over some values.
    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort);

    /// It goes on; called about twice a second, and by exploration between two levels.
    fn progress(&self, progress: &Progress);

    /// Set when the question has been answered by other means: the search ends then, as if it
    /// were interrupted.
    fn answered(&self) -> Option<&AtomicBool> {
        None
    }

    /// A rung of the ladder for every n is tried, of this name.
    fn prove(&self, _: &str) {}

    /// Where explorations are kept meanwhile, and from where they go on.
    fn keeper(&self) -> Option<&dyn Keeper> {
        None
    }

    /// Where states of explorations go for which there is no memory.
    fn disk(&self) -> Option<&dyn Disk> {
        None
    }

    /// What runs explorations on its workers, in place of threads.
    fn engine(&self) -> Option<&dyn Engine> {
        None
    }

    /// What tells the bytes that are allocated, so that preparation keeps to
    /// [`Request::memory`](super::Request::memory), too; without it only states do.
    fn allocated(&self) -> Option<fn() -> u64> {
        None
    }
}

/// No progress is shown, and the search is never stopped.
#[derive(Debug, Default)]
pub struct Unwatched(AtomicBool);

impl Watch for Unwatched {
    fn stop(&self) -> &AtomicBool {
        &self.0
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {}

    fn progress(&self, _: &Progress) {}
}
