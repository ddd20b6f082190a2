//! Reports, pages and certificates with names.

use std::fs;
use std::io::Write;

use serde_json::json;

use super::file;
use crate::commands::{answer, monitor, run};

/// A read of the past, by client-2, in each form; each has its own places.
fn violations() -> Vec<(&'static str, String)> {
    let text = "writers many\nprocess p0 \"client-1\"\nprocess p1 \"client-2\"\nsegment s0 \"x\"\n\
                segment s1 \"the cart\"\np0 update s0 5\np0 ok\np1 scan\np1 ok s0 0 s1 0\n";
    let line = |fields: &str| format!("{{\"process\":\"client-{fields}}}\n");
    let jsonl = [
        "1\",\"event\":\"invoke\",\"operation\":\"update\",\"segment\":\"x\",\"value\":5",
        "1\",\"event\":\"ok\"",
        "2\",\"event\":\"invoke\",\"operation\":\"scan\"",
        "2\",\"event\":\"ok\",\"values\":{\"x\":0,\"the cart\":0}",
    ]
    .map(line)
    .concat();
    let declared = "{\"snapshot-history\":1,\"segments\":[\"x\",\"the cart\"],\"processes\":\
                    [\"client-1\",\"client-2\"]}\n"
        .to_owned()
        + &jsonl;
    let csv = "client,operation,segment,value,call,return\nclient-1,update,x,5,1,2\n\
               client-2,scan,x the-cart,0 0,3,4\n";
    vec![("text", text.to_owned()), ("jsonl", jsonl), ("jsonl", declared), ("csv", csv.to_owned())]
}

/// All reports speak of names; no number of a process or segment is left in them.
#[test]
fn reports_have_names() {
    let is_numbered = |text: &str| {
        ["process 0", "process 1", "segment 0", "segment 1", "s0:", " p0 ", " p1 "]
            .iter()
            .any(|number| text.contains(number))
    };
    for (name, log) in violations() {
        let (folder, path) = file(&format!("log.{name}"), &log);
        let (code, out, error) = answer(run(&format!("check {path}")));
        assert_eq!((code, error.as_str()), (1, ""), "{log}{out}");
        for told in ["update(5) of x by client-1", "S1 returned 0 for x", "\n  client-2  "] {
            assert!(out.contains(told), "{told}: {out}");
        }
        assert!(!is_numbered(&out), "{out}");
        for to in ["text", "svg", "dot", "latex"] {
            let (code, out, error) = answer(run(&format!("explain --to {to} {path}")));
            assert_eq!((code, error.as_str()), (1, ""), "{out}");
            assert!(out.contains("client-1") && out.contains("update(x: 5)"), "{out}");
            assert!(!is_numbered(&out), "{out}");
        }
        let page = format!("{}/page.html", folder.path().display());
        let (code, _, error) = answer(run(&format!("explain --html {page} {path}")));
        assert_eq!(code, 1, "{error}");
        let html = fs::read_to_string(page).unwrap();
        assert!(html.contains("\"processes\":[\"client-1\",\"client-2\"]"), "{name}");
        assert!(html.contains("S1 returned 0 for x"), "{name}");
        let (_, out, _) = answer(run(&format!("check --report json {path}")));
        let record: serde_json::Value = serde_json::from_str(&out).unwrap();
        let operation = &record["violation"]["operations"][0];
        assert_eq!(operation["process_name"], "client-1", "{out}");
        assert_eq!(operation["segment_name"], "x", "{out}");
        assert_eq!(record["violation"]["segment_names"], json!(["x"]), "{out}");
        for report in ["junit", "sarif"] {
            let (_, out, _) = answer(run(&format!("check --report {report} {path}")));
            assert!(out.contains("client-1") && !is_numbered(&out), "{report}: {out}");
        }
        // The certificate is of the log as it is.
        let folder = folder.path().display();
        let (code, ..) = answer(run(&format!("check --certificate {folder} {path}")));
        assert_eq!(code, 1);
        let (code, out, error) = answer(run(&format!("certify {path} {path}.certificate")));
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        let certificate = fs::read_to_string(format!("{path}.certificate")).unwrap();
        assert!(certificate.contains("\"segment-names\":{\"0\":\"x\"}"), "{certificate}");
    }
}

/// A certificate that proves nothing is refused with the names of segments.
#[test]
fn refused_certificates_have_names() {
    let log = "process p0 \"a\"\nprocess p1 \"b\"\nsegment s0 \"x\"\nsegment s1 \"y\"\nwriters many\n\
               p0 update s1 5\np1 scan\np0 ok\np1 ok 0 5\n";
    let (folder, path) = file("log", log);
    let certificate = folder.path().join("certificate");
    let order = |verdict: &str| format!("{{\"snapshot-certificate\":1,\"verdict\":{verdict}}}\n");
    for (text, told) in [
        (order("\"linearizable\",\"order\":[1,0]"), "scan 1 would return for y the initial value"),
        (
            order("\"violation\",\"segments\":[1,1],\"operations\":[0]"),
            "y is out of order: a witness lists",
        ),
        (
            order("\"violation\",\"segments\":[0],\"operations\":[0,1]"),
            "update 0 is listed, but not y, which it writes",
        ),
    ] {
        fs::write(&certificate, &text).unwrap();
        let command = format!("certify {path} {}", certificate.display());
        let (code, out, error) = answer(run(&command));
        assert_eq!((code, error.as_str()), (1, ""), "{text}{out}");
        assert!(out.contains(told), "{out}");
    }
}

