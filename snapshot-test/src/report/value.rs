//! Values in reports for programs.

use serde::Serialize;

use crate::Value;

/// A value in JSON: a number or a string.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum JsonValue {
    Integer(i64),
    Text(String),
}

impl From<&Value> for JsonValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(*value),
            Value::Text(value) => Self::Text(value.to_string()),
        }
    }
}
