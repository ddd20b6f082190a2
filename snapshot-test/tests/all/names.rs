//! Names of processes and segments: read, written, refused, and told.

mod reports;

use std::collections::HashMap;
use std::fs;

use proptest::collection::{hash_set, vec};
use proptest::prelude::*;
use serde_json::json;
use snapshot_core::history::{Action, Declaration, Writers};
use snapshot_core::{History, Names};
use snapshot_test::convert::convert;
use snapshot_test::format::{Format, Heading, Object, Reader, Writer};
use snapshot_test::{Value, read_history};

use crate::commands::{answer, run};

/// Names of all kinds: plain, with blanks and quotes, numbers, right-to-left, with control
/// characters, long.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,3}",
        1 => Just(String::new()),
        1 => "[0-9]{1,2}",
        1 => "[a \"\\\\#@,;:_]{1,4}",
        1 => Just("\u{5e9}\u{5dd} \u{202e}x".to_owned()),
        1 => "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}]{1,3}",
        1 => "é{100,120}",
        1 => any::<String>(),
    ]
}

fn names(count: usize) -> impl Strategy<Value = Vec<Box<str>>> {
    hash_set(name(), count).prop_map(|names| names.into_iter().map(Into::into).collect())
}

/// An operation, of a process: an update of a segment, or a scan of some segments.
type Step = (usize, Option<usize>, Vec<bool>);

/// A table of names for 3 processes and 3 segments, either of which may be missing, and steps.
fn recordings() -> impl Strategy<Value = (Names, Vec<Step>)> {
    let processes = prop_oneof![1 => Just(Vec::new()), 4 => names(3)];
    let segments = prop_oneof![1 => Just(Vec::new()), 4 => names(3)];
    let step = (0..3_usize, proptest::option::of(0..3_usize), vec(any::<bool>(), 3));
    let steps = vec(step, 0..12);
    (processes, segments, steps).prop_map(|(p, s, steps)| (Names::new(p, s), steps))
}

/// The steps one after the other, with 3 declared segments; each update writes its number.
fn history(steps: &[Step]) -> History<Value> {
    let declaration = Declaration::new(Value::ZERO)
        .with_segments(3)
        .with_processes(3)
        .with_writers(Writers::Many);
    let mut history = History::builder(declaration).unwrap();
    let mut held = [0; 3];
    for (number, (process, updated, scanned)) in steps.iter().enumerate() {
        match updated {
            Some(segment) => {
                held[*segment] = number as i64;
                history.invoke_update(*process, *segment, Value::from(held[*segment])).unwrap();
                history.respond_update(*process).unwrap();
            }
            None => {
                history.invoke_scan(*process).unwrap();
                let all = held.iter().map(|value| Value::from(*value)).enumerate();
                let entries: Vec<_> = all.filter(|(segment, _)| scanned[*segment]).collect();
                if entries.len() == 3 {
                    let values: Vec<_> = entries.into_iter().map(|(_, value)| value).collect();
                    history.respond_scan(*process, &values).unwrap();
                } else {
                    history.respond_partial_scan(*process, &entries).unwrap();
                }
            }
        }
    }
    history.finish()
}

fn written(format: Format, history: &History<Value>, names: &Names) -> Vec<u8> {
    let (object, declaration) = (Object::Snapshot, &history.declaration());
    let heading = Heading { object, declaration, names, comments: &[] };
    let mut writer = Writer::begin(format, Vec::new(), &heading).unwrap();
    history.events().for_each(|event| writer.write(&event).unwrap());
    writer.finish().unwrap()
}

fn reader(format: Format, bytes: &[u8]) -> Reader<&[u8]> {
    let reader = if format == Format::Text { Reader::text(bytes) } else { Reader::jsonl(bytes) };
    reader.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(bytes)))
}

