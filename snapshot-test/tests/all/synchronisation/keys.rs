//! Several objects in one recording, and objects that begin with another value.

use std::fmt::Write;

use snapshot_test::Value;
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{
    Certificate, InitialError, Judgement, Object, certify, judge, verdict,
};

fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

fn judged(object: &Object, recording: &str, key: Option<&Value>) -> Vec<Judgement> {
    judge(object, recording.as_bytes(), None, key, &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.report(recording)))
}

/// Returns the events of a random recording by two processes.
fn events(seed: &mut u64, operations: Operations, length: usize) -> Vec<String> {
    let mut events = Vec::new();
    let mut open: [Option<usize>; 2] = [None; 2];
    while events.len() < length {
        let process = random(seed, 2) as usize;
        match open[process].take() {
            Some(operation) => {
                let results = operations[operation].1;
                let result = results[random(seed, results.len() as u64) as usize];
                events.push(format!("p{process} ok {result}"));
            }
            None => {
                let operation = random(seed, operations.len() as u64) as usize;
                events.push(format!("p{process} {}", operations[operation].0));
                open[process] = Some(operation);
            }
        }
    }
    events
}

/// Invocations with possible results.
type Operations = &'static [(&'static str, &'static [&'static str])];

const REGISTER: Operations =
    &[("write 1", &[""]), ("write 2", &[""]), ("read", &["0", "1", "2"]), ("read", &["1", "2"])];

#[test]
fn keyed_objects_are_judged_as_if_alone() {
    let object: Object = "register".parse().unwrap();
    let keys = ["1", "\"1\"", "\"a b\""];
    let mut seed = 3;
    let (mut right, mut wrong, mut certified) = (0, 0, 0);
    for _ in 0..400 {
        let alone: Vec<Vec<String>> = keys.iter().map(|_| events(&mut seed, REGISTER, 6)).collect();
        let (mut next, mut merged) = ([0; 3], String::new());
        while next.iter().any(|&at| at < 6) {
            let one = random(&mut seed, 3) as usize;
            if next[one] < 6 {
                writeln!(merged, "@{} {}", keys[one], alone[one][next[one]]).unwrap();
                next[one] += 1;
            }
        }
        let parts = judged(&object, &merged, None);
        assert_eq!(parts.len(), keys.len());
        for part in parts {
            let key = part.key.clone().unwrap();
            let place = keys.iter().position(|name| *name == key.to_string()).unwrap();
            let text = alone[place].iter().fold(String::new(), |text, event| text + event + "\n");
            let [expected] = judged(&object, &text, None).try_into().unwrap();
            assert_eq!(verdict(&part), verdict(&expected), "{merged}");
            *(if verdict(&part) == "violation" { &mut wrong } else { &mut right }) += 1;
            let [selected] = judged(&object, &merged, Some(&key)).try_into().unwrap();
            assert_eq!(selected.finding, part.finding);
            // Repeated values are searched.
            let Some(certificate) = Certificate::new(&part) else { continue };
            certified += 1;
            let text = certificate.to_text(&object, Some(&key));
            let (_, named, read) = Certificate::from_text(&text).unwrap();
            assert_eq!((named.as_ref(), &read), (Some(&key), &certificate));
            let bytes = merged.as_bytes();
            certify(&object, &read, bytes, None, Some(&key)).unwrap().unwrap();
            assert!(certify(&object, &read, bytes, None, None).is_err(), "several objects");
        }
    }
    assert!(right > 200 && wrong > 200 && certified > 300, "{right} {wrong} {certified}");
}

#[test]
fn recordings_with_and_without_keys_are_refused() {
    let object: Object = "queue".parse().unwrap();
    for (recording, why) in [
        ("@1 p0 dequeue\np0 ok none\n", "found an event without one"),
        ("p0 dequeue\n@1 p0 ok none\n", "found an event with one"),
        ("@x p0 dequeue\n", "expected a key"),
        ("@none p0 dequeue\n", "expected a key"),
        (
            "{\"process\":0,\"key\":true,\"event\":\"invoke\",\"operation\":\"dequeue\"}\n",
            "a `key`",
        ),
    ] {
        let error = judge(&object, recording.as_bytes(), None, None, &Options::default());
        let error = error.unwrap_err().report("r");
        assert!(error.contains(why), "{error}");
    }
    let recording = "@1 p0 dequeue\n@1 p0 ok none\n";
    let missing = Value::from(2);
    let error = judge(&object, recording.as_bytes(), None, Some(&missing), &Options::default());
    assert!(error.unwrap_err().report("r").contains("events with the key 2"));
    let jsonl = "{\"process\":0,\"key\":\"a\",\"event\":\"invoke\",\"operation\":\"dequeue\"}\n";
    assert_eq!(judged(&object, jsonl, None)[0].key, Some(Value::from("a")));
}

