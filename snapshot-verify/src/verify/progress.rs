//! Progress of a running search, and the request to stop it.

use std::sync::atomic::AtomicBool;

use snapshot_core::Process;

use super::schedule::Effort;
use crate::search::{Progress, Storage};

/// Observer of searches.
pub trait Watch {
    /// The flag that stops the search, which then soon ends as unknown.
    fn stop(&self) -> &AtomicBool;

    /// Called when a search begins, of a pair or of all executions over some values.
    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort);

    /// Reports progress; called about twice a second, and by exploration between two levels.
    fn progress(&self, progress: &Progress);

    /// The flag set when the question has been answered by other means: the search then ends as if
    /// interrupted.
    fn answered(&self) -> Option<&AtomicBool> {
        None
    }

    /// Called when a rung of the ladder for every n begins, with its name.
    fn prove(&self, _: &str) {}

    /// The place of the states of explorations.
    fn storage(&self) -> Storage<'_> {
        Storage::Memory
    }

    /// A function that returns the allocated bytes, so that preparation keeps to
    /// [`Request::memory`](super::Request::memory), too. If `None`, the limit applies to states
    /// only.
    fn allocated(&self) -> Option<fn() -> u64> {
        None
    }
}

/// Shows no progress, and never stops the search.
#[derive(Debug, Default)]
pub struct Unwatched(AtomicBool);

impl Watch for Unwatched {
    fn stop(&self) -> &AtomicBool {
        &self.0
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {}

    fn progress(&self, _: &Progress) {}
}
