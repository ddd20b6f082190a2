//! Events: the letters of a recorded execution.

use std::num::NonZeroU32;

use crate::{Process, Segment};

/// One event of a history: the action of a process at one instant.
///
/// Values are borrowed, so that a reader can hand over a whole recording
/// without allocating.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event<'a, V> {
    /// The process that acts.
    pub process: Process,
    /// The action.
    pub action: Action<'a, V>,
}

/// The action of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action<'a, V> {
    /// `inv update_segment(value)`.
    InvokeUpdate {
        /// The segment written.
        segment: Segment,
        /// The value written.
        value: &'a V,
    },
    /// `inv scan`.
    InvokeScan,
    /// `res update`.
    RespondUpdate,
    /// `res scan(values)`: one value per segment.
    RespondScan {
        /// Entry `k` is the value that the scan returned for segment `k`.
        values: &'a [V],
    },
    /// `res scan(..)` of a scan that returned only some of the segments. A missing entry restricts
    /// nothing.
    RespondPartialScan {
        /// The number of segments, if the recording states it at this event (by an entry or a gap
        /// for each of them).
        segments: Option<NonZeroU32>,
        /// The returned values, by segments, ascending.
        entries: &'a [(Segment, V)],
    },
    /// The open operation is known to have had no effect, now or later.
    Fail,
    /// The outcome of the open operation will never be known (crash,
    /// time-out). An update may have taken effect or may do so at any later
    /// time; a scan is dropped. The process is free for its next operation.
    Unknown,
}

impl<'a, V> Event<'a, V> {
    /// `inv update_segment(value)` by `process`.
    #[inline]
    pub const fn invoke_update(process: Process, segment: Segment, value: &'a V) -> Self {
        Self { process, action: Action::InvokeUpdate { segment, value } }
    }

    /// `inv scan` by `process`.
    #[inline]
    pub const fn invoke_scan(process: Process) -> Self {
        Self { process, action: Action::InvokeScan }
    }

    /// `res update` by `process`.
    #[inline]
    pub const fn respond_update(process: Process) -> Self {
        Self { process, action: Action::RespondUpdate }
    }

    /// `res scan(values)` by `process`.
    #[inline]
    pub const fn respond_scan(process: Process, values: &'a [V]) -> Self {
        Self { process, action: Action::RespondScan { values } }
    }

    /// `res scan(entries)` by `process`, of a scan that returned these segments only,
    /// ascending.
    #[inline]
    pub const fn respond_partial_scan(process: Process, entries: &'a [(Segment, V)]) -> Self {
        Self { process, action: Action::RespondPartialScan { segments: None, entries } }
    }

    /// The open operation of `process` failed for certain.
    #[inline]
    pub const fn fail(process: Process) -> Self {
        Self { process, action: Action::Fail }
    }

    /// The outcome of the open operation of `process` will never be known.
    #[inline]
    pub const fn unknown(process: Process) -> Self {
        Self { process, action: Action::Unknown }
    }
}
