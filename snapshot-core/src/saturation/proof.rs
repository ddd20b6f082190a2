//! From a cycle to a derivation of it, line by line.
//!
//! Find a shortest path from an operation to itself; then, for each derived edge on it, a shortest
//! path between the two operations that caused the edge, by edges older than it; and so on. That
//! ends, since edges get older. Steps by time need no instants here: an operation with the earliest
//! response reaches by time everything that any operation before it reaches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use super::relation::{Kind, NONE, Relation, Successor};
use super::shrink::Part;
use super::{Completion, Conflict, Outcome, Saturation, id, never_there};
use crate::history::History;
use crate::search::Budget;
use crate::seeded::SeededMap;
use crate::verdict::{Line, Reason, Refutation, Rule, Witness};
use crate::{OperationId, Segment};

/// Returns the answer for a history in which `conflict` was found at an event; with the relation
/// through that event, in which nothing is learned from pairs.
pub(super) fn violation<V: Clone + Eq + Hash>(
    history: &History<V>,
    through: Saturation<V>,
    (event, is_first): Completion,
    conflict: Conflict,
    budget: &mut Budget<'_>,
) -> Outcome {
    let witness = match conflict {
        Conflict::Unavailable { scan, segment } => never_there(history, scan, segment),
        Conflict::FailedUpdateSeen { scan, update, .. } => {
            let reason = Reason::FailedUpdateSeen { scan, update };
            let segments = history.operation(update).segment().into_iter().collect();
            let mut operations = vec![scan, update];
            operations.sort_unstable();
            Witness { reason, segments, operations, renaming: None }
        }
        Conflict::Cycle { .. } | Conflict::Pair { .. } => {
            return match refute(history, through, event, conflict, budget) {
                Some((witness, refutation)) => {
                    Outcome::Violation { event, is_first, witness, refutation: Some(refutation) }
                }
                None => Outcome::Excluded,
            };
        }
    };
    Outcome::Violation { event, is_first, witness, refutation: None }
}

fn refute<V: Clone + Eq + Hash>(
    history: &History<V>,
    mut through: Saturation<V>,
    event: usize,
    conflict: Conflict,
    budget: &mut Budget<'_>,
) -> Option<(Witness, Refutation)> {
    let relation = &mut through.relation;
    let (pair, refutation) = match through.conflict {
        Some(Conflict::Cycle { operation }) => {
            (None, cycle(relation, operation.index() as u32, &id)?)
        }
        _ => {
            let last = history.step(event).operation.index() as u32;
            let named = match conflict {
                Conflict::Pair { first, second } => {
                    Some((first.index() as u32, second.index() as u32))
                }
                _ => None,
            };
            let others = (0..relation.operations().len() as u32).filter(|other| *other != last);
            let pairs: Vec<(u32, u32)> =
                named.into_iter().chain(others.map(|other| (other, last))).collect();
            let (pair, refutation) = pairs.into_iter().find_map(|pair| {
                let are_scans = [pair.0, pair.1]
                    .iter()
                    .all(|scan| !relation.entries(relation.operation(*scan)).is_empty());
                Some((pair, are_scans.then(|| both_ways(relation, pair, &id))??))
            })?;
            (Some(pair), refutation)
        }
    };
    let reason = if pair.is_some() { Reason::Ordering } else { Reason::Cycle };
    let part = Part::new(relation, &refutation, pair);
    let refutation = part.shrink(history, budget).unwrap_or(refutation);
    Some((witness(history, relation, &refutation, reason), refutation))
}

/// Returns the answer for a history that a search has refuted.
pub(super) fn searched_violation<V: Clone + Eq + Hash>(
    history: &History<V>,
    (event, is_first): Completion,
    refutation: &Refutation,
    budget: &mut Budget<'_>,
) -> Outcome {
    let saturation = Saturation::of_prefix(history, event + 1);
    let relation = &saturation.relation;
    let part = Part::new(relation, refutation, None);
    let refutation = part.shrink(history, budget).unwrap_or_else(|| refutation.clone());
    let is_cycle = !refutation.lines.iter().any(|line| line.rule == Rule::Suppose);
    let reason = if is_cycle { Reason::Cycle } else { Reason::Ordering };
    let witness = witness(history, relation, &refutation, reason);
    Outcome::Violation { event, is_first, witness, refutation: Some(refutation) }
}

