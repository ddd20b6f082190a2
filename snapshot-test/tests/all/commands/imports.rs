//! Imports must not change or drop information silently: each refusal has its position and its
//! remedy.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::commands::{answer, run};

/// Writes a file with this name and text, in a folder that exists as long as the first result.
fn file(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// Returns the report of a refusal by `convert`; positions without the folder.
pub(super) fn refusal(name: &str, text: &str, options: &str) -> String {
    let (folder, path) = file(name, text);
    let (code, out, error) =
        answer(run(&format!("convert {options} --to text {}", path.display())));
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("\nhelp: "), "{error}");
    error.replace(&format!("{}/", folder.path().display()), "")
}

/// Returns the recording, the exit code of `check`, and the warnings.
pub(super) fn judged(name: &str, text: &str, options: &str) -> (String, i32, String) {
    let (folder, path) = file(name, text);
    let to = folder.path().join("recording");
    let (code, _, warnings) =
        answer(run(&format!("convert {options} --to text {} -o {}", path.display(), to.display())));
    assert_eq!(code, 0, "{warnings}");
    let (code, ..) = answer(run(&format!("check {}", to.display())));
    (fs::read_to_string(to).unwrap(), code, warnings)
}

const HEADER: &str = "client,operation,segment,value,call,return\n";

#[test]
fn gap_differs_from_its_sign_as_a_text() {
    let log = format!("{HEADER}a,write,0,1,1,2\na,write,1,7,3,4\nb,read,,1 _,3,5\n");
    let (recording, code, _) = judged("log.csv", &log, "--from intervals");
    assert_eq!(code, 0);
    assert!(recording.contains("p1 ok s0 1\n"), "{recording}");
    // The text has quotes.
    let text = log.replace("1 _", "\"1 \"\"_\"\"\"");
    assert_eq!(judged("log.csv", &text, "--from intervals").1, 1);
    let error = refusal("log.csv", &log.replace("a,write,1,7", "a,write,1,_"), "--from intervals");
    assert!(error.starts_with("log.csv:3:11: expected one value as `value`, found"), "{error}");
    assert!(error.contains("\n  a,write,1,_,3,4\n            ^\n"), "{error}");
}

#[test]
fn ties_are_ordered_by_their_times() {
    let log = "client,operation,segment,value,call,return,outcome\na,update,0,1,0,2,\na,update,0,2,0,0,\n";
    let (recording, code, warnings) = judged("log.csv", log, "--from intervals");
    assert_eq!((code, warnings.as_str()), (0, ""));
    assert!(recording.ends_with("p0 update 2\np0 ok\np0 update 1\np0 ok\n"), "{recording}");
    // For every outcome of the reads, the order of the lines does not matter.
    let rows = ["a,read,0,,0,0,fail\n", "a,read,0,,0,0,unknown\n", "a,read,0,,0,,\n"];
    let header = "client,operation,segment,value,call,return,outcome\n";
    let of = |order: [usize; 3]| {
        let log: String = order.map(|row| rows[row]).concat();
        judged("log.csv", &format!("{header}{log}"), "--from intervals").0
    };
    let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(of);
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    // Two updates at one instant have no order: either value may be read last.
    for value in [1, 2] {
        let log = format!("{HEADER}a,update,0,1,0,0\na,update,0,2,0,0\nb,read,0,{value},1,2\n");
        let (_, code, warnings) = judged("log.csv", &log, "--from intervals");
        assert_eq!(code, 0);
        assert!(warnings.contains("client a: the order of 1 operation is not known"), "{warnings}");
    }
}