/// An initial value is the value written by an operation that ended before all others.
#[test]
fn initial_value_equals_an_earlier_write() {
    let cases: [(&str, &str, &str, Operations); 4] = [
        (
            "register",
            "3",
            "p9 write 3\np9 ok\n",
            &[("write 1", &[""]), ("read", &["3", "1", "3", "0"])],
        ),
        (
            "cas-register",
            "3",
            "p9 write 3\np9 ok\n",
            &[("cas 3 1", &["true", "false"]), ("write 3", &[""]), ("read", &["3", "1"])],
        ),
        (
            "map",
            "3",
            "p9 put 7 3\np9 ok\np9 put 8 3\np9 ok\n",
            &[
                ("get 7", &["3", "none"]),
                ("delete 7", &[""]),
                ("cas 8 3 4", &["true", "false"]),
                ("get 8", &["3", "4"]),
                ("put 8 3", &[""]),
            ],
        ),
        (
            "counter",
            "2",
            "p9 increment\np9 ok\np9 increment\np9 ok\n",
            &[("increment", &["2", "3", ""]), ("decrement", &[""]), ("read", &["2", "3", "1"])],
        ),
    ];
    let mut seed = 5;
    for (name, initial, written, operations) in cases {
        let plain: Object = name.parse().unwrap();
        let initial = initial.parse::<i64>().unwrap();
        let begun = plain.clone().with_initial(Value::from(initial)).unwrap();
        let (mut right, mut wrong, mut differ) = (0, 0, 0);
        for _ in 0..600 {
            let events = events(&mut seed, operations, 8);
            let text = events.iter().fold(String::new(), |text, event| text + event + "\n");
            let [found] = judged(&begun, &text, None).try_into().unwrap();
            let [expected] =
                judged(&plain, &(written.to_owned() + &text), None).try_into().unwrap();
            assert_eq!(verdict(&found), verdict(&expected), "{name}: {text}");
            let [usual] = judged(&plain, &text, None).try_into().unwrap();
            differ += usize::from(verdict(&usual) != verdict(&found));
            *(if verdict(&found) == "violation" { &mut wrong } else { &mut right }) += 1;
            let Some(certificate) = Certificate::new(&found) else { continue };
            let (of, _, read) = Certificate::from_text(&certificate.to_text(&begun, None)).unwrap();
            assert_eq!(of, begun);
            certify(&of, &read, text.as_bytes(), None, None).unwrap().unwrap();
        }
        assert!(right > 50 && wrong > 50 && differ > 20, "{name}: {right} {wrong} {differ}");
    }
}

#[test]
fn invalid_initial_values_are_refused() {
    let with = |name: &str, value: Value| name.parse::<Object>().unwrap().with_initial(value);
    assert!(matches!(with("queue", Value::ZERO), Err(InitialError::Fixed { name: "queue" })));
    assert!(matches!(with("counter", Value::from("x")), Err(InitialError::Integer { .. })));
    let object = with("register", Value::from("x")).unwrap();
    assert_eq!(object.described(None), "register, initially \"x\"");
}

/// Reports count all objects, and show those that are wrong or undecided; with certificates, all.
#[test]
fn reports_show_the_objects_that_fail() {
    use crate::commands::{answer, run};
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("many.txt");
    let mut recording = String::new();
    for key in 0..500 {
        writeln!(recording, "@{key} p0 enqueue 5\n@{key} p0 ok").unwrap();
    }
    recording += "@7 p0 dequeue\n@7 p0 ok 8\n";
    std::fs::write(&place, recording).unwrap();
    let (place, folder) = (place.display(), folder.path().display());
    let check = format!("check --object queue --report json {place}");
    let (code, report, _) = answer(run(&check));
    assert_eq!(code, 1);
    assert!(report.len() < 2000, "{} bytes", report.len());
    let found: serde_json::Value = serde_json::from_str(&report).unwrap();
    let counts =
        serde_json::json!({"total": 500, "linearizable": 499, "violation": 1, "unknown": 0});
    assert_eq!(found["objects"], counts);
    assert_eq!(
        (found["operations"].as_u64(), found["parts"][0]["key"].as_u64()),
        (Some(501), Some(7))
    );
    assert_eq!(found["parts"].as_array().unwrap().len(), 1);
    let (_, all, _) = answer(run(&format!("{check} --certificate {folder}")));
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    assert_eq!((all["parts"].as_array().unwrap().len(), &all["objects"]), (500, &counts));
    let (_, human, _) = answer(run(&format!("check --object queue {place}")));
    assert!(human.contains("violation (1 of 500 objects wrong; 501 operations"), "{human}");
}