/// Returns the operations and segments of a refutation, with the updates that its scans saw there.
fn witness<V: Eq>(
    history: &History<V>,
    relation: &Relation,
    refutation: &Refutation,
    reason: Reason,
) -> Witness {
    let mut segments: Vec<Segment> = refutation
        .lines
        .iter()
        .filter_map(|line| match line.rule {
            Rule::Block { segment, .. } => Some(segment),
            Rule::Reads => history.operation(line.before).segment(),
            Rule::First => history.operation(line.after).segment(),
            _ => None,
        })
        .collect();
    let mut operations: Vec<OperationId> =
        refutation.lines.iter().flat_map(|line| [line.before, line.after]).collect();
    operations.sort_unstable();
    operations.dedup();
    let updates = operations.iter().filter_map(|id| history.operation(*id).segment());
    segments.extend(updates);
    segments.sort_unstable();
    segments.dedup();
    let scans: Vec<OperationId> =
        operations.iter().copied().filter(|id| history.operation(*id).is_scan()).collect();
    for scan in scans {
        for segment in &segments {
            let block = relation.block_at(scan.index() as u32, segment.index() as u32);
            if block == NONE {
                operations.extend(readable(history, scan, *segment));
            } else if relation.block(block).update != NONE {
                operations.push(id(relation.block(block).update));
            }
        }
    }
    operations.sort_unstable();
    operations.dedup();
    Witness { reason, segments, operations, renaming: None }
}

/// Where values repeat, returns the updates that a scan can have read by time, and the one that
/// rules out others.
fn readable<V: Eq>(history: &History<V>, scan: OperationId, segment: Segment) -> Vec<OperationId> {
    let scan = history.operation(scan);
    let Some(value) = history.entry(scan, segment) else { return Vec::new() };
    let of_segment = |id: &OperationId| {
        let operation = history.operation(*id);
        operation.segment() == Some(segment) && !operation.is_failed()
    };
    let updates: Vec<OperationId> = history.operation_ids().filter(of_segment).collect();
    let due = updates.iter().rev().find(|id| history.operation(**id).precedes(scan));
    let is_readable = |id: &&OperationId| {
        let update = history.operation(**id);
        let is_overwritten = due.is_some_and(|due| update.precedes(history.operation(*due)));
        history.update_value(update) == value && !is_overwritten && !scan.precedes(update)
    };
    updates.iter().filter(is_readable).chain(due).copied().collect()
}

/// Returns a derivation of a cycle through an operation.
pub(super) fn cycle(
    relation: &Relation,
    operation: u32,
    name: &dyn Fn(u32) -> OperationId,
) -> Option<Refutation> {
    let mut derivation = Derivation::new(relation, name);
    derivation.derive(operation, operation)?;
    Some(Refutation { lines: derivation.lines })
}

/// Returns a derivation of contradictions from either order of two scans.
pub(super) fn both_ways(
    relation: &mut Relation,
    (first, second): (u32, u32),
    name: &dyn Fn(u32) -> OperationId,
) -> Option<Refutation> {
    let mut lines = Vec::new();
    for (before, after, rule) in [(first, second, Rule::Suppose), (second, first, Rule::Otherwise)]
    {
        relation.begin_trial();
        let found = match relation.order(before, after) {
            Ok(()) => None,
            Err(found) => {
                let mut derivation = Derivation::new(relation, name);
                derivation.lines = std::mem::take(&mut lines);
                derivation.push(before, after, rule);
                derivation.derive(found.operation, found.operation).map(|_| derivation.lines)
            }
        };
        relation.undo_trial();
        lines = found?;
    }
    Some(Refutation { lines })
}

/// The step of a path from an operation to the next one.
#[derive(Clone, Copy, Debug)]
enum Hop {
    Time,
    Reads,
    First,
    Supposed,
    Block { segment: u32, edge: u32, cause: (u32, u32) },
}

type Path = Vec<(u32, u32, Hop)>;

enum Task {
    /// Derive that the first comes before the second, by edges older than the third.
    Goal(u32, u32, u32),
    /// All causes on the path are derived: write its lines.
    Write(Path),
}

pub(super) struct Derivation<'r> {
    relation: &'r Relation,
    name: &'r dyn Fn(u32) -> OperationId,
    pub lines: Vec<Line>,
    known: SeededMap<(u32, u32), usize>,
}

/// A derived edge has to be explained itself, which costs lines.
const BLOCK_COST: u32 = 3;

impl<'r> Derivation<'r> {
    pub fn new(relation: &'r Relation, name: &'r dyn Fn(u32) -> OperationId) -> Self {
        Self { relation, name, lines: Vec::new(), known: SeededMap::default() }
    }

    pub fn push(&mut self, before: u32, after: u32, rule: Rule) -> usize {
        let (first, second) = ((self.name)(before), (self.name)(after));
        self.lines.push(Line { before: first, after: second, rule });
        self.known.insert((before, after), self.lines.len() - 1);
        self.lines.len() - 1
    }

