//! Results at which the monitor stops.

use crate::verdict::Cause;
use crate::{OperationId, Segment};

/// A violation, at the first event that makes the history non-linearizable.
///
/// Operations are numbered in the order of their invocations. With the
/// recording at hand, [`crate::explanation::Excerpt`] turns an alarm into a
/// complete [`crate::verdict::Witness`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alarm {
    /// Number of the event that completes the violation.
    pub event: usize,
    /// The violation.
    pub violation: Violation,
}

/// The violated condition, with the operations that violate it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Violation {
    /// A or B: the value that the scan returned for the segment was overwritten before the scan
    /// began, or was not written when it responded.
    Unavailable {
        /// The scan.
        scan: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// A: the scan saw an update that failed afterwards.
    FailedUpdateSeen {
        /// The scan.
        scan: OperationId,
        /// The failed update.
        update: OperationId,
        /// The segment of the update.
        segment: Segment,
    },
    /// C: `earlier` precedes `later` and saw `seen`, or a later update, which
    /// `later` did not see.
    Decrease {
        /// The scan that saw more.
        earlier: OperationId,
        /// The scan that saw less.
        later: OperationId,
        /// The entry.
        segment: Segment,
        /// The update of the segment that only `earlier` saw.
        seen: OperationId,
    },
    /// D: each of two scans saw an update that the other one did not.
    Inversion {
        /// The scan that is ahead at `i`.
        first: OperationId,
        /// The scan that is ahead at `j`.
        second: OperationId,
        /// The segment where `first` is ahead.
        i: Segment,
        /// The segment where `second` is ahead.
        j: Segment,
        /// The update of `i` that only `first` saw.
        first_saw: OperationId,
        /// The update of `j` that only `second` saw.
        second_saw: OperationId,
    },
    /// E: the scan saw `seen` but not `missing`, which precedes it.
    Missing {
        /// The scan.
        scan: OperationId,
        /// The update that it saw.
        seen: OperationId,
        /// The segment of `seen`.
        seen_segment: Segment,
        /// The update that it did not see.
        missing: OperationId,
        /// The segment of `missing`.
        missing_segment: Segment,
    },
    /// Where updates of one segment overlap: the operation would come before itself, by the rules
    /// of [`crate::saturation`]. The operations that prove it follow only from the whole recording:
    /// [`crate::check::check`] finds them.
    Cycle {
        /// The operation.
        operation: OperationId,
    },
    /// Where updates of one segment overlap: neither scan can come before the other one.
    Unordered {
        /// One scan.
        first: OperationId,
        /// Scan that contradicts the first.
        second: OperationId,
    },
}

impl Violation {
    /// Returns the scans that are known to take part: two at most.
    pub fn scans(&self) -> Vec<OperationId> {
        match *self {
            Self::Unavailable { scan, .. }
            | Self::FailedUpdateSeen { scan, .. }
            | Self::Missing { scan, .. } => vec![scan],
            Self::Decrease { earlier, later, .. } => vec![earlier, later],
            Self::Inversion { first, second, .. } | Self::Unordered { first, second } => {
                vec![first, second]
            }
            Self::Cycle { .. } => vec![],
        }
    }

    /// Returns the updates that are known to take part: two at most.
    pub fn updates(&self) -> Vec<OperationId> {
        match *self {
            Self::Unavailable { .. } | Self::Cycle { .. } | Self::Unordered { .. } => vec![],
            Self::FailedUpdateSeen { update, .. } => vec![update],
            Self::Decrease { seen, .. } => vec![seen],
            Self::Inversion { first_saw, second_saw, .. } => vec![first_saw, second_saw],
            Self::Missing { seen, missing, .. } => vec![seen, missing],
        }
    }

    /// Returns the segments that are known to take part, ascending: two at most.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments = match *self {
            Self::Cycle { .. } | Self::Unordered { .. } => vec![],
            Self::Unavailable { segment, .. }
            | Self::FailedUpdateSeen { segment, .. }
            | Self::Decrease { segment, .. } => vec![segment],
            Self::Inversion { i, j, .. } => vec![i, j],
            Self::Missing { seen_segment, missing_segment, .. } => {
                vec![seen_segment, missing_segment]
            }
        };
        segments.sort_unstable();
        segments.dedup();
        segments
    }
}

/// The point from which the linear-time conditions do not decide.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Undecided {
    /// Number of the event at which the conditions gave up; the events before it are linearizable.
    pub event: usize,
    /// The reason.
    pub cause: Cause,
}
