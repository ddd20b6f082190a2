//! Intervals: for any names, keys, gaps, quotes and order of lines, the import is the execution.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use snapshot_core::check;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_test::Value;
use snapshot_test::import::{Imported, IntervalOptions, intervals};
use test_support::effort::either;

use super::log::{
    Act, How, Log, NAMED, NAMES, NUMBERS, OBJECTS, Operation, REGISTERS, logs, rendered,
};

const CLIENTS: [&str; 3] = ["c0", "#1", "a b"];

/// Returns values that are easily confused with something else.
fn values() -> Vec<Value> {
    let texts = ["x", "5", "", "_", "a b", "q\"\\", "u,v", "null", "é\u{1}\n", "\"5\"", "-0", "#"];
    let integers = [0, 5, -3, i64::MIN].map(Value::from);
    texts.into_iter().map(Value::from).chain(integers).collect()
}

/// The form of a log.
#[derive(Clone, Copy, Debug)]
enum Form {
    Csv,
    JsonList,
    JsonLines,
    Porcupine,
}

/// The form of the values of a scan.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One value per segment of its object, with gaps.
    List,
    /// Values by names.
    Named,
}

/// Returns the fields of an operation: segments, and values with gaps.
fn fields(
    log: &Log,
    operation: &Operation,
    shape: Shape,
) -> (Vec<&'static str>, Vec<Option<Value>>) {
    match &operation.act {
        Act::Update(name, value) => {
            let segments = if name.1.is_empty() { vec![] } else { vec![name.1] };
            (segments, vec![Some(value.clone())])
        }
        Act::Scan(key, entries) => {
            let value = |name: &_| {
                entries.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone())
            };
            let own: Vec<_> = log.segments.iter().filter(|(of, _)| of == key).collect();
            match shape {
                Shape::List => (vec![], own.into_iter().map(value).collect()),
                Shape::Named => {
                    let some = own.into_iter().filter(|name| value(name).is_some());
                    some.map(|name| (name.1, value(name))).unzip()
                }
            }
        }
    }
}

fn token(value: &Option<Value>) -> String {
    match value {
        None => "_".to_owned(),
        Some(Value::Text(text)) => {
            let is_plain = !text.is_empty()
                && **text != *"_"
                && text.parse::<i64>().is_err()
                && !text
                    .contains(|one: char| one.is_whitespace() || one.is_control() || one == '"');
            if is_plain {
                text.to_string()
            } else {
                serde_json::to_string(&**text).expect("a text")
            }
        }
        Some(integer) => integer.to_string(),
    }
}

fn json(value: &Option<Value>) -> Json {
    match value {
        None => Json::Null,
        Some(Value::Integer(integer)) => json!(integer),
        Some(Value::Text(text)) => json!(**text),
    }
}

/// Returns the rows of a log, in a given order. `tick`: events per unit of time.
fn written(log: &Log, form: Form, shape: Shape, tick: usize, order: &[usize]) -> String {
    let rows: Vec<String> = log
        .operations
        .iter()
        .map(|operation| {
            let (segments, values) = fields(log, operation, shape);
            let key = match &operation.act {
                Act::Update(name, _) => name.0,
                Act::Scan(key, _) => key,
            };
            let word = if matches!(operation.act, Act::Update(..)) { "write" } else { "read" };
            let (end, outcome) = match operation.ended {
                Some((at, How::Ok)) => (Some(at / tick), ""),
                Some((at, How::Fail)) => (Some(at / tick), "fail"),
                Some((at, How::Unknown)) => (Some(at / tick), "unknown"),
                None => (None, ""),
            };
            let is_scan = matches!(operation.act, Act::Scan(..));
            let has_values = !is_scan || matches!(operation.ended, Some((_, How::Ok)));
            let call = operation.invoked / tick;
            let client = CLIENTS[operation.client];
            if let Form::Csv = form {
                let values: Vec<_> = values.iter().map(token).collect();
                // A scan that returned no values.
                let empty = is_scan && values.is_empty();
                let fields = [
                    client.to_owned(),
                    word.to_owned(),
                    key.to_owned(),
                    segments.join(" "),
                    if !has_values {
                        String::new()
                    } else if empty {
                        "_".to_owned()
                    } else {
                        values.join(" ")
                    },
                    call.to_string(),
                    end.map_or_else(String::new, |end| end.to_string()),
                    outcome.to_owned(),
                ];
                let quoted = |field: String| match field.contains(['"', ',']) {
                    true => format!("\"{}\"", field.replace('"', "\"\"")),
                    false => field,
                };
                return fields.map(quoted).join(",");
            }
            let is_porcupine = matches!(form, Form::Porcupine);
            let mut whole = Map::new();
            let mut input = Map::new();
            let (names, place) = match is_porcupine {
                true => (["ClientId", "op", "Call", "Return"], &mut input),
                false => (["client", "operation", "call", "return"], &mut whole),
            };
            place.insert(names[1].to_owned(), json!(word));
            match (key, key.parse::<i64>()) {
                ("", _) => {}
                (_, Ok(number)) => drop(place.insert("key".to_owned(), json!(number))),
                (key, _) => drop(place.insert("key".to_owned(), json!(key.trim_matches('"')))),
            }
            let is_register = !key.is_empty() && log.segments.iter().all(|name| name.1.is_empty());
            let content = match (&operation.act, shape) {
                (Act::Update(..), _) => json(&values[0]),
                (Act::Scan(..), _) if is_register && !values.is_empty() && values[0].is_some() => {
                    json(&values[0])
                }
                (Act::Scan(..), Shape::Named) if !is_register => {
                    let entries = segments.iter().zip(&values);
                    Json::Object(
                        entries.map(|(name, value)| ((*name).to_owned(), json(value))).collect(),
                    )
                }
                _ => Json::Array(values.iter().map(json).collect()),
            };
            if !is_scan && let [segment] = segments[..] {
                let number = segment.parse::<u64>();
                place.insert(
                    "segment".to_owned(),
                    number.map_or_else(|_| json!(segment), |number| json!(number)),
                );
            }
            if is_porcupine {
                if !is_scan {
                    input.insert("value".to_owned(), content);
                    whole.insert("Output".to_owned(), json!({}));
                } else if has_values {
                    let is_list = content.is_array();
                    whole.insert(
                        "Output".to_owned(),
                        if is_list { content } else { json!({"value": content}) },
                    );
                }
                whole.insert("Input".to_owned(), Json::Object(input));
            } else if has_values {
                whole.insert("value".to_owned(), content);
            }
            whole.insert(names[0].to_owned(), json!(client));
            whole.insert(names[2].to_owned(), json!(call));
            if let Some(end) = end {
                whole.insert(names[3].to_owned(), json!(end));
            }
            if !outcome.is_empty() {
                whole.insert("outcome".to_owned(), json!(outcome));
            }
            Json::Object(whole).to_string()
        })
        .collect();
    let rows: Vec<_> = order.iter().map(|&row| rows[row].as_str()).collect();
    match form {
        Form::Csv => {
            let header =
                "# made by a test\nclient,operation,key,segment,value,call,return,outcome\n";
            format!("{header}{}\n", rows.join("\r\n"))
        }
        Form::JsonList | Form::Porcupine => format!("[{}]", rows.join(",\n")),
        Form::JsonLines => rows.join("\n"),
    }
}

