//! The first reading of an object of a recording.

use std::ops::ControlFlow;

use snapshot_core::history::Declaration;

use super::{Counts, Finding, Options};
use crate::Value;
use crate::format::Location;
use crate::input::Replay;
use crate::kind::SnapshotKind;

/// The event of a kind of snapshot.
pub(super) type EventOf<'a, R> = <<R as FirstReading>::Kind as SnapshotKind>::Event<'a>;

/// The error of an event.
pub(super) type ErrorOf<R> = <<R as FirstReading>::Kind as SnapshotKind>::Error;

/// The history of an object.
pub(super) type HistoryOf<R> = <<R as FirstReading>::Kind as SnapshotKind>::History;

/// The finding as far as known without another reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    Right,
    Violation,
    Undecided,
}

/// The judges of one object, in memory bounded by its overlapping operations.
pub(super) trait FirstReading: Sized + Send {
    type Kind: SnapshotKind;

    /// True if an undecided object may be decided by a search.
    const SEARCHES: bool;

    /// Creates the state before the first event, of one of many objects.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn begin(declaration: &Declaration<Value>) -> Result<Self, ErrorOf<Self>>;

    /// Takes the next event; breaks if no later event matters.
    ///
    /// # Errors
    /// If no execution can have it here.
    fn take(
        &mut self,
        location: Location,
        event: &EventOf<'_, Self>,
        options: &Options,
    ) -> Result<ControlFlow<()>, ErrorOf<Self>>;

    fn counts(&self) -> Counts;

    fn standing(&self) -> Standing;

    /// Returns the number of events that a second reading takes.
    fn extent(&self, options: &Options) -> usize;

    /// Returns the finding; `replay` reads the object again, for a proof or a search.
    fn conclude(self, replay: Option<Replay>, options: &Options) -> Finding;

    /// Judges the events of a second reading.
    fn judge(history: HistoryOf<Self>, locations: Vec<Location>, options: &Options) -> Finding;
}
