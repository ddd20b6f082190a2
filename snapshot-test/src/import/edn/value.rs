//! Values of EDN as values of recordings.

use clojure_reader::edn::{Edn, read_string};

use super::super::ImportErrorKind;
use crate::Value;

/// An EDN text as a value.
pub(super) fn read(text: &str) -> Result<Value, ImportErrorKind> {
    let found = read_string(text).map_err(|error| malformed(&error))?;
    scalar(&found).ok_or_else(|| ImportErrorKind::Field {
        field: ":initial",
        expected: "one value",
        found: short(&found),
    })
}

pub(super) fn malformed(error: &clojure_reader::error::Error) -> ImportErrorKind {
    ImportErrorKind::Edn(format!("{:?}", error.code))
}

/// A value that is no collection. Different ones stay different: whatever is no integer is
/// its EDN text, and strings are their own text, in quotes where it reads as something else.
pub(super) fn scalar(edn: &Edn<'_>) -> Option<Value> {
    Some(match edn {
        Edn::Int(number) => Value::Integer(*number),
        Edn::Str(text) if is_plain(text) => Value::from(&**text),
        Edn::Vector(_) | Edn::Set(_) | Edn::Map(_) | Edn::List(_) => return None,
        other => Value::from(other.to_string().as_str()),
    })
}

/// Whether a string, as it is, is the text of no other value.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && !matches!(text, "nil" | "true" | "false")
        && text.chars().all(|one| one.is_alphanumeric() || " _-.".contains(one))
}

/// As EDN, cut after some characters.
pub(super) fn short(edn: &Edn<'_>) -> String {
    const MOST: usize = 60;
    let text = edn.to_string();
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("`{}...`", &text[..cut]),
        None => format!("`{text}`"),
    }
}
