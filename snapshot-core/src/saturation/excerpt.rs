//! Parts of a history: some of its operations, and some entries of its scans.
//!
//! A missing entry constrains nothing: the scan is in no block of the segment. So a refuted part
//! refutes the history.

use super::relation::{NONE, Relation};
use crate::history::History;
use crate::{OperationId, Segment};

/// The update that an entry was read from; `None`: the initial value.
pub(super) type Source = Option<OperationId>;

/// An entry, with all its possible sources by time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Entry {
    pub scan: OperationId,
    pub segment: Segment,
    pub sources: Vec<Source>,
}

/// An element of a part.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Operation(OperationId),
    Entry(Entry),
}

/// A part, with the entries whose scans and sources are in it.
#[derive(Clone, Debug)]
pub(super) struct Excerpt<'i> {
    /// Ascending.
    pub operations: Vec<OperationId>,
    pub entries: Vec<&'i Entry>,
}

impl<'i> Excerpt<'i> {
    /// Creates the part with these elements.
    pub fn new(items: &'i [Item]) -> Self {
        let mut this = Self { operations: Vec::new(), entries: Vec::new() };
        for item in items {
            match item {
                Item::Operation(id) => this.operations.push(*id),
                Item::Entry(entry) => this.entries.push(entry),
            }
        }
        this.operations.sort_unstable();
        let is_in = |id: &OperationId| this.operations.binary_search(id).is_ok();
        this.entries
            .retain(|entry| is_in(&entry.scan) && entry.sources.iter().flatten().all(is_in));
        this
    }

    /// Returns the number of an operation within the part. Operations are numbered by invocation
    /// in both.
    pub fn place(&self, id: OperationId) -> Option<usize> {
        self.operations.binary_search(&id).ok()
    }

    /// Adds the operations to an empty relation, and the entries that have one source. `Err` is an
    /// operation that comes before itself, if the relation has a cycle.
    pub fn relate<V>(&self, history: &History<V>, relation: &mut Relation) -> Result<(), u32> {
        let place = |id: OperationId| self.place(id).unwrap_or_default();
        let mut of_scan: Vec<Vec<&Entry>> = vec![Vec::new(); self.operations.len()];
        for entry in &self.entries {
            of_scan[place(entry.scan)].push(entry);
        }
        if let Some(last) = history.segments().checked_sub(1) {
            relation.initial_block(last as u32);
        }
        let mut moments: Vec<(usize, usize, bool)> = Vec::new();
        for (at, id) in self.operations.iter().enumerate() {
            let operation = history.operation(*id);
            moments.push((operation.invocation(), at, false));
            moments.extend(operation.response().map(|response| (response, at, true)));
        }
        moments.sort_unstable();
        for (_, at, is_end) in moments {
            let result = match (history.operation(self.operations[at]).segment(), is_end) {
                (Some(segment), false) => {
                    relation.invoke_update(segment.index() as u32).map(|_| ())
                }
                (None, false) => {
                    relation.invoke_scan();
                    Ok(())
                }
                (Some(_), true) => relation.respond_update(at as u32),
                (None, true) => {
                    let mut blocks = vec![NONE; history.segments()];
                    for Entry { segment, sources, .. } in &of_scan[at] {
                        let k = segment.index();
                        blocks[k] = match sources[..] {
                            [Some(update)] => relation.block_at(place(update) as u32, k as u32),
                            [None] => relation.initial_block(k as u32),
                            _ => NONE,
                        };
                    }
                    relation.respond_scan(at as u32, &blocks)
                }
            };
            result.map_err(|cycle| cycle.operation)?;
        }
        Ok(())
    }
}
