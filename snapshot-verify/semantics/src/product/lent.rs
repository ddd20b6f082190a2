//! Data that is computed on demand, lent to one search, or to several at once.
//!
//! Only a search to which the data is lent exclusively computes and remembers more. All others find
//! that it is [`Unknown`], and leave the state concerned to that search. So the numbers of what is
//! remembered do not depend on the number of threads.

use std::ops::Deref;

/// Data that is lent.
#[derive(Debug)]
pub enum Lent<'a, T> {
    Shared(&'a T),
    Exclusive(&'a mut T),
}

/// Something that was not computed yet, and is needed by a search that shares the data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unknown;

impl<T> Lent<'_, T> {
    /// Returns the data to add to it.
    ///
    /// # Errors
    /// If it is shared.
    pub const fn exclusively(&mut self) -> Result<&mut T, Unknown> {
        match self {
            Self::Shared(_) => Err(Unknown),
            Self::Exclusive(data) => Ok(data),
        }
    }

    /// Lends a part of the data.
    pub fn part<U>(
        &mut self,
        shared: impl FnOnce(&T) -> &U,
        exclusive: impl FnOnce(&mut T) -> &mut U,
    ) -> Lent<'_, U> {
        match self {
            Self::Shared(data) => Lent::Shared(shared(data)),
            Self::Exclusive(data) => Lent::Exclusive(exclusive(data)),
        }
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Shared(data) => data,
            Self::Exclusive(data) => data,
        }
    }
}

/// Returns what was asked of data that is lent exclusively.
///
/// # Panics
/// If it is unknown.
pub fn known<T>(found: Result<T, Unknown>) -> T {
    found.expect("data that is lent exclusively is computed on demand")
}
