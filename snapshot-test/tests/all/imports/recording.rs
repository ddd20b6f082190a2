//! JSON Lines in any order, sorted by `time`, give the execution.

use proptest::prelude::*;
use serde_json::json;
use snapshot_test::Value;
use snapshot_test::format::Reader;
use snapshot_test::import::{Imported, Stamp, by_time};
use test_support::effort::either;

use super::log::{Act, How, Log, NUMBERS, OBJECTS, logs, rendered};

/// Returns the lines of a recording, each with its time, in order.
fn lines(log: &Log) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for operation in &log.operations {
        let mut line = |at: usize, mut event: serde_json::Value| {
            event["process"] = json!(operation.client);
            // More digits than serde's numbers have.
            let time = format!("\"time\":17643297560000000{at:02}.000000000001");
            let key = match &operation.act {
                Act::Update((key, _), _) | Act::Scan(key, _) => *key,
            };
            if let Some(number) = key.parse::<i64>().ok().map(|number| json!(number)) {
                event["key"] = number;
            } else if !key.is_empty() {
                event["key"] = json!(key);
            }
            let event = event.to_string();
            lines.push((at, format!("{{{time},{}", &event[1..])));
        };
        let invocation = match &operation.act {
            Act::Update(name, value) => {
                let segment: u64 = name.1.parse().expect("segments are numbers");
                let value = match value {
                    Value::Integer(integer) => json!(integer),
                    Value::Text(text) => json!(**text),
                };
                json!({"event": "invoke", "operation": "update", "segment": segment, "value": value})
            }
            Act::Scan(..) => json!({"event": "invoke", "operation": "scan"}),
        };
        line(operation.invoked, invocation);
        match (operation.ended, &operation.act) {
            (Some((at, How::Ok)), Act::Update(..)) => line(at, json!({"event": "ok"})),
            (Some((at, How::Ok)), Act::Scan(_, entries)) => {
                let value = |value: &Value| match value {
                    Value::Integer(integer) => json!(integer),
                    Value::Text(text) => json!(**text),
                };
                let entries = entries.iter();
                let values: serde_json::Map<_, _> =
                    entries.map(|((_, name), one)| ((*name).to_owned(), value(one))).collect();
                line(at, json!({"event": "ok", "values": values}));
            }
            (Some((at, How::Fail)), _) => line(at, json!({"event": "fail"})),
            (Some((at, How::Unknown)), _) => line(at, json!({"event": "unknown"})),
            (None, _) => {}
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Returns the operations of one key, whose segments have only numbers.
fn of_key(log: &Log, wanted: &str) -> Log {
    let mut log = log.clone();
    log.operations.retain_mut(|operation| match &mut operation.act {
        Act::Update((key, _), _) => std::mem::take(key) == wanted,
        Act::Scan(key, entries) => {
            entries.iter_mut().for_each(|((key, _), _)| *key = "");
            *key == wanted
        }
    });
    log
}

fn values() -> Vec<Value> {
    [0, 1, 2].map(Value::from).into_iter().chain([Value::from("5")]).collect()
}

/// Returns the number of lines whose times run backwards, as a reader notices them.
fn backwards(text: &str) -> u64 {
    let mut reader = Reader::jsonl(text.as_bytes()).expect("a recording");
    let noticed = reader.noticed();
    reader.take_all();
    while reader.next_event().is_some_and(|next| next.is_ok()) {}
    noticed.backwards().map_or(0, |backwards| backwards.events)
}

/// Dates with times are times, in any zone.
#[test]
fn dates_are_times() {
    let log = |scanned: &str| {
        format!(
            "{{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5,\"time\":\"2026-11-29T10:00:05Z\"}}\n\
             {{\"process\":0,\"event\":\"ok\",\"time\":\"2026-11-29T10:00:09.25Z\"}}\n\
             {{\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\",\"time\":\"{scanned}\"}}\n\
             {{\"process\":1,\"event\":\"ok\",\"values\":[0,0],\"time\":\"2026-11-29T10:00:10Z\"}}\n"
        )
    };
    let early = log("2026-11-29T12:00:09.1+02:00");
    assert_eq!(backwards(&early), 1);
    assert_eq!(backwards(&log("2026-11-29T12:00:09.3+02:00")), 0);
    // Sorted, the scan begins before the update ends.
    let sorted = by_time(early.as_bytes(), None, Stamp::default()).expect("a history");
    let begun: Vec<usize> =
        sorted[0].1.history.operations().iter().map(|operation| operation.invocation()).collect();
    assert_eq!(begun, [0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(either(150, 5_000)) })]

    #[test]
    fn recordings_round_trip(
        (log, order) in prop_oneof![logs(NUMBERS, values()), logs(OBJECTS, values())]
            .prop_filter("operations", |log| !log.is_empty())
            .prop_flat_map(|log| {
                let order: Vec<usize> = (0..lines(&log).len()).collect();
                (Just(log), Just(order).prop_shuffle())
            }),
    ) {
        let lines = lines(&log);
        let text = lines.join("\n") + "\n";
        prop_assert_eq!(backwards(&text), 0);
        let shuffled: Vec<_> = order.iter().map(|&line| lines[line].as_str()).collect();
        let text = shuffled.join("\n") + "\n";
        // By its definition: for each object, lines with an earlier time than the line before.
        let keys = |line: &str| line.find("\"key\":").map(|at| line[at..].split([',', '}']).next().unwrap_or("").to_owned());
        let mut latest = std::collections::BTreeMap::new();
        let descents = order.iter().zip(&shuffled).filter(|(at, line)| {
            latest.insert(keys(line), **at).is_some_and(|before| **at < before)
        });
        prop_assert_eq!(backwards(&text), descents.count() as u64);
        for (key, imported) in by_time(text.as_bytes(), None, Stamp::default()).expect("a history") {
            let Imported { history, places, warnings, names } = imported;
            prop_assert_eq!(places.len(), history.len());
            let name = key.map_or(String::new(), |key| key.to_string().trim_matches('"').to_owned());
            let expected = of_key(&log, &name).expected_import(|client| client.to_string());
            prop_assert_eq!(rendered(&history, &names), expected, "{}", text);
            prop_assert_eq!(warnings, []);
        }
    }
}
