//! Refutations where values repeat.
//!
//! An entry can have been read from several updates. Each of these is supposed. If the relation
//! then has a cycle, the source is *excluded*, and an entry with one source left is settled: as in
//! `sources`, but every step is recorded. The remaining entries are tried source by source, with
//! nested suppositions.
//!
//! Most of a history has no part in its refutation. Windows of it are tried, from its last event
//! backwards, each twice as long as the one before; a refuted window refutes the history, since
//! entries that can have been read from an update outside the window are taken as missing. Then
//! entries and operations are left out as long as the rest is refuted. An entry always has all of
//! its sources, so the lines hold in the whole history.

mod narrowing;
mod updates;

use std::hash::Hash;

use self::narrowing::{Narrowing, Open};
use self::updates::Updates;
use super::excerpt::{Entry, Excerpt, Item, Source};
use super::proof;
use super::relation::Relation;
use super::shrink::reduce;
use crate::history::History;
use crate::search::Budget;
use crate::verdict::{Line, Refutation, Rule, Witness};
use crate::{OperationId, Segment};

/// Number of events of the first window.
const WINDOW: usize = 64;

/// The largest depth of nested suppositions of sources, besides those by which single entries are
/// narrowed.
const DEPTH: usize = 3;

/// Searches for a refutation of a history by its first events, which are not linearizable, while
/// all but the last of them are. `None` if no refutation of this kind exists, or the budget is used
/// up.
pub(crate) fn refute<V: Clone + Eq + Hash>(
    whole: &History<V>,
    events: usize,
    budget: &mut Budget<'_>,
) -> Option<(Witness, Refutation)> {
    let history = &whole.prefix(events);
    let updates = Updates::new(whole, history);
    let mut length = WINDOW;
    loop {
        let start = history.len().saturating_sub(length);
        let items = updates.window(start);
        for depth in [0, DEPTH] {
            if let Some(found) = refutation(history, &items, depth, budget) {
                let items = shrunk(history, used(items, &found), depth, budget);
                // Every shown line has been derived already, so this needs no budget.
                let mut unlimited = Budget { memory: usize::MAX, proceed: &mut || true };
                let found = refutation(history, &items, depth, &mut unlimited).unwrap_or(found);
                return Some((updates.witness(&items, &found), found));
            }
        }
        if start == 0 || !(budget.proceed)() {
            return None;
        }
        length *= 2;
    }
}

/// Keeps the items that a refutation names, and the sources of their entries.
fn used(mut items: Vec<Item>, refutation: &Refutation) -> Vec<Item> {
    let mut named: Vec<OperationId> =
        refutation.lines.iter().flat_map(|line| [line.before, line.after]).collect();
    let mut sources: Vec<OperationId> = Vec::new();
    named.sort_unstable();
    items.retain(|item| match item {
        Item::Entry(entry) => {
            let is_named = named.binary_search(&entry.scan).is_ok();
            sources.extend(entry.sources.iter().flatten().filter(|_| is_named));
            is_named
        }
        Item::Operation(_) => true,
    });
    named.extend(sources);
    named.sort_unstable();
    items.retain(|item| match item {
        Item::Entry(_) => true,
        Item::Operation(id) => named.binary_search(id).is_ok(),
    });
    items
}

/// Leaves out as many of the items as possible while the rest is refuted.
fn shrunk<V>(
    history: &History<V>,
    mut items: Vec<Item>,
    depth: usize,
    budget: &mut Budget<'_>,
) -> Vec<Item> {
    loop {
        let before = items.len();
        items.reverse();
        items = reduce(items, |items| refutation(history, items, depth, budget).is_some());
        if items.len() == before {
            return items;
        }
    }
}

/// Returns a refutation of these items alone.
fn refutation<V>(
    history: &History<V>,
    items: &[Item],
    depth: usize,
    budget: &mut Budget<'_>,
) -> Option<Refutation> {
    if !(budget.proceed)() {
        return None;
    }
    let excerpt = Excerpt::new(items);
    let entries = &excerpt.entries;
    if let Some(Entry { scan, segment, .. }) = entries.iter().find(|one| one.sources.is_empty()) {
        let rule = Rule::Unreadable { segment: *segment };
        return Some(Refutation { lines: vec![Line { before: *scan, after: *scan, rule }] });
    }
    let name = |operation: u32| excerpt.operations[operation as usize];
    let mut relation = Relation::new();
    relation.is_thorough = true;
    relation.keeps_chains = true;
    if let Err(operation) = excerpt.relate(history, &mut relation) {
        return proof::cycle(&relation, operation, &name);
    }
    let place = |id: OperationId| excerpt.place(id).unwrap_or_default() as u32;
    let block = |relation: &mut Relation, segment: Segment, source: &Source| match source {
        Some(update) => relation.block_at(place(*update), segment.index() as u32),
        None => relation.initial_block(segment.index() as u32),
    };
    let open = entries.iter().filter(|entry| entry.sources.len() > 1).map(|entry| Open {
        scan: place(entry.scan),
        segment: entry.segment.index() as u32,
        blocks: entry.sources.iter().map(|one| block(&mut relation, entry.segment, one)).collect(),
    });
    let open = open.collect();
    Narrowing::new(relation, &name, budget).refutation(open, depth)
}
