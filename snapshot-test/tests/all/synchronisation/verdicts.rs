//! A correct recording of every object, and a wrong one that differs slightly: in text, and the
//! same in JSON Lines.

use std::fmt::Write;

use super::verdicts;

/// Converts events separated by `;` to lines.
fn lines(events: &str) -> String {
    events.split(';').fold(String::new(), |mut text, event| {
        writeln!(text, "{}", event.trim()).unwrap();
        text
    })
}

/// Converts the events to JSON Lines. Texts have no blanks here.
fn json(events: &str) -> String {
    let mut text = String::new();
    for event in events.split(';') {
        let mut words = event.split_whitespace();
        let process = &words.next().unwrap()[1..];
        let verb = words.next().unwrap();
        let (closed, values): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == "closed");
        let values: Vec<&str> =
            values.iter().map(|word| if *word == "none" { "null" } else { word }).collect();
        write!(text, "{{\"process\":{process}").unwrap();
        match verb {
            "ok" | "fail" | "unknown" => write!(text, ",\"event\":\"{verb}\"").unwrap(),
            _ => write!(text, ",\"event\":\"invoke\",\"operation\":\"{verb}\"").unwrap(),
        }
        match values.as_slice() {
            [] => {}
            [value] => write!(text, ",\"value\":{value}").unwrap(),
            _ => write!(text, ",\"values\":[{}]", values.join(",")).unwrap(),
        }
        if !closed.is_empty() {
            text += ",\"closed\":true";
        }
        text += "}\n";
    }
    text
}

/// Object, correct recording, wrong recording.
const TWINS: [(&str, &str, &str); 19] = [
    ("channel", "p0 send 5;p1 receive;p1 ok 5;p0 ok", "p0 send 5;p0 ok;p1 receive;p1 ok 5"),
    ("channel", "p0 send \"x\";p1 receive;p1 ok \"x\"", "p0 send \"x\";p1 receive;p1 ok \"y\""),
    ("channel", "p0 send 5;p0 unknown;p0 receive;p0 ok 5", "p0 send 5;p0 fail;p0 receive;p0 ok 5"),
    (
        "filter-channel",
        "p0 send 5;p1 receive 4 5;p0 ok;p1 ok 5",
        "p0 send 5;p1 receive 4 6;p0 ok;p1 ok 5",
    ),
    // The waiting receive can take 1 or 2; at most one of the two sends that responded had a
    // partner.
    (
        "filter-channel",
        "p0 receive 1 2;p1 send 1;p2 send 2;p1 ok",
        "p0 receive 1 2;p1 send 1;p2 send 2;p1 ok;p2 ok",
    ),
    (
        "timeout-channel",
        "p0 send 5;p1 receive;p0 ok false;p1 ok none",
        "p0 send 5;p1 receive;p0 ok false;p1 ok 5",
    ),
    (
        "counter-channel",
        "p0 send 5;p1 receive;p0 ok 1;p1 ok 5 1;p0 send 6;p1 receive;p0 ok 2",
        "p0 send 5;p1 receive;p0 ok 1;p1 ok 5 1;p0 send 6;p1 receive;p0 ok 1",
    ),
    (
        "closeable-channel",
        "p0 send 5;p1 receive;p2 close;p1 ok 5;p2 ok;p0 ok;p1 receive;p1 ok closed",
        "p0 send 5;p1 receive;p2 close;p1 ok 5;p2 ok;p0 ok closed",
    ),
    (
        "exchanger",
        "p0 exchange 1;p1 exchange 2;p0 ok 2;p1 ok 1",
        "p0 exchange 1;p1 exchange 2;p0 ok 1",
    ),
    (
        "timeout-exchanger",
        "p0 exchange 1;p1 exchange 1;p2 exchange 1;p0 ok none;p1 ok 1;p2 ok 1",
        "p0 exchange 1;p1 exchange 1;p2 exchange 1;p0 ok none;p1 ok none;p2 ok 1",
    ),
    ("men-and-women", "p0 man 1;p1 woman 2;p0 ok 2;p1 ok 1", "p0 man 1;p1 woman 2;p0 ok 2;p1 ok 3"),
    (
        "two-families",
        "p0 first 1;p1 second 1;p0 ok 1;p1 ok 1;p0 first 1;p1 second 2;p0 ok 2",
        "p0 first 1;p1 second 1;p0 ok 1;p1 ok 1;p0 first 1;p1 second 1;p0 ok 1",
    ),
    (
        "one-family",
        "p0 meet 0;p1 meet 1;p0 ok 1;p1 ok 0;p0 meet 0;p2 meet 2;p0 ok 2",
        "p0 meet 0;p1 meet 1;p0 ok 1;p1 ok 0;p0 meet 0;p1 meet 1;p0 ok 1",
    ),
    (
        "abc",
        "p0 a 1;p1 b 2;p2 c 3;p0 ok 2 3;p1 ok 1 3;p2 ok 1 2",
        "p0 a 1;p1 b 2;p2 c 3;p0 ok 2 3;p1 ok 1 3;p2 ok 2 1",
    ),
    ("barrier:3", "p0 sync;p1 sync;p2 sync;p0 ok", "p0 sync;p1 sync;p0 ok;p2 sync"),
    (
        "leader-barrier:2",
        "p0 sync;p1 sync;p0 ok false;p1 ok true",
        "p0 sync;p1 sync;p0 ok false;p1 ok false",
    ),
    (
        "enrollable-barrier",
        "p0 enrol 0;p0 ok;p1 enrol 1;p1 ok;p0 sync 0;p1 resign 1;p0 ok;p1 ok",
        "p0 enrol 0;p0 ok;p1 enrol 1;p1 ok;p0 sync 0;p0 ok;p1 resign 1;p1 ok",
    ),
    (
        "terminating-queue:2",
        "p0 enqueue 5;p0 ok;p1 dequeue;p1 ok 5;p0 dequeue;p1 dequeue;p0 ok none;p1 ok none",
        "p0 enqueue 5;p0 ok;p0 dequeue;p1 dequeue;p0 ok none;p1 ok none",
    ),
    (
        "atomic-broadcast:2",
        "p0 send 5;p1 receive;p2 receive;p1 ok 5;p2 ok 5;p0 ok",
        "p0 send 5;p1 receive;p2 receive;p1 ok 5;p2 ok 6;p0 ok",
    ),
];

