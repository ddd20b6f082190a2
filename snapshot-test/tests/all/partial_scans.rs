//! Scans of some segments: all notations give one history, without loss.

use snapshot_core::check::check;
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Method, Verdict};
use snapshot_test::convert::convert;
use snapshot_test::format::{Format, Reader};
use snapshot_test::read_history;

const TEXT: &str = "segments 3\nwriters many\np0 update 5\np1 scan\np1 ok 5 _ _\np0 ok\n\
                    p2 scan\np2 ok s2 0 s0 5\np1 scan\np1 ok _\np1 scan\np1 ok s0 5 s1 0 s2 0\n";

const JSONL: &str = concat!(
    "{\"snapshot-history\":1,\"segments\":3,\"writers\":\"many\"}\n",
    "{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5}\n",
    "{\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}\n",
    "{\"process\":1,\"event\":\"ok\",\"values\":[5,null,null]}\n",
    "{\"process\":0,\"event\":\"ok\"}\n",
    "{\"process\":2,\"event\":\"invoke\",\"operation\":\"scan\"}\n",
    "{\"process\":2,\"event\":\"ok\",\"values\":{\"2\":0,\"0\":5}}\n",
    "{\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}\n",
    "{\"process\":1,\"event\":\"ok\",\"values\":{}}\n",
    "{\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}\n",
    "{\"process\":1,\"event\":\"ok\",\"values\":{\"0\":5,\"1\":0,\"2\":0}}\n",
);

/// Returns the events of a recording, in the form of a history.
fn events(reader: Reader<&[u8]>) -> Vec<String> {
    let (history, _) = read_history(reader).expect("the events are a history");
    history.events().map(|event| event.to_string()).collect()
}

#[test]
fn all_notations_give_one_history() {
    let expected = events(Reader::text(TEXT.as_bytes()).unwrap());
    assert_eq!(expected[2], "p1 ok s0 5");
    assert_eq!(expected[5], "p2 ok s0 5 s2 0");
    assert_eq!(expected[7], "p1 ok _");
    // All segments are present: it is a full scan.
    assert_eq!(expected[9], "p1 ok 5 0 0");
    assert_eq!(events(Reader::jsonl(JSONL.as_bytes()).unwrap()), expected);
    for format in [Format::Text, Format::Jsonl] {
        let reader = Reader::text(TEXT.as_bytes()).unwrap();
        let written = convert(reader, format, Vec::new()).unwrap();
        let reader = match format {
            Format::Text => Reader::text(&written[..]),
            _ => Reader::jsonl(&written[..]),
        };
        assert_eq!(events(reader.unwrap()), expected, "{format}");
    }
}

#[test]
fn values_and_gaps_give_the_number_of_segments() {
    let (history, _) = read_history(Reader::text(&b"p1 scan\np1 ok _ 0 _\n"[..]).unwrap()).unwrap();
    assert_eq!(history.segments(), 3);
    for (text, message) in [
        (
            "segments 2\np1 scan\np1 ok _ 0 _\n",
            "3:1: a scan of process 1 returned 3 values, but there are 2",
        ),
        ("segments 2\np1 scan\np1 ok s2 0\n", "3:1: segment 2 does not exist"),
        ("p1 scan\np1 ok s0 0 s0 1\n", "2:1: a scan of process 1 returned segment 0 twice"),
        ("p1 scan\np1 ok s0 0 5\n", "2:12: expected a segment such as `s0`, found `5`"),
        ("p1 scan\np1 ok 0 s1\n", "2:9: expected a value, found `s1`"),
    ] {
        let error = Reader::text(text.as_bytes()).map_err(|error| error.to_string());
        let error = error.and_then(|reader| read_history(reader).map_err(|e| e.to_string()));
        let error = error.expect_err(text);
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn disc22_refuses_partial_scans() {
    let reader = Reader::text(TEXT.as_bytes()).unwrap();
    let error = convert(reader, Format::Disc22, Vec::new()).expect_err("there are gaps");
    assert!(error.to_string().contains("disc22"), "{error}");
    let reader = Reader::text(&b"processes 1\np0 scan\np0 ok _\n"[..]).unwrap();
    let error = convert(reader, Format::Disc22, Vec::new()).expect_err("there is a gap");
    assert!(error.to_string().contains("some segments only"), "{error}");
}

/// Single reads of two keys by two clients: one history per key.
#[test]
fn reads_of_single_keys_are_decided_by_the_conditions() {
    let text = "segments 2\np0 update 1\np1 update 2\np2 scan\np2 ok s0 1\np0 ok\np1 ok\n\
                p2 scan\np2 ok s1 2\np3 scan\np3 ok s0 ";
    for (value, is_linearizable) in [(1, true), (0, false)] {
        let text = format!("{text}{value}\n");
        let (history, _) = read_history(Reader::text(text.as_bytes()).unwrap()).unwrap();
        let report = check(&history, &mut Budget { memory: 1 << 20, proceed: &mut || true });
        assert_eq!(matches!(report.verdict, Verdict::Linearizable(_)), is_linearizable);
        assert_eq!(report.method, Method::Linear);
        assert_eq!(report.decided_at, (!is_linearizable).then_some(9));
    }
}
