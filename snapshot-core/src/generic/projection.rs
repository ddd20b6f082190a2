//! Parts of a history that a linearizable one leaves linearizable: the operations on some of the
//! values.
//!
//! If a history of a queue is linearizable, so is what is left of it without the operations that
//! enqueue or return a value of some set: leave them out of the linearization, too. What remains
//! is in the queue in the same order, and where the queue was empty it is. The same holds for
//! stacks, and for registers, if the initial value is kept: between a write and the reads of its
//! value no other write took effect, so no other that is kept. So a violation of a part is one of
//! the whole, and small parts are quick to decide. The reverse does not hold: a violation may
//! need more values than a part has.
//!
//! An operation whose value is not known, since it never responded, stays: it may take effect
//! in the part, or never.

use super::history::{Ending, History, Operation};
use super::specification::Specification;
use super::weaken::{Refutation, refute_within};
use super::{Outcome, check};
use crate::OperationId;
use crate::search::Budget;
use crate::seeded::SeededMap;
use crate::verdict::Exhausted;

/// What an operation is about.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum RelevantValues<V> {
    /// One value. It is left out of parts without that value.
    Value(V),
    /// All values: it belongs to every part.
    All,
}

/// An object whose histories have parts by values.
///
/// Contract: of a linearization of a history, the operations that are about the values of a set,
/// and those about all values, are a linearization of their own, whatever the set.
pub trait ByValues: Specification {
    /// A value.
    type Value: Clone + Eq + std::hash::Hash;

    /// What an operation is about; without an output, it has not responded.
    fn concern(
        &self,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> RelevantValues<Self::Value>;
}

/// Values that follow each other in a history, by their first operations, of which a part is made.
const NEIGHBOURS: usize = 6;

/// Barriers that follow each other, among which cuts of a part are chosen.
const WINDOW: usize = 32;

/// A violation of a part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refuted {
    /// The operations of the part, ascending. Others matter to no order of these.
    pub operations: Vec<OperationId>,
    /// The fewest cuts that show it: the operations that are invoked right behind one,
    /// ascending. `None` if it takes more cuts than were allowed.
    pub cuts: Option<Vec<OperationId>>,
}

/// What [`refute_parts`] found out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PartsOutcome {
    /// The history is not linearizable, since a part is not.
    Refuted(Refuted),
    /// All parts that were tried are linearizable with all cuts that were tried.
    Unrefuted,
    /// A budget ran out before all were tried.
    Exhausted(Exhausted),
}

/// Looks for a part of a history that is not linearizable: of each six values that follow each
/// other, then of each pair of values, the nearest first. A part is decided exactly, or, where it
/// takes more memory than the budget has, by at most `most` cuts; as many are looked for to
/// explain a violation.
///
/// Sound whatever the budget, and incomplete: parts of more values are not tried. Of v values
/// there are v parts of neighbours, and v^2 / 2 pairs; a part with b barriers is searched for up to
/// b times (32 choose `most` - 1) choices of cuts. Each has all memory of the budget.
pub fn refute_parts<S: ByValues>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    most: usize,
    budget: &mut Budget<'_>,
) -> PartsOutcome
where
    S::Input: Clone,
    S::Output: Clone,
{
    let classes = Classes::new(specification, history);
    let count = classes.by_value.len();
    let mut exhausted = None;
    let neighbours =
        (0..count.max(1)).map(|first| (first..count.min(first + NEIGHBOURS)).collect::<Vec<_>>());
    let pairs = (1..count)
        .flat_map(|distance| (distance..count).map(move |second| vec![second - distance, second]));
    for values in neighbours.chain(pairs) {
        if !(budget.proceed)() {
            return PartsOutcome::Exhausted(Exhausted::Time);
        }
        let part = classes.part(&values);
        let found = projected(history, &part);
        let decided = check(specification, &found, budget);
        let is_refuted = match decided {
            Outcome::Linearizable { .. } => continue,
            Outcome::NotLinearizable { .. } => true,
            Outcome::Exhausted { exhausted: Exhausted::Time, .. } => {
                return PartsOutcome::Exhausted(Exhausted::Time);
            }
            Outcome::Exhausted { .. } => false,
        };
        let cuts = match refute_within(specification, &found, most, WINDOW, budget) {
            Refutation::Refuted { cuts, .. } => {
                let begun = |cut: usize| {
                    found.operations().iter().position(|operation| operation.invocation == cut)
                };
                Some(cuts.into_iter().filter_map(begun).map(|at| part[at]).collect())
            }
            Refutation::Unrefuted { .. } => None,
            Refutation::Exhausted { exhausted: which, .. } => {
                exhausted = Some(which);
                None
            }
        };
        if is_refuted || cuts.is_some() {
            return PartsOutcome::Refuted(Refuted { operations: part, cuts });
        }
    }
    exhausted.map_or(PartsOutcome::Unrefuted, PartsOutcome::Exhausted)
}

/// The operations of a history by what they are about.
struct Classes {
    /// Per value, in the order in which the values first occur.
    by_value: Vec<Vec<OperationId>>,
    /// Those about all values.
    common: Vec<OperationId>,
}

impl Classes {
    fn new<S: ByValues>(specification: &S, history: &History<S::Input, S::Output>) -> Self {
        let mut numbers = SeededMap::default();
        let mut classes = Self { by_value: Vec::new(), common: Vec::new() };
        for (index, operation) in history.operations().iter().enumerate() {
            let id = OperationId::from_index(index);
            if operation.is_failed() {
                continue;
            }
            match specification.concern(&operation.input, operation.output()) {
                RelevantValues::All => classes.common.push(id),
                RelevantValues::Value(value) => {
                    let next = classes.by_value.len();
                    let number = *numbers.entry(value).or_insert(next);
                    if number == next {
                        classes.by_value.push(Vec::new());
                    }
                    classes.by_value[number].push(id);
                }
            }
        }
        classes
    }

    /// The operations about these values, and those about all, ascending.
    fn part(&self, values: &[usize]) -> Vec<OperationId> {
        let mut part: Vec<OperationId> =
            values.iter().flat_map(|&value| &self.by_value[value]).copied().collect();
        part.extend(&self.common);
        part.sort_unstable();
        part
    }
}

/// The history of some operations, which keep their order of time and are numbered by themselves.
pub(super) fn projected<I: Clone, O: Clone>(
    history: &History<I, O>,
    part: &[OperationId],
) -> History<I, O> {
    let operations = history.operations();
    let mut times: Vec<usize> = Vec::with_capacity(2 * part.len());
    for id in part {
        let operation = &operations[id.index()];
        times.push(operation.invocation);
        times.extend(operation.response());
    }
    times.sort_unstable();
    let time = |event: usize| times.partition_point(|&other| other < event);
    let kept = part.iter().map(|id| {
        let mut operation: Operation<I, O> = operations[id.index()].clone();
        operation.invocation = time(operation.invocation);
        if let Ending::Complete { response, .. } = &mut operation.ending {
            *response = time(*response);
        }
        operation
    });
    History::new(kept.collect(), times.len())
}
