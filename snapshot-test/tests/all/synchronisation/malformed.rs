//! Malformed recordings: the report has the position, the expected text, and the remedy.

use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Object, judge};

/// Object, recording, and a part of each of the report's first and last line.
const CASES: [(&str, &str, &str, &str); 27] = [
    ("channel", "", "1:1: empty input", "help: an empty history is a header line"),
    ("channel", "# nothing\n\n", "1:1: empty input", "help: an empty"),
    ("channel", "p0 send 5", "1:10: truncated last line", "help: end the file with a newline"),
    ("channel", "p0 sned 5\n", "1:4: expected `send`, `receive`,", "help: did you mean `send`?"),
    (
        "queue",
        "@1 p0  write 5\n",
        "1:8: expected `enqueue`, `dequeue`,",
        "help: recordings of `register` or `cas-register` are judged by `check --object register`",
    ),
    ("queue", "p0 scan\n", "1:4: expected `enqueue`, `dequeue`,", "judged without --object"),
    (
        "stack",
        "{\"process\":0,\"event\":\"invoke\",\"operation\": \"enqueue\",\"value\":1}\n",
        "1:45: expected `push`, `pop`, `ok`, `fail` or `unknown`, found `enqueue`",
        "by `check --object queue`",
    ),
    (
        "channel",
        "p0 send\n",
        "expected `send VALUE`, found `send`",
        "help: docs/synchronisation.md",
    ),
    ("channel", "p0 send 1 2\n", "expected `send VALUE`, found `send 1 2`", "help: docs"),
    ("channel", "p0 send 1.5\n", "1:9: expected an integer, a text", "help: docs"),
    ("channel", "p0 send \"a\n", "1:9: expected an integer, a text", "help: docs"),
    ("channel", "0 send 1\n", "1:1: expected a process such as `p0`", "help: docs"),
    ("channel", "p0\n", "1:3: expected an operation, `ok`", "help: docs"),
    ("channel", "p0 ok\n", "process 0 ends an operation, but it has none open", "^"),
    ("channel", "p0 send 1\np0 send 2\n", "while 0 is still open", "^"),
    ("channel", "p9999999 send 1\n", "process 9999999 does not exist", "^"),
    (
        "channel",
        "p0 send 1\np0 ok 1\n",
        "2:1: expected nothing after `ok`, which ends a `send`, found `1`",
        "help: docs",
    ),
    (
        "channel",
        "p0 receive\np0 ok\n",
        "expected a value after `ok`, which ends a `receive`, found nothing",
        "help: docs",
    ),
    ("channel", "p0 send 1\np0 fail 3\n", "expected nothing after `fail`", "help: docs"),
    (
        "channel",
        "p0 send 1\nobject channel\n",
        "2:1: expected the header in the first line",
        "help: move it",
    ),
    (
        "channel",
        "object exchanger\n",
        "the object of the recording is `exchanger`, and --object is `channel`",
        "help: use --object exchanger",
    ),
    (
        "barrier:3",
        "object barrier:2\n",
        "the object of the recording is `barrier:2`",
        "help: use --object barrier:2",
    ),
    (
        "channel",
        "{\"process\":0,\"event\":\"invoke\"}\n",
        "an invocation has an `operation`",
        "help: a line is one JSON object",
    ),
    ("channel", "{\"process\":0,\"evnt\":\"ok\"}\n", "unknown field `evnt`", "help: a line is one"),
    (
        "channel",
        "{\"process\":0,\"event\":\"fail\",\"value\":1}\n",
        "only `invoke` and `ok` have values",
        "help: a line is one",
    ),
    (
        "channel",
        "{\"process\":0,\"event\":\"invoke\",\"operation\":\"send\",\"value\":99999999999999999999}\n",
        "expected a 64-bit integer",
        "help: a line is one",
    ),
    (
        "channel",
        "{\"snapshot-history\":2,\"object\":\"channel\"}\n",
        "expected version 1, found version 2",
        "help: a line is one",
    ),
];

#[test]
fn reports_have_position_and_remedy() {
    for (object, recording, first, last) in CASES {
        let parsed: Object = object.parse().unwrap();
        let error =
            judge(&parsed, recording.as_bytes(), None, None, &Options::default()).unwrap_err();
        let report = error.report("r");
        assert!(report.starts_with("r:"), "{report}");
        let lines: Vec<&str> = report.lines().collect();
        assert!(lines[0].contains(first), "{recording:?}: {report}");
        assert!(lines.last().unwrap().contains(last), "{recording:?}: {report}");
    }
}

#[test]
fn names_of_objects_round_trip() {
    for name in ["channel", "barrier:7", "terminating-queue:1", "one-family"] {
        assert_eq!(name.parse::<Object>().unwrap().to_string(), name);
    }
    let refused = |name: &str| name.parse::<Object>().unwrap_err().to_string();
    assert!(refused("chanel").ends_with("did you mean `channel`?"));
    assert_eq!(refused("barrier"), "expected a number from 1 to 65536, as in `barrier:3`");
    for name in ["barrier:0", "barrier:+3", "barrier:x", "barrier:99999999999999999999", "barrier:"]
    {
        assert!(refused(name).starts_with("expected a number"), "{name}");
    }
    assert!(refused("exchanger:2").contains("leave out what is behind the colon"));
}
