//! Invalid logs: they are refused or read, without any other effect.

use proptest::prelude::*;
use snapshot_test::format::Format;
use snapshot_test::import::{EdnOptions, IntervalOptions, Stamp, by_time, edn, intervals};
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Object, judge};
use test_support::effort::either;

/// Pieces of logs, and other pieces.
const PIECES: [&str; 66] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "#{",
    "#_",
    "#a",
    "#",
    "\"",
    "\\",
    "\\[",
    ";",
    ",",
    ":",
    "\n",
    "\r",
    " ",
    "é",
    "\u{feff}",
    "\u{0}",
    ":type",
    ":invoke",
    ":ok",
    ":info",
    ":fail",
    ":process",
    ":f",
    ":value",
    ":time",
    ":read",
    ":write",
    ":add",
    ":txn",
    ":x",
    "nil",
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "1.5",
    "1e9",
    "1/2",
    "0x",
    "2r1",
    "##NaN",
    "{:type :invoke :process 0 :f ",
    "{:type :invoke :process 1 :f :enqueue :value ",
    "INFO jepsen.util - 0 :invoke :read nil\n",
    "{\"process\":0,\"event\":\"invoke\",\"operation\":\"scan\",\"time\":",
    "\"client\":1,",
    "\"operation\":\"update\",",
    "\"value\":",
    "\"call\":1,\"return\":2",
    "\"key\":",
    "\"segment\":",
    "null",
    "client,operation,segment,value,call,return\n",
    "a,update,0,5,1,2\n",
    "a,scan,,",
    "\"\"\"",
    "_",
    "scan",
    "Input",
    "Output",
];

fn logs() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        20 => prop::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn reported(error: &snapshot_test::InputError, log: &[u8]) {
    let text = error.report("log").to_string();
    assert!(text.starts_with("log:"), "{text}");
    let lines = log.split(|byte| *byte == b'\n').count() as u64;
    assert!(error.location().line <= lines, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(either(3_000, 300_000)) })]

    #[test]
    fn invalid_logs_are_refused_or_read(log in logs()) {
        let mut errors = Vec::new();
        errors.extend(intervals(&log, &IntervalOptions::default()).err());
        for (independent, sort_by_time) in [(false, false), (true, true)] {
            let options = EdnOptions { independent, sort_by_time, ..EdnOptions::default() };
            errors.extend(edn(&log, &options).err());
        }
        errors.extend(by_time(&log, None, Stamp::default()).err());
        errors.iter().for_each(|error| reported(error, &log));
        for object in ["register", "map", "queue", "filter-channel"] {
            let object: Object = object.parse().unwrap();
            let judged = judge(&object, &log[..], Some(Format::Edn), None, &Options::default());
            if let Err(error) = judged {
                let text = error.report("log");
                prop_assert!(text.starts_with("log:"), "{}", text);
                let lines = log.split(|byte| *byte == b'\n').count() as u64;
                prop_assert!(error.location.line <= lines, "{}", text);
            }
        }
    }
}
