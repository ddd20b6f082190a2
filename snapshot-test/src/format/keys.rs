//! Keys: which of several objects an event is of.
//!
//! A recording has a key on each of its events, or on none. Keys are values; a reader
//! numbers them in the order in which they first occur.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::error::ReadErrorKind;
use crate::Value;

/// An object of a recording of several, by its number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key(NonZeroU32);

impl Key {
    /// The key with this number.
    pub(crate) fn new(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("a key takes a line, and there are fewer lines"))
    }

    /// Its number, from 0, in the order in which keys first occurred.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The keys of a recording, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Keys {
    names: Vec<Value>,
    numbers: HashMap<Value, Key>,
    /// Whether the first event has a key, and its line.
    first: Option<(bool, u64)>,
}

impl Keys {
    /// Whether events have keys; decided by the first one.
    pub fn are_used(&self) -> bool {
        matches!(self.first, Some((true, _)))
    }

    /// Whether it is known that no event has a key.
    pub const fn are_unused(&self) -> bool {
        matches!(self.first, Some((false, _)))
    }

    pub fn names(&self) -> &[Value] {
        &self.names
    }

    /// The number of a key, a new one if it is new.
    pub fn number(&mut self, name: Value) -> Key {
        let Self { names, numbers, .. } = self;
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            Key::new(names.len() - 1)
        })
    }

    /// Why an event of line `line`, with or without a key, cannot follow the first one.
    #[inline]
    pub fn refusal(&mut self, has_key: bool, line: u64) -> Option<ReadErrorKind> {
        let (is_used, first) = *self.first.get_or_insert((has_key, line));
        match (is_used, has_key) {
            (true, false) => Some(ReadErrorKind::MissingKey { first }),
            (false, true) => Some(ReadErrorKind::UnexpectedKey { first }),
            _ => None,
        }
    }
}

/// Which events a reader hands over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Selection {
    /// Those of a recording without keys.
    Unkeyed,
    /// Those of one object.
    One(Key),
    /// Those of all objects.
    All,
}

/// What becomes of an event.
pub(super) enum Fate {
    Taken,
    Skipped,
    Refused,
}

impl Selection {
    #[inline]
    pub fn fate(self, key: Option<Key>) -> Fate {
        match (self, key) {
            (Self::Unkeyed, None) | (Self::All, _) => Fate::Taken,
            (Self::One(wanted), Some(key)) if key == wanted => Fate::Taken,
            (Self::Unkeyed, Some(_)) => Fate::Refused,
            (Self::One(_), _) => Fate::Skipped,
        }
    }
}
