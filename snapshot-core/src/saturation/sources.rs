//! Finding the update from which each entry of a scan was read, where values repeat.
//!
//! In a linearization a scan reads each entry from one update, the last one of the segment before
//! it, or finds the initial value. This source is not always known. *Candidates* of an entry are
//! the updates of its value that were invoked before the scan responded, and after which no other
//! update of the segment comes that is before the scan: by time at first, then by the relation. A
//! candidate is *excluded* if the supposition that the scan read from it makes a cycle. An entry
//! with one candidate is settled, as if values did not repeat, which may exclude candidates of
//! others; an entry without candidates refutes the history.
//!
//! If every entry is settled, the relation is as good as for a history without repetitions.
//! Otherwise, the known facts guide a search ([`Guide`]).
//!
//! Updates of unknown outcome keep their chains here: a scan of one is settled after
//! others of its chain.

use std::hash::Hash;

use super::relation::{NONE, Relation};
use super::{Outcome, PERIOD, linearize, schedule};
use crate::history::{Action, History};
use crate::search::{Budget, Guide, Source};
use crate::verdict::Exhausted;
use crate::{OperationId, Segment};

/// An entry with an unknown source.
struct Entry {
    scan: u32,
    segment: u32,
    /// Candidates, as blocks.
    candidates: Vec<u32>,
}

/// The reason why narrowing ended early.
enum End {
    Excluded,
    Exhausted(Exhausted),
}

/// Decides a history in which values repeat, as far as possible without search.
pub(super) fn check<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let narrowed = Sweep::new(history).run(budget).and_then(|(mut relation, entries)| {
        let open = narrow(&mut relation, entries, budget)?;
        Ok((relation, open))
    });
    let (mut relation, open) = match narrowed {
        Ok(narrowed) => narrowed,
        Err(End::Excluded) => return Outcome::Excluded,
        Err(End::Exhausted(exhausted)) => return Outcome::Exhausted { exhausted, events: 0 },
    };
    if !open.is_empty() {
        return Outcome::Ambiguous(guide(&relation, &open));
    }
    let exhausted = |exhausted| Outcome::Exhausted { exhausted, events: 0 };
    if history.has_partial_scans() {
        return match schedule::linearize(&mut relation, budget).0 {
            Ok(order) => Outcome::Linearizable(order),
            Err(schedule::Failure::Refuted(_)) => Outcome::Excluded,
            Err(schedule::Failure::Exhausted(kind)) => exhausted(kind),
        };
    }
    match linearize::linearize(history, &mut relation, budget) {
        Ok(order) => Outcome::Linearizable(order),
        Err(linearize::Failure::NoOrder) => Outcome::Excluded,
        Err(linearize::Failure::Exhausted(kind)) => exhausted(kind),
    }
}

/// An update during the pass over events. Times are numbers of events plus 1.
#[derive(Clone, Copy)]
struct Update {
    operation: OperationId,
    response: u32,
    block: u32,
}

/// The updates of a segment so far, without failed ones.
#[derive(Default)]
struct Updates {
    /// Ended updates, by response.
    ended: Vec<Update>,
    /// Updates without response.
    open: Vec<Update>,
    /// The latest invocation of an ended update.
    latest: u32,
}

/// Builds the relation, with the entries that have one candidate by time.
struct Sweep<'h, V> {
    history: &'h History<V>,
    relation: Relation,
    updates: Vec<Updates>,
    /// For each open scan and segment, the latest invocation of an update that had ended before.
    overwritten: Vec<Vec<u32>>,
    entries: Vec<Entry>,
}

