//! `todc-utils`: Wing and Gong's search with Lowe's memoisation.
//!
//! Its specification of snapshots has the number of segments in its type. A history
//! is given the next size that is compiled in; segments beyond its own stay 0 and
//! every scan says so. It cannot take operations without a response, and panics: it
//! is spared scans, which constrain nothing without one, but not updates.

use snapshot_core::history::{OperationKind, Outcome};
use snapshot_core::{History, OperationId};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History as Actions};
use todc_utils::specifications::snapshot::SnapshotOperation::{self, Scan, Update};
use todc_utils::specifications::snapshot::SnapshotSpecification;

use super::{Answer, timed};

pub(super) fn judge(history: &History<i64>) -> Answer {
    let with_size = match history.segments() {
        0..=2 => with_segments::<2>,
        3 => with_segments::<3>,
        4 => with_segments::<4>,
        5 => with_segments::<5>,
        6 => with_segments::<6>,
        7..=8 => with_segments::<8>,
        9..=10 => with_segments::<10>,
        11 => with_segments::<11>,
        12..=14 => with_segments::<14>,
        15..=17 => with_segments::<17>,
        18..=20 => with_segments::<20>,
        21..=32 => with_segments::<32>,
        33..=64 => with_segments::<64>,
        65..=128 => with_segments::<128>,
        segments => panic!("{segments} segments: no specification for more than 128 is compiled"),
    };
    with_size(history)
}

fn with_segments<const N: usize>(history: &History<i64>) -> Answer {
    let actions = actions::<N>(history);
    // It panics on a history without any operation.
    timed(
        || (!actions.is_empty()).then(|| Actions::from_actions(actions.clone())),
        |actions| {
            let judge = WGLChecker::<SnapshotSpecification<i64, N>>::is_linearizable;
            Some(actions.is_none_or(judge))
        },
    )
}

type Step<const N: usize> = (usize, Action<SnapshotOperation<i64, N>>);

/// What failed, and scans without a response, are left out. The operations of a
/// process after one whose outcome was lost are given to another process, lest a later
/// response be taken for that operation's.
fn actions<const N: usize>(history: &History<i64>) -> Vec<Step<N>> {
    let mut actions = Vec::with_capacity(history.len());
    let mut lost = vec![0; history.processes()];
    for step in history.steps() {
        let operation = history.operation(step.operation);
        let is_update = matches!(operation.kind(), OperationKind::Update { .. });
        if step.is_end && matches!(operation.outcome(), Outcome::Unknown { .. }) {
            lost[operation.process().index()] += 1;
        }
        let is_told = match operation.outcome() {
            Outcome::Complete { .. } => true,
            Outcome::Failed { .. } => false,
            Outcome::Unknown { .. } | Outcome::Pending => is_update && !step.is_end,
        };
        if !is_told {
            continue;
        }
        let told = told(history, step.operation);
        let action = if step.is_end { Action::Response(told) } else { Action::Call(told) };
        let process = operation.process().index();
        actions.push((process + lost[process] * history.processes(), action));
    }
    actions
}

fn told<const N: usize>(history: &History<i64>, id: OperationId) -> SnapshotOperation<i64, N> {
    let operation = history.operation(id);
    match operation.kind() {
        OperationKind::Update { segment } => {
            Update(segment.index(), *history.update_value(operation))
        }
        OperationKind::Scan => {
            let mut view = [0; N];
            view[..history.segments()].copy_from_slice(history.scan_values(operation));
            Scan(operation.process().index(), Some(view))
        }
    }
}
