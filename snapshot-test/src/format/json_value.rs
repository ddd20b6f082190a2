//! Values in JSON: keys in certificates, checkpoints and reports.

use serde::{Deserialize, Serialize};

use crate::Value;

/// A value in JSON: a number or a string.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum JsonValue {
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

impl From<&JsonValue> for Value {
    fn from(value: &JsonValue) -> Self {
        match value {
            JsonValue::Integer(value) => Self::from(*value),
            JsonValue::Text(value) => Self::from(value.as_str()),
        }
    }
}
