//! End-to-end tests of `monitor --all`: alarms as they occur, and one summary.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::Running;
use crate::commands::monitor::{ended, listening, monitor, wait_for};

/// Returns rounds of some objects, in which process 0 updates and process 1 scans.
pub fn rounds(objects: &[&str], values: std::ops::Range<u32>) -> String {
    let mut text = String::new();
    for v in values {
        for line in [&format!("p0 update {v}"), "p0 ok", "p1 scan", &format!("p1 ok {v}")] {
            for key in objects {
                text += &format!("@{key} {line}\n");
            }
        }
    }
    text
}

/// Returns a scan of the past, for use after the scans of [`rounds`].
pub fn wrong(key: &str) -> String {
    format!("@{key} p1 scan\n@{key} p1 ok 1\n")
}

pub fn file(folder: &Path, text: &str) -> String {
    let path = folder.join("run.txt");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Parses each line of the report for programs.
pub fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_object_is_judged_to_its_own_first_violation() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["1", "\"b\"", "3", "4"];
    // 48 events and two more; 1 fails again, which is only counted; 4 is malformed.
    let text = rounds(&keys, 1..4)
        + &wrong("\"b\"")
        + &wrong("1")
        + "@4 p0 ok\n"
        + &wrong("1")
        + &rounds(&keys, 4..6);
    let name = file(folder.path(), &text);
    let (code, out, error) = ended(monitor(&["--all", &name]));
    assert_eq!(code, 1, "{out}{error}");
    let heads: Vec<&str> = out.lines().filter(|line| line.starts_with(&name)).collect();
    let expected = [
        format!("{name} @\"b\": violation (7 operations, 2 processes, 1 segment; "),
        format!("{name} @1: violation (7 operations, 2 processes, 1 segment; "),
        format!(
            "{name}: violation (2 of 4 objects wrong, 1 malformed; 87 events, 0 operations open)"
        ),
    ];
    assert_eq!(heads.len(), 3, "{out}");
    heads.iter().zip(&expected).for_each(|(head, begin)| assert!(head.starts_with(begin), "{out}"));
    let ends = "  @\"b\": not linearizable from 50:1 on (event 13 of the object)\n  @1: not linearizable \
                from 52:1 on (event 13 of the object)\n  @4: malformed at 53:1 on (event 12 of the \
                object)\n";
    assert!(out.ends_with(ends), "{out}");
    assert!(error.starts_with(&format!("{name}:53:1: ")), "{error}");
    assert!(error.ends_with("note: object @4 is judged no further; the others go on\n"), "{error}");

    let (code, out, _) = ended(monitor(&["--all", "--report", "json", &name]));
    let records = records(&out);
    assert_eq!((code, records.len()), (1, 3), "{out}");
    let [first, second, summary] = &records[..] else { panic!("{out}") };
    assert_eq!((&first["key"], &second["key"]), (&"b".into(), &1.into()), "{out}");
    assert_eq!(first["violation"]["decided_at"]["line"], 50, "{out}");
    assert_eq!(second["violation"]["rule"], "stale", "{out}");
    let counts = serde_json::json!({"total": 4, "linearizable": 1, "violation": 2, "malformed": 1,
        "unknown": 0});
    assert_eq!(summary["objects"], counts, "{out}");
    assert_eq!((&summary["events"], &summary["verdict"]), (&87.into(), &"violation".into()));
    assert_eq!(summary["violations"][1]["line"], 52, "{out}");
    assert_eq!(summary["malformed"][0]["key"], 4, "{out}");
}

#[test]
fn exit_code_combines_the_verdicts_of_all_objects() {
    let folder = tempfile::tempdir().unwrap();
    let right = rounds(&["1", "2"], 1..9);
    for (more, code, said) in [
        (String::new(), 0, "linearizable so far (64 events of 2 objects, 0 operations open)"),
        ("@1 p7 ok\n".into(), 2, "malformed (1 of 2 objects malformed; 65 events"),
        (wrong("2"), 1, "violation (1 of 2 objects wrong; 66 events"),
        // A malformed event ends the input, but not the objects read before.
        (wrong("2") + "@1 p0 okay\n@1 p0 update 9\n", 1, "violation (1 of 2 objects wrong; 66 "),
        ("@1 p0 okay\n".into(), 2, "linearizable so far (64 events of 2 objects"),
    ] {
        let name = file(folder.path(), &(right.clone() + &more));
        let (found, out, error) = ended(monitor(&["--all", &name]));
        assert_eq!(found, code, "{more}: {out}{error}");
        assert!(out.contains(said), "{more}: {out}");
        assert_eq!(
            error.contains(":67:7: ") || error.contains(":65:7: "),
            more.contains("okay"),
            "{error}"
        );
    }
    let name = file(folder.path(), "p0 update 5\np0 ok\n");
    let (code, _, error) = ended(monitor(&["--all", &name]));
    assert!(code == 2 && error.contains("leave out --all"), "{error}");
    let (code, _, error) = ended(monitor(&["--report", "json", &name]));
    assert!(code == 2 && error.contains("--all"), "{error}");
}

