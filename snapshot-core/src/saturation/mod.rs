//! Histories in which updates of one segment overlap: many writers.
//!
//! `x < y` reads "x takes effect before y, in every linearization". The *block*
//! of an update consists of it and the scans that saw it; that of an initial
//! value, of the scans that returned it. The relation is the least one with
//!
//! * **time**: x responded before y was invoked;
//! * **reads**: an update comes before the scans that saw it;
//! * **first**: scans of an initial value come before every update of the segment;
//! * **block**: x in block a, y in another block b of the same segment, and x < y:
//!   then all of a comes before all of b, since a segment's values do not return;
//! * **chain**: it is transitive.
//!
//! A cycle refutes the history. The converse is almost true: where values do not
//! repeat, a history is linearizable iff the relation has no cycle, and there is
//! an order of all scans in which the readers of each value are consecutive; and
//! for the latter it suffices to order pairs of scans one after the other, in any
//! way that makes no cycle, without ever coming back to a choice. The theorem and its
//! proof are in `docs/many-writers.md`.
//!
//! [`Saturation`] keeps the relation while events come. [`check()`] decides a
//! history, in polynomial time where each entry can have been read from one
//! update only; an entry that can have been read from several is taken to say
//! nothing, so that a violation is found only by what is certain.

mod chains;
mod linearize;
mod proof;
mod relation;
mod shrink;

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

use self::relation::{Cycle, NONE, Relation};
pub(crate) use self::shrink::reduce;
use crate::history::{Action, Declaration, Event, History};
use crate::search::Budget;
use crate::verdict::{Exhausted, Linearization, Reason, Refutation, Witness};
use crate::{OperationId, Segment};

/// How often a budget is looked at, in events or scans.
const PERIOD: usize = 64;