impl<'h, V: Clone + Eq + Hash> Sweep<'h, V> {
    fn new(history: &'h History<V>) -> Self {
        let mut relation = Relation::new();
        relation.keeps_chains = true;
        let segments = history.segments();
        Self {
            history,
            relation,
            updates: (0..segments).map(|_| Updates::default()).collect(),
            overwritten: vec![Vec::new(); history.operations().len()],
            entries: Vec::new(),
        }
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<(Relation, Vec<Entry>), End> {
        if let Some(last) = self.history.segments().checked_sub(1) {
            self.relation.initial_block(last as u32);
        }
        for (position, step) in self.history.steps().enumerate() {
            if position % PERIOD == 0 {
                spend(&self.relation, budget)?;
            }
            let (id, time) = (step.operation, position as u32 + 1);
            let number = id.index() as u32;
            let grown = match self.history.event(position).action {
                Action::InvokeUpdate { segment, .. } => self.invoke_update(id, segment),
                Action::InvokeScan => {
                    self.relation.invoke_scan();
                    self.overwritten[id.index()] =
                        self.updates.iter().map(|updates| updates.latest).collect();
                    Ok(())
                }
                Action::RespondUpdate => {
                    self.end_update(id, time);
                    self.relation.respond_update(number).map_err(|_| End::Excluded)
                }
                Action::RespondScan { .. } | Action::RespondPartialScan { .. } => {
                    self.respond_scan(id)
                }
                Action::Fail => {
                    self.relation.end_without_response(number, false);
                    Ok(())
                }
                _ => {
                    self.relation.end_without_response(number, true);
                    Ok(())
                }
            };
            grown?;
        }
        Ok((self.relation, self.entries))
    }

    fn invoke_update(&mut self, operation: OperationId, segment: Segment) -> Result<(), End> {
        let update = self.relation.invoke_update(segment.index() as u32);
        let update = update.map_err(|_| End::Excluded)?;
        if !self.history.operation(operation).is_failed() {
            let block = self.relation.block_at(update, segment.index() as u32);
            let open = &mut self.updates[segment.index()].open;
            open.push(Update { operation, response: NONE, block });
        }
        Ok(())
    }

    fn end_update(&mut self, id: OperationId, response: u32) {
        let operation = self.history.operation(id);
        let Some(segment) = operation.segment() else { return };
        let updates = &mut self.updates[segment.index()];
        let Some(at) = updates.open.iter().position(|open| open.operation == id) else { return };
        let update = updates.open.swap_remove(at);
        updates.ended.push(Update { response, ..update });
        updates.latest = updates.latest.max(operation.invocation() as u32 + 1);
    }

    fn respond_scan(&mut self, id: OperationId) -> Result<(), End> {
        let scan = id.index() as u32;
        let operation = self.history.operation(id);
        let overwritten = std::mem::take(&mut self.overwritten[id.index()]);
        let mut blocks = vec![NONE; self.history.segments()];
        let first = self.entries.len();
        for (segment, value) in self.history.entries(operation) {
            let mut candidates = self.candidates(segment, value, overwritten[segment.index()]);
            let segment = segment.index() as u32;
            if candidates.len() > 1 {
                candidates.retain(|block| !self.is_overwritten(scan, segment, *block));
            }
            match candidates[..] {
                [] => return Err(End::Excluded),
                [block] => blocks[segment as usize] = block,
                _ => self.entries.push(Entry { scan, segment, candidates }),
            }
        }
        debug_assert!(self.entries[first..].iter().all(|entry| entry.scan == scan));
        self.relation.respond_scan(scan, &blocks).map_err(|_| End::Excluded)
    }

    /// Returns the blocks of a value that a scan that responds now can have read by time, if an
    /// update that ended before it had begun at `overwritten`.
    fn candidates(&self, segment: Segment, value: &V, overwritten: u32) -> Vec<u32> {
        let updates = &self.updates[segment.index()];
        let first = updates.ended.partition_point(|update| update.response <= overwritten);
        let possible = updates.ended[first..].iter().chain(&updates.open);
        let wrote_it = |update: &&Update| {
            self.history.update_value(self.history.operation(update.operation)) == value
        };
        let mut blocks: Vec<u32> = possible.filter(wrote_it).map(|update| update.block).collect();
        if overwritten == 0 && self.history.initial_value(segment) == value {
            blocks.push(self.relation.initial_blocks()[segment.index()]);
        }
        blocks
    }

    /// Returns true if another update of the segment comes after this block, and before the scan.
    fn is_overwritten(&self, scan: u32, segment: u32, block: u32) -> bool {
        let relation = &self.relation;
        let update = relation.block(block).update;
        (0..).zip(relation.clock(scan)).any(|(chain, number)| {
            let mark = relation.chains().last_mark(chain, segment, *number);
            mark.is_some_and(|mark| {
                mark.block != block
                    && (update == NONE || relation.is_before(update, mark.operation))
            })
        })
    }
}

fn spend(relation: &Relation, budget: &mut Budget<'_>) -> Result<(), End> {
    if relation.bytes() > budget.memory {
        Err(End::Exhausted(Exhausted::Memory))
    } else if (budget.proceed)() {
        Ok(())
    } else {
        Err(End::Exhausted(Exhausted::Time))
    }
}

/// Excludes candidates, and settles entries, until nothing changes. Returns the open entries.
fn narrow(
    relation: &mut Relation,
    mut entries: Vec<Entry>,
    budget: &mut Budget<'_>,
) -> Result<Vec<Entry>, End> {
    let mut tried = 0_usize;
    loop {
        let mut has_changed = false;
        let mut open = Vec::new();
        for mut entry in entries {
            let Entry { scan, segment, .. } = entry;
            let mut ended = None;
            entry.candidates.retain(|&block| {
                tried += 1;
                if tried.is_multiple_of(PERIOD) && ended.is_none() {
                    ended = spend(relation, budget).err();
                }
                ended.is_some() || relation.can_settle(scan, segment, block)
            });
            if let Some(end) = ended {
                return Err(end);
            }
            match entry.candidates[..] {
                [] => return Err(End::Excluded),
                [block] => {
                    let settled = relation.settle_entry(scan, segment, block);
                    debug_assert!(settled.is_ok(), "it was tried");
                    has_changed = true;
                }
                _ => open.push(entry),
            }
        }
        if !has_changed || open.is_empty() {
            return Ok(open);
        }
        entries = open;
    }
}

/// Returns the facts that a search has to respect.
fn guide(relation: &Relation, open: &[Entry]) -> Guide {
    let operations = 0..relation.operations().len() as u32;
    let update = |block: u32| match relation.block(block).update {
        NONE => None,
        update => Some(super::id(update)),
    };
    let mut sources: Vec<Source> = Vec::new();
    let mut add = |scan, segment: usize, updates| {
        let (scan, segment) = (super::id(scan), Segment::from_index(segment));
        sources.push(Source { scan, segment, updates });
    };
    for number in operations.clone() {
        for (segment, &block) in relation.entries(relation.operation(number)).iter().enumerate() {
            if block != NONE {
                add(number, segment, vec![update(block)]);
            }
        }
    }
    for Entry { scan, segment, candidates } in open {
        add(*scan, *segment as usize, candidates.iter().map(|block| update(*block)).collect());
    }
    let place = |number: u32| {
        let operation = relation.operation(number);
        (operation.chain, operation.number)
    };
    Guide {
        places: operations.clone().map(place).collect(),
        clocks: operations.map(|number| relation.clock(number).to_vec()).collect(),
        sources,
    }
}
