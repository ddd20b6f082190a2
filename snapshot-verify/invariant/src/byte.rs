//! What one byte of a view says.
//!
//! Every scalar of the program has one byte: [`ANY`] (nothing is known), [`NONE`], or
//! [`BASE`] and more for a definite value. What a definite value is depends on the type.

use smallvec::SmallVec;

/// The scalars of a value, in order.
pub type Row = SmallVec<[u8; 16]>;

/// Any value of the type; nothing is known.
pub const ANY: u8 = 0;
/// `none`.
pub const NONE: u8 = 1;
/// The first definite value: false, the value 0, the first version, member i.
pub const BASE: u8 = 2;

/// Members of the crowd: i.
pub const I: u8 = 0;
/// j.
pub const J: u8 = 1;
/// The third process that a view tracks.
pub const T: u8 = 2;
/// Any process but i, j and t. Two others may be the same, or not.
pub const OTHER: u8 = 3;
/// Any process but t, i and j among them: what the variable of a loop is in the rounds that
/// [`crate::layout::Layout::loose`] takes together.
pub const LOOSE: u8 = 4;
/// The members that have a place of their own in arrays.
pub const PLACES: usize = 3;

/// A link that is broken, or was never made.
pub const BROKEN: u8 = BASE;
/// A link that is unbroken.
pub const LINKED: u8 = BASE + 1;

/// An entry of a view that was read whole from shared memory: judged where it was made.
pub const BORROWED: u8 = BASE + 2;

/// Tokens of whole views: put together here, of values.
pub const OWN: u8 = BASE;
/// Returned by a ghost scan that began after the present ghost scan of t.
pub const FRESH: u8 = BASE + 1;
/// Possibly older than that.
pub const OLD: u8 = BASE + 2;
/// From a place of one other process: judged by the views in which that process is i.
pub const EXEMPT: u8 = BASE + 3;
/// Of several origins.
pub const MIXED: u8 = BASE + 4;
/// Returned by a ghost scan of this very operation.
pub const MINE: u8 = BASE + 5;

/// The byte of the integer 0.
const ZERO: i64 = 64;
/// The integers that have a byte.
pub const INTEGERS: std::ops::RangeInclusive<i64> = -62..=187;

/// The byte of a truth value.
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