/// Why no order explains the events so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Conflict {
    /// The operation would come before itself.
    Cycle {
        /// The operation.
        operation: OperationId,
    },
    /// Neither of two scans can come first.
    Pair {
        /// One.
        first: OperationId,
        /// The other one.
        second: OperationId,
    },
    /// A scan returned what no update had written that was invoked before it
    /// responded, and that has not failed.
    NeverWritten {
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
/// Cost per event: a few joins of clocks, which are as long as operations
/// overlap. Memory grows with the stream.
#[derive(Clone, Debug)]
pub struct Saturation<V> {
    declaration: Declaration<V>,
    relation: Relation,
    /// Per segment: which blocks have a value.
    written: Vec<HashMap<V, Writers, FxBuildHasher>>,
    /// The open operation of each process.
    open: Vec<u32>,
    conflict: Option<Conflict>,
    /// Whether each new scan is tried before and after each other scan.
    tries_pairs: bool,
    /// Whether some entry can have been read from several updates.
    is_ambiguous: bool,
    entries: Vec<u32>,
}

fn id(operation: u32) -> OperationId {
    OperationId::must(operation as usize)
}

impl From<Cycle> for Conflict {
    fn from(cycle: Cycle) -> Self {
        Self::Cycle { operation: id(cycle.operation) }
    }
}

impl<V: Clone + Eq + Hash> Saturation<V> {
    /// Ready for the first event of a history with this declaration. It finds
    /// every conflict at the first event that completes it (where values do not
    /// repeat).
    pub fn new(declaration: Declaration<V>) -> Self {
        Self {
            declaration,
            relation: Relation::new(),
            written: Vec::new(),
            open: Vec::new(),
            conflict: None,
            tries_pairs: true,
            is_ambiguous: false,
            entries: Vec::new(),
        }
    }

    /// As [`Self::new`], but only cycles are looked for.
    fn cycles_only(declaration: Declaration<V>) -> Self {
        Self { tries_pairs: false, ..Self::new(declaration) }
    }

    /// What was found so far.
    pub const fn conflict(&self) -> Option<Conflict> {
        self.conflict
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

    fn take(&mut self, event: &Event<'_, V>) -> Result<(), Conflict> {
        let process = event.process.index();
        if process >= self.open.len() {
            self.open.resize(process + 1, NONE);
        }
        let open = self.open[process];
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                self.grow(segment.index() + 1);
                let update = self.relation.invoke_update(segment.index() as u32)?;
                self.open[process] = update;
                let block = self.relation.block_at(update, segment.index() as u32);
                self.write(segment.index(), value, block);
            }
            Action::InvokeScan => self.open[process] = self.relation.invoke_scan(),
            Action::RespondUpdate => self.relation.respond_update(open)?,
            Action::RespondScan { values } => self.respond_scan(open, values)?,
            Action::Fail => self.fail(open)?,
            Action::Unknown => self.relation.end_without_response(open),
        }
        Ok(())
    }

    fn grow(&mut self, segments: usize) {
        for segment in self.written.len()..segments {
            let block = self.relation.initial_block(segment as u32);
            self.written.push(HashMap::default());
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

    /// A failed update is no longer one that can have been read.
    fn fail(&mut self, operation: u32) -> Result<(), Conflict> {
        if let relation::Kind::Update { block } = self.relation.operation(operation).kind {
            let relation::Block { seen_by, segment, .. } = *self.relation.block(block);
            if seen_by != NONE {
                let (scan, update) = (id(seen_by), id(operation));
                return Err(Conflict::FailedUpdateSeen { scan, update });
            }
            self.written[segment as usize].retain(|_, writers| match writers {
                Writers::One(other) => *other != block,
                Writers::Several(blocks) => {
                    blocks.retain(|other| *other != block);
                    !blocks.is_empty()
                }
            });
        }
        self.relation.end_without_response(operation);
        Ok(())
    }

    fn respond_scan(&mut self, scan: u32, values: &[V]) -> Result<(), Conflict> {
        self.grow(values.len());
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        for (segment, value) in values.iter().enumerate() {
            entries.push(match self.written[segment].get(value) {
                None => {
                    let segment = Segment::must(segment);
                    return Err(Conflict::NeverWritten { scan: id(scan), segment });
                }
                Some(Writers::One(block)) => *block,
                Some(Writers::Several(blocks)) if blocks.len() == 1 => blocks[0],
                Some(Writers::Several(_)) => {
                    self.is_ambiguous = true;
                    NONE
                }
            });
        }
        self.relation.respond_scan(scan, &entries)?;
        self.entries = entries;
        if self.tries_pairs {
            self.try_pairs(scan)?;
        }
        Ok(())
    }

    /// Tries a new scan before and after each other one that it is not ordered
    /// with. If it cannot come before one, it comes after it.
    fn try_pairs(&mut self, scan: u32) -> Result<(), Conflict> {
        for chain in 0..self.relation.chains().len() as u32 {
            let mut at = self.relation.chains().scans(chain).len();
            while at > 0 {
                at -= 1;
                let other = self.relation.chains().scans(chain)[at].1;
                if other == scan || self.relation.is_before(scan, other) {
                    continue;
                }
                if self.relation.is_before(other, scan) {
                    break;
                }
                let entries = |scan| self.relation.entries(self.relation.operation(scan));
                if entries(scan) == entries(other) {
                    continue;
                }
                let can_follow = self.relation.can_order(other, scan);
                let can_precede = self.relation.can_order(scan, other);
                match (can_precede, can_follow) {
                    (true, true) => {}
                    (true, false) => self.relation.order(scan, other)?,
                    (false, true) => self.relation.order(other, scan)?,
                    (false, false) => {
                        return Err(Conflict::Pair { first: id(other), second: id(scan) });
                    }
                }
            }
        }
        Ok(())
    }
}

/// The answer of [`check()`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// There is an order.
    Linearizable(Linearization),
    /// There is none.
    Violation {
        /// The event that completes the violation.
        event: usize,
        /// The operations that prove it.
        witness: Witness,
        /// What is derived of them; absent where a scan returned a value that was
        /// never there.
        refutation: Option<Refutation>,
    },
    /// What is certain makes no cycle, but some entry can have been read from
    /// several updates: to go on takes a search.
    Ambiguous,
    /// A budget ran out; so many first events have no cycle.
    Exhausted {
        /// Which.
        exhausted: Exhausted,
        /// Number of events that were found without cycle.
        events: usize,
    },
}

/// Decides a history, with proof. Polynomial: in practice near-linear in the
/// number of operations times the largest number of them that overlap.
pub fn check<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Outcome {
    let mut saturation = Saturation::cycles_only(history.declaration());
    for (position, event) in history.events().enumerate() {
        if let Some(conflict) = saturation.observe(&event) {
            return proof::violation(history, position, conflict, budget);
        }
        if position % PERIOD == 0
            && let Some(exhausted) = saturation.exhausted(budget)
        {
            return Outcome::Exhausted { exhausted, events: position };
        }
    }
    if saturation.is_ambiguous {
        return Outcome::Ambiguous;
    }
    match linearize::linearize(history, &mut saturation.relation, budget) {
        Ok(order) => Outcome::Linearizable(order),
        Err(linearize::Failure::Exhausted(exhausted)) => {
            Outcome::Exhausted { exhausted, events: history.len() }
        }
        Err(linearize::Failure::NoOrder) => {
            drop(saturation);
            pair_violation(history, budget)
        }
    }
}

/// There is no order of the scans: finds the event at which that became so.
fn pair_violation<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Outcome {
    let mut saturation = Saturation::new(history.declaration());
    for (position, event) in history.events().enumerate() {
        if let Some(conflict) = saturation.observe(&event) {
            return proof::violation(history, position, conflict, budget);
        }
        if position % PERIOD == 0
            && let Some(exhausted) = saturation.exhausted(budget)
        {
            return Outcome::Exhausted { exhausted, events: position };
        }
    }
    debug_assert!(false, "a pair of scans that cannot be ordered at the end cannot be before");
    Outcome::Ambiguous
}

impl<V: Clone + Eq + Hash> Saturation<V> {
    fn exhausted(&self, budget: &mut Budget<'_>) -> Option<Exhausted> {
        if self.bytes() > budget.memory {
            Some(Exhausted::Memory)
        } else if (budget.proceed)() {
            None
        } else {
            Some(Exhausted::Time)
        }
    }
}

/// A witness for a scan that returned a value that was never there.
fn never_there<V: Eq>(history: &History<V>, scan: OperationId, segment: Segment) -> Witness {
    let operation = history.operation(scan);
    let value = history.entry(operation, segment);
    let wrote = history.operation_ids().find(|id| {
        let update = history.operation(*id);
        update.segment() == Some(segment) && Some(history.update_value(update)) == value
    });
    let reason = match wrote {
        None => Reason::NeverWritten { scan, segment },
        Some(update) if history.operation(update).is_failed() => {
            Reason::FailedUpdateSeen { scan, update }
        }
        Some(update) => Reason::Future { scan, update },
    };
    let mut operations: Vec<OperationId> = wrote.into_iter().chain([scan]).collect();
    operations.sort_unstable();
    Witness { reason, segments: vec![segment], operations, renaming: None }
}