/// The names of an EDN log: registers and processes, also where processes are renumbered.
#[test]
fn edn_reports_have_names() {
    let event = |kind: &str, process: u8, rest: &str| {
        format!("{{:type :{kind}, :process {process}, {rest}}}\n")
    };
    let log = [
        event("invoke", 7, ":f :write, :value {:x 1}"),
        event("ok", 7, ":f :write, :value {:x 1}"),
        event("invoke", 9, ":f :read, :value nil"),
        event("ok", 9, ":f :read, :value {:x nil}"),
    ]
    .concat();
    let (folder, path) = file("log.edn", &log);
    let (code, out, error) = answer(run(&format!("check {path}")));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    for told in ["update(1) of :x by process 7 [1:1 to 2:1]", "S1 returned nil for :x", "  p9  "] {
        assert!(out.contains(told), "{told}: {out}");
    }
    let page = format!("{}/page.html", folder.path().display());
    let (code, _, error) = answer(run(&format!("explain --html {page} {path}")));
    assert_eq!(code, 1, "{error}");
    assert!(fs::read_to_string(page).unwrap().contains("update(:x: 1)"));
    for to in ["text", "jsonl"] {
        let recording = format!("{}/run.{to}", folder.path().display());
        let (code, ..) =
            answer(run(&format!("convert --from edn --to {to} {path} -o {recording}")));
        assert_eq!(code, 0);
        let (code, out, _) = answer(run(&format!("check {recording}")));
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("update(1) of :x by process 7"), "{out}");
    }
    let (code, _, error) = answer(run(&format!("convert --from edn --to disc22 {path}")));
    assert_eq!(code, 2);
    assert!(error.contains("disc22 has numbers only"), "{error}");
}

/// A monitor numbers names as they come, and goes on with them after a checkpoint.
#[test]
fn monitors_have_names() {
    let jsonl = &violations()[1].1;
    for arguments in [&[][..], &["--all"]] {
        let keyed = jsonl.replace("{\"process\"", "{\"key\":\"cart\",\"process\"");
        let text = if arguments.is_empty() { jsonl } else { &keyed };
        let mut child = monitor::monitor(arguments);
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let (code, out, error) = monitor::ended(child);
        assert_eq!(code, 1, "{error}");
        assert!(out.contains("update(5) of x by client-1"), "{out}");
        assert!(!out.contains("process 0") && !out.contains("segment 0"), "{out}");
    }
    // Names of the part before the checkpoint keep their numbers, though others come first behind.
    let (folder, path) = file("run.jsonl", "");
    let kept = format!("{}/checkpoint", folder.path().display());
    let round = |client: &str, segment: &str, value: u32| {
        format!(
            "{{\"process\":\"{client}\",\"event\":\"invoke\",\"operation\":\"update\",\
             \"segment\":\"{segment}\",\"value\":{value}}}\n{{\"process\":\"{client}\",\"event\":\"ok\"}}\n"
        )
    };
    let keyed = |text: String| text.replace("{\"process\"", "{\"key\":1,\"process\"");
    let before: String = (1..200).map(|v| round("a", "x", v) + &round("b", "y", v)).collect();
    fs::write(&path, keyed(before.clone())).unwrap();
    let watch = || answer(run(&format!("monitor --all --checkpoint {kept} {path}")));
    let (code, out, error) = watch();
    assert_eq!(code, 0, "{out}{error}");
    let text = fs::read_to_string(&kept).unwrap();
    assert!(
        text.contains("\"process_names\":[\"a\",\"b\"],\"segment_names\":[\"x\",\"y\"]"),
        "{text}"
    );
    let scan = "{\"process\":\"b\",\"event\":\"invoke\",\"operation\":\"scan\"}\n\
                {\"process\":\"b\",\"event\":\"ok\",\"values\":{\"y\":199,\"x\":198}}\n";
    fs::write(&path, keyed(before + scan)).unwrap();
    let (code, out, error) = watch();
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.contains("going on at line"), "{error}");
    assert!(out.contains("198 for x") && out.contains("by b"), "{out}");
}