/// The events, with the entries of scans, whether they are all or some.
fn shown(history: &History<Value>) -> Vec<String> {
    let event = |event: snapshot_core::history::Event<'_, Value>| {
        let p = event.process;
        let entries = match event.action {
            Action::InvokeUpdate { segment, value } => {
                return format!("{p} update {segment} {value}");
            }
            Action::InvokeScan => return format!("{p} scan"),
            Action::RespondScan { values } => {
                values.iter().map(ToString::to_string).enumerate().collect::<Vec<_>>()
            }
            Action::RespondPartialScan { entries, .. } => {
                entries.iter().map(|(k, one)| (k.index(), one.to_string())).collect()
            }
            _ => return format!("{p} ok"),
        };
        format!("{p} ok {entries:?}")
    };
    history.events().map(event).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(test_support::effort::either(300, 10_000)))]

    #[test]
    fn declared_names_round_trip((names, steps) in recordings()) {
        let history = history(&steps);
        for format in [Format::Text, Format::Jsonl] {
            let bytes = written(format, &history, &names);
            let one = reader(format, &bytes);
            let handle = one.names();
            prop_assert_eq!(one.declaration().segments, Some(3));
            let (read, _) = read_history(one).unwrap();
            prop_assert!(read.events().eq(history.events()), "{}", String::from_utf8_lossy(&bytes));
            prop_assert_eq!(&handle.get(), &names);
            for other in [Format::Text, Format::Jsonl] {
                let there = convert(reader(format, &bytes), other, Vec::new()).unwrap();
                let back = convert(reader(other, &there), format, Vec::new()).unwrap();
                prop_assert_eq!(&back, &bytes, "through {}", other);
            }
        }
    }

    /// Without a header, names are numbered as they occur: the events are those of the numbered
    /// recording, and what `convert` declares is what occurred.
    #[test]
    fn undeclared_names_are_interned((names, steps) in recordings()) {
        prop_assume!(!names.processes().is_empty() && !names.segments().is_empty());
        let history = history(&steps);
        let mut text = String::from("{\"snapshot-history\":1,\"segments\":[],\"writers\":\"many\"}\n");
        let (mut processes, mut segments) = (HashMap::new(), HashMap::new());
        let (mut of_processes, mut of_segments) = (Vec::new(), Vec::new());
        let number = |known: &mut HashMap<usize, usize>, list: &mut Vec<Box<str>>, name: &str, index| {
            *known.entry(index).or_insert_with(|| { list.push(name.into()); list.len() - 1 })
        };
        let mut expected = Vec::new();
        for event in history.events() {
            let process = event.process.index();
            let name = &names.processes()[process];
            let p = number(&mut processes, &mut of_processes, name, process);
            let mut s = |segment: usize| number(&mut segments, &mut of_segments, &names.segments()[segment], segment);
            let value = |value: &Value| serde_json::from_str::<serde_json::Value>(&value.to_string()).unwrap();
            let (line, event) = match event.action {
                Action::InvokeUpdate { segment, value: written } => (
                    json!({"process": name, "event": "invoke", "operation": "update",
                           "segment": names.segments()[segment.index()], "value": value(written)}),
                    format!("{p} update {} {written}", s(segment.index())),
                ),
                Action::InvokeScan => (
                    json!({"process": name, "event": "invoke", "operation": "scan"}),
                    format!("{p} scan"),
                ),
                Action::RespondUpdate => (json!({"process": name, "event": "ok"}), format!("{p} ok")),
                _ => {
                    let operation = history.operations().iter().rfind(|operation| {
                        operation.process() == event.process && operation.invocation() < expected.len()
                    }).unwrap();
                    let all = (0..3).map(snapshot_core::Segment::from_index);
                    let entries: Vec<_> = all.filter_map(|k| Some((k.index(), history.entry(operation, k)?))).collect();
                    // serde_json sorts the names of fields.
                    let mut fields: Vec<_> = entries.iter().map(|(k, one)| (&names.segments()[*k], *k, *one)).collect();
                    fields.sort();
                    let mut told: Vec<_> = fields.iter().map(|(_, k, one)| (s(*k), one.to_string())).collect();
                    told.sort();
                    let object: serde_json::Map<_, _> =
                        fields.iter().map(|(name, _, one)| (name.to_string(), value(one))).collect();
                    (json!({"process": name, "event": "ok", "values": object}), format!("{p} ok {told:?}"))
                }
            };
            text += &format!("{line}\n");
            expected.push(event);
        }
        let one = reader(Format::Jsonl, text.as_bytes());
        let handle = one.names();
        let (read, _) = read_history(one).unwrap();
        prop_assert_eq!(shown(&read), expected, "{}", text);
        prop_assert_eq!(handle.get(), Names::new(of_processes, of_segments));
        let declared = convert(reader(Format::Jsonl, text.as_bytes()), Format::Text, Vec::new()).unwrap();
        let again = reader(Format::Text, &declared);
        prop_assert_eq!(again.names().get(), handle.get());
        let declared = String::from_utf8_lossy(&declared).into_owned();
        let again = read_history(again).unwrap().0;
        prop_assert_eq!(shown(&again), shown(&read), "{}", declared);
        let jsonl = convert(reader(Format::Jsonl, text.as_bytes()), Format::Jsonl, Vec::new()).unwrap();
        let again = reader(Format::Jsonl, &jsonl);
        prop_assert_eq!(again.names().get(), handle.get());
    }
}

/// A folder with a file, and the path of the file.
fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