#[test]
fn reads_of_registers_by_segment_and_key() {
    let lines = |value: u8| {
        format!(
            "{{\"client\":\"a\",\"operation\":\"read\",\"segment\":0,\"value\":{value},\"call\":40,\"return\":50}}\n\
             {{\"client\":\"b\",\"operation\":\"update\",\"segment\":0,\"value\":5,\"call\":10,\"return\":20}}\n"
        )
    };
    assert_eq!(judged("log", &lines(5), "--from intervals").1, 0);
    assert_eq!(judged("log", &lines(0), "--from intervals").1, 1);
    let list = |value: u8| {
        format!(
            "[{{\"ClientId\":0,\"Input\":{{\"op\":\"put\",\"key\":\"x\",\"value\":5}},\"Call\":1,\"Output\":{{}},\"Return\":3}},\
             {{\"ClientId\":1,\"Input\":{{\"op\":\"get\",\"key\":\"x\",\"value\":0}},\"Call\":4,\"Output\":{{\"value\":{value}}},\"Return\":6}}]"
        )
    };
    let (recording, code, _) = judged("log", &list(5), "--from intervals");
    assert_eq!(code, 0);
    assert!(recording.contains("\nsegment s0 \"x\"\n"), "{recording}");
    assert_eq!(judged("log", &list(0), "--from intervals").1, 1);
    // An output that differs from the value put.
    let broken = list(5).replace("\"Output\":{}", "\"Output\":{\"value\":6}");
    let error = refusal("log", &broken, "--from intervals");
    assert!(error.contains("the update was invoked with 5 and returned 6"), "{error}");
}

#[test]
fn null_is_refused_unless_it_is_the_initial_value() {
    let log = "{\"client\":1,\"op\":\"get\",\"key\":\"x\",\"value\":null,\"call\":1,\"return\":2}\n\
               {\"client\":1,\"op\":\"put\",\"key\":\"x\",\"value\":5,\"call\":3,\"return\":4}\n";
    let error = refusal("log", log, "--from intervals");
    assert!(error.starts_with("log:1:42: expected a value as `value`, found null"), "{error}");
    assert!(error.contains("--initial null"), "{error}");
    assert_eq!(judged("log", log, "--from intervals --initial null").1, 0);
    let late = log.replace("\"call\":1,\"return\":2", "\"call\":5,\"return\":6");
    assert_eq!(judged("log", &late, "--from intervals --initial null").1, 1);
    let text = log.replace("5", "\"null\"");
    let error = refusal("log", &text, "--from intervals --initial null");
    assert!(error.contains("another text than \"null\""), "{error}");
}

/// The recording that each notation of one log has: a scan that returned x, and not y. Its twin
/// returned a value of y that was never there.
#[test]
fn missing_values_are_gaps_in_each_notation() {
    let lines = |values: &str| {
        format!(
            "{{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"segment\":0,\"value\":5}}\n\
             {{\"process\":0,\"event\":\"ok\"}}\n\
             {{\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\"}}\n\
             {{\"process\":1,\"event\":\"ok\",\"values\":{values}}}\n"
        )
    };
    let listed = |value: &str| {
        // An object names its segments itself.
        let named = if value.starts_with('[') { "\"segment\":[\"x\",\"y\"]," } else { "" };
        format!(
            "{{\"client\":0,\"op\":\"write\",\"segment\":\"x\",\"value\":5,\"call\":1,\"return\":2}}\n\
             {{\"client\":0,\"op\":\"write\",\"segment\":\"y\",\"value\":6,\"call\":3,\"return\":4}}\n\
             {{\"client\":1,\"op\":\"read\",{named}\"value\":{value},\"call\":5,\"return\":6}}\n"
        )
    };
    let table = |value: &str| {
        format!(
            "client,operation,segment,value,call,return\n0,write,x,5,1,2\n0,write,y,6,3,4\n\
             1,read,x y,5 {value},5,6\n"
        )
    };
    let edn = |value: &str| {
        let event = |kind: &str, process: u8, f: &str, value: &str| {
            format!("{{:type :{kind}, :process {process}, :f :{f}, :value {value}}}\n")
        };
        event("invoke", 0, "write", "{:x 5}")
            + &event("ok", 0, "write", "{:x 5}")
            + &event("invoke", 0, "write", "{:y 6}")
            + &event("ok", 0, "write", "{:y 6}")
            + &event("invoke", 1, "read", "nil")
            + &event("ok", 1, "read", value)
    };
    let (jsonl, intervals) = ("--from jsonl", "--from intervals");
    let from_edn = "--from edn --initial 0";
    for (name, options, gap, twin) in [
        ("log.jsonl", jsonl, lines("[5,null]"), lines("[5,7]")),
        ("log.jsonl", jsonl, lines("{\"0\":5}"), lines("{\"0\":5,\"1\":7}")),
        ("log.json", intervals, listed("[5,null]"), listed("[5,7]")),
        ("log.json", intervals, listed("{\"x\":5,\"y\":null}"), listed("{\"x\":5,\"y\":7}")),
        ("log.csv", intervals, table("_"), table("7")),
        ("log.edn", from_edn, edn("{:x 5}"), edn("{:x 5, :y 7}")),
    ] {
        let (recording, code, _) = judged(name, &gap, options);
        assert_eq!(code, 0, "{name}: {recording}");
        let returned = recording.lines().last().unwrap();
        assert!(["p1 ok s0 5", "p1 ok 5 _"].contains(&returned), "{name}: {recording}");
        let (recording, code, _) = judged(name, &twin, options);
        assert_eq!(code, 1, "{name}: {recording}");
    }
    // In EDN, nil is a value and no gap.
    assert_eq!(judged("log.edn", &edn("{:x 5, :y 6}"), "--from edn").1, 0);
    assert_eq!(judged("log.edn", &edn("{:x 5, :y nil}"), "--from edn").1, 1);
}

