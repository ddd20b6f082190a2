//! The relation of a stream of events, judged online.
//!
//! A cycle is an alarm at the first response that makes the prefix non-linearizable. So is a new
//! scan that can come neither before nor after another one.
//!
//! Memory is bounded by the number of live operations and values: from time to time, the relation
//! forgets its past (`relation/forgetting.rs`), and with it the values that no scan can return any
//! more. Between two rounds at least as many operations are added as were kept in the earlier one,
//! which amortises the cost.

mod pairs;

use std::hash::Hash;

use super::relation::{Block, Cycle, Kind, Moves, NONE, Relation};
use crate::history::{Action, Declaration, Event, History};
use crate::search::Budget;
use crate::seeded::SeededMap;
use crate::verdict::{Cause, Exhausted};
use crate::{OperationId, Segment};

/// At least this many operations are kept before the past is forgotten.
const MIN_KEPT: usize = 1 << 12;

/// With more unordered scans than this, a position for a new scan is searched for first.
const CROWD: usize = 64;

/// The reason why no order explains the events so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Conflict {
    /// The operation would come before itself.
    Cycle {
        /// The operation.
        operation: OperationId,
    },
    /// Neither of two scans can come first.
    Pair {
        /// One scan.
        first: OperationId,
        /// Scan that contradicts the first.
        second: OperationId,
    },
    /// A scan returned a value of no valid update: none was invoked before the scan responded and
    /// has not failed, or the value had been overwritten before the scan began, and was forgotten.
    Unavailable {
        /// The scan.
        scan: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// An update failed that a scan had seen.
    FailedUpdateSeen {
        /// The scan.
        scan: OperationId,
        /// The update.
        update: OperationId,
        /// The segment of the update.
        segment: Segment,
    },
}

/// The updates that wrote a value.
#[derive(Clone, Debug)]
enum Writers {
    One(u32),
    Several(Vec<u32>),
}

/// The saturated relation of a stream of events.
///
/// Cost per event: a few joins of clocks, whose length is the number of overlapping operations.
/// Memory: proportional to the operations that overlap with the oldest open operation, or were
/// written last. (An update whose outcome is unknown stays until its value is overwritten: forever
/// if no scan returns it.)
#[derive(Clone, Debug)]
pub struct Saturation<V> {
    declaration: Declaration<V>,
    pub(super) relation: Relation,
    /// For each segment, the blocks of each value.
    written: Vec<SeededMap<V, Writers>>,
    /// The open operation of each process, or [`NONE`].
    open: Vec<u32>,
    /// The value of the open update of each process.
    writing: Vec<Option<V>>,
    pub(super) conflict: Option<Conflict>,
    /// True if each new scan is tried before and after each other scan.
    tries_pairs: bool,
    /// True if an order of two scans found by trying is kept.
    learns_pairs: bool,
    /// With more scans to try, a position among all of them is searched for first.
    crowd: usize,
    /// The first entry that can have been read from several updates.
    ambiguous: Option<(OperationId, Segment)>,
    /// The first scan that did not return all segments.
    partial: Option<OperationId>,
    entries: Vec<u32>,
    /// Number of operations held at which the past is forgotten next.
    due: usize,
    /// The least value of `due`.
    few: usize,
    forgotten: Forgotten,
}

/// Counts of forgotten objects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Forgotten {
    /// Number of operations.
    pub operations: u64,
    /// Number of values written that no scan can return any more.
    pub values: u64,
}

impl<V: Clone + Eq + Hash> Saturation<V> {
    /// Creates the relation before the first event of a history with this declaration. It finds
    /// every conflict at the first event that completes it (where values do not repeat).
    pub fn new(declaration: Declaration<V>) -> Self {
        Self {
            declaration,
            relation: Relation::new(),
            written: Vec::new(),
            open: Vec::new(),
            writing: Vec::new(),
            conflict: None,
            tries_pairs: true,
            learns_pairs: true,
            crowd: CROWD,
            ambiguous: None,
            partial: None,
            entries: Vec::new(),
            due: MIN_KEPT,
            few: MIN_KEPT,
            forgotten: Forgotten::default(),
        }
    }

    /// Forgets as soon as this many operations are held, instead of some thousands: for many
    /// objects simultaneously. Smaller numbers make it search for forgettable operations more
    /// often.
    #[must_use]
    pub const fn keeping(mut self, few: usize) -> Self {
        (self.due, self.few) = (few, few);
        self
    }

    /// Disables automatic forgetting.
    #[must_use]
    pub const fn remembering(mut self) -> Self {
        self.due = usize::MAX;
        self
    }

    /// Searches for a position of a new scan among all others as soon as more than this many are
    /// not ordered with it, instead of some dozens.
    #[must_use]
    pub const fn placing(mut self, crowd: usize) -> Self {
        self.crowd = crowd;
        self
    }

