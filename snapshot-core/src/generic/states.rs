//! States by number.
//!
//! Each distinct state is kept once, for as long as the search lasts. A memo
//! then compares numbers, and going back is taking an old number; nothing is
//! undone. Equality is the state's own: the hash only says where to look.

use std::hash::{BuildHasher, Hash};

use crate::seeded::{SeededMap, SeededState};

/// The number of a state.
pub(crate) type StateId = u32;

const NONE: StateId = StateId::MAX;

/// The distinct states met so far.
pub(crate) struct States<T> {
    hasher: SeededState,
    states: Vec<T>,
    /// Per hash, the latest state with it.
    latest: SeededMap<u64, StateId>,
    /// Per state, the previous one with the same hash.
    previous: Vec<StateId>,
}

impl<T: Clone + Eq + Hash> States<T> {
    pub fn new() -> Self {
        Self {
            hasher: SeededState::default(),
            states: Vec::new(),
            latest: SeededMap::default(),
            previous: Vec::new(),
        }
    }

    /// The number of a state, and whether it is a new one. The state is copied
    /// only if it is.
    pub fn number(&mut self, state: &T) -> (StateId, bool) {
        let latest = self.latest.entry(self.hasher.hash_one(state)).or_insert(NONE);
        let mut known = *latest;
        while known != NONE {
            if self.states[known as usize] == *state {
                return (known, false);
            }
            known = self.previous[known as usize];
        }
        let number = self.states.len() as StateId;
        self.states.push(state.clone());
        self.previous.push(*latest);
        *latest = number;
        (number, true)
    }

    #[inline]
    pub fn get(&self, number: StateId) -> &T {
        &self.states[number as usize]
    }
}
