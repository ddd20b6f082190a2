//! Keys: the object of each event, in a recording of several.
//!
//! A recording has a key on each of its events, or on none. Keys are values; a reader
//! numbers them in the order in which they first occur.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::error::ReadErrorKind;
use crate::Value;

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key(NonZeroU32);

impl Key {
    pub(crate) fn new(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("a key takes a line, and there are fewer lines"))
    }

    /// Returns the index, from 0, in the order of the first occurrence of keys.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The keys of a recording, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Keys {
    names: Vec<Value>,
    numbers: HashMap<Value, Key>,
    /// For the first event: true if it has a key, and its line.
    first: Option<(bool, u64)>,
}

impl Keys {
    /// Returns true if events have keys; decided by the first one.
    pub fn are_used(&self) -> bool {
        matches!(self.first, Some((true, _)))
    }

    /// Returns true if it is known that no event has a key.
    pub const fn are_unused(&self) -> bool {
        matches!(self.first, Some((false, _)))
    }

    pub fn names(&self) -> &[Value] {
        &self.names
    }

    /// Returns the number of a key; registers it if it is new.
    pub fn number(&mut self, name: Value) -> Key {
        let Self { names, numbers, .. } = self;
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            Key::new(names.len() - 1)
        })
    }

    /// Returns the reason why an event of line `line`, with or without a key, cannot follow the
    /// first one, if any.
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

/// The events that a reader hands over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Selection {
    /// All events of a recording without keys.
    Unkeyed,
    /// The events of one object.
    One(Key),
    /// The events of all objects.
    All,
}

/// The treatment of an event.
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