    /// Creates a relation that forgets nothing and searches only for cycles: for a history in
    /// memory.
    pub(super) fn of_history(declaration: Declaration<V>) -> Self {
        Self { tries_pairs: false, ..Self::new(declaration) }.remembering()
    }

    /// As [`Self::of_history`], but each new scan is tried before and after each other one, and
    /// nothing is learned from it: all derivations follow from the five rules alone, as a proof
    /// needs.
    pub(super) fn trying_pairs(declaration: Declaration<V>) -> Self {
        Self { tries_pairs: true, learns_pairs: false, ..Self::of_history(declaration) }
    }

    /// Takes the next event, with clocks that are complete even if it makes a cycle.
    pub(super) fn through(mut self, event: &Event<'_, V>) -> Self {
        self.relation.is_thorough = true;
        self.observe(event);
        self
    }

    /// As [`Self::of_history`], after the first events of a history.
    pub(super) fn of_prefix(history: &History<V>, events: usize) -> Self {
        let mut saturation = Self::of_history(history.declaration());
        for event in history.events().take(events) {
            saturation.observe(&event);
        }
        saturation
    }

    /// The conflict found so far.
    pub const fn conflict(&self) -> Option<Conflict> {
        self.conflict
    }

    /// The counts of forgotten objects so far.
    pub const fn forgotten(&self) -> Forgotten {
        self.forgotten
    }

    /// Number of operations held.
    pub fn retained(&self) -> usize {
        self.relation.operations().len()
    }

    /// Returns true if some entry can have been read from several updates: then some violations may
    /// stay undetected.
    pub const fn is_ambiguous(&self) -> bool {
        self.ambiguous.is_some()
    }

    /// Returns true if some scan did not return all segments.
    pub(super) const fn is_partial(&self) -> bool {
        self.partial.is_some()
    }

    /// The reason why violations may stay undetected; absent if every violation is found.
    pub fn uncertainty(&self) -> Option<Cause> {
        let ambiguous =
            self.ambiguous.map(|(scan, segment)| Cause::AmbiguousValue { scan, segment });
        ambiguous.or_else(|| self.partial.map(|scan| Cause::PartialScan { scan }))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        self.relation.bytes()
    }

    /// Takes the next event; events behind a conflict change nothing.
    ///
    /// # Panics
    /// If no history can have this event here: [`crate::history::Admission`]
    /// says so before.
    pub fn observe(&mut self, event: &Event<'_, V>) -> Option<Conflict> {
        if self.conflict.is_none() {
            self.conflict = self.take(event).err();
        }
        self.conflict
    }

    /// Returns the identifier of an operation in the history.
    fn id(&self, operation: u32) -> OperationId {
        OperationId::from_index(self.relation.operation(operation).id as usize)
    }

    fn cycle(&self, cycle: Cycle) -> Conflict {
        Conflict::Cycle { operation: self.id(cycle.operation) }
    }

    fn take(&mut self, event: &Event<'_, V>) -> Result<(), Conflict> {
        let process = event.process.index();
        if process >= self.open.len() {
            self.open.resize(process + 1, NONE);
            self.writing.resize(process + 1, None);
        }
        if matches!(event.action, Action::InvokeUpdate { .. } | Action::InvokeScan) {
            if self.relation.operations().len() >= self.due {
                self.forget();
                self.due = self.few.max(2 * self.retained());
            }
            self.open[process] = match event.action {
                Action::InvokeUpdate { segment, value } => {
                    self.writing[process] = Some(value.clone());
                    self.invoke_update(segment, value)?
                }
                _ => self.relation.invoke_scan(),
            };
            return Ok(());
        }
        let open = std::mem::replace(&mut self.open[process], NONE);
        let written = self.writing[process].take();
        match event.action {
            Action::RespondUpdate => {
                self.relation.respond_update(open).map_err(|cycle| self.cycle(cycle))
            }
            Action::RespondScan { values } => {
                let entries = values.iter().enumerate();
                self.respond_scan(open, entries.map(|(k, value)| (Segment::from_index(k), value)))
            }
            Action::RespondPartialScan { entries, .. } => {
                if self.declaration.segments != Some(entries.len()) {
                    let scan = self.id(open);
                    self.partial.get_or_insert(scan);
                }
                self.respond_scan(open, entries.iter().map(|(segment, value)| (*segment, value)))
            }
            Action::Fail => self.fail(open, written.as_ref()),
            _ => {
                self.relation.end_without_response(open, true);
                Ok(())
            }
        }
    }

    fn invoke_update(&mut self, segment: Segment, value: &V) -> Result<u32, Conflict> {
        self.grow(segment.index() + 1);
        let segment = segment.index() as u32;
        let result = self.relation.invoke_update(segment);
        let update = result.map_err(|cycle| self.cycle(cycle))?;
        let block = self.relation.block_at(update, segment);
        self.write(segment as usize, value, block);
        Ok(update)
    }

