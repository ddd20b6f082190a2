//! What a segment holds in a recording: a number or a text.
//!
//! The theory needs of values only that they can be compared for equality.
//! Integers cover nearly all recordings and cost nothing to copy; everything
//! else (identifiers, numbers beyond 64 bits, structured data) is a text.

use std::fmt;
use std::sync::Arc;

use crate::format::quoted;

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
    /// The initial value of segments for which none is declared.
    pub const ZERO: Self = Self::Integer(0);
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

/// An integer in decimal, a text as a JSON string: as all formats write it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(value) => quoted::write(f, value),
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
    fn numbers_and_texts_are_told_apart() {
        assert_ne!(Value::from(5), Value::from("5"));
        assert_eq!(Value::from(-5).to_string(), "-5");
        assert_eq!(Value::from("a \"b\"\\\n\u{7f}é").to_string(), r#""a \"b\"\\\n\u007fé""#);
    }
}