/// A scan may have read either of two equal values: an exact search decides, at the end at the
/// latest.
#[test]
fn ambiguous_values_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("segments 2\n@1 p2 scan\n");
    for update in ["p0 update 1", "p1 update 7", "p0 update 2", "p1 update 8", "p0 update 1"] {
        text += &format!("@1 {update}\n@1 {} ok\n", &update[..2]);
    }
    text += "@1 p2 ok 1 7\n@1 p3 scan\n";
    for (value, code) in [(8, 0), (7, 1)] {
        let name = file(folder.path(), &format!("{text}@1 p3 ok 1 {value}\n"));
        let (found, out, _) = ended(monitor(&["--all", &name]));
        assert_eq!(found, code, "{out}");
        assert!(code == 0 || out.contains("not linearizable from 15:1 on (event 13"), "{out}");
    }
    // No search decides which of two equal values an exchange read.
    let exchange = |key: u32| format!("@{key} p0 exchange 5\n@{key} p0 ok 5 0\n");
    let text = format!("object immediate\n{}{}{}", exchange(1), exchange(2), exchange(1));
    let name = file(folder.path(), &text);
    let (code, out, _) = ended(monitor(&["--all", &name]));
    assert_eq!(code, 3, "{out}");
    assert!(out.starts_with(&format!("{name} @1: unknown (")), "{out}");
    let summary =
        "unknown (1 of 2 objects undecided; 6 events, 0 operations open)\n  @1: undecided\n";
    assert!(out.ends_with(summary), "{out}");
}

/// The lines of an output, as they are written.
pub struct Lines(Receiver<String>);

impl Lines {
    pub fn new(output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || {
            let read = BufReader::new(output).lines().map_while(Result::ok);
            read.map_while(|line| sender.send(line + "\n").ok()).count()
        });
        Self(lines)
    }

    /// Reads until a line contains this text.
    pub fn until(&self, wanted: &str) -> String {
        let mut text = String::new();
        while !text.contains(wanted) {
            let line = self.0.recv_timeout(Duration::from_secs(60));
            text += &line.unwrap_or_else(|error| panic!("{error}, and no {wanted} in {text}"));
        }
        text
    }

    pub fn rest(self) -> String {
        self.0.iter().collect()
    }
}