fn imported(log: &str) -> Imported {
    match intervals(log.as_bytes(), &IntervalOptions::default()) {
        Ok(imported) => imported,
        Err(error) => panic!("{}\n{log}", error.report("log")),
    }
}

fn log_of_any_kind() -> impl Strategy<Value = Log> {
    [NUMBERS, NAMES, REGISTERS, OBJECTS, NAMED]
        .map(|segments| logs(segments, values()).boxed())
        .into_iter()
        .reduce(|one, other| one.prop_union(other).boxed())
        .expect("there are kinds")
}

/// A log and an order of its rows.
fn in_any_order() -> impl Strategy<Value = (Log, Vec<usize>)> {
    let logs = log_of_any_kind().prop_filter("operations", |log| !log.is_empty());
    logs.prop_flat_map(|log| {
        let order: Vec<usize> = (0..log.operations.len()).collect();
        (Just(log), Just(order).prop_shuffle())
    })
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![Just(Form::Csv), Just(Form::JsonList), Just(Form::JsonLines), Just(Form::Porcupine)]
}

fn is_list(log: &Log) -> bool {
    log.segments == NUMBERS || log.segments == OBJECTS || log.segments == REGISTERS
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(either(150, 5_000)) })]

    /// If no two events have the same time, exactly the same events are imported.
    #[test]
    fn logs_round_trip((log, order) in in_any_order(), form in form(), by_name: bool) {
        let shape = if by_name || !is_list(&log) { Shape::Named } else { Shape::List };
        let text = written(&log, form, shape, 1, &order);
        let Imported { history, places, warnings, names } = imported(&text);
        prop_assert_eq!(places.len(), history.len());
        let expected = log.expected_import(|client| CLIENTS[client].to_owned());
        prop_assert_eq!(rendered(&history, &names), expected, "{}", text);
        prop_assert_eq!(warnings, []);
    }

    /// With equal times, the order of the lines does not matter, and a correct log stays correct.
    #[test]
    fn order_of_tied_lines_does_not_matter((log, order) in in_any_order(), form in form(), tick in 2..5_usize) {
        let shape = if is_list(&log) { Shape::List } else { Shape::Named };
        let text = written(&log, form, shape, tick, &order);
        let one = imported(&text);
        let sorted: Vec<usize> = (0..order.len()).collect();
        let other = imported(&written(&log, form, shape, tick, &sorted));
        prop_assert_eq!(one.history.to_string(), other.history.to_string(), "{}", text);
        prop_assert_eq!(&one.names, &other.names);
        prop_assert_eq!(&one.warnings, &other.warnings);
        if log.is_right {
            let mut proceed = || true;
            let mut budget = Budget { memory: usize::MAX, proceed: &mut proceed };
            let verdict = check::check(&one.history, &mut budget).verdict;
            prop_assert!(matches!(verdict, Verdict::Linearizable(_)), "{}\n{}", text, one.history);
        }
    }
}
