//! Explanations of histories without a witness.
//!
//! Such a history has a first event that no serial history explains: some execution whose
//! operations take effect one at a time produces all earlier events, and none produces this one as
//! well. The explanation names the operation of this event. The serial histories that explain all
//! earlier events show its other outcomes.

use std::hash::Hash;

use super::history::Operation;
use super::{ConcurrentHistory, Judgement, Observations, SerialHistory, Shape, Thread};
use crate::OperationId;

/// The outcome of an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome<R> {
    /// The operation returned this response.
    Returned(R),
    /// The operation is stuck.
    Stuck,
}

/// The explanation of a history without a witness.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Explanation<R> {
    /// Number of events that serial histories still explain; all events, if only the stuck
    /// operation is unexplained.
    pub explained: usize,
    /// The operation of the first unexplained event: it returns there, or is stuck.
    pub culprit: OperationId,
    /// Outcome of the culprit.
    pub outcome: Outcome<R>,
    /// The operations that had returned before the culprit was called, and so must precede it.
    pub before: Vec<OperationId>,
    /// The operations that overlap the culprit, and may come before or after it.
    pub overlapping: Vec<OperationId>,
    /// Outcomes of the culprit in the serial histories that explain all earlier events; never
    /// `outcome`. Empty if in each of them an operation that overlaps the culprit gets stuck before
    /// the culprit is called.
    pub instead: Vec<Outcome<R>>,
    /// Among the serial histories that explain all before, one in which most operations
    /// answer as in the history.
    pub nearest: SerialHistory<R>,
}

/// The prefix of a history to explain.
struct Prefix<'h, R> {
    shape: Shape,
    operations: &'h [Operation<'h, R>],
    precedence: &'h [u64],
    /// Events from this index on are ignored.
    end: usize,
    /// An operation whose response is left open.
    open: Option<OperationId>,
}

impl<R: Clone + Eq + Hash> Prefix<'_, R> {
    /// Returns true if some prefix of a serial history contains every operation that returned in
    /// this prefix, with its response, and none that was not called, and keeps the order of time.
    /// An operation that is left open must be among them, or be the stuck one.
    fn explained_by(&self, serial: &SerialHistory<R>) -> bool {
        let called = self.operations.iter().filter(|operation| operation.call < self.end);
        let mut missing: u64 = called
            .clone()
            .filter(|operation| operation.end.is_some_and(|(position, _)| position < self.end))
            .fold(0, |set, operation| set | 1 << operation.id.index());
        if let Some(open) = self.open {
            missing |= 1 << open.index();
        }
        let mut counts = [0; Thread::LIMIT + 1];
        let mut done = 0_u64;
        let all = serial.operations.iter().map(|(thread, response)| (*thread, Some(response)));
        for (thread, response) in all.chain(serial.stuck.map(|thread| (thread, None))) {
            if missing == 0 {
                return true;
            }
            let id = self.shape.operation(thread, counts[thread.index()]);
            counts[thread.index()] += 1;
            let Some(operation) = called.clone().find(|operation| operation.id == id) else {
                return false;
            };
            let answer = operation.end.filter(|(position, _)| *position < self.end);
            let free = self.open == Some(id) || answer.is_none();
            if !free && answer.map(|(_, answer)| answer) != response
                || self.precedence[id.index()] & !done != 0
            {
                return false;
            }
            if response.is_none() && self.open != Some(id) {
                // Stuck in a pending operation: the history ends here, and operations are missing.
                return false;
            }
            done |= 1 << id.index();
            missing &= !done;
        }
        missing == 0
    }
}

/// Explains why a history has no witness among serial histories. Returns `None` if the history has
/// its witnesses, or if there is no serial history.
///
/// Quadratic in the length of the history, times the number of serial histories.
pub fn explain<R: Clone + Eq + Hash>(
    observations: &Observations<R>,
    history: &ConcurrentHistory<R>,
) -> Option<Explanation<R>> {
    let judgement = observations.judge(history);
    let shape = *observations.shape();
    let mut operations = history.operations(&shape);
    let stuck = match judgement {
        Judgement::Linearizable => return None,
        Judgement::NoWitness => None,
        Judgement::StuckWithoutWitness(thread) => {
            // Only this operation needs a witness: the other pending calls count as never made.
            operations.retain(|o| o.end.is_some() || o.thread == thread);
            operations.iter().find(|o| o.end.is_none()).map(|o| o.id)
        }
    };
    let precedence = history.precedence(&shape);
    let serial: Vec<SerialHistory<R>> = observations.histories().collect();
    let prefix = |end: usize, open: Option<OperationId>| Prefix {
        shape,
        operations: &operations,
        precedence: &precedence,
        end,
        open,
    };
    let mut returns: Vec<(usize, &Operation<'_, R>)> =
        operations.iter().filter_map(|o| Some((o.end?.0, o))).collect();
    returns.sort_by_key(|(position, _)| *position);
    let unexplained = returns.iter().find(|(position, _)| {
        let prefix = prefix(position + 1, None);
        !serial.iter().any(|serial| prefix.explained_by(serial))
    });
    let (end, culprit) = match unexplained {
        Some((position, operation)) => (*position, operation.id),
        // All returns are explained together, so only the stuck operation is unexplained.
        None => (history.events().len(), stuck?),
    };
    let operation = operations.iter().find(|operation| operation.id == culprit)?;
    let before = precedence[culprit.index()];
    let later =
        |o: &&Operation<'_, R>| o.id != culprit && o.call < end && before >> o.id.index() & 1 == 0;
    let open = prefix(end, Some(culprit));
    let mut instead: Vec<Outcome<R>> = Vec::new();
    for history in serial.iter().filter(|serial| open.explained_by(serial)) {
        let (thread, index) = shape.place(culprit);
        let mut own = history.operations.iter().filter(|(t, _)| *t == thread);
        let outcome = match own.nth(index) {
            Some((_, response)) => Outcome::Returned(response.clone()),
            None => Outcome::Stuck,
        };
        if !instead.contains(&outcome) {
            instead.push(outcome);
        }
    }
    let before_it = prefix(end, None);
    let nearest = serial.iter().filter(|serial| before_it.explained_by(serial)).max_by_key(|s| {
        let mut counts = [0; Thread::LIMIT + 1];
        let same = s.operations.iter().filter(|(thread, response)| {
            let id = shape.operation(*thread, counts[thread.index()]);
            counts[thread.index()] += 1;
            let ours = operations.iter().find(|o| o.id == id).and_then(|o| o.end);
            ours.is_some_and(|(_, ours)| ours == response)
        });
        (same.count(), usize::from(s.stuck.is_none()))
    });
    Some(Explanation {
        explained: end,
        culprit,
        outcome: match operation.end {
            Some((_, response)) => Outcome::Returned(response.clone()),
            None => Outcome::Stuck,
        },
        before: operations.iter().map(|o| o.id).filter(|o| before >> o.index() & 1 == 1).collect(),
        overlapping: operations.iter().filter(later).map(|o| o.id).collect(),
        instead,
        nearest: nearest?.clone(),
    })
}
