//! Values of segments in a recording: numbers or texts.
//!
//! The theory requires only that values can be compared for equality. Integers cover nearly all
//! recordings and cost nothing to copy; everything else (identifiers, numbers beyond 64 bits,
//! structured data) is a text.

use std::fmt::{self, Debug, Write};
use std::sync::Arc;

/// A value of a recording. 16 bytes; cloning never copies a text.
///
/// The integer `5` and the text `"5"` are different values.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Value {
    /// A signed 64-bit integer.
    Integer(i64),
    /// A Unicode text, possibly empty.
    Text(Arc<str>),
}

impl Value {
    /// The default initial value of segments.
    pub const ZERO: Self = Self::Integer(0);
}

impl Value {
    /// Returns the `{:?}` form of a value, as a text.
    pub fn debug(of: &impl Debug) -> Self {
        Self::Text(format!("{of:?}").into())
    }
}

/// Writes `text` in double quotes, as JSON does (RFC 8259, section 7). Control characters are
/// escaped, all others are unchanged.
///
/// # Errors
/// If `out` fails.
pub fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            control if control.is_control() => write!(out, "\\u{:04x}", u32::from(control))?,
            character => out.write_char(character)?,
        }
    }
    out.write_char('"')
}

/// A type whose values can stand in a recording.
///
/// Different values must be recorded differently, because values with equal records count as equal.
/// Numbers stand for themselves (beyond signed 64 bits, as texts).
///
/// ```
/// use snapshot_kit::{Recorded, Value};
///
/// #[derive(Debug)]
/// struct Reading(u8, u8);
///
/// impl Recorded for Reading {
///     fn recorded(&self) -> Value {
///         Value::debug(self)
///     }
/// }
/// assert_eq!(Reading(1, 2).recorded().to_string(), r#""Reading(1, 2)""#);
/// assert_eq!(u64::MAX.recorded().to_string(), r#""18446744073709551615""#);
/// ```
pub trait Recorded {
    /// Returns the recorded form of this value.
    fn recorded(&self) -> Value;
}

macro_rules! recorded_numbers {
    ($($number:ty)*) => {$(
        impl Recorded for $number {
            fn recorded(&self) -> Value {
                match i64::try_from(*self) {
                    Ok(number) => Value::Integer(number),
                    Err(_) => Value::Text(self.to_string().into()),
                }
            }
        }
    )*};
}

recorded_numbers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

/// `false` is 0 and `true` is 1.
impl Recorded for bool {
    fn recorded(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
}

impl Recorded for str {
    fn recorded(&self) -> Value {
        Value::Text(self.into())
    }
}

impl Recorded for String {
    fn recorded(&self) -> Value {
        self.as_str().recorded()
    }
}

impl Recorded for Value {
    fn recorded(&self) -> Value {
        self.clone()
    }
}

impl<T: Recorded + ?Sized> Recorded for &T {
    fn recorded(&self) -> Value {
        (**self).recorded()
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

/// Writes an integer in decimal, a text as a JSON string, as all formats do.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(value) => write_quoted(f, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_16_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn numbers_and_texts_differ() {
        assert_ne!(Value::from(5), Value::from("5"));
        assert_eq!(Value::from(-5).to_string(), "-5");
        assert_eq!(Value::from("a \"b\"\\\n\u{7f}é").to_string(), r#""a \"b\"\\\n\u007fé""#);
    }
}
