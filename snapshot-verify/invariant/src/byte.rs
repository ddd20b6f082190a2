//! Meaning of one byte of a view.
//!
//! Every scalar of the program has one byte: [`ANY`] (nothing is known), [`NONE`], or
//! [`BASE`] and more for a definite value. The type determines the meaning of a definite value.

use smallvec::SmallVec;

/// Scalars of a value, in order.
pub type Row = SmallVec<[u8; 16]>;

/// Any value of the type; nothing is known.
pub const ANY: u8 = 0;
pub const NONE: u8 = 1;
/// The first definite value: false, the value 0, the first version, member i.
pub const BASE: u8 = 2;

/// Members of the crowd: i.
pub const I: u8 = 0;
/// j.
pub const J: u8 = 1;
/// Third process that a view tracks.
pub const T: u8 = 2;
/// Any process but i, j and t. Two such processes may be equal or different.
pub const OTHER: u8 = 3;
/// Any process but t, possibly i or j: the value of a loop variable in the rounds that
/// [`crate::layout::Layout::loose`] merges.
pub const LOOSE: u8 = 4;
/// Members that have a place of their own in arrays.
pub const PLACES: usize = 3;

/// A broken link, or one that was never made.
pub const BROKEN: u8 = BASE;
pub const LINKED: u8 = BASE + 1;

/// An entry of a view that was read whole from shared memory; it is judged where it was made.
pub const BORROWED: u8 = BASE + 2;

/// Tokens of whole views: a view that this process assembled from values.
pub const OWN: u8 = BASE;
/// Returned by a ghost scan that began after the present ghost scan of t.
pub const FRESH: u8 = BASE + 1;
/// Possibly older than [`FRESH`].
pub const OLD: u8 = BASE + 2;
/// From a place of one other process; judged by the views in which that process is i.
pub const EXEMPT: u8 = BASE + 3;
/// Assembled from several origins.
pub const MIXED: u8 = BASE + 4;
/// Returned by a ghost scan of the same operation.
pub const MINE: u8 = BASE + 5;

/// The byte of the integer 0.
const ZERO: i64 = 64;
/// Integers that have a byte.
pub const INTEGERS: std::ops::RangeInclusive<i64> = -62..=187;

pub const fn truth(truth: bool) -> u8 {
    BASE + truth as u8
}

/// The byte of an integer of [`INTEGERS`].
pub const fn integer(number: i64) -> u8 {
    (ZERO + number) as u8
}

/// The integer of a definite byte.
pub const fn number(byte: u8) -> i64 {
    byte as i64 - ZERO
}
