//! `stale`: resets shared cells that will probably be overwritten unread, as random walks suggest.
//!
//! Like [`crate::passes::dead_variable_reset`] for the variables of one process, this reduction
//! resets cells that several processes read. Whether such a cell is live depends on the next steps
//! of all of them; analyses of single graphs cannot decide that well. So it is *conjectured*, and
//! the exploration itself is the proof:
//!
//! * A state in which a cell is conjectured to be stale is replaced by a state in which the cell
//!   holds a scalar that the program cannot write there, its **blank**.
//! * Every step that would read a blank, except to move it to another slot that may hold blanks,
//!   ends in a fault instead (`guard.rs`).
//!
//! *Soundness.* A state s' with blanks represents s if both agree wherever s' has no blank. As long
//! as no step from s' ends in such a fault, each step from s is a step from s' with the same
//! decisions, responses and, where no blank was moved, the same assignments: its next state
//! represents the next state of s. Conversely, each step from s' is a step from every s that it
//! represents. So by induction the explorations with and without blanks reach the same responses at
//! the same distance, for any conjecture. If a fault does occur, the conjecture was wrong: it is
//! corrected ([`Stale::refute`]) and the exploration restarts. The answer never depends on a
//! refuted conjecture.
//!
//! *The conjecture* is a table. The slots of a group are stale or live depending on a small part of
//! the state, its **key**: the location of the slots' owner, and the cells that the program
//! branches on. The table is learnt from random walks (`learn.rs`): a slot is live at a key if some
//! walk led from that key to a read of it without overwriting it. This is the usual backward data
//! flow, over the observed keys. At other keys everything is live.
//!
//! There are two layers, since keys of the second contain slots of the first. The first has cells
//! that name processes (jayanti's X says whose arrays are in use; before that is decided its
//! content is stale). The second has elements of arrays that are read at an index known only at run
//! time (the arrays themselves).
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

/// The conjecture: by key, the stale slots.
#[derive(Clone, Debug)]
pub struct Stale {
    /// In the order of application.
    layers: Vec<Layer>,
}

/// Groups whose keys contain only slots of earlier layers.
#[derive(Clone, Debug)]
struct Layer {
    /// The content of stale slots.
    blank: Scalar,
    groups: Vec<Group>,
}

/// Slots whose staleness depends on the same key.
#[derive(Clone, Debug)]
struct Group {
    key: Vec<Digit>,
    /// At most 64.
    slots: Vec<SlotId>,
    /// By key, the observations; at other keys all slots are live.
    table: FxHashMap<u64, Seen>,
    /// A dense copy of the table, with the live slots of every key, unless there are too many keys.
    live: Vec<u64>,
    /// Whether any slot is ever stale.
    useful: bool,
}

/// Tables with more keys than this are hashed.
const MOST_KEYS: u64 = 1 << 16;

/// The observations at a key: slots by position.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Slots that held a value other than the blank.
    slots: u64,
    /// Slots of which that value was read later.
    live: u64,
}

/// One register of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Digit {
    register: Register,
    /// The least scalar except `none`.
    low: Scalar,
    /// The number of scalars, including `none`.
    radix: u64,
}

impl Group {
    /// Returns the key of a state, as a number.
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

    /// Updates the derived fields after a change of the table.
    fn refresh(&mut self) {
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
    /// Returns the slots that may become stale, with an empty conjecture, and the guarded instance.
    /// Returns `None` without such slots.
    ///
    /// O(size of the instance).
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

    /// Returns the guarded instance with initially stale cells blank. Their initial contents do not
    /// matter.
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

    /// Returns true if the conjecture may reset any slot.
    pub fn is_useful(&self) -> bool {
        self.layers.iter().flat_map(|layer| &layer.groups).any(|group| group.useful)
    }

    /// Returns the blank of a slot; `None` if the slot is never stale.
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
