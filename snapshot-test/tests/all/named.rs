//! Names behind a checkpoint, of several objects, of immediate snapshots, and in certificates.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::commands::{answer, run};

fn file(name: &str, text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

fn update(client: &str, segment: &str, value: u32) -> String {
    format!(
        "{{\"key\":1,\"process\":\"{client}\",\"event\":\"invoke\",\"operation\":\"update\",\
         \"segment\":\"{segment}\",\"value\":{value}}}\n\
         {{\"key\":1,\"process\":\"{client}\",\"event\":\"ok\"}}\n"
    )
}

fn scan(client: &str, values: &str) -> String {
    format!(
        "{{\"key\":1,\"process\":\"{client}\",\"event\":\"invoke\",\"operation\":\"scan\"}}\n\
         {{\"key\":1,\"process\":\"{client}\",\"event\":\"ok\",\"values\":{values}}}\n"
    )
}

/// Behind a checkpoint names keep their numbers, in whatever order they occur, and declared names
/// stay the only ones.
#[test]
fn checkpoints_keep_names() {
    let declared =
        "{\"snapshot-history\":1,\"processes\":[\"a\",\"b\"],\"segments\":[\"x\",\"y\"]}\n";
    let before: String =
        (1..100).map(|value| update("a", "x", value) + &update("b", "y", 1_000 + value)).collect();
    for (header, others) in [("", "1"), (declared, "2")] {
        let before = header.to_owned() + &before;
        for (rest, code, told) in [
            (scan("b", "{\"y\":1099,\"x\":99}"), 0, ""),
            (scan("b", "{\"y\":1099,\"x\":98}"), 1, "98 for x"),
            (scan("c", "{\"y\":1099,\"x\":99}"), if others == "2" { 2 } else { 0 }, ""),
        ] {
            let (folder, path) = file("run.jsonl", &before);
            let kept = format!("{}/checkpoint", folder.path().display());
            let watch = || answer(run(&format!("monitor --all --checkpoint {kept} {path}")));
            assert_eq!(watch().0, 0);
            fs::write(&path, before.clone() + &rest).unwrap();
            let (found, out, error) = watch();
            assert_eq!(found, code, "{rest}{out}{error}");
            assert!(error.contains("going on at line") && out.contains(told), "{out}{error}");
            if code == 2 {
                let told = "expected the name of a process that is declared";
                assert!(error.contains(told) && error.contains("`c`"), "{error}");
            }
        }
    }
}

#[test]
fn several_objects_have_names() {
    let log = update("client-1", "x", 5) + &scan("client-2", "{\"x\":0}");
    let (_folder, path) = file("run.jsonl", &log);
    let (code, out, _) = answer(run(&format!("check {path}")));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("update(5) of x by client-1") && !out.contains("process 0"), "{out}");
    let ended = "{\"key\":1,\"process\":\"client-1\",\"event\":\"ok\"}\n";
    let (_folder, path) = file("run.jsonl", &(update("client-1", "x", 5) + ended));
    let (code, out, error) = answer(run(&format!("check {path}")));
    assert_eq!(code, 2, "{out}");
    assert!(error.contains("client-1 ends an operation, but it has none open"), "{error}");
}

/// Processes of several objects that are converted together have each name once.
#[test]
fn clients_of_several_objects_are_numbered_together() {
    let event = |kind: &str, process: u8, rest: &str| {
        format!("{{:type :{kind}, :process {process}, {rest}}}\n")
    };
    let log: String = [(7, "[8 1]"), (9, "[5 2]"), (7, "[5 3]"), (9, "[8 4]")]
        .map(|(process, value)| {
            let write = format!(":f :write, :value {value}");
            event("invoke", process, &write) + &event("ok", process, &write)
        })
        .concat();
    let (_folder, path) = file("log.edn", &log);
    let (code, out, error) =
        answer(run(&format!("convert --from edn --independent --to text {path}")));
    assert_eq!(code, 0, "{error}");
    let names: Vec<&str> = out.lines().filter(|line| line.starts_with("process ")).collect();
    assert_eq!(names, ["process p0 \"7\"", "process p1 \"9\""], "{out}");
}