#[test]
fn right_and_wrong_twins_have_their_verdicts() {
    for (object, right, wrong) in TWINS {
        for format in [lines, json] {
            assert_eq!(verdicts(object, &format(right)).0, "set-linearizable", "{object}: {right}");
            assert_eq!(verdicts(object, &format(wrong)).0, "violation", "{object}: {wrong}");
        }
    }
}

/// Object, an end with progress, an end at which an operation waits that could take effect.
const ENDS: [(&str, &str, &str); 12] = [
    ("channel", "p0 send 1;p1 send 2", "p0 send 1;p1 send 2;p2 receive"),
    ("channel", "p0 receive;p1 receive", "p0 send 1;p1 receive;p2 receive;p0 ok"),
    ("filter-channel", "p0 send 1;p1 receive 2", "p0 send 1;p1 receive 1 2"),
    ("timeout-channel", "p0 send 1;p0 ok false", "p0 send 1"),
    ("counter-channel", "p0 send 1", "p0 send 1;p1 receive"),
    ("closeable-channel", "p0 send 1", "p1 close;p1 ok;p0 send 1"),
    ("exchanger", "p0 exchange 1", "p0 exchange 1;p1 exchange 1"),
    (
        "two-families",
        "p0 first 1;p1 second 1;p0 ok 1;p1 ok 1;p0 first 1;p1 second 1",
        "p0 first 1;p1 second 1",
    ),
    ("one-family", "p0 meet 0;p1 meet 0", "p0 meet 0;p1 meet 1"),
    ("abc", "p0 a 0;p1 b 1;p2 a 2", "p0 a 0;p1 b 1;p2 c 2"),
    ("barrier:3", "p0 sync;p1 sync", "p0 sync;p1 sync;p2 sync"),
    ("terminating-queue:2", "p0 dequeue", "p0 dequeue;p1 dequeue"),
];

#[test]
fn progress_verdicts_of_twins_differ() {
    for (object, right, wrong) in ENDS {
        for format in [lines, json] {
            let expected = [("set-linearizable", true), ("set-linearizable", false)];
            let found = [right, wrong].map(|end| verdicts(object, &format(end)));
            assert_eq!(found, expected, "{object}: {right} and {wrong}");
        }
    }
}
