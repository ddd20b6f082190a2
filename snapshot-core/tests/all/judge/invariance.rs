//! Changes that must not change a verdict: other names for values and processes, and removal of
//! updates that may never have happened and that no scan returned.

use proptest::prelude::*;
use snapshot_core::History;
use snapshot_core::check::{check, decide};
use snapshot_core::history::{Action, Declaration, Event, Outcome, Writers};
use snapshot_core::search::Budget;
use snapshot_core::{OperationId, Process};

use crate::judge::random::{perturbed, shapes};

fn verdict<V: Clone + Eq + std::hash::Hash>(history: &History<V>) -> bool {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    decide(history, &mut budget).expect("there is no limit")
}

/// Returns the history with other values and processes, and without some operations.
fn transform<W: Clone>(
    history: &History<i64>,
    value: impl Fn(i64) -> W,
    process: impl Fn(Process) -> Process,
    is_kept: impl Fn(OperationId) -> bool,
) -> History<W> {
    let declaration =
        Declaration::new(value(0)).with_segments(history.segments()).with_writers(Writers::Many);
    let mut builder = History::builder(declaration).expect("valid");
    for (step, event) in history.steps().zip(history.events()) {
        if !is_kept(step.operation) {
            continue;
        }
        let process = process(event.process);
        let pushed = match event.action {
            Action::InvokeUpdate { segment, value: written } => {
                builder.push(&Event::invoke_update(process, segment, &value(*written)))
            }
            Action::RespondScan { values } => {
                let values: Vec<W> = values.iter().map(|&returned| value(returned)).collect();
                builder.push(&Event::respond_scan(process, &values))
            }
            Action::RespondPartialScan { entries, .. } => {
                let entries: Vec<(snapshot_core::Segment, W)> =
                    entries.iter().map(|(k, returned)| (*k, value(*returned))).collect();
                builder.push(&Event::respond_partial_scan(process, &entries))
            }
            Action::InvokeScan => builder.push(&Event::invoke_scan(process)),
            Action::RespondUpdate => builder.push(&Event::respond_update(process)),
            Action::Fail => builder.push(&Event::fail(process)),
            Action::Unknown => builder.push(&Event::unknown(process)),
        };
        pushed.expect("the transformed events are a history");
    }
    builder.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn values_are_opaque(history in perturbed(shapes(), 60), key in any::<u64>()) {
        let renamed = |value: i64| format!("{:x}", (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key);
        let other = transform(&history, renamed, |process| process, |_| true);
        prop_assert_eq!(verdict(&history), verdict(&other));
    }

    #[test]
    fn processes_are_interchangeable(history in perturbed(shapes(), 60), shift in 1..7_usize) {
        let count = history.processes().max(1);
        let shifted = |process: Process| Process::from_index((process.index() + shift) % count);
        let other = transform(&history, |value| value, shifted, |_| true);
        prop_assert_eq!(verdict(&history), verdict(&other));
    }

    #[test]
    fn unseen_pending_updates_do_not_change_the_verdict(history in perturbed(shapes(), 60)) {
        let is_seen = |id: OperationId| {
            let update = history.operation(id);
            let Some(segment) = update.segment() else { return false };
            let value = history.update_value(update);
            let complete = history.operations().iter().filter(|o| o.is_scan() && o.is_complete());
            complete.into_iter().any(|scan| history.scan_values(scan)[segment.index()] == *value)
        };
        let kept = |id: OperationId| {
            let operation = history.operation(id);
            operation.is_scan() || !operation.is_pending() || is_seen(id)
        };
        let other = transform(&history, |value| value, |process| process, kept);
        prop_assert_eq!(verdict(&history), verdict(&other));
    }

    /// The value of a failed update does not matter unless a scan returned it.
    #[test]
    fn failed_updates_do_not_change_the_verdict(history in perturbed(shapes(), 60)) {
        let kept = |id: OperationId| {
            !matches!(history.operation(id).outcome(), Outcome::Failed { .. })
        };
        let other = transform(&history, |value| value, |process| process, kept);
        prop_assert_eq!(verdict(&history), verdict(&other));
    }

    #[test]
    fn check_with_proof_gives_the_same_verdict(history in perturbed(shapes(), 60)) {
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        let report = check(&history, &mut budget);
        prop_assert_eq!(report.verdict.name() == "linearizable", verdict(&history));
    }
}
