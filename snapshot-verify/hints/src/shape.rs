//! Types as flat rows of bytes, one byte per scalar.
//!
//! An index over processes or segments has four places in every array: `i`, `j`, the
//! tracked process `t`, and one for any other process. The place of "any other" never
//! holds lasting information: elements of different processes would share it. It is
//! scratch space within one round of a loop (see `run`).
//!
//! A byte is one of the codes below, or [`BASE`] plus the number of a definite value.

use smallvec::SmallVec;
use snapshot_language::program::{Bound, IndexSet, Type};

/// Scalars of a value, in order.
pub type Bytes = SmallVec<[u8; 16]>;

/// The value of an optional that is none.
pub const NONE: u8 = 3;
/// The first definite value.
pub const BASE: u8 = 4;

/// Code of the integer 0. Integers have one code each, for all types: a narrow range may stand
/// where a wider one is expected.
const ZERO: i32 = 68;
/// Integers that have a code.
const CODED: std::ops::RangeInclusive<i32> = BASE as i32 - ZERO..=255 - ZERO;

/// Returns true if the integers of a range have codes: there are few, and none depends on n.
pub fn has_codes(low: Bound, high: Bound) -> bool {
    low.times_n == 0
        && high.times_n == 0
        && CODED.contains(&low.plus)
        && CODED.contains(&high.plus)
        && i64::from(high.plus) - i64::from(low.plus) < 64
}

/// Returns the byte of an integer of a supported type.
pub fn integer(number: i32) -> u8 {
    debug_assert!(CODED.contains(&number));
    (ZERO + number) as u8
}

/// Returns the integer of a definite byte.
pub fn number(byte: u8) -> i32 {
    debug_assert!(byte >= BASE);
    i32::from(byte) - ZERO
}

/// Named members of the crowd: i, j, t, and any other.
pub const I: u8 = 0;
/// See [`I`].
pub const J: u8 = 1;
/// See [`I`].
pub const T: u8 = 2;
/// See [`I`].
pub const OTHER: u8 = 3;
/// Number of places of an array over processes or segments.
pub const PLACES: usize = 4;

/// Properties of ghost scans.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mode {
    /// The vector that a ghost scan assembles itself is right.
    Direct,
    /// A view that is taken from elsewhere belongs to a ghost scan within this one.
    Nested,
}

/// Kind of a scalar.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scalar {
    Bool,
    /// An integer from `low`, `count` of them.
    Integer {
        low: i32,
        /// Number of integers.
        count: u8,
    },
    /// A process or a segment, as a member of the crowd.
    Member,
    /// Data: 0 or 1, or, for nesting, always the same.
    Value,
    /// Data within a view, or, for nesting, the token of a whole view.
    View,
    /// A version, by number.
    Version,
    /// An unsupported scalar: always unknown.
    Lost,
}

/// Type of a byte.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Leaf {
    pub scalar: Scalar,
    /// True if the value may be none.
    pub optional: bool,
}

/// Layout of a type in a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Shape {
    /// One byte.
    Leaf(Leaf),
    /// One element per place.
    Members(Box<Self>),
    /// One element per integer, from the first.
    Range(i32, usize, Box<Self>),
    /// Fields in order.
    Record(Vec<Self>),
}

impl Shape {
    /// Returns the shape of a type.
    pub fn new(content: &Type, mode: Mode) -> Self {
        let leaf = |scalar| Self::Leaf(Leaf { scalar, optional: false });
        match content {
            Type::Value => leaf(Scalar::Value),
            Type::Bool => leaf(Scalar::Bool),
            Type::Process | Type::Segment => leaf(Scalar::Member),
            Type::Integer { low, high } => {
                let count = i64::from(high.plus) - i64::from(low.plus) + 1;
                match has_codes(*low, *high) && count > 0 {
                    true => leaf(Scalar::Integer { low: low.plus, count: count as u8 }),
                    false => leaf(Scalar::Lost),
                }
            }
            Type::Version => leaf(Scalar::Version),
            Type::Counter | Type::List(_) | Type::Node { .. } => leaf(Scalar::Lost),
            Type::Optional(inner) => match Self::new(inner, mode) {
                Self::Leaf(inner) => Self::Leaf(Leaf { optional: true, ..inner }),
                _ => leaf(Scalar::Lost),
            },
            Type::Array { index: IndexSet::Segments | IndexSet::Processes, element } => {
                let is_view = *content == Type::view();
                match (is_view, mode) {
                    (true, Mode::Nested) => leaf(Scalar::View),
                    (true, Mode::Direct) => Self::Members(Box::new(leaf(Scalar::View))),
                    (false, _) => Self::Members(Box::new(Self::new(element, mode))),
                }
            }
            Type::Array { index: IndexSet::Range(low, high), element } => {
                let count = i64::from(high.plus) - i64::from(low.plus) + 1;
                match has_codes(*low, *high) && count > 0 {
                    true => {
                        Self::Range(low.plus, count as usize, Box::new(Self::new(element, mode)))
                    }
                    false => leaf(Scalar::Lost),
                }
            }
            Type::Record(fields) => {
                Self::Record(fields.iter().map(|field| Self::new(&field.content, mode)).collect())
            }
        }
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Leaf(_) => 1,
            Self::Members(element) => element.size().saturating_mul(PLACES),
            Self::Range(_, count, element) => element.size().saturating_mul(*count),
            Self::Record(fields) => fields.iter().map(Self::size).fold(0, usize::saturating_add),
        }
    }

    /// Returns the offset and the shape of a field of a record.
    pub fn field(&self, position: usize) -> (usize, &Self) {
        let Self::Record(fields) = self else { unreachable!("only records have fields") };
        (fields[..position].iter().map(Self::size).sum(), &fields[position])
    }

    /// Calls `act` on each byte, with the places of its indices.
    pub fn each(&self, path: &mut Vec<u8>, act: &mut dyn FnMut(Leaf, &[u8])) {
        match self {
            Self::Leaf(leaf) => act(*leaf, path),
            Self::Members(element) => {
                for place in 0..PLACES as u8 {
                    path.push(place);
                    element.each(path, act);
                    path.pop();
                }
            }
            Self::Range(_, count, element) => (0..*count).for_each(|_| element.each(path, act)),
            Self::Record(fields) => fields.iter().for_each(|field| field.each(path, act)),
        }
    }
}

impl Leaf {
    /// Returns true for data that is never none: for nesting, always the same.
    pub fn is_plain_value(self) -> bool {
        self.scalar == Scalar::Value && !self.optional
    }

    /// Returns all definite values of a number or a truth value.
    pub fn values(self) -> Option<Vec<u8>> {
        let mut values: Vec<u8> = match self.scalar {
            Scalar::Bool => vec![BASE, BASE + 1],
            Scalar::Integer { low, count } => (low..low + i32::from(count)).map(integer).collect(),
            _ => return None,
        };
        values.extend(self.optional.then_some(NONE));
        Some(values)
    }
}