    pub fn derive(&mut self, from: u32, to: u32) -> Option<()> {
        let mut tasks = vec![Task::Goal(from, to, u32::MAX)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Goal(from, to, _) if self.known.contains_key(&(from, to)) => {}
                Task::Goal(from, to, limit) => {
                    let path = self.path(from, to, limit)?;
                    let causes = path.iter().filter_map(|(_, _, hop)| match *hop {
                        Hop::Block { edge, cause, .. } => Some(Task::Goal(cause.0, cause.1, edge)),
                        _ => None,
                    });
                    let causes: Vec<Task> = causes.collect();
                    tasks.push(Task::Write(path));
                    tasks.extend(causes);
                }
                Task::Write(path) => self.write(&path),
            }
        }
        Some(())
    }

    fn write(&mut self, path: &Path) {
        let mut so_far: Option<(u32, usize)> = None;
        for &(before, after, hop) in path {
            let step = match (self.known.get(&(before, after)), hop) {
                (Some(line), _) => *line,
                (None, Hop::Time) => self.push(before, after, Rule::Time),
                (None, Hop::Reads | Hop::Supposed) => self.push(before, after, Rule::Reads),
                (None, Hop::First) => self.push(before, after, Rule::First),
                (None, Hop::Block { segment, cause, .. }) => {
                    let (segment, because) =
                        (Segment::from_index(segment as usize), self.known[&cause]);
                    self.push(before, after, Rule::Block { segment, because })
                }
            };
            so_far = Some(match so_far {
                None => (before, step),
                Some((start, first)) => {
                    let known = self.known.get(&(start, after)).copied();
                    let rule = Rule::Chain { first, second: step };
                    (start, known.unwrap_or_else(|| self.push(start, after, rule)))
                }
            });
        }
    }

    /// Returns a shortest path, by edges older than `limit`.
    fn path(&self, from: u32, to: u32, limit: u32) -> Option<Path> {
        let operations = self.relation.operations();
        let goal = self.relation.clock(to);
        let leads_on = |operation: u32| {
            let other = self.relation.operation(operation);
            operation == to
                || other.chain == NONE
                || goal.get(other.chain as usize).is_some_and(|number| *number >= other.number)
        };
        let mut reached: SeededMap<u32, (u32, u32, Hop)> = SeededMap::default();
        let mut heap = BinaryHeap::from([Reverse((0, from))]);
        // All operations from here on were reached by time.
        let mut by_time = operations.len();
        while let Some(Reverse((cost, at))) = heap.pop() {
            if at == to && reached.contains_key(&to) {
                let mut path = Vec::new();
                let mut at = to;
                loop {
                    let (_, before, hop) = reached[&at];
                    path.push((before, at, hop));
                    at = before;
                    if at == from {
                        path.reverse();
                        return Some(path);
                    }
                }
            }
            let mut reach = |next: u32, step: u32, hop: Hop| {
                let is_better = reached.get(&next).is_none_or(|(old, ..)| cost + step < *old);
                if is_better && (next != from || next == to) && leads_on(next) {
                    reached.insert(next, (cost + step, at, hop));
                    heap.push(Reverse((cost + step, next)));
                }
            };
            let operation = self.relation.operation(at);
            if operation.response != NONE {
                let later = operations.partition_point(|o| o.invocation < operation.response);
                for next in later..by_time {
                    reach(next as u32, 1, Hop::Time);
                }
                by_time = by_time.min(later);
            }
            let is_scan = matches!(operation.kind, Kind::Scan { .. });
            if let Kind::Update { block } = self.relation.operation(to).kind {
                let segment = self.relation.block(block).segment;
                let own = self.relation.block_at(at, segment);
                if is_scan && own != NONE && self.relation.block(own).update == NONE {
                    reach(to, 1, Hop::First);
                }
            }
            self.relation.each_successor(at, |successor| match successor {
                // The edge is a supposition, if it does not lead from an update to a reader.
                Successor::Operation(next) if self.known.contains_key(&(at, next)) => {
                    reach(next, 1, Hop::Supposed);
                }
                Successor::Operation(_) if is_scan => {}
                Successor::Operation(next) => reach(next, 1, Hop::Reads),
                Successor::Block { to: next, cause: (NONE, _), .. } => reach(next, 1, Hop::First),
                Successor::Block { block, to: next, edge, cause } => {
                    if edge < limit {
                        let segment = self.relation.block(block).segment;
                        reach(next, BLOCK_COST, Hop::Block { segment, edge, cause });
                    }
                }
            });
        }
        None
    }
}