#[test]
fn logs_of_other_objects_have_names() {
    let log = "{:process 7, :type :invoke, :f :enqueue, :value 5}\n\
               {:process 7, :type :ok, :f :enqueue, :value 5}\n\
               {:process 9, :type :invoke, :f :dequeue, :value nil}\n\
               {:process 9, :type :ok, :f :dequeue, :value 6}\n";
    let (_folder, path) = file("log.edn", log);
    let (code, out, error) = answer(run(&format!("check --object queue {path}")));
    assert_eq!(code, 1, "{error}");
    assert!(out.contains("by process 9") && !out.contains("by process 1"), "{out}");
}

/// A segment without a name of its own has that of its process.
#[test]
fn own_segments_have_the_names_of_their_processes() {
    let log = "{\"process\":\"a\",\"event\":\"invoke\",\"operation\":\"scan\"}\n\
               {\"process\":\"b\",\"event\":\"invoke\",\"operation\":\"update\",\"value\":5}\n\
               {\"process\":\"a\",\"event\":\"ok\",\"values\":{\"b\":5}}\n\
               {\"process\":\"b\",\"event\":\"ok\"}\n";
    let (_folder, path) = file("run.jsonl", log);
    let (code, out, error) = answer(run(&format!("convert --to text {path}")));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("process p1 \"b\"\nsegment s0 \"b\"\n"), "{out}");
    let text = "object immediate\nprocess p0 \"a\"\nprocess p1 \"b\"\np0 exchange 5\np0 ok 0 0\n";
    let (folder, path) = file("run", text);
    let (code, out, _) = answer(run(&format!("check {path}")));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("wrote 5 to a") && !out.contains("segment 0"), "{out}");
    let (_, out, _) = answer(run(&format!("check --report json {path}")));
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(record["violation"]["operations"][0]["segment_name"], "a", "{out}");
    let jsonl = format!("{}/run.jsonl", folder.path().display());
    assert_eq!(answer(run(&format!("convert --to jsonl {path} -o {jsonl}"))).0, 0);
    let (code, out, error) = answer(run(&format!("convert --to text {jsonl}")));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("process p1 \"b\"\n") && !out.contains("segment s0"), "{out}");
}

/// The certificate of a derivation has the names of the segments of its lines.
#[test]
fn certificates_of_derivations_have_names() {
    let text = "writers many\nprocess p0 \"a\"\nprocess p1 \"b\"\nprocess p2 \"c\"\n\
                segment s0 \"w\"\nsegment s1 \"x\"\np0 update s1 1\np1 update s1 9\np0 ok\np1 ok\n\
                p1 update s1 2\np1 ok\np2 update s1 3\np2 ok\np0 scan\np0 ok s1 2\n";
    let (folder, path) = file("run", text);
    let (code, out, _) =
        answer(run(&format!("check --certificate {} {path}", folder.path().display())));
    assert_eq!(code, 1, "{out}");
    let certificate = fs::read_to_string(format!("{path}.certificate")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&certificate).unwrap();
    assert!(certificate["lines"].is_array(), "{certificate}");
    assert_eq!(certificate["segment-names"], json!({"1": "x"}), "{certificate}");
}

/// Pictures escape names for their own syntax.
#[test]
fn pictures_escape_names() {
    let text = "writers many\nprocess p0 \"a_b<&\\u0007\"\nprocess p1 \"b\"\nsegment s0 \"x\"\n\
                p0 update s0 5\np0 ok\np1 scan\np1 ok s0 0\n";
    let (_folder, path) = file("run", text);
    for (to, told) in [
        ("svg", "a_b&lt;&amp;\\u{7}"),
        ("latex", "a\\_b<\\&\\textbackslash{}u\\{7\\}"),
        ("dot", "a_b<&\\\\u{7}"),
    ] {
        let (code, out, error) = answer(run(&format!("explain --to {to} {path}")));
        assert_eq!(code, 1, "{error}");
        assert!(out.contains(told) && !out.contains('\u{7}'), "{to}: {out}");
        assert!(to == "dot" || !out.contains("a_b<&"), "{to}: {out}");
    }
}
