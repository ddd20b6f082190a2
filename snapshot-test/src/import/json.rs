//! Intervals as JSON: a list of objects, or one object per line. So are the lists of
//! Porcupine's operations, with the names that Go gives to their fields: `ClientId`,
//! `Input`, `Call`, `Output`, `Return`. An input is an object with `op`, `segment`, `value`;
//! the output of a scan is the list of its entries.

use serde_json::{Map, Value as Json};

use super::intervals::Row;
use super::{ImportError, ImportErrorKind};
use crate::Value;

pub(super) fn rows(log: &[u8]) -> Result<Vec<Row>, ImportError> {
    let is_list = log.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let failed = |error: serde_json::Error, line: u64| ImportErrorKind::Json(error).at(line);
    if is_list {
        let objects: Vec<Map<String, Json>> = serde_json::from_slice(log).map_err(|error| {
            let line = error.line() as u64;
            failed(error, line)
        })?;
        // Where an object of a list begins is not kept: they are counted.
        return objects.into_iter().zip(1..).map(|(object, at)| row(object, at)).collect();
    }
    let mut rows = Vec::new();
    for (line, at) in log.split(|byte| *byte == b'\n').zip(1..) {
        if !line.trim_ascii().is_empty() {
            let object = serde_json::from_slice(line).map_err(|error| failed(error, at))?;
            rows.push(row(object, at)?);
        }
    }
    Ok(rows)
}

fn row(object: Map<String, Json>, line: u64) -> Result<Row, ImportError> {
    let mut row = Row { line, ..Row::default() };
    for (name, field) in object {
        set(&mut row, &name, field).map_err(|kind| kind.at(line))?;
    }
    Ok(row)
}

fn set(row: &mut Row, name: &str, field: Json) -> Result<(), ImportErrorKind> {
    let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
    if field.is_null() {
        return Ok(());
    }
    match plain.as_str() {
        "client" | "clientid" | "process" => row.client = Some(text("client", field)?),
        "operation" | "op" => row.operation = Some(text("operation", field)?),
        "segment" => row.segment = Some(text("segment", field)?),
        "value" | "values" => row.values = Some(values(field)?),
        // The output of an update says nothing; a scan has no other values.
        "output" if field.is_array() => row.values = Some(values(field)?),
        "output" => {}
        "call" => row.call = Some(text("call", field)?),
        "return" => row.end = Some(text("return", field)?),
        "outcome" => row.outcome = Some(text("outcome", field)?),
        "comment" => {}
        "input" => match field {
            Json::Object(input) => {
                for (name, field) in input {
                    set(row, &name, field)?;
                }
            }
            other => {
                let found = other.to_string();
                let expected = "an object with `op`, `segment` and `value`";
                return Err(ImportErrorKind::Field { field: "Input", expected, found });
            }
        },
        _ => return Err(ImportErrorKind::UnknownField { field: name.to_owned() }),
    }
    Ok(())
}

fn text(name: &'static str, field: Json) -> Result<String, ImportErrorKind> {
    match field {
        Json::String(text) => Ok(text),
        Json::Number(number) => Ok(number.to_string()),
        other => Err(ImportErrorKind::Field {
            field: name,
            expected: "a number or a text",
            found: other.to_string(),
        }),
    }
}

fn values(field: Json) -> Result<Vec<Value>, ImportErrorKind> {
    match field {
        Json::Array(entries) => entries.into_iter().map(value).collect(),
        one => Ok(vec![value(one)?]),
    }
}

fn value(entry: Json) -> Result<Value, ImportErrorKind> {
    match entry {
        Json::String(text) => Ok(Value::from(text.as_str())),
        Json::Number(number) if number.is_i64() => Ok(Value::Integer(number.as_i64().unwrap_or(0))),
        other => Err(ImportErrorKind::Field {
            field: "value",
            expected: "integers of 64 bits or texts",
            found: other.to_string(),
        }),
    }
}
