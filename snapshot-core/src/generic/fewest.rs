//! Fewest operations of a violation that a search found.
//!
//! A prefix of a linearizable history is linearizable, and stays so without all operations on some
//! of its values ([`ByValues`]) and without operations that change nothing. So the rest after such
//! steps, if it is not linearizable, shows the violation, whatever the other operations did. Steps
//! are taken as long as the rest remains a violation: halves first, then quarters, and so on.

use super::history::History;
use super::projection::{ByValues, RelevantValues, projected};
use super::{DeepestPrefix, Outcome, check};
use crate::OperationId;
use crate::search::Budget;
use crate::seeded::SeededMap;

/// Number of times that the trials may ask the budget for more time.
const TRIALS: u32 = 1 << 14;

/// Returns operations of a violation that a search found, ascending, of which as many were left out
/// as the steps allow. They are operations of a prefix if that is a violation already: then those
/// that responded behind it have no output.
///
/// Each step is decided by [`check`] within the budget; an undecided one is not taken. O(k log n)
/// steps for k operations of the result.
pub fn fewest<S: ByValues<Input: Clone, Output: Clone>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    furthest: &DeepestPrefix,
    budget: &mut Budget<'_>,
) -> Vec<OperationId> {
    let mut left = TRIALS;
    let Budget { memory, proceed } = budget;
    let mut proceed = || {
        left = left.saturating_sub(1);
        left > 0 && proceed()
    };
    let mut budget = Budget { memory: *memory, proceed: &mut proceed };
    let due = &history.operations()[furthest.due.index()];
    let part = specification.part(&due.input);
    let prefix = history.prefix(due.response().map_or(history.len(), |event| event + 1));
    let classes = Classes::new(specification, &prefix, &part);
    if is_violation(specification, &prefix, &classes.all(), &mut budget) {
        return classes.reduce(specification, &prefix, &mut budget);
    }
    // An output behind the prefix matters.
    Classes::new(specification, history, &part).reduce(specification, history, &mut budget)
}

fn is_violation<S: ByValues<Input: Clone, Output: Clone>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    operations: &[OperationId],
    budget: &mut Budget<'_>,
) -> bool {
    let mut ids = operations.to_vec();
    ids.sort_unstable();
    let outcome = check(specification, &projected(history, &ids), budget);
    matches!(outcome, Outcome::NotLinearizable { .. })
}

/// A value, by its number in the order of first operations.
#[derive(Clone, Copy)]
struct ValueId(usize);

/// An operation that changes nothing, and the value that it is about.
type Query = (OperationId, Option<ValueId>);

/// The operations of a part, by the steps that leave them out.
struct Classes {
    /// Operations that change something, by their value: left out together, with the queries of it.
    values: Vec<Vec<OperationId>>,
    /// Left out each by itself.
    queries: Vec<Query>,
    /// Operations that are not left out.
    kept: Vec<OperationId>,
}

impl Classes {
    fn new<S: ByValues>(
        specification: &S,
        history: &History<S::Input, S::Output>,
        part: &S::Part,
    ) -> Self {
        let mut classes = Self { values: Vec::new(), queries: Vec::new(), kept: Vec::new() };
        let mut numbers: SeededMap<S::Value, ValueId> = SeededMap::default();
        for (index, operation) in history.operations().iter().enumerate() {
            if operation.is_failed() || specification.part(&operation.input) != *part {
                continue;
            }
            let id = OperationId::from_index(index);
            let value = match specification.concern(&operation.input, operation.output()) {
                RelevantValues::All => None,
                RelevantValues::Value(value) => Some(*numbers.entry(value).or_insert_with(|| {
                    classes.values.push(Vec::new());
                    ValueId(classes.values.len() - 1)
                })),
            };
            if specification.is_query(&operation.input, operation.output()) {
                classes.queries.push((id, value));
            } else if let Some(value) = value {
                classes.values[value.0].push(id);
            } else {
                classes.kept.push(id);
            }
        }
        classes
    }

    fn all(&self) -> Vec<OperationId> {
        self.about(&self.ids(), &self.queries)
    }

    fn ids(&self) -> Vec<ValueId> {
        (0..self.values.len()).map(ValueId).collect()
    }

    /// Returns the queries that are about some values, or about all.
    fn left(&self, values: &[ValueId], queries: &[Query]) -> Vec<Query> {
        let mut is_left = vec![false; self.values.len()];
        values.iter().for_each(|value| is_left[value.0] = true);
        let queries = queries.iter().copied();
        queries.filter(|(_, value)| value.is_none_or(|value| is_left[value.0])).collect()
    }

    /// Returns the operations on some values, with those of some queries that are about them.
    fn about(&self, values: &[ValueId], queries: &[Query]) -> Vec<OperationId> {
        let queries = self.left(values, queries).into_iter().map(|(id, _)| id);
        let changes = values.iter().flat_map(|value| &self.values[value.0]);
        changes.chain(&self.kept).copied().chain(queries).collect()
    }

    fn reduce<S: ByValues<Input: Clone, Output: Clone>>(
        &self,
        specification: &S,
        history: &History<S::Input, S::Output>,
        budget: &mut Budget<'_>,
    ) -> Vec<OperationId> {
        let mut queries = self.queries.clone();
        let mut values = self.ids();
        // Without some values, fewer queries may do.
        loop {
            let before = (values.len(), queries.len());
            queries = reduced(queries, &mut |some| {
                is_violation(specification, history, &self.about(&values, some), budget)
            });
            values = reduced(values, &mut |some| {
                is_violation(specification, history, &self.about(some, &queries), budget)
            });
            queries = self.left(&values, &queries);
            if (values.len(), queries.len()) == before {
                break;
            }
        }
        let mut few = self.about(&values, &queries);
        few.sort_unstable();
        few
    }
}

/// Returns the elements that remain when elements are left out as long as `is_enough` allows.
fn reduced<T: Clone>(mut all: Vec<T>, is_enough: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut size = all.len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < all.len() {
            let mut rest = all[..from].to_vec();
            rest.extend_from_slice(&all[all.len().min(from + size)..]);
            if is_enough(&rest) {
                all = rest;
            } else {
                from += size;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    all
}
