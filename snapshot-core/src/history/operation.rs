//! Operations: invocations and their outcomes.

use std::fmt;

use crate::{Process, Segment};

/// The outcome of an operation, with the number of the event that ended it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The operation responded.
    Complete {
        /// Number of the response event.
        response: usize,
    },
    /// The operation certainly had no effect.
    Failed {
        /// Number of the event that reported it.
        event: usize,
    },
    /// The outcome was lost: the operation is pending forever, though its process continued.
    Unknown {
        /// Number of the event that reported it.
        event: usize,
    },
    /// The recording ends before the operation.
    Pending,
}

/// Update or scan, with the written segment or the returned values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OperationKind {
    /// Writes one value to one segment.
    Update {
        /// The segment written.
        segment: Segment,
    },
    /// Returns one value per segment or, if it is partial, for some segments.
    Scan,
}

const UPDATE: u8 = 0;
const SCAN: u8 = 1;
const PARTIAL_SCAN: u8 = 2;

const COMPLETE: u8 = 0;
const FAILED: u8 = 1;
const UNKNOWN: u8 = 2;
const PENDING: u8 = 3;

/// One operation of a history. 20 bytes: operations dominate the memory of a long history.
#[derive(Clone, Copy)]
pub struct Operation {
    process: Process,
    invocation: u32,
    /// Meaningless while pending.
    end: u32,
    /// Index of the value (update), or of the entries among those of the full or of the partial
    /// scans.
    pub(super) values: u32,
    segment: u16,
    kind: u8,
    outcome: u8,
}

impl Operation {
    pub(super) fn update(
        process: Process,
        invocation: usize,
        segment: Segment,
        value: u32,
    ) -> Self {
        Self {
            process,
            invocation: invocation as u32,
            end: 0,
            values: value,
            segment: segment.index() as u16,
            kind: UPDATE,
            outcome: PENDING,
        }
    }

    pub(super) const fn scan(process: Process, invocation: usize) -> Self {
        Self {
            process,
            invocation: invocation as u32,
            end: 0,
            values: 0,
            segment: 0,
            kind: SCAN,
            outcome: PENDING,
        }
    }

    pub(super) const fn close(&mut self, outcome: Outcome) {
        (self.outcome, self.end) = match outcome {
            Outcome::Complete { response } => (COMPLETE, response as u32),
            Outcome::Failed { event } => (FAILED, event as u32),
            Outcome::Unknown { event } => (UNKNOWN, event as u32),
            Outcome::Pending => (PENDING, 0),
        };
    }

    /// The process of the operation.
    #[inline]
    pub const fn process(&self) -> Process {
        self.process
    }

    /// Returns whether the operation is an update or a scan.
    #[inline]
    pub const fn kind(&self) -> OperationKind {
        if self.kind == UPDATE {
            OperationKind::Update { segment: Segment::from_index(self.segment as usize) }
        } else {
            OperationKind::Scan
        }
    }

    /// Returns true if the operation is a scan.
    #[inline]
    pub const fn is_scan(&self) -> bool {
        self.kind != UPDATE
    }

    /// Returns true if the operation is a complete scan that returned only some of the segments.
    #[inline]
    pub const fn is_partial(&self) -> bool {
        self.kind == PARTIAL_SCAN
    }

    pub(super) const fn set_partial(&mut self) {
        self.kind = PARTIAL_SCAN;
    }

    /// Returns the segment that the operation updates, if it is an update.
    #[inline]
    pub const fn segment(&self) -> Option<Segment> {
        match self.kind() {
            OperationKind::Update { segment } => Some(segment),
            OperationKind::Scan => None,
        }
    }

    /// Number of the event that invoked the operation.
    #[inline]
    pub const fn invocation(&self) -> usize {
        self.invocation as usize
    }

    /// The outcome of the operation.
    #[inline]
    pub const fn outcome(&self) -> Outcome {
        let event = self.end as usize;
        match self.outcome {
            COMPLETE => Outcome::Complete { response: event },
            FAILED => Outcome::Failed { event },
            UNKNOWN => Outcome::Unknown { event },
            _ => Outcome::Pending,
        }
    }

    /// Number of the response event, if the operation is complete.
    #[inline]
    pub const fn response(&self) -> Option<usize> {
        if self.outcome == COMPLETE { Some(self.end as usize) } else { None }
    }

    /// Returns true if the operation responded.
    #[inline]
    pub const fn is_complete(&self) -> bool {
        self.outcome == COMPLETE
    }

    /// Returns true if the operation neither responded nor failed: it may or may not have taken
    /// effect.
    #[inline]
    pub const fn is_pending(&self) -> bool {
        matches!(self.outcome, UNKNOWN | PENDING)
    }

    /// Returns true if the operation certainly had no effect.
    #[inline]
    pub const fn is_failed(&self) -> bool {
        self.outcome == FAILED
    }

    /// Returns true if `self` responded before `other` was invoked (real-time precedence).
    #[inline]
    pub const fn precedes(&self, other: &Self) -> bool {
        self.outcome == COMPLETE && self.end < other.invocation
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} by {:?} [{}, {:?}]",
            self.kind(),
            self.process,
            self.invocation,
            self.outcome()
        )
    }
}
