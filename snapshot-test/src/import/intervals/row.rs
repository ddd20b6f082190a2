//! The raw fields of an operation.

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use crate::Value;

/// A field, by its meaning.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Name {
    Client,
    Operation,
    Key,
    Segment,
    Value,
    Call,
    Return,
    Outcome,
    Comment,
    /// The field of a list of Porcupine that holds operation, key, segment and value.
    Input,
    /// The field of a list of Porcupine that holds the result.
    Output,
}

impl Name {
    /// Returns the field with this name in a log. Case, `-` and `_` do not matter.
    pub(super) fn new(name: &str, spot: Spot) -> Step<Self> {
        let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
        Ok(match plain.as_str() {
            "client" | "clientid" | "process" => Self::Client,
            "operation" | "op" => Self::Operation,
            "key" => Self::Key,
            "segment" => Self::Segment,
            "value" | "values" => Self::Value,
            "call" => Self::Call,
            "return" => Self::Return,
            "outcome" => Self::Outcome,
            "comment" => Self::Comment,
            "input" => Self::Input,
            "output" => Self::Output,
            _ => return Err(ImportErrorKind::UnknownField { field: name.to_owned() }.at(spot)),
        })
    }

    /// Returns the name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Operation => "operation",
            Self::Key => "key",
            Self::Segment => "segment",
            Self::Value => "value",
            Self::Call => "call",
            Self::Return => "return",
            Self::Outcome => "outcome",
            Self::Comment => "comment",
            Self::Input => "Input",
            Self::Output => "Output",
        }
    }
}

/// A part of the log, with its position.
#[derive(Clone, Debug)]
pub(super) struct Given<T> {
    pub(super) is: T,
    pub(super) spot: Spot,
}

/// The values of an operation. `None` is a gap, or JSON's `null`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Content {
    /// One value, outside a list.
    One(Option<Value>),
    /// Values by the numbers of the segments.
    List(Vec<Option<Value>>),
    /// Values by the names of the segments.
    Named(Vec<(String, Option<Value>)>),
}

impl Content {
    /// Returns true if there is a value.
    pub(super) fn says(&self) -> bool {
        match self {
            Self::One(value) => value.is_some(),
            Self::List(values) => values.iter().any(Option::is_some),
            Self::Named(entries) => entries.iter().any(|(_, value)| value.is_some()),
        }
    }
}

/// The fields of an operation. Texts of a log are kept as texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) spot: Spot,
    pub(super) client: Option<Given<String>>,
    pub(super) operation: Option<Given<String>>,
    pub(super) key: Option<Given<String>>,
    /// The segments that are written or read.
    pub(super) segments: Option<Given<Vec<String>>>,
    /// The written or returned values.
    pub(super) value: Option<Given<Content>>,
    /// The value of Porcupine's `Input`: the written value.
    pub(super) input: Option<Given<Content>>,
    /// Porcupine's `Output`: the returned values.
    pub(super) output: Option<Given<Content>>,
    pub(super) call: Option<Given<String>>,
    pub(super) end: Option<Given<String>>,
    pub(super) outcome: Option<Given<String>>,
}

/// Sets a field that is named `found` in the log; a second value is an error.
pub(super) fn set<T>(
    field: &mut Option<Given<T>>,
    name: Name,
    found: &Given<String>,
    is: Given<T>,
) -> Step<()> {
    if let Some(first) = field {
        let (field, found_name) = (name.name(), found.is.clone());
        let kind = ImportErrorKind::DuplicateField { field, found: found_name };
        return Err(kind.at(found.spot).against(first.spot));
    }
    *field = Some(is);
    Ok(())
}