/// Long names are cut on pages, and nowhere else.
#[test]
fn long_names_are_cut_on_pages() {
    let (name, log) = &violations()[0];
    let long = "x".repeat(300);
    let log = log.replace("\"x\"", &format!("\"{long}\""));
    let (folder, path) = file(name, &log);
    let page = format!("{}/page.html", folder.path().display());
    let (_, out, _) = answer(run(&format!("check {path}")));
    assert!(out.contains(&long), "{out}");
    answer(run(&format!("explain --html {page} {path}")));
    let html = fs::read_to_string(page).unwrap();
    assert!(
        !html.contains(&"x".repeat(25)) && html.contains(&format!("{}\u{2026}", "x".repeat(24)))
    );
}

/// A derivation says, in the order of its lines, which value replaced which.
#[test]
fn derivations_name_what_was_replaced() {
    let header = "writers many\nprocess p0 \"a\"\nprocess p1 \"b\"\nprocess p2 \"c\"\n\
                  segment s0 \"x\"\nsegment s1 \"y\"\n";
    let cases = [
        (
            "p0 update s0 1\np1 update s0 9\np0 ok\np1 ok\np1 update s0 2\np1 ok\np2 update s0 3\n\
             p2 ok\np0 scan\np0 ok s0 2\n",
            "(3) S1 returned 2 for x, which U1 wrote, though by (1) U2 wrote 3 there before S1: so \
             U1 comes after U2. (4) By (2) and (3), U1 must come before and after U2: a \
             contradiction.",
        ),
        (
            "p0 update s0 2\np1 update s0 204\np2 scan\np2 ok s0 204\np1 ok\np2 scan\np2 ok s0 2\n\
             p0 ok\np2 scan\np2 ok s0 204\n",
            "(3) In x, by (1), U1 wrote 2 before S2 found 204, and a replaced value does not come \
             back: so S1, which found 2, comes before U2, which wrote 204. (4) By (2) and (3), U2 \
             must come before and after S1: a contradiction.",
        ),
    ];
    for (events, told) in cases {
        let (_folder, path) = file("run", &format!("{header}{events}"));
        let (code, out, _) = answer(run(&format!("check {path}")));
        let words: Vec<&str> = out.split_whitespace().collect();
        assert_eq!(code, 1, "{out}");
        assert!(words.join(" ").contains(told), "{out}");
    }
}

/// The names of processes of other objects, in text, JSON Lines and EDN.
#[test]
fn objects_have_names_of_processes() {
    let jsonl = [
        "{\"process\":\"client-1\",\"event\":\"invoke\",\"operation\":\"enqueue\",\"value\":5}\n",
        "{\"process\":\"client-1\",\"event\":\"ok\"}\n",
        "{\"process\":\"client-2\",\"event\":\"invoke\",\"operation\":\"dequeue\"}\n",
        "{\"process\":\"client-2\",\"event\":\"ok\",\"value\":null}\n",
    ];
    let header =
        "{\"snapshot-history\":1,\"object\":\"queue\",\"processes\":[\"client-1\",\"client-2\"]}\n";
    let text = "object queue\nprocess p0 \"client-1\"\nprocess p1 \"client-2\"\np0 enqueue 5\np0 ok\n\
                p1 dequeue\np1 ok none\n";
    for log in [jsonl.concat(), header.to_owned() + &jsonl.concat(), text.to_owned()] {
        let (folder, path) = file("log", &log);
        let (code, out, error) = answer(run(&format!("check --object queue {path}")));
        assert_eq!(code, 1, "{log}{out}{error}");
        assert!(out.contains("dequeue() by client-2, returned none"), "{out}");
        assert!(!out.contains("process "), "{out}");
        let page = format!("{}/page.html", folder.path().display());
        answer(run(&format!("explain --object queue --html {page} {path}")));
        assert!(fs::read_to_string(page).unwrap().contains("client-2 ["));
        let (_, out, _) = answer(run(&format!("check --object queue --report json {path}")));
        assert!(out.contains("\"process_name\":\"client-2\""), "{out}");
    }
    for (log, told) in [
        (
            header.to_owned() + &jsonl[0].replace("client-1", "other"),
            "declared in line 1, found `other`",
        ),
        (
            jsonl[0].to_owned() + "{\"process\":0,\"event\":\"ok\"}\n",
            "as in line 1, found the number `0`",
        ),
        (text.replace("process p1 \"client-2\"\n", ""), "found none for process 1"),
        (
            jsonl[0].repeat(2),
            "client-1 invokes an operation while 0 is still open (a process has at most \
             one open operation); record its response first, or that its outcome is unknown, or use \
             another process name",
        ),
        (format!("{text}p0 ok\n"), "client-1 ends an operation, but it has none open"),
        (text.replace("p1 \"client-2\"", "p1 \"client-1\""), "found `client-1` again"),
        (format!("p0 enqueue 5\n{text}"), "the first line"),
    ] {
        let (_folder, path) = file("log", &log);
        let (code, _, error) = answer(run(&format!("check --object queue {path}")));
        assert_eq!(code, 2, "{log}{error}");
        let has_cure = error.contains("help: ") || told.contains(" open");
        assert!(error.contains(told) && has_cure, "{log}{error}");
    }
}
