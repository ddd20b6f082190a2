//! The check of a whole execution.

use std::hash::Hash;

use super::blocks::SetLinearization;
use super::history::History;
use super::monitor::{Alarm, Judgement, Monitor, Repeated};
use super::violation::Violation;
use crate::OperationId;
use crate::history::Outcome;
use crate::seeded::SeededMap;
use crate::sights::Sights;

/// The verdict on an execution, with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The execution is set-linearizable, by these blocks.
    SetLinearizable(SetLinearization),
    /// The execution is not set-linearizable from this event on.
    Violation(Alarm),
    /// A process wrote a value twice.
    Undecided(Repeated),
}

/// Decides whether an execution is set-linearizable, and proves it.
///
/// Cost: O(length of the history), O(segments) per complete operation, plus sorting the vectors. To
/// locate a violation takes a table of all values as well.
pub fn check<V: Clone + Eq + Hash>(history: &History<V>) -> Verdict {
    let mut monitor = Monitor::of_history(history);
    monitor.keep(Sights::new(history.operations().len(), history.segments()));
    match judge(&mut monitor, history) {
        Judgement::SetLinearizable => {
            Verdict::SetLinearizable(blocks(&monitor.into_sights().expect("they are kept")))
        }
        Judgement::Undecided(repeated) => Verdict::Undecided(repeated),
        Judgement::Violation(alarm) => match Numbers::new(history) {
            Err(repeated) => Verdict::Undecided(repeated),
            Ok(numbers) => {
                let violation = numbers.precise(alarm.violation);
                Verdict::Violation(Alarm { violation, ..alarm })
            }
        },
    }
}

/// As [`check`], without proof: faster.
///
/// ```
/// use snapshot_core::history::Declaration;
/// use snapshot_core::immediate::{History, Judgement, decide};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke(0, 5).unwrap();
/// history.respond(0, &[5, 8]).unwrap(); // before 8 is written
/// history.invoke(1, 8).unwrap();
/// assert!(matches!(decide(&history.finish()), Judgement::Violation(alarm) if alarm.event == 1));
/// ```
pub fn decide<V: Clone + Eq + Hash>(history: &History<V>) -> Judgement {
    judge(&mut Monitor::of_history(history), history)
}

fn judge<V: Clone + Eq + Hash>(monitor: &mut Monitor<V>, history: &History<V>) -> Judgement {
    for (now, (_, event)) in history.events().enumerate() {
        monitor.follow(&event, now);
        if monitor.judgement() != Judgement::SetLinearizable {
            break;
        }
    }
    monitor.judgement()
}

/// Returns the blocks of an execution: the operations that each vector shows and the one below it
/// does not.
fn blocks(sights: &Sights) -> SetLinearization {
    let mut blocks = SetLinearization::default();
    let mut below: &[u32] = &[];
    for (_, shown) in sights.chain() {
        if shown == below {
            continue;
        }
        let is_new = |&(at, one): &(usize, &u32)| {
            *one != Sights::INITIAL && below.get(at).is_none_or(|known| known != one)
        };
        let new = shown.iter().enumerate().filter(is_new);
        blocks.push(new.map(|(_, &one)| OperationId::from_index(one as usize)));
        below = shown;
    }
    blocks
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
