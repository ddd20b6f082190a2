//! The project's own methods, without certificates: peers give none either.

use snapshot_core::History;
use snapshot_core::check::decide;
use snapshot_core::generic;
use snapshot_core::generic::objects::Snapshot;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::search::{self, Budget, Outcome};

use super::{Answer, timed};

/// Memory and time are limited from outside, as for the peers.
fn unlimited(proceed: &mut dyn FnMut() -> bool) -> Budget<'_> {
    Budget { memory: usize::MAX, proceed }
}

fn whole(
    history: &History<i64>,
    judge: impl Fn(&History<i64>, &mut Budget<'_>) -> Option<bool>,
) -> Answer {
    timed(history.len(), || history, |history| judge(history, &mut unlimited(&mut || true)))
}

pub fn linear(history: &History<i64>) -> Answer {
    whole(history, decide)
}

fn answer(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Linearizable(_) => Some(true),
        Outcome::NotLinearizable { .. } => Some(false),
        Outcome::Exhausted { .. } => None,
    }
}

pub fn search(history: &History<i64>) -> Answer {
    whole(history, |history, budget| answer(&search::search(history, budget)))
}

pub fn search_plainly(history: &History<i64>) -> Answer {
    whole(history, |history, budget| answer(&search::search_plainly(history, budget)))
}

/// Making the generic history counts.
pub fn generic(history: &History<i64>) -> Answer {
    whole(history, |history, budget| {
        let (specification, history) = Snapshot::of(history);
        match generic::check(&specification, &history, budget) {
            generic::Outcome::Linearizable { .. } => Some(true),
            generic::Outcome::NotLinearizable { .. } => Some(false),
            generic::Outcome::Exhausted { .. } => None,
        }
    })
}

/// Event by event, up to the first that completes a violation.
pub fn monitor(history: &History<i64>) -> Answer {
    let monitor = || Monitor::new(history.declaration());
    timed(history.len(), monitor, |monitor| {
        let mut monitor = monitor.ok()?;
        for event in history.events() {
            if matches!(monitor.observe(&event).ok()?, Judgement::Violation(_)) {
                return Some(false);
            }
        }
        Some(true)
    })
}
