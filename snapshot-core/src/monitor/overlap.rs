//! Streams in which updates of one segment overlap.
//!
//! The linear-time conditions need the updates of a segment in order. Without an order, the
//! saturated relation decides. It needs the past, which the windows lack; so it runs from the first
//! event on, in every stream that declares many writers, and its answers count from the event at
//! which the conditions gave up.

use std::hash::Hash;

use super::{Alarm, Judgement, Undecided, Violation};
use crate::history::{Declaration, Event};
use crate::saturation::{Conflict, Saturation};

/// The relation of a stream, and its conclusions.
#[derive(Clone, Debug)]
pub(super) struct Overlap<V> {
    saturation: Saturation<V>,
    events: usize,
    alarm: Option<Alarm>,
    /// The first event that the relation left uncertain: values repeat, or scans are partial.
    uncertain: Option<Undecided>,
}

impl<V: Clone + Eq + Hash> Overlap<V> {
    pub fn new(declaration: Declaration<V>) -> Self {
        let saturation = Saturation::new(declaration);
        Self { saturation, events: 0, alarm: None, uncertain: None }
    }

    pub fn retained(&self) -> usize {
        self.saturation.retained()
    }

    /// Returns true if nothing was uncertain before the alarm.
    pub fn is_first(&self) -> bool {
        let is_before =
            |alarm: Alarm| self.uncertain.is_some_and(|uncertain| uncertain.event < alarm.event);
        !self.alarm.is_some_and(is_before)
    }

    /// Returns the judgement, given the one of the linear-time conditions.
    pub fn judgement(&self, linearly: Judgement) -> Judgement {
        match (linearly, self.alarm, self.uncertain) {
            (Judgement::Linearizable | Judgement::Violation(_), ..) => linearly,
            (_, Some(alarm), _) => Judgement::Violation(alarm),
            (Judgement::Undecided(_), None, None) => Judgement::Linearizable,
            (Judgement::Undecided(first), None, Some(uncertain)) => {
                Judgement::Undecided(if uncertain.event > first.event { uncertain } else { first })
            }
        }
    }

    /// Takes an event that the linear-time conditions have judged.
    pub fn observe(&mut self, linearly: Judgement, event: &Event<'_, V>) -> Judgement {
        let position = self.events;
        self.events += 1;
        if matches!(linearly, Judgement::Violation(_)) || self.alarm.is_some() {
            return self.judgement(linearly);
        }
        if let Some(conflict) = self.saturation.observe(event) {
            debug_assert_ne!(linearly, Judgement::Linearizable, "both judge alike: {conflict:?}");
            self.alarm = Some(Alarm { event: position, violation: violation(conflict) });
        }
        if self.uncertain.is_none()
            && let Some(cause) = self.saturation.uncertainty()
        {
            self.uncertain = Some(Undecided { event: position, cause });
        }
        self.judgement(linearly)
    }
}

fn violation(conflict: Conflict) -> Violation {
    match conflict {
        Conflict::Cycle { operation } => Violation::Cycle { operation },
        Conflict::Pair { first, second } => Violation::Unordered { first, second },
        Conflict::Unavailable { scan, segment } => Violation::Unavailable { scan, segment },
        Conflict::FailedUpdateSeen { scan, update, segment } => {
            Violation::FailedUpdateSeen { scan, update, segment }
        }
    }
}