#[test]
fn malformed_fields_and_rows_are_refused_with_their_position() {
    for (name, text, told) in [
        (
            "log.csv",
            "client,operation,value,segment,process,call,return\n".to_owned(),
            "log.csv:1:32: expected the field `client` at most once, found it again, as `process`",
        ),
        (
            "log.json",
            "{\"client\":1,\"op\":\"scan\",\"value\":[1],\"values\":[2],\"call\":1,\"return\":2}".to_owned(),
            "log.json:1:37: expected the field `value` at most once",
        ),
        (
            "log.json",
            "{\"client\":1,\"op\":\"scan\",\"value\":{\"x\":1,\"x\":2},\"call\":1,\"return\":2}".to_owned(),
            "log.json:1:40: expected the field `segment` at most once, found it again, as `x`",
        ),
        ("log.csv", format!("{HEADER}a,update,0,5,1\n"), "expected 6 fields"),
        ("log.csv", format!("{HEADER}a,read,,5 6,1,2\nb,read,,5,3,4\n"), "log.csv:3:9: expected 2 value(s)"),
        (
            "log.csv",
            format!("{HEADER}a,update,x,5,1,2\nb,read,,5,3,4\n"),
            "log.csv:3:9: expected values by the names of their segments",
        ),
        ("log.csv", format!("{HEADER}a,read,x y,5,3,4\n"), "expected 2 value(s), one per segment, found 1"),
        (
            "log.csv",
            "client,operation,key,segment,value,call,return\na,write,k,,5,1,2\na,read,k,,5 6,3,4\n".to_owned(),
            "log.csv:2:1: expected the field `segment`",
        ),
        (
            "log.csv",
            "client,operation,key,value,call,return\na,write,k,5,1,2\na,read,,5,3,4\n".to_owned(),
            "log.csv:3:1: expected the field `key`",
        ),
        (
            "log.json",
            "[{\"client\":1,\n\"op\":\"scan\",\"value\":[1],\"call\":1,\"return\":2} 5]".to_owned(),
            "log.json:2:46: expected JSON: expected `,` or `]`",
        ),
        (
            "log.json",
            "{\"client\":1,\"op\":\"scan\",\"value\":[1],\"call\":1,\"outcome\":\"ok\"}".to_owned(),
            "expected the field `return`",
        ),
        (
            "log.json",
            "{\"client\":1,\"op\":\"put\",\"value\":[1],\"call\":1,\"return\":2}".to_owned(),
            "log.json:1:32: expected one value",
        ),
        (
            "log.json",
            "{\"client\":1,\"op\":\"cas\",\"value\":1,\"call\":1,\"return\":2,\"outcome\":\"fail\"}".to_owned(),
            "log.json:1:18: `cas` is not judged yet",
        ),
    ] {
        let error = refusal(name, &text, "--from intervals");
        assert!(error.contains(told), "{told}: {error}");
    }
    // A row is not a comment, for any name of its client.
    let log = format!("{HEADER}#1,update,0,5,1,2\nb,scan,,5,3,4\n");
    assert_eq!(judged("log.csv", &log, "--from intervals").1, 0);
    // Digits beyond the precision of a float.
    let log = |end: &str, call: &str| {
        format!(
            "{{\"client\":\"a\",\"op\":\"put\",\"segment\":0,\"value\":5,\"call\":1,\"return\":{end}}}\n\
             {{\"client\":\"b\",\"op\":\"get\",\"segment\":0,\"value\":0,\"call\":{call},\"return\":1764329757}}\n"
        )
    };
    let (early, late) = ("1764329756.123456789", "1764329756.123456790");
    assert_eq!(judged("log", &log(late, early), "--from intervals").1, 0);
    assert_eq!(judged("log", &log(early, late), "--from intervals").1, 1);
}

