//! `convert --object`: recordings of objects in other formats.

use std::fs;

use snapshot_test::format::Format;
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Object, convert, human, judge, verdict};

use super::judged;
use crate::commands::{answer, printed, refused, run};

fn converted(object: &str, input: &str, to: Format) -> String {
    let object: Object = object.parse().unwrap();
    let mut output = Vec::new();
    convert(&object, input.as_bytes(), None, None, to, &mut output)
        .unwrap_or_else(|error| panic!("{}", error.report("r")));
    String::from_utf8(output).unwrap()
}

/// A recording with everything: keys, names, failures, texts, closed channels.
const ALL: [(&str, &str); 4] = [
    (
        "queue",
        "object queue\nprocess p0 \"a \\\"b\"\nprocess p1 \"7\"\n@1 p0 enqueue -5\n@\"1\" p1 dequeue\n\
         @1 p0 ok\n@\"1\" p1 ok none\n@1 p1 enqueue \"x y\"\n@1 p1 unknown\n@1 p0 dequeue\n@1 p0 fail\n",
    ),
    ("filter-channel", "object filter-channel\np0 receive 1 2 \"z\"\np1 send 2\np0 ok 2\np1 ok\n"),
    ("closeable-channel", "object closeable-channel\np0 send 1\np1 close\np1 ok\np0 ok closed\n"),
    ("map", "object map\np0 cas \"k\" 1 2\np0 ok false\np0 get \"k\"\np0 ok none\n"),
];

#[test]
fn text_and_json_lines_hold_the_same() {
    for (object, text) in ALL {
        assert_eq!(converted(object, text, Format::Text), text);
        let lines = converted(object, text, Format::Jsonl);
        assert_ne!(lines, text);
        assert_eq!(converted(object, &lines, Format::Text), text, "{lines}");
        assert_eq!(converted(object, &lines, Format::Jsonl), lines);
        let verdicts = |input: &str| -> Vec<&str> {
            let object: Object = object.parse().unwrap();
            let judged = judge(&object, input.as_bytes(), None, None, &Options::default());
            judged.unwrap().iter().map(verdict).collect()
        };
        assert_eq!(verdicts(&lines), verdicts(text));
    }
}

#[test]
fn a_log_of_jepsen_becomes_a_recording() {
    let log = "{:type :invoke, :f :write, :value 3, :process 7}\n\
               {:type :invoke, :f :read, :value nil, :process 2}\n\
               {:type :ok, :f :read, :value nil, :process 2}\n\
               {:type :info, :f :write, :value 3, :process 7}\n";
    let text = converted("register", log, Format::Text);
    let expected = "# initially \"nil\"\nobject register\nprocess p0 \"7\"\nprocess p1 \"2\"\n\
                    p0 write 3\np1 read\np1 ok \"nil\"\np0 unknown\n";
    assert_eq!(text, expected);
    let lines = converted("register", log, Format::Jsonl);
    assert_eq!(converted("register", &lines, Format::Text).lines().skip(1).count(), 6, "{lines}");
}

#[test]
fn one_object_of_several_has_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::write(&input, ALL[0].1).unwrap();
    let (input, output) = (input.display(), output.display());
    let text = printed(&format!("convert --object queue --key 1 --to text {input}"));
    assert!(text.contains("\np0 enqueue -5\np0 ok\n") && !text.contains("dequeue\np1"), "{text}");
    // What is converted is checked, and a failure leaves no output.
    fs::write(input.to_string(), "p0 enqueue 1\np0 ok 1\n").unwrap();
    let command = format!("convert --object queue --to jsonl {input} -o {output}");
    let report = refused(&command);
    assert!(report.contains(":2:1: expected nothing after `ok`"), "{report}");
    assert!(fs::metadata(output.to_string()).is_err());
    for (options, message) in [
        ("--to disc22", "disc22 knows snapshots only, found `object queue`"),
        (
            "--to text --skew 3",
            "--independent, --initial, --sort-by-time, --skew and --from disc22",
        ),
        ("--to text --from intervals", "a list of calls with their times is judged as a snapshot"),
    ] {
        fs::write(input.to_string(), "p0 enqueue 1\np0 ok\n").unwrap();
        let report = refused(&format!("convert --object queue {options} {input}"));
        assert!(report.contains(message), "{report}");
    }
}

#[test]
fn long_recordings_are_not_kept() {
    let recipe = "generate --object queue --operations 20000 --processes 6";
    let text = printed(recipe);
    let body = |text: &str| {
        text.lines().filter(|line| line.starts_with('p')).map(str::to_owned).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    fs::write(&path, &text).unwrap();
    let command = format!("convert --object queue --to text {}", path.display());
    let (code, out, error) = answer(run(&command));
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(body(&out) == body(&text) && body(&out).len() == 40_000);
    // Behind 4,096 operations the first ones are forgotten, and events keep their numbers.
    fs::write(&path, text + "p0 ok\n").unwrap();
    let report = refused(&command);
    assert!(
        report.contains("event 40000: process 0 ends an operation, but it has none open"),
        "{report}"
    );
}

/// Reports have values as the log has them: texts in quotes, `nil` and keywords without.
#[test]
fn reports_have_the_values_of_the_log() {
    let log = |value: &str, read: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :write, :value {value}}}\n\
             {{:process 0, :type :ok, :f :write, :value {value}}}\n\
             {{:process 1, :type :invoke, :f :read, :value nil}}\n\
             {{:process 1, :type :ok, :f :read, :value {read}}}\n"
        )
    };
    for value in ["\"nil\"", "\"a\"", ":a", "2.5", "sym", "\"\"", "\"'sym\"", "\"a\\\"b\"", "-7"] {
        let judged = judged("register", &log(value, "nil"));
        let report = human("LOG", &judged);
        assert!(report.contains("register, initially nil, by rules"), "{report}");
        assert!(report.contains(&format!("write({value}) by process 0 [")), "{report}");
        assert!(report.contains("read() by process 1, returned nil [line 3"), "{report}");
        assert_eq!(judged.texts[0].deed(judged.format), format!("write({value})"));
    }
    let queue = log("\"nil\"", "nil").replace(":write", ":enqueue").replace(":read", ":dequeue");
    let report = human("LOG", &judged("queue", &queue));
    assert!(report.contains("dequeue() by process 1, returned nil ["), "{report}");
    assert!(report.contains("value inside: \"nil\"."), "{report}");
    // The value `nil` of a recording is a text like any other.
    let report = human("R", &judged("register", "p1 read\np1 ok \"nil\"\n"));
    assert!(report.contains("returned \"nil\" ["), "{report}");
}
