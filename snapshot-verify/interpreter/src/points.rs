//! Linearization points that a step passes.
//!
//! An access that is marked on condition waits for the condition, which follows the store of the
//! access's result, in the same step. If no access waits, the condition is not evaluated.

use super::fault::Fault;
use super::report::AccessReport;
use super::run::Run;
use crate::program::{Expression, Mark};

/// Linearization points that a step has passed.
#[derive(Debug, Default)]
pub(super) struct PointsPassed {
    count: u32,
    /// Accesses that wait for their condition: for each, the number of accesses reported up to it.
    waiting: Vec<usize>,
}

impl PointsPassed {
    pub(super) const fn count(&self) -> u32 {
        self.count
    }
}

impl Run<'_, '_, '_> {
    /// Passes a marked access, the last one made.
    pub(super) fn pass(&mut self, mark: Mark) {
        let reported = self.accesses.as_ref().map_or(0, |accesses| accesses.len());
        match mark {
            Mark::Always => self.count_point(reported),
            Mark::OnCondition => self.points.waiting.push(reported),
        }
    }

    /// Decides whether the waiting accesses are linearization points.
    pub(super) fn decide_points(&mut self, condition: &Expression) -> Result<(), Fault> {
        let waiting = std::mem::take(&mut self.points.waiting);
        if !waiting.is_empty() && self.scope().holds(condition)? {
            waiting.into_iter().for_each(|reported| self.count_point(reported));
        }
        Ok(())
    }

    /// Counts an access as a point; `reported`: number of accesses reported up to it.
    fn count_point(&mut self, reported: usize) {
        self.points.count += 1;
        let reports = self.accesses.as_mut().and_then(|accesses| accesses[..reported].last_mut());
        if let Some(AccessReport { linearizes, .. }) = reports {
            *linearizes = true;
        }
    }
}