#[test]
fn failed_operations_are_dropped_and_unknown_ones_counted() {
    let log = "client,operation,segment,value,call,return,outcome\na,inc,0,,1,2,fail\na,read,0,7,3,4,unknown\nb,read,0,0,5,6,\n";
    let (recording, code, warnings) = judged("log.csv", log, "--from intervals");
    assert_eq!(code, 0, "{recording}");
    assert!(
        warnings.contains("1 operation, the first in line 3, of unknown outcome"),
        "{warnings}"
    );
    let edn = "{:type :invoke :process 0 :f :frob :value 1} {:type :fail :process 0 :f :frob :value 1}\n\
               {:type :invoke :process 0 :f :txn :value [[:w 1 2] [:w 3 4]]} {:type :fail :process 0 :f :txn :value nil}\n\
               {:type :invoke :process 0 :f :read :value nil} {:type :info :process 0 :f :read :value 5}\n\
               {:type :invoke :process 1 :f :read :value nil} {:type :ok :process 1 :f :read :value nil}\n";
    let (recording, code, warnings) = judged("log.edn", edn, "--from edn");
    assert_eq!(code, 0, "{recording}");
    assert!(!recording.contains("fail"), "{recording}");
    assert!(warnings.contains("the first in line 3, of unknown outcome"), "{warnings}");
}

/// All commands recognise a foreign log, and never a recording without events.
#[test]
fn all_commands_agree_on_foreign_logs() {
    let event = "{:type :invoke, :f :write, :value 1, :process 0}\n";
    let tagged = format!("#jepsen.history.Op{event}#jepsen.history.Op {event}");
    let edn = "convert --from edn";
    for (text, told) in [
        (event.to_owned(), edn),
        (tagged.clone(), edn),
        (format!("\n[{tagged}]\n"), edn),
        (format!("; a comment\n{event}"), edn),
        (format!("{HEADER}a,update,0,5,1,2\n"), "convert --from intervals"),
        (format!("# a comment\n{HEADER}a,update,0,5,1,2\n"), "convert --from intervals"),
        ("{\"client\":1,\"call\":2}\n".to_owned(), "convert --from intervals"),
    ] {
        let (_folder, path) = file("log", &text);
        let path = path.display();
        for command in ["monitor", "convert --to jsonl"] {
            let (code, _, error) = answer(run(&format!("{command} {path}")));
            assert_eq!(code, 2, "{command}: {text}");
            assert!(error.contains(told), "{command}: {text}{error}");
        }
        // One step, with the errors and the places of the log.
        let (code, _, error) = answer(run(&format!("check {path}")));
        let is_whole = !text.contains("\"client\"") && !text.contains("Op {");
        assert_eq!(code, if is_whole { 0 } else { 2 }, "{text}{error}");
        assert!(is_whole || error.contains("log:"), "{error}");
        let (explained, ..) = answer(run(&format!("explain {path}")));
        assert_eq!(explained, code, "{text}");
        let format = told.rsplit(' ').next().unwrap();
        let (other, ..) = answer(run(&format!("check --format {format} {path}")));
        assert_eq!(other, code, "{text}");
        let (code, _, error) = answer(run(&format!("check --format text {path}")));
        assert_eq!(code, 2, "{text}{error}");
    }
}

