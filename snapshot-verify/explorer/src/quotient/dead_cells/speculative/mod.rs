//! `stale`: resets shared cells that, as random walks suggest, will be overwritten unread.
//!
//! What [`crate::passes::dead_variable_reset`] does for the variables of one process, this does for cells
//! that several processes read. Whether such a cell is live depends on what all of
//! them are about to do; no analysis of single graphs tells that well. So it is
//! *conjectured*, and the exploration itself is the proof:
//!
//! * A state in which a cell is conjectured to be stale is replaced by one in which
//!   the cell holds a scalar that the program cannot put there, its **blank**.
//! * Every step that would read a blank, except to move it to another slot that may
//!   hold blanks, ends in a fault instead (`guard.rs`).
//!
//! *Soundness.* Say that a state s' with blanks stands for s if both agree wherever
//! s' has none. As long as no step from s' ends in such a fault, each step from s is
//! one from s' with the same decisions, responses and, where no blank was moved, the
//! same assignments: its next state stands for that of s. Conversely, each step from s'
//! is one from any s that it stands for. So by induction the
//! exploration with blanks and the one without reach the same responses at the same
//! distance, whatever the conjecture was. If a fault does occur, the conjecture was
//! wrong: it is corrected ([`Stale::refute`]) and the exploration begins again; the
//! answer never depends on a conjecture that was refuted.
//!
//! *The conjecture* is a table. The slots of a group are stale or live depending on
//! a small part of the state, its **key**: where the owner of the slots stands, and
//! the cells that the program branches on. The table is learnt from random walks
//! (`learn.rs`): a slot is live at a key if some walk went from that key to a
//! read of it that nothing overwrote on the way - the usual data flow, backward over
//! the keys that were seen. At keys that were not seen everything is live.
//!
//! There are two layers, since keys of the second contain slots of the first: cells
//! that name processes (jayanti's X says whose arrays are in use; what it says before
//! that is decided is stale), then elements of arrays that are read at an index known
//! at run time only (the arrays themselves).
//!
//! For jayanti with 2 processes 66,217 of 425,730 states are left.

mod candidates;
mod guard;
mod learn;

use rustc_hash::FxHashMap;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Location, NONE, Owner, Scalar, SlotId};
use crate::search::canonical;
use crate::search::layout::{Register, Registers};

/// The text of a fault that a wrong conjecture causes.
pub const READ: &str = "what was thought to be stale is read";

/// The conjecture: what is stale when.
#[derive(Clone, Debug)]
pub struct Stale {
    /// In the order in which they are applied.
    layers: Vec<Layer>,
}

/// Groups whose keys contain only slots of earlier layers, or of none.
#[derive(Clone, Debug)]
struct Layer {
    /// What its slots hold when they are stale.
    blank: Scalar,
    groups: Vec<Group>,
}

/// Slots that are stale or live depending on the same part of the state.
#[derive(Clone, Debug)]
struct Group {
    key: Vec<Digit>,
    /// At most 64.
    slots: Vec<SlotId>,
    /// By key, what was seen; at other keys all slots are live.
    table: FxHashMap<u64, Seen>,
    /// The same for all keys, as the slots that are live, if there are not too many.
    live: Vec<u64>,
    /// Whether anything is ever stale.
    useful: bool,
}

/// Tables with more keys than this are hashed.
const MOST_KEYS: u64 = 1 << 16;

/// What was seen at a key: slots by position.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Those that held something.
    slots: u64,
    /// Those of which that was read later.
    live: u64,
}

/// One register of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Digit {
    register: Register,
    /// The least scalar but none.
    low: Scalar,
    /// How many scalars there are, none included.
    radix: u64,
}

impl Group {
    /// The key of a state, as a number.
    #[inline]
    fn key(&self, state: &[Scalar]) -> u64 {
        self.key.iter().fold(0, |number, digit| {
            let scalar = state[digit.register];
            let value = if scalar == NONE { 0 } else { (scalar - digit.low) as u64 + 1 };
            debug_assert!(value < digit.radix, "keys hold what their domains do");
            number * digit.radix + value
        })
    }

    #[inline]
    fn live(&self, state: &[Scalar]) -> u64 {
        let key = self.key(state);
        match self.live.get(key as usize) {
            Some(live) => *live,
            None => self.table.get(&key).map_or(u64::MAX, |seen| seen.live),
        }
    }

    /// To be called once the table has changed.
    fn settle(&mut self) {
        let keys = self.key.iter().try_fold(1_u64, |keys, digit| keys.checked_mul(digit.radix));
        self.live.clear();
        if let Some(keys) = keys.filter(|keys| *keys <= MOST_KEYS) {
            self.live.resize(keys as usize, u64::MAX);
            for (&key, seen) in &self.table {
                self.live[key as usize] = seen.live;
            }
        }
        self.useful = self.table.values().any(|seen| seen.slots & !seen.live != 0);
    }
}

impl Layer {
    #[inline]
    fn forget(&self, state: &mut [Scalar]) {
        for group in self.groups.iter().filter(|group| group.useful) {
            let live = group.live(state);
            for (position, slot) in group.slots.iter().enumerate() {
                if live >> position & 1 == 0 {
                    state[slot.index()] = self.blank;
                }
            }
        }
    }
}

impl Stale {
    /// The slots that may become stale, with nothing learnt yet, and the instance
    /// with its reads guarded; none if there are no such slots.
    ///
    /// O(size of the instance).
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn new(
        instance: &Instance,
        deadline: Deadline<'_>,
    ) -> Result<Option<(Self, Instance)>, Stopped> {
        let layers = candidates::layers(instance, deadline)?;
        if layers.is_empty() {
            return Ok(None);
        }
        let stale = Self { layers };
        let guarded = guard::guarded(instance, &stale);
        Ok(Some((stale, guarded)))
    }

    /// The guarded instance with the cells blank that are stale at first: whatever
    /// they hold, the instance is the same.
    #[must_use]
    pub fn initialised(&self, guarded: &Instance) -> Instance {
        let mut initialised = guarded.clone();
        let registers = Registers::new(guarded);
        let mut state = vec![0; registers.count()];
        for (register, slot) in guarded.slots.iter().enumerate() {
            state[register] = slot.initial;
        }
        canonical::Forgetting::forget(self, registers, &mut state);
        for (register, slot) in initialised.slots.iter_mut().enumerate() {
            if slot.owner == Owner::Shared {
                slot.initial = state[register];
            }
        }
        initialised
    }

    /// Whether anything will ever be forgotten.
    pub fn is_useful(&self) -> bool {
        self.layers.iter().flat_map(|layer| &layer.groups).any(|group| group.useful)
    }

    /// What the slot holds when it is stale; none if it never is.
    fn blank(&self, slot: SlotId) -> Option<Scalar> {
        let has = |layer: &&Layer| layer.groups.iter().any(|group| group.slots.contains(&slot));
        self.layers.iter().find(has).map(|layer| layer.blank)
    }
}

impl canonical::Forgetting for Stale {
    fn forget(&self, _: Registers, state: &mut [Scalar]) {
        self.layers.iter().for_each(|layer| layer.forget(state));
    }

    fn is_blank(&self, _: Registers, register: Register, scalar: Scalar) -> bool {
        self.blank(SlotId(register as u32)) == Some(scalar)
    }
}

impl Digit {
    fn location(instance: &Instance, process: usize) -> Self {
        let register = Registers::new(instance).slots() + process;
        let count = instance.graphs[process].locations.len() as u64;
        Self { register, low: Location::IDLE.0 as Scalar, radix: count + 1 }
    }
}