#[test]
fn alarms_come_at_once_and_other_objects_continue() {
    let mut child = monitor(&["--all"]);
    let mut input = child.stdin.take().unwrap();
    let output = Lines::new(child.stdout.take().unwrap());
    input.write_all((rounds(&["1", "2"], 1..4) + &wrong("1")).as_bytes()).unwrap();
    output.until("standard input @1: violation");
    input.write_all((rounds(&["1", "2"], 4..6) + &wrong("2")).as_bytes()).unwrap();
    output.until("standard input @2: violation");
    drop(input);
    let rest = output.rest();
    assert!(rest.contains("violation (2 of 2 objects wrong; 44 events"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A growing file, its monitor with a checkpoint in a folder, and the arguments of the monitor.
struct Followed {
    folder: tempfile::TempDir,
    log: File,
}

impl Followed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("run.txt")).unwrap();
        Self { folder, log }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn monitor(&self, more: &[&str]) -> Running {
        let (log, saved) = (self.path("run.txt"), self.path("saved/checkpoint"));
        monitor(&[more, &["--follow", &log, "--checkpoint", &saved]].concat())
    }

    /// Writes rounds until there is a checkpoint with this text. Returns the next value.
    fn write_until(&mut self, objects: &[&str], mut value: u32, wanted: &str) -> u32 {
        let saved = self.path("saved/checkpoint");
        let began = Instant::now();
        while !fs::read_to_string(&saved).is_ok_and(|text| text.contains(wanted)) {
            self.log.write_all(rounds(objects, value..value + 50).as_bytes()).unwrap();
            value += 50;
            thread::sleep(Duration::from_millis(20));
            assert!(began.elapsed().as_secs() < 120, "there is no checkpoint with {wanted}");
        }
        value
    }
}

#[test]
fn alarms_in_the_checkpoint_are_not_repeated() {
    let mut followed = Followed::new();
    fs::create_dir(followed.path("saved")).unwrap();
    followed.log.write_all(rounds(&["1", "2", "3"], 1..4).as_bytes()).unwrap();
    followed.log.write_all(wrong("2").as_bytes()).unwrap();
    let mut child = followed.monitor(&["--all"]);
    let output = Lines::new(child.stdout.take().unwrap());
    output.until(" @2: violation");
    let value = followed.write_until(&["1", "2", "3"], 4, "\"ended\"");
    child.kill().unwrap();
    child.wait().unwrap();
    followed.log.write_all(wrong("3").as_bytes()).unwrap();
    followed.log.write_all(b"@1 p9 ok\n").unwrap();
    let mut child = followed.monitor(&["--all", "--report", "json"]);
    let output = Lines::new(child.stdout.take().unwrap());
    let alarm = output.until("\"key\":3");
    assert_eq!(alarm.lines().count(), 1, "{alarm}");
    // The position is in the whole input.
    let (events, before) = (12 * (value - 1) as u64, 2);
    let error = Lines::new(child.stderr.take().unwrap());
    error.until(&format!("run.txt:{}:1: ", events + before + 3));
    error.until("object @1 is judged no further");
    #[cfg(unix)]
    {
        crate::commands::monitor::interrupt(&child);
        let summary = &records(&output.rest())[0];
        assert_eq!(summary["events"], events + before + 3, "{summary}");
        assert_eq!(summary["objects"]["total"], 3, "{summary}");
        let lines = [before + 36, events + before + 2];
        let found = [&summary["violations"][0]["line"], &summary["violations"][1]["line"]];
        assert_eq!(found.map(Value::as_u64), lines.map(Some), "{summary}");
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    let _ = child.kill();
    let (code, _, error) = ended(followed.monitor(&[]));
    assert!(code == 2 && error.contains("add --all"), "{error}");
}

/// Connections are one recording here, too, and objects may continue from one to the next.
#[test]
fn objects_continue_across_connections() {
    let (mut child, address) = listening(&["--all", "--workers", "3"]);
    let output = Lines::new(child.stdout.take().unwrap());
    let mut first = TcpStream::connect(&address).unwrap();
    first.write_all((rounds(&["1", "2", "3"], 1..3) + &wrong("2")).as_bytes()).unwrap();
    output.until(" @2: violation");
    drop(first);
    let mut second = TcpStream::connect(&address).unwrap();
    second.write_all(wrong("3").as_bytes()).unwrap();
    output.until(" @3: violation");
    #[cfg(unix)]
    {
        crate::commands::monitor::interrupt(&child);
        let rest = output.rest();
        assert!(rest.contains("violation (2 of 3 objects wrong; 28 events"), "{rest}");
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    let _ = child.kill();
}

/// A pipe cannot be read again: the state of the checkpoint is reported nevertheless.
#[test]
fn without_new_input_the_checkpoint_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("checkpoint").display().to_string();
    let arguments = ["--all", "--every", "0", "--checkpoint", &saved];
    let mut child = monitor(&arguments);
    let mut input = child.stdin.take().unwrap();
    input.write_all((rounds(&["1", "2"], 1..4) + &wrong("2")).as_bytes()).unwrap();
    let began = Instant::now();
    while !fs::read_to_string(&saved).is_ok_and(|text| text.contains("\"ended\"")) {
        input.write_all(rounds(&["1"], 4..5).as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert!(began.elapsed().as_secs() < 60, "there is no checkpoint with an alarm");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, out, error) = ended(monitor(&arguments));
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.starts_with("standard input: going on at line "), "{error}");
    assert!(out.starts_with("standard input: violation (1 of 2 objects wrong; "), "{out}");
    assert!(
        out.ends_with("  @2: not linearizable from 26:1 on (event 13 of the object)\n"),
        "{out}"
    );
}

/// As on a full disk: the alarms matter more.
#[test]
fn unwritable_checkpoint_stops_no_alarm() {
    let mut followed = Followed::new();
    followed.log.write_all(rounds(&["1", "2"], 1..4).as_bytes()).unwrap();
    let mut child = followed.monitor(&["--all"]);
    let error = Lines::new(child.stderr.take().unwrap());
    let mut value = 4;
    let warned = thread::spawn(move || (error.until("going on without a new checkpoint"), error));
    while !warned.is_finished() {
        followed.log.write_all(rounds(&["1", "2"], value..value + 50).as_bytes()).unwrap();
        value += 50;
        thread::sleep(Duration::from_millis(20));
    }
    let (warning, error) = warned.join().unwrap();
    assert!(warning.starts_with("warning: cannot write "), "{warning}");
    let output = Lines::new(child.stdout.take().unwrap());
    followed.log.write_all(wrong("1").as_bytes()).unwrap();
    output.until(" @1: violation");
    fs::create_dir(followed.path("saved")).unwrap();
    followed.write_until(&["1", "2"], value, "\"ended\"");
    wait_for(Path::new(&followed.path("saved/checkpoint")), |text| text.contains("\"ended\""));
    error.until("is written again");
    child.kill().unwrap();
    child.wait().unwrap();
}