/// A log is judged in one step, with its own places, names and warnings.
#[test]
fn foreign_log_is_judged_with_its_own_positions() {
    let edn = "; by hand\n[{:type :invoke, :f :write, :value {:x 1}, :process 7}\n \
               {:type :ok, :f :write, :value {:x 1}, :process 7}\n\n \
               {:type :invoke, :f :read, :value nil, :process 9} \
               {:type :ok, :f :read, :value {:x nil}, :process 9}]\n";
    let (_folder, path) = file("log.edn", edn);
    for format in ["", "--format edn "] {
        let (code, out, error) = answer(run(&format!("check {format}{}", path.display())));
        assert_eq!((code, error.as_str()), (1, ""), "{out}");
        for told in [
            "not linearizable from 5:52 (event 3) on",
            "of :x by process 7 [2:2 to 3:2]",
            "by process 9, returned nil for :x [5:2 to 5:52]",
        ] {
            assert!(out.contains(told), "{told}: {out}");
        }
    }
    let right = edn.replace(":x nil", ":x 1");
    for (log, code) in [(edn, 1), (right.as_str(), 0)] {
        let (folder, path) = file("log.edn", log);
        let (path, folder) = (path.display(), folder.path().display());
        let (found, ..) = answer(run(&format!("check --certificate {folder} {path}")));
        assert_eq!(found, code);
        let (found, out, error) = answer(run(&format!("certify {path} {path}.certificate")));
        assert_eq!((found, error.as_str()), (0, ""), "{out}");
        let twin = if code == 0 { edn } else { right.as_str() };
        fs::write(format!("{folder}/log.edn"), twin).unwrap();
        let (found, ..) = answer(run(&format!("certify {path} {path}.certificate")));
        assert_eq!(found, 1, "{twin}");
    }
    let (_folder, path) = file("log.edn", &right);
    let (code, out, _) = answer(run(&format!("check --report json {}", path.display())));
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &record["format"]), (0, &"edn".into()));
    // The rows of a table may have any order.
    let table = format!("{HEADER}b,read,0,0,30,40\na,update,0,5,10,20\n");
    let (_folder, path) = file("log.csv", &table);
    let (code, out, error) = answer(run(&format!("check {}", path.display())));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.contains("by a [3:1 to 3:1]"), "{out}");
    assert!(out.contains("by b, returned 0 for segment 0 [2:1 to 2:1]"), "{out}");
    for format in ["", "--format intervals "] {
        let command = format!("check --object queue {format}{}", path.display());
        let (code, _, error) = answer(run(&command));
        assert_eq!(code, 2);
        assert!(error.contains("log.csv:1:1: a list of calls with their times"), "{error}");
        assert!(error.contains("help: leave out --object"), "{error}");
    }
    // Without --object, the cure names the object.
    for (event, told) in [
        (":f :enqueue, :value 1", "`check --object queue`"),
        (":f :cas, :value [1 2]", "`check --object cas-register`"),
        (":f :acquire, :value nil", "`check --object lock`"),
        (":f :put, :key 1, :value 2", "`check --object map`"),
    ] {
        let (_folder, path) = file("log.edn", &format!("{{:type :invoke, {event}, :process 0}}\n"));
        let (code, _, error) = answer(run(&format!("check {}", path.display())));
        assert_eq!(code, 2, "{event}");
        assert!(error.contains("log.edn:1:20: ") && error.contains(told), "{event}: {error}");
    }
}