    /// Forgets the past, and the values that no scan can return any more. Later conflicts are found
    /// at the same events as if everything were kept. Runs automatically, too. O(kept objects times
    /// overlapping operations).
    pub fn forget(&mut self) {
        let open = self.open.iter().copied().filter(|open| *open != NONE);
        let (before, values) = (self.retained() as u64, self.relation.blocks() as u64);
        let Moves { operations, blocks } = self.relation.forget(open);
        self.forgotten.operations += before - self.retained() as u64;
        self.forgotten.values += values - self.relation.blocks() as u64;
        for open in &mut self.open {
            if *open != NONE {
                *open = operations[*open as usize];
            }
        }
        let relation = &self.relation;
        let moved = |block: u32| {
            let block = blocks[block as usize];
            if block != NONE && relation.block(block).is_gone { NONE } else { block }
        };
        for written in &mut self.written {
            written.retain(|_, writers| match writers {
                Writers::One(block) => {
                    *block = moved(*block);
                    *block != NONE
                }
                Writers::Several(blocks) => {
                    blocks.iter_mut().for_each(|block| *block = moved(*block));
                    blocks.retain(|block| *block != NONE);
                    !blocks.is_empty()
                }
            });
            if written.capacity() > 4 * written.len() {
                written.shrink_to(2 * written.len());
            }
        }
    }

    fn grow(&mut self, segments: usize) {
        for segment in self.written.len()..segments {
            let block = self.relation.initial_block(segment as u32);
            self.written.push(SeededMap::default());
            let value = self.declaration.initial_value(segment).clone();
            self.written[segment].insert(value, Writers::One(block));
        }
    }

    fn write(&mut self, segment: usize, value: &V, block: u32) {
        match self.written[segment].get_mut(value) {
            None => {
                self.written[segment].insert(value.clone(), Writers::One(block));
            }
            Some(Writers::Several(blocks)) => blocks.push(block),
            Some(writers) => {
                if let Writers::One(first) = *writers {
                    *writers = Writers::Several(vec![first, block]);
                }
            }
        }
    }

    /// Removes a failed update, which wrote `value`, from the possible sources.
    fn fail(&mut self, operation: u32, value: Option<&V>) -> Result<(), Conflict> {
        if let Kind::Update { block } = self.relation.operation(operation).kind {
            let Block { seen_by, segment, .. } = *self.relation.block(block);
            if seen_by != NONE {
                let (scan, update) = (self.id(seen_by), self.id(operation));
                let segment = Segment::from_index(segment as usize);
                return Err(Conflict::FailedUpdateSeen { scan, update, segment });
            }
            let written = &mut self.written[segment as usize];
            let is_left = match value.and_then(|value| written.get_mut(value)) {
                Some(Writers::One(other)) => *other != block,
                Some(Writers::Several(blocks)) => {
                    blocks.retain(|other| *other != block);
                    !blocks.is_empty()
                }
                None => true,
            };
            if let (false, Some(value)) = (is_left, value) {
                written.remove(value);
            }
        }
        self.relation.end_without_response(operation, false);
        Ok(())
    }

    fn respond_scan<'a>(
        &mut self,
        scan: u32,
        values: impl Iterator<Item = (Segment, &'a V)>,
    ) -> Result<(), Conflict>
    where
        V: 'a,
    {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        for (segment, value) in values {
            self.grow(segment.index() + 1);
            entries.resize(segment.index(), NONE);
            entries.push(match self.written[segment.index()].get(value) {
                None => {
                    return Err(Conflict::Unavailable { scan: self.id(scan), segment });
                }
                Some(Writers::One(block)) => *block,
                Some(Writers::Several(blocks)) if blocks.len() == 1 => blocks[0],
                Some(Writers::Several(_)) => {
                    let entry = (self.id(scan), segment);
                    self.ambiguous.get_or_insert(entry);
                    NONE
                }
            });
        }
        let result = self.relation.respond_scan(scan, &entries);
        self.entries = entries;
        result.map_err(|cycle| self.cycle(cycle))?;
        if self.tries_pairs {
            self.try_pairs(scan)?;
        }
        Ok(())
    }

    fn order(&mut self, first: u32, second: u32) -> Result<(), Conflict> {
        self.relation.order(first, second).map_err(|cycle| self.cycle(cycle))
    }
}

impl<V: Clone + Eq + Hash> Saturation<V> {
    pub(super) fn exhausted(&self, budget: &mut Budget<'_>) -> Option<Exhausted> {
        if self.bytes() > budget.memory {
            Some(Exhausted::Memory)
        } else if (budget.proceed)() {
            None
        } else {
            Some(Exhausted::Time)
        }
    }
}
