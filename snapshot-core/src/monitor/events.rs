//! A method for each kind of event that long streams consist of.
//!
//! [`Monitor::observe`] branches on the kind of event. A caller that has already branched, while
//! reading, saves the second branch, which the processor cannot predict: at some 10^7 events per
//! second that counts. The answer is in [`Monitor::judgement`].

use std::hash::Hash;

use super::evidence::overlap;
use super::window::Instant;
use super::{Judgement, Monitor, Open};
use crate::history::{Event, HistoryError};
use crate::{Process, Segment};

impl<V: Clone + Eq + Hash> Monitor<V> {
    /// As [`Self::observe`], for `inv update_segment(value)`.
    ///
    /// # Errors
    /// As [`Self::observe`].
    #[inline]
    pub fn invoke_update(
        &mut self,
        process: Process,
        segment: Segment,
        value: &V,
    ) -> Result<(), HistoryError> {
        if self.is_linear() {
            self.take_invocation_of_update(process, segment, value)
        } else {
            self.observe(&Event::invoke_update(process, segment, value)).map(drop)
        }
    }

    /// As [`Self::observe`], for `inv scan`.
    ///
    /// # Errors
    /// As [`Self::observe`].
    #[inline]
    pub fn invoke_scan(&mut self, process: Process) -> Result<(), HistoryError> {
        if self.is_linear() {
            self.take_invocation_of_scan(process)
        } else {
            self.observe(&Event::invoke_scan(process)).map(drop)
        }
    }

    /// As [`Self::observe`], for `res update`.
    ///
    /// # Errors
    /// As [`Self::observe`].
    #[inline]
    pub fn respond_update(&mut self, process: Process) -> Result<(), HistoryError> {
        if self.is_linear() {
            self.take_response_of_update(process)
        } else {
            self.observe(&Event::respond_update(process)).map(drop)
        }
    }

    /// As [`Self::observe`], for `res scan(values)`.
    ///
    /// # Errors
    /// As [`Self::observe`].
    #[inline]
    pub fn respond_scan(&mut self, process: Process, values: &[V]) -> Result<(), HistoryError> {
        if self.is_linear() {
            self.take_response_of_scan(process, values)
        } else {
            self.observe(&Event::respond_scan(process, values)).map(drop)
        }
    }

    /// Returns true if the linear-time conditions alone judge the next event.
    #[inline]
    const fn is_linear(&self) -> bool {
        matches!(self.judgement, Judgement::Linearizable) && self.overlap.is_none()
    }

    /// Returns the instant of the next event.
    #[inline]
    pub(super) const fn now(&self) -> Instant {
        self.admission.events() as Instant + 1
    }

    #[inline]
    pub(super) fn take_invocation_of_update(
        &mut self,
        process: Process,
        segment: Segment,
        value: &V,
    ) -> Result<(), HistoryError> {
        let now = self.now();
        self.admission.invoke_update(process, segment)?;
        self.begin_update(process, segment, value, now);
        Ok(())
    }

    #[inline]
    pub(super) fn take_invocation_of_scan(&mut self, process: Process) -> Result<(), HistoryError> {
        let now = self.now();
        self.admission.invoke_scan(process)?;
        self.begin_scan(process, now);
        Ok(())
    }

    #[inline]
    pub(super) fn take_response_of_update(&mut self, process: Process) -> Result<(), HistoryError> {
        let now = self.now();
        self.admission.respond_update(process)?;
        if let Open::Update { operation, segment } = self.close(process)
            && let Err(next) = self.windows[segment as usize].respond(operation, now)
        {
            self.undecided(now, overlap(operation, next));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn take_response_of_scan(
        &mut self,
        process: Process,
        values: &[V],
    ) -> Result<(), HistoryError> {
        let now = self.now();
        self.admission.respond_scan(process, values.len())?;
        if let Open::Scan { operation, invocation, floor } = self.close(process) {
            self.end_scan(values, operation, invocation, floor, now);
        }
        Ok(())
    }
}
