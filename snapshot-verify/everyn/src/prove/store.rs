//! Reached views: each once, with its kept bytes only.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Actor;
use crate::model::{Act, Model};
use crate::shape::DEAD;

/// Step by which a view was reached.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// Predecessor; `u32::MAX` for a view of the initial state.
    pub(super) from: u32,
    pub(super) actor: Actor,
    /// Location of that process.
    pub(super) place: u32,
}

/// Views by number.
pub(super) struct Views {
    numbers: HashTable<u32>,
    /// Bytes of a state that may change; all others are always [`DEAD`].
    kept: Vec<usize>,
    /// Length of a state.
    length: usize,
    /// Kept bytes of all views, one after the other, each followed by its kind.
    rows: Vec<u8>,
    /// Per view, the number of its centre.
    pub(super) centres: Vec<u32>,
    /// Per view, the step that reached it.
    pub(super) origins: Vec<Origin>,
    /// Buffer for lookups of rows.
    scratch: Vec<u8>,
}

impl Views {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            numbers: HashTable::new(),
            kept: used(model),
            length: model.slots.len(),
            rows: Vec::new(),
            centres: Vec::new(),
            origins: Vec::new(),
            scratch: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.centres.len()
    }

    /// Returns the approximate size of a view in bytes.
    pub(super) fn size(&self) -> usize {
        self.kept.len() + 40
    }

    fn stored(&self, id: u32) -> &[u8] {
        let width = self.kept.len() + 1;
        let begin = id as usize * width;
        &self.rows[begin..begin + width]
    }

    /// Returns the number of the kind of a view.
    pub(super) fn kind(&self, id: u32) -> usize {
        usize::from(self.stored(id)[self.kept.len()])
    }

    /// Reads the bytes of a view into `state`.
    pub(super) fn read(&self, id: u32, state: &mut Vec<u8>) {
        state.clear();
        state.resize(self.length, DEAD);
        self.kept.iter().zip(self.stored(id)).for_each(|(at, byte)| state[*at] = *byte);
    }

    /// Returns the bytes of a view as a new row.
    pub(super) fn row(&self, id: u32) -> Vec<u8> {
        let mut row = Vec::new();
        self.read(id, &mut row);
        row
    }

    /// Returns the number of a view, if it is known.
    pub(super) fn find(&mut self, kind: usize, state: &[u8]) -> Option<u32> {
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        row.extend(self.kept.iter().map(|at| state[*at]));
        row.push(kind as u8);
        debug_assert_eq!(count(&row[..row.len() - 1]), count(state), "nothing else is said");
        let found = self.numbers.find(hash(&row), |id| self.stored(*id) == row).copied();
        self.scratch = row;
        found
    }

    /// Adds the view last looked up, which is not known.
    pub(super) fn insert(&mut self, centre: u32, origin: Origin) -> u32 {
        let id = self.len() as u32;
        self.rows.extend_from_slice(&self.scratch);
        self.centres.push(centre);
        self.origins.push(origin);
        let (rows, width) = (&self.rows, self.kept.len() + 1);
        let again = |id: &u32| hash(&rows[*id as usize * width..(*id as usize + 1) * width]);
        self.numbers.insert_unique(hash(&self.scratch), id, again);
        id
    }
}

/// Returns the bytes of a state that may change: kept bytes, and positions of loops.
pub(super) fn used(model: &Model) -> Vec<usize> {
    let mut used: Vec<bool> = model.slots.iter().map(|slot| slot.kept).collect();
    for one in &model.code {
        if let Act::Begin(this) = &one.act {
            for block in model.blocks {
                for offset in [this.variable, this.position, this.position + 1] {
                    used[block + offset] = true;
                }
            }
        }
    }
    (0..used.len()).filter(|at| used[*at]).collect()
}

/// Returns the number of bytes that are not dead.
fn count(row: &[u8]) -> usize {
    row.iter().filter(|byte| **byte != DEAD).count()
}

fn hash(row: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(row);
    hasher.finish()
}
