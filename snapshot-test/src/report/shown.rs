//! Values as the log has them, for texts.

use std::fmt;

use snapshot_core::explanation::Explanation;

use crate::Value;
use crate::format::Format;
use crate::import::written;

/// A value of a recording, or of a log in EDN, whose texts are values in its own syntax.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shown {
    value: Value,
    is_edn: bool,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_edn { f.write_str(&written(&self.value)) } else { self.value.fmt(f) }
    }
}

impl Shown {
    /// Shows a value as an input of this format has it.
    pub fn new(value: &Value, format: Option<Format>) -> Self {
        Self { value: value.clone(), is_edn: format == Some(Format::Edn) }
    }
}

/// Returns an explanation whose values are written as an input of this format has them.
pub fn shown(explanation: &Explanation<Value>, format: Option<Format>) -> Explanation<Shown> {
    explanation.map(|value| Shown::new(value, format))
}