/// Times that run backwards are reported, with their consequence, and sorting by them is the
/// remedy.
#[test]
fn backward_times_are_reported() {
    let late = "{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5,\"time\":100}\n\
                {\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\",\"time\":50}\n\
                {\"process\":1,\"event\":\"ok\",\"values\":[0,0],\"time\":60}\n\
                {\"process\":0,\"event\":\"ok\",\"time\":\"110\"}\n\
                {\"process\":1,\"event\":\"invoke\",\"operation\":\"scan\",\"time\":105.5}\n\
                {\"process\":1,\"event\":\"ok\",\"values\":[0,0],\"time\":107}\n";
    let (_folder, path) = file("log.jsonl", late);
    let path = path.display();
    let told =
        "log.jsonl:2:1: warning: `time` runs backwards 2 times, first in line 2 (50 after 100)";
    for (command, code, means) in [
        ("check", 1, "this violation may be a false alarm"),
        ("check --report json", 1, "this violation may be a false alarm"),
        ("check --method search", 1, "this violation may be a false alarm"),
        ("explain", 1, "this violation may be a false alarm"),
        ("monitor", 1, "a violation may be a false alarm, or may be missed"),
        ("convert --to text", 0, "a violation may be a false alarm, or may be missed"),
    ] {
        let (found, out, error) = answer(run(&format!("{command} {path}")));
        assert_eq!(found, code, "{command}: {error}");
        assert!(error.contains(told) && error.contains(means), "{command}: {error}");
        assert!(error.contains("--sort-by-time"), "{command}: {error}");
        assert_eq!(out.contains("\"warning\":\"`time`"), command.ends_with("json"), "{out}");
    }
    let (_, out, _) = answer(run(&format!("check --report sarif {path}")));
    assert!(out.contains("runs backwards"), "{out}");
    assert_eq!(judged("log.jsonl", late, "--sort-by-time").1, 0);
    assert_eq!(judged("log.jsonl", late, "--from jsonl --sort-by-time --skew 3").1, 0);
    // In order, but stale.
    let stale = late.replace("105.5", "110.5").replace(":107", ":111");
    assert_eq!(judged("log.jsonl", &stale, "--sort-by-time").1, 1);
    // Correct in the order of the lines.
    let right = late.replace("[0,0],\"time\":107", "[5,0],\"time\":107");
    let (_folder, path) = file("log.jsonl", &right);
    let (code, _, error) = answer(run(&format!("check {}", path.display())));
    assert_eq!(code, 0);
    assert!(error.contains("a violation may have been missed"), "{error}");
    // Other objects, one of which may be selected.
    let keyed = |key: u8, line: &str| line.replacen('{', &format!("{{\"key\":{key},"), 1) + "\n";
    let lines: Vec<&str> = right.lines().collect();
    let mixed: String = [(1, lines[0]), (2, lines[1]), (2, lines[2]), (1, lines[3])]
        .map(|(key, line)| keyed(key, line))
        .concat();
    let (_folder, path) = file("log.jsonl", &mixed);
    let (_, _, error) = answer(run(&format!("check {}", path.display())));
    assert_eq!(error, "", "in each object times run on");
    let swapped: String = [(2, lines[2]), (2, lines[1]), (1, lines[0]), (1, lines[3])]
        .map(|(key, line)| keyed(key, line))
        .concat();
    let (recording, code, _) = judged("log.jsonl", &swapped, "--sort-by-time");
    assert_eq!(code, 0, "{recording}");
    assert!(
        recording.contains("@1 p0 update 5") && recording.contains("@2 p1 scan"),
        "{recording}"
    );
    let (recording, ..) = judged("log.jsonl", &swapped, "--sort-by-time --key 1");
    assert!(!recording.contains("scan"), "{recording}");
    // Without times the events cannot be sorted.
    let error = refusal("log.jsonl", &late.replace(",\"time\":60", ""), "--sort-by-time");
    assert!(error.starts_with("log.jsonl:3:1: expected the field `time`, found none"), "{error}");
    let error = refusal("log.txt", "p0 scan\n", "--sort-by-time");
    assert!(error.contains("log.txt:1:1: "), "{error}");
    // For other objects, too.
    let queue = "{\"process\":0,\"event\":\"invoke\",\"operation\":\"enqueue\",\"value\":5,\"time\":2}\n\
                 {\"process\":0,\"event\":\"ok\",\"time\":1.25}\n";
    let (_folder, path) = file("log.jsonl", queue);
    let (code, _, error) = answer(run(&format!("check --object queue {}", path.display())));
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("log.jsonl:2:1: warning: `time` runs backwards once"), "{error}");
}
