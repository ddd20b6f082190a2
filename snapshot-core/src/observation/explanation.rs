//! What no serial history does.
//!
//! A history without witness has a first event that no serial history explains: the
//! events before it can be those of an execution whose operations take effect one at a
//! time, with this one they cannot. That event's operation is the one to name, and the
//! serial histories that explain all before it say what it does instead.

use std::hash::Hash;

use super::history::Operation;
use super::{ConcurrentHistory, Judgement, Observations, SerialHistory, Shape, Thread};
use crate::OperationId;

/// What became of an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome<R> {
    /// It returned this.
    Returned(R),
    /// It is stuck.
    Stuck,
}

/// Why a history has no witness.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Explanation<R> {
    /// Number of events that serial histories still explain; all of them, if it is being
    /// stuck that none explains.
    pub explained: usize,
    /// The operation that returns next, or is stuck.
    pub culprit: OperationId,
    /// What became of it.
    pub outcome: Outcome<R>,
    /// The operations that had returned before it was called: all of them must come before it.
    pub before: Vec<OperationId>,
    /// The operations that overlap it, and may come before or after it.
    pub overlapping: Vec<OperationId>,
    /// What it does in the serial histories that explain all before: never `outcome`. Empty
    /// if in none of them it is called before one that overlaps it is stuck.
    pub instead: Vec<Outcome<R>>,
    /// Among the serial histories that explain all before, one in which most operations
    /// answer as in the history.
    pub nearest: SerialHistory<R>,
}

/// What of a history must be explained: its events up to one.
struct Prefix<'h, R> {
    shape: Shape,
    operations: &'h [Operation<'h, R>],
    precedence: &'h [u64],
    /// Returns at this event or later are still to come; so are calls.
    end: usize,
    /// An operation whose answer is left open.
    open: Option<OperationId>,
}

impl<R: Clone + Eq + Hash> Prefix<'_, R> {
    /// The number of operations after which a serial history has all that returned in the
    /// prefix, with these answers, and none that was not called; the order of time is kept.
    /// If an operation is left open, it is among them, or the one that is stuck.
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
                // Stuck in one that may be stuck: nothing more comes.
                return false;
            }
            done |= 1 << id.index();
            missing &= !done;
        }
        missing == 0
    }
}

/// Finds why a history has no witness among serial histories. `None` if it has its
/// witnesses, or if there is no serial history at all.
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
            // Only this one needs a witness: the other pending calls are as if never made.
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
        // All returns are explained together: then it is being stuck that is not.
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
