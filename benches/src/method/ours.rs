//! The project's own methods, without certificates: peers give none either.

use std::time::Instant;

use snapshot_core::History;
use snapshot_core::check::decide;
use snapshot_core::generic;
use snapshot_core::generic::objects::Snapshot;
use snapshot_core::history::Event;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::search::{self, Budget, Outcome};

use super::{Answer, Subject, SubjectError, timed};

/// Memory and time are limited from outside, as for the peers.
fn unlimited(proceed: &mut dyn FnMut() -> bool) -> Budget<'_> {
    Budget { memory: usize::MAX, proceed }
}

fn whole(
    subject: &Subject,
    judge: impl Fn(&History<i64>, &mut Budget<'_>) -> Option<bool>,
) -> Result<Answer, SubjectError> {
    let history = subject.history()?;
    let judge = |history| judge(history, &mut unlimited(&mut || true));
    Ok(timed(history.len(), || &history, judge))
}

pub fn linear(subject: &Subject) -> Result<Answer, SubjectError> {
    whole(subject, decide)
}

fn answer(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Linearizable(_) => Some(true),
        Outcome::NotLinearizable { .. } => Some(false),
        Outcome::Exhausted { .. } => None,
    }
}

pub fn search(subject: &Subject) -> Result<Answer, SubjectError> {
    whole(subject, |history, budget| answer(&search::search(history, budget)))
}

pub fn search_plainly(subject: &Subject) -> Result<Answer, SubjectError> {
    whole(subject, |history, budget| answer(&search::search_plainly(history, budget)))
}

/// Making the generic history counts.
pub fn generic(subject: &Subject) -> Result<Answer, SubjectError> {
    whole(subject, |history, budget| {
        let (specification, history) = Snapshot::of(history);
        match generic::check(&specification, &history, budget) {
            generic::Outcome::Linearizable { .. } => Some(true),
            generic::Outcome::NotLinearizable { .. } => Some(false),
            generic::Outcome::Exhausted { .. } => None,
        }
    })
}

/// Event by event, as they are generated; a recording is in memory first.
pub fn monitor(subject: &Subject) -> Result<Answer, SubjectError> {
    match subject {
        Subject::Recipe(recipe) => {
            let start = Instant::now();
            let mut monitor = Monitor::new(recipe.declaration()).map_err(SubjectError::from)?;
            for event in recipe.events()? {
                if observe(&mut monitor, &event.as_event())? {
                    break;
                }
            }
            let is_linearizable = Some(monitor.judgement() == Judgement::Linearizable);
            let (seconds, events) = (start.elapsed().as_secs_f64(), monitor.events() as u64);
            Ok(Answer { is_linearizable, seconds, events })
        }
        Subject::Recording(history) => {
            let monitor = || Monitor::new(history.declaration());
            monitor()?;
            Ok(timed(history.len(), monitor, |monitor| {
                let mut monitor = monitor.ok()?;
                for event in history.events() {
                    if observe(&mut monitor, &event).ok()? {
                        return Some(false);
                    }
                }
                Some(true)
            }))
        }
    }
}

/// Whether the event completes a violation.
fn observe(monitor: &mut Monitor<i64>, event: &Event<'_, i64>) -> Result<bool, SubjectError> {
    Ok(matches!(monitor.observe(event)?, Judgement::Violation(_)))
}
