//! The views that were reached: each once, of its bytes only those that are kept.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Actor;
use crate::model::{Act, Model};
use crate::shape::DEAD;

/// How a view was reached.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// From which view; `u32::MAX`: it is of the initial state.
    pub(super) from: u32,
    /// By whose step.
    pub(super) actor: Actor,
    /// Where that process stood.
    pub(super) place: u32,
}

/// Views by number.
pub(super) struct Views {
    numbers: HashTable<u32>,
    /// The bytes of a state that may change; all others are [`DEAD`] for ever.
    kept: Vec<usize>,
    /// The length of a state.
    length: usize,
    /// The kept bytes of all views, one after the other, and behind those of each its kind.
    rows: Vec<u8>,
    /// Per view, the number of its centre.
    pub(super) centres: Vec<u32>,
    /// Per view, how it was reached.
    pub(super) origins: Vec<Origin>,
    /// For a row that may turn out to be known.
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.centres.len()
    }

    /// How many bytes each takes, about.
    pub(super) fn size(&self) -> usize {
        self.kept.len() + 40
    }

    fn stored(&self, id: u32) -> &[u8] {
        let width = self.kept.len() + 1;
        let begin = id as usize * width;
        &self.rows[begin..begin + width]
    }

    /// The number of the kind of a view.
    pub(super) fn kind(&self, id: u32) -> usize {
        usize::from(self.stored(id)[self.kept.len()])
    }

    /// The bytes of a view.
    pub(super) fn read(&self, id: u32, state: &mut Vec<u8>) {
        state.clear();
        state.resize(self.length, DEAD);
        self.kept.iter().zip(self.stored(id)).for_each(|(at, byte)| state[*at] = *byte);
    }

    /// The same, in a row of its own.
    pub(super) fn row(&self, id: u32) -> Vec<u8> {
        let mut row = Vec::new();
        self.read(id, &mut row);
        row
    }

    /// The number of a view, if it is known.
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

    /// Adds the view that was asked for last, which is not known.
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

/// The bytes of a state that may change: those that are kept, and where loops stand.
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

/// How many bytes say something.
fn count(row: &[u8]) -> usize {
    row.iter().filter(|byte| **byte != DEAD).count()
}

fn hash(row: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(row);
    hasher.finish()
}
