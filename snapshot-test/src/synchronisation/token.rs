//! What stands behind an operation's name, and behind `ok`.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::Value;
use crate::format::Format;
use crate::import::NIL_TEXT;
use crate::report::Shown;

/// An argument or a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Token {
    /// A value.
    Value(Value),
    /// Yes or no.
    Truth(bool),
    /// There is no value: a time limit passed, a queue ended.
    None,
    /// The channel is closed.
    Closed,
}

impl Token {
    /// The value, if it is one.
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is one that is not negative.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Value(Value::Integer(number)) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns its text in a report on an input of this format.
    pub fn shown(&self, format: Option<Format>) -> String {
        match self {
            Self::Value(value) => Shown::new(value, format).to_string(),
            Self::None if format == Some(Format::Edn) => NIL_TEXT.to_owned(),
            _ => self.to_string(),
        }
    }
}

/// As in the text format.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::None => f.write_str("none"),
            Self::Closed => f.write_str("closed"),
        }
    }
}

/// As in JSON Lines, but for [`Token::Closed`], which is a field there.
impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(Value::Integer(number)) => serializer.serialize_i64(*number),
            Self::Value(Value::Text(text)) => serializer.serialize_str(text),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            Self::None => serializer.serialize_unit(),
            Self::Closed => serializer.serialize_str("closed"),
        }
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokenVisitor)
    }
}

struct TokenVisitor;

impl Visitor<'_> for TokenVisitor {
    type Value = Token;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit integer, a string, true, false or null")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Token, E> {
        Ok(Token::Value(Value::from(number)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Token, E> {
        let number = i64::try_from(number)
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))?;
        Ok(Token::Value(Value::from(number)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Token, E> {
        Ok(Token::Value(Value::from(text)))
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Token, E> {
        Ok(Token::Truth(truth))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Token, E> {
        Ok(Token::None)
    }
}
