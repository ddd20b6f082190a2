//! Smaller tests that still fail.

use snapshot_core::observation::Thread;

use crate::check::Check;
use crate::matrix::Test;
use crate::verdict::{Report, Verdict};

/// Executions of both phases that may be spent on smaller tests: some 20 seconds on one core.
const MOST: u64 = 40_000;

impl Check {
    /// Removes operations, whole columns first, as long as the check still fails: in the end
    /// no test with one operation less does, within the bounds of the failure (and 40,000
    /// executions). That a prefix fails less often than the whole is the paper's Lemma 8; the
    /// rest is search.
    pub fn minimise(&self, report: Report) -> Report {
        self.minimise_by(report, &Self::run)
    }

    /// As [`Check::minimise`]; `run` checks a test.
    pub(crate) fn minimise_by(
        &self,
        report: Report,
        run: &dyn Fn(&Self, &Test) -> Report,
    ) -> Report {
        if !report.verdict.fails() {
            return report;
        }
        let (mut smallest, mut left) = (report, MOST);
        loop {
            let mut check = self.clone();
            if let Verdict::Violation(violation) = &smallest.verdict {
                let found = violation.preemptions;
                let most = check.preemptions.map_or(found, |most| most.min(found));
                check.preemptions = Some(most);
            }
            let test = &smallest.test;
            let columns = (0..test.columns().len()).map(|column| {
                test.columns()[column]
                    .iter()
                    .fold(test.clone(), |test, _| test.without(Thread::from_index(column), 0))
            });
            // Empty columns are left out, which renames the others: only one column at a time is
            // emptied, by its first name.
            let several = test.columns().len() > 1;
            let whole = columns
                .filter(|smaller| several && smaller.columns().len() + 1 == test.columns().len());
            let single = test.shape().threads().flat_map(|thread| {
                (0..test.sequence(thread).len()).rev().map(move |index| (thread, index))
            });
            let single = single.map(|(thread, index)| test.without(thread, index));
            let next = whole
                .chain(single)
                .filter(|smaller| smaller.shape().operations() < test.shape().operations())
                .find_map(|smaller| {
                    let limit = check.executions.map_or(left, |most| most.min(left));
                    let check = (left > 0).then(|| check.clone().executions(Some(limit)))?;
                    let report = run(&check, &smaller);
                    let spent = report.serial.executions + report.concurrent.executions;
                    left = left.saturating_sub(spent);
                    report.verdict.fails().then_some(report)
                });
            match next {
                Some(report) => smallest = report,
                None => return smallest,
            }
        }
    }
}
