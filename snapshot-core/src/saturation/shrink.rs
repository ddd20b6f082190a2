//! A refutation that names fewer operations.
//!
//! The operations of a refutation, each scan only with the entries that the refutation uses, are a
//! small history, refuted by the same rules. Entries and operations are left out as long as the
//! rest is refuted.

use super::excerpt::{Entry, Excerpt, Item};
use super::proof;
use super::relation::{Kind, NONE, Relation};
use super::schedule::{self, Failure};
use crate::history::History;
use crate::search::Budget;
use crate::verdict::{Line, Refutation, Rule};
use crate::{OperationId, Segment};

/// A part of a history.
#[derive(Clone, Debug)]
pub(super) struct Part {
    items: Vec<Item>,
    /// Two scans that are to be refuted in either order.
    pair: Option<(OperationId, OperationId)>,
}

/// Parts with more items are not shrunk piece by piece.
const MANY: usize = 2_000;

impl Part {
    /// Returns the part of the history that a refutation uses.
    pub fn new(relation: &Relation, refutation: &Refutation, pair: Option<(u32, u32)>) -> Self {
        let segment_of = |id: OperationId| match relation.operation(id.index() as u32).kind {
            Kind::Update { block } => {
                Some(Segment::from_index(relation.block(block).segment as usize))
            }
            Kind::Scan { .. } => None,
        };
        let mut operations = Vec::new();
        let mut entries: Vec<(OperationId, Segment)> = Vec::new();
        for line in &refutation.lines {
            operations.extend([line.before, line.after]);
            let (named, segment) = match line.rule {
                Rule::Reads => (vec![line.after], segment_of(line.before)),
                Rule::First => (vec![line.before], segment_of(line.after)),
                Rule::Block { segment, because } => {
                    let because = &refutation.lines[because];
                    let named = vec![line.before, line.after, because.before, because.after];
                    (named, Some(segment))
                }
                _ => (Vec::new(), None),
            };
            let Some(segment) = segment else { continue };
            let scans = named.into_iter().filter(|id| segment_of(*id).is_none());
            entries.extend(scans.map(|scan| (scan, segment)));
        }
        operations.sort_unstable();
        operations.dedup();
        entries.sort_unstable();
        entries.dedup();
        let mut items: Vec<Item> = Vec::new();
        for (scan, segment) in entries {
            let block = relation.block_at(scan.index() as u32, segment.index() as u32);
            if block != NONE {
                let update = relation.block(block).update;
                let update = (update != NONE).then(|| super::id(update));
                // The update identifies the block.
                operations.extend(update);
                let sources = vec![update];
                items.push(Item::Entry(Entry { scan, segment, sources }));
            }
        }
        operations.sort_unstable();
        operations.dedup();
        items.extend(operations.into_iter().map(Item::Operation));
        let pair = pair.map(|(first, second)| (super::id(first), super::id(second)));
        Self { items, pair }
    }

    /// Returns a refutation of the smallest part found; `None` if even the whole part is not
    /// refuted, or the budget is used up.
    pub fn shrink<V>(&self, history: &History<V>, budget: &mut Budget<'_>) -> Option<Refutation> {
        if self.items.len() > MANY {
            return None;
        }
        let is_refuted = |items: &[Item], budget: &mut Budget<'_>| {
            (budget.proceed)() && self.refute(history, items).is_some()
        };
        let mut items = self.items.clone();
        loop {
            let before = items.len();
            // Operations first: leaving out one makes its entries useless.
            items.reverse();
            items = reduce(items, |items| is_refuted(items, budget));
            if items.len() == before {
                break;
            }
        }
        self.refute(history, &items)
    }

    /// Returns a refutation of these items alone.
    fn refute<V>(&self, history: &History<V>, items: &[Item]) -> Option<Refutation> {
        let excerpt = Excerpt::new(items);
        let name = |operation: u32| excerpt.operations[operation as usize];
        let mut relation = Relation::new();
        relation.is_thorough = true;
        if let Err(operation) = excerpt.relate(history, &mut relation) {
            return proof::cycle(&relation, operation, &name);
        }
        let Some((first, second)) = self.pair else { return search(&mut relation, &name) };
        let pair = (excerpt.place(first)? as u32, excerpt.place(second)? as u32);
        proof::both_ways(&mut relation, pair, &name)
    }
}

/// Steps of a search within a part, times the period of budgets.
const STEPS: usize = 200;

/// Returns a refutation that needs several suppositions.
pub(super) fn search(
    relation: &mut Relation,
    name: &dyn Fn(u32) -> OperationId,
) -> Option<Refutation> {
    let mut steps = 0;
    let mut proceed = || {
        steps += 1;
        steps < STEPS
    };
    let mut budget = Budget { memory: usize::MAX, proceed: &mut proceed };
    let Err(Failure::Refuted(refutation)) = schedule::linearize(relation, &mut budget).0 else {
        return None;
    };
    let renamed = |line: &Line| {
        let (before, after) = (line.before.index() as u32, line.after.index() as u32);
        Line { before: name(before), after: name(after), ..*line }
    };
    Some(Refutation { lines: refutation.lines.iter().map(renamed).collect() })
}

/// Leaves out parts of a list, larger ones first, while `is_bad` holds for the rest.
pub(crate) fn reduce<T: Clone>(mut list: Vec<T>, mut is_bad: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut size = list.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        while start < list.len() {
            let end = (start + size).min(list.len());
            let mut trial = list.clone();
            trial.drain(start..end);
            if is_bad(&trial) {
                list = trial;
            } else {
                start = end;
            }
        }
        if size == 1 {
            return list;
        }
        size = size.div_ceil(2);
    }
}