/// Each defect has its place, the expected and the found text, a cure, and the exit code 2.
#[test]
fn bad_names_are_refused() {
    let events = "p0 scan\np0 ok _\n";
    let cases: [(&str, &str, &str, &str); 20] = [
        (
            "process p0 \"a\"\nprocess p1 \"a\"\n",
            ":2:9: expected each name of a process once, found `a` again (first in line 1)",
            "help: give each process a name of its own",
            "text",
        ),
        (
            "segment s0 \"x\"\nsegment s0 \"y\"\n",
            ":2:9: expected one name for segment 0, found another: line 1 names it `x`",
            "help: delete one of the two lines",
            "text",
        ),
        (
            "process p1 \"a\"\n",
            ": expected a name for each process, found none for process 0",
            "help: add `process p0 \"a name\"` to the header",
            "text",
        ),
        (
            "segments 2\nsegment s0 \"x\"\n",
            ": expected a name for each segment, found none for segment 1",
            "help: add `segment s1 \"a name\"` to the header",
            "text",
        ),
        (
            "processes 1\nprocess p0 \"x\"\nprocess p1 \"y\"\n",
            ": expected names for 1 processes, found one for process 1",
            "help: delete it, or correct `processes`",
            "text",
        ),
        (
            "process p0 \"a\"\np1 scan\n",
            ":2:1: process 1 has no name, and the others have",
            "declare its name in the header",
            "text",
        ),
        (
            "segment s0 \"a\"\np0 update s1 5\n",
            ":2:1: segment 1 has no name, and the others have",
            "declare its name in the header",
            "text",
        ),
        ("process p0 a\n", ":1:12: expected a name in double quotes, found `a`", "help: ", "text"),
        ("process a \"a\"\n", ":1:9: expected a process such as `p0`, found `a`", "help: ", "text"),
        ("process p0 \"a\" \"b\"\n", ":1:16: expected the end of the line", "help: ", "text"),
        (
            "p0 scan\nprocess p0 \"a\"\n",
            ":2:1: header after an event: expected `process` before the first event",
            "help: move it",
            "text",
        ),
        (
            "{\"process\":\"a\",\"event\":\"invoke\",\"operation\":\"scan\"}\n{\"process\":1,\"event\":\"ok\"}\n",
            ":2:12: expected the name of a process, as in line 1, found the number `1`",
            "help: a recording has names for all its processes, or numbers for all; a name of digits \
             is quoted: \"1\"",
            "jsonl",
        ),
        (
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"scan\"}\n{\"process\":\"b\",\"event\":\"ok\"}\n",
            ":2:13: expected the number of a process, as in line 1, found the name `b`",
            "help: a recording has names for all its processes, or numbers for all",
            "jsonl",
        ),
        (
            "{\"snapshot-history\":1,\"processes\":[\"a\"]}\n{\"process\":\"b\",\"event\":\"ok\"}\n",
            ":2:13: expected the name of a process that is declared in line 1, found `b`",
            "help: correct it, or add it to the `processes` of the header",
            "jsonl",
        ),
        (
            "{\"snapshot-history\":1,\"segments\":[\"x\",\"y\",\"x\"]}\n",
            ":1:44: expected each name of a segment once, found `x` again",
            "help: give each segment a name of its own",
            "jsonl",
        ),
        (
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"scan\"}\n\
             {\"process\":0,\"event\":\"ok\",\"values\":{\"x\":1,\"y\":2}}\n\
             {\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"segment\":0,\"value\":1}\n",
            ":3:62: expected the name of a segment, as in line 2, found the number `0`",
            "a name of digits is quoted: \"0\"",
            "jsonl",
        ),
        (
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"segment\":\"x\",\"value\":1}\n\
             {\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}\n\
             {\"process\":1,\"event\":\"ok\",\"values\":[1]}\n",
            "expected values by the names of their segments, found a list",
            "help: write \"values\":{\"x\":5,\"y\":0}, or declare the segments in their order",
            "jsonl",
        ),
        (
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"segment\":0,\"value\":1}\n\
             {\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}\n\
             {\"process\":1,\"event\":\"ok\",\"values\":{\"x\":1}}\n",
            ":3:38: expected the number of a segment, as in line 1, found the name `x`",
            "help: a recording has names for all its segments",
            "jsonl",
        ),
        (
            "{\"snapshot-history\":1,\"object\":\"immediate\"}\n\
             {\"process\":\"a\",\"event\":\"invoke\",\"operation\":\"exchange\",\"value\":1}\n\
             {\"process\":\"a\",\"event\":\"ok\",\"values\":[1]}\n",
            "expected values by the names",
            "help: declare the processes in their order",
            "jsonl",
        ),
        (
            "{\"snapshot-history\":1,\"segments\":[],\"initial\":[5]}\n",
            "expected values by the names of their segments, found a list",
            "help: ",
            "jsonl",
        ),
    ];
    for (text, message, cure, format) in cases {
        let is_whole = text.contains("event") || text.contains("scan") || text.contains("update");
        let text =
            if format == "text" && !is_whole { format!("{text}{events}") } else { text.to_owned() };
        let (_folder, path) = file("run", &text);
        let (code, out, error) = answer(run(&format!("check --format {format} {path}")));
        assert_eq!(code, 2, "{text}{out}{error}");
        assert!(error.contains(message), "{text}{error}");
        assert!(error.contains(cure), "{text}{error}");
    }
}
