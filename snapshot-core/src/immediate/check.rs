//! The check of a whole execution.

use std::hash::Hash;

use super::blocks::SetLinearization;
use super::history::History;
use super::monitor::{Alarm, Judgement, Monitor, Repeated};
use super::pass::{Pass, Stop};
use super::violation::Violation;
use crate::OperationId;
use crate::history::Outcome;
use crate::seeded::SeededMap;
use crate::verdict::Dispute;

/// The verdict on an execution, with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The execution is set-linearizable, by these blocks.
    SetLinearizable(SetLinearization),
    /// The execution is not set-linearizable from this event on.
    Violation(Alarm),
    /// A process wrote a value twice.
    Undecided(Repeated),
    /// Two judges contradict each other, so neither is believed.
    Disputed(Dispute),
}

/// The decision on an execution, without proof.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// The execution is set-linearizable.
    SetLinearizable,
    /// The execution is not set-linearizable.
    Violation,
    /// A process wrote a value again while the first one could still be returned.
    Undecided(Repeated),
}

/// Decides whether an execution is set-linearizable.
///
/// Cost: O(length of the history), O(segments) per complete operation, plus sorting the vectors of
/// concurrent operations. To locate a violation takes the monitor as well, and a table of all
/// values.
pub fn check<V: Clone + Eq + Hash>(history: &History<V>) -> Verdict {
    match Pass::new(history, Some(SetLinearization::default())).run() {
        Ok(blocks) => Verdict::SetLinearizable(blocks.unwrap_or_default()),
        Err(Stop::Undecided(repeated)) => Verdict::Undecided(repeated),
        Err(Stop::Violation) => violation(history),
    }
}

/// As [`check`], without proof: faster.
///
/// ```
/// use snapshot_core::history::Declaration;
/// use snapshot_core::immediate::{Decision, History, decide};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke(0, 5).unwrap();
/// history.respond(0, &[5, 8]).unwrap(); // before 8 is written
/// history.invoke(1, 8).unwrap();
/// assert_eq!(decide(&history.finish()), Decision::Violation);
/// ```
pub fn decide<V: Eq + Hash>(history: &History<V>) -> Decision {
    match Pass::new(history, None).run() {
        Ok(_) => Decision::SetLinearizable,
        Err(Stop::Undecided(repeated)) => Decision::Undecided(repeated),
        Err(Stop::Violation) => Decision::Violation,
    }
}

/// Locates the violation of an execution that the pass refused.
fn violation<V: Clone + Eq + Hash>(history: &History<V>) -> Verdict {
    let numbers = match Numbers::new(history) {
        Ok(numbers) => numbers,
        Err(repeated) => return Verdict::Undecided(repeated),
    };
    let mut monitor = Monitor::of_history(history);
    let alarm = history.events().enumerate().find_map(|(now, (_, event))| {
        monitor.follow(&event, now);
        match monitor.judgement() {
            Judgement::Violation(alarm) => Some(alarm),
            _ => None,
        }
    });
    let Some(alarm) = alarm else {
        let (accepting, refusing) = (Dispute::MONITOR, Dispute::PASS);
        return Verdict::Disputed(Dispute { accepting, refusing });
    };
    Verdict::Violation(Alarm { violation: numbers.precise(alarm.violation), ..alarm })
}

/// The operations of each process by the values that they wrote, numbered from 1.
struct Numbers<'a, V> {
    history: &'a History<V>,
    /// One table per segment.
    by_value: Vec<SeededMap<&'a V, (u64, OperationId)>>,
}

impl<'a, V: Clone + Eq + Hash> Numbers<'a, V> {
    fn new(history: &'a History<V>) -> Result<Self, Repeated> {
        let mut by_value = vec![SeededMap::default(); history.segments()];
        let mut newest = vec![0; history.segments()];
        for id in history.operation_ids() {
            let process = history.operation(id).process;
            let (segment, value) = (process.index(), history.written(id));
            newest[segment] += 1;
            if value == history.initial_value(segment)
                || by_value[segment].insert(value, (newest[segment], id)).is_some()
            {
                return Err(Repeated { operation: id, process });
            }
        }
        Ok(Self { history, by_value })
    }

    fn number(&self, segment: usize, value: &V) -> u64 {
        self.by_value[segment].get(value).map_or(0, |&(number, _)| number)
    }

    /// Completes a violation if the monitor had forgotten the returned value: a violation of
    /// containment, if the value had been overwritten; else of validity, with the writer if any.
    fn precise(&self, violation: Violation) -> Violation {
        let Violation::Validity { operation, segment, writer: None } = violation else {
            return violation;
        };
        let Some(returned) = self.history.returned(operation) else { return violation };
        let Some(&(number, writer)) = self.by_value[segment].get(&returned[segment]) else {
            return violation;
        };
        let history = self.history;
        let response = history.operation(operation).response().unwrap_or(usize::MAX);
        let written = history.operation(writer);
        let failed_before =
            matches!(written.outcome, Outcome::Failed { event } if event < response);
        if written.invocation > response || failed_before {
            return Violation::Validity { operation, segment, writer: Some(writer) };
        }
        // The value was there, and an operation that precedes this one returned a newer one.
        let own = history.operation(operation).process.index();
        let newer = |&second: &OperationId| {
            let ahead = history.returned(second).map(|all| self.number(segment, &all[segment]));
            history.operation(second).precedes(history.operation(operation))
                && ahead.is_some_and(|ahead| ahead > number)
        };
        match history.operation_ids().find(newer) {
            Some(second) => Violation::Containment { first: operation, second, i: own, j: segment },
            None => violation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Declaration;

    #[test]
    fn violation_missed_by_the_monitor_is_disputed() {
        let declaration = Declaration::new(0).with_segments(2);
        let mut history = History::builder(declaration).expect("it is valid");
        history.invoke(0, 5).expect("it can begin");
        history.respond(0, &[5, 0]).expect("it can end");
        let Verdict::Disputed(dispute) = violation(&history.finish()) else {
            panic!("it is set-linearizable")
        };
        assert_eq!((dispute.accepting, dispute.refusing), (Dispute::MONITOR, Dispute::PASS));
    }
}
