//! Values of EDN as values of recordings.

use clojure_reader::edn::{Edn, read};
use clojure_reader::error::{Code, Error};

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use crate::Value;

/// The text of `nil` as a value.
pub(crate) const NIL_TEXT: &str = "nil";

/// Parses the value of `--initial`.
pub(super) fn initial(text: &str) -> Step<Value> {
    let found = read(text).ok().filter(|(_, rest)| rest.trim().is_empty());
    let value = found.and_then(|(found, _)| scalar(&found));
    value.ok_or_else(|| {
        ImportErrorKind::Field {
            field: "--initial",
            expected: "one value in EDN",
            found: format!("`{text}`"),
            cure: "write a number, nil, or a text in double quotes: --initial '\"a text\"'",
        }
        .at(Spot::default())
    })
}

/// Returns the error of the EDN reader.
pub(super) fn malformed(error: &Error) -> ImportErrorKind {
    let message = match error.code {
        Code::HashMapDuplicateKey => "a key of the map occurs twice".to_owned(),
        Code::SetDuplicateKey => "an element of the set occurs twice".to_owned(),
        Code::InvalidNumber => "expected a number of at most 64 bits".to_owned(),
        Code::InvalidChar => "expected a character".to_owned(),
        Code::InvalidEscape => "expected one of \\t \\r \\n \\\\ \\\"".to_owned(),
        Code::InvalidKeyword => "expected a keyword".to_owned(),
        Code::InvalidTag => "expected a tag".to_owned(),
        Code::UnexpectedEOF => "expected more, found its end".to_owned(),
        _ => format!("{:?}", error.code),
    };
    ImportErrorKind::Edn { message }
}

/// Converts a value that is not a collection. Different values stay different: integers are
/// integers, strings are their own text, in quotes if it could be read as another value, and all
/// others are their EDN text.
pub(crate) fn scalar(edn: &Edn<'_>) -> Option<Value> {
    Some(match edn {
        Edn::Int(number) => Value::Integer(*number),
        Edn::Str(text) if is_plain(text) => Value::from(&**text),
        // The quote distinguishes it from a string with the same letters.
        Edn::Symbol(name) => Value::from(format!("'{name}").as_str()),
        Edn::Vector(_) | Edn::Set(_) | Edn::Map(_) | Edn::List(_) => return None,
        other => Value::from(other.to_string().as_str()),
    })
}

/// Returns the value of [`scalar`] as the log has it.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Text(text) if is_plain(text) => value.to_string(),
        Value::Text(text) => text.strip_prefix('\'').unwrap_or(text).to_owned(),
        Value::Integer(number) => number.to_string(),
    }
}

/// Returns true if a string, as it is, is the text of no other value.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && !matches!(text, NIL_TEXT | "true" | "false")
        && text.chars().all(|one| one.is_alphanumeric() || " _-.".contains(one))
}

/// Returns EDN text, cut after some characters.
pub(crate) fn short(edn: &Edn<'_>) -> String {
    const MOST: usize = 60;
    let text = edn.to_string();
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("`{}...`", &text[..cut]),
        None => format!("`{text}`"),
    }
}
