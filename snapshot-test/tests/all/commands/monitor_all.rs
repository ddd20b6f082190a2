//! `monitor --all`, as its users meet it: alarms as they come, and one summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::commands::monitor::{ended, listening, monitor, wait_for};
use crate::commands::{answer, run};

/// Rounds of some objects, in which process 0 updates and process 1 scans.
fn rounds(objects: &[&str], values: std::ops::Range<u32>) -> String {
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

/// A scan of the past, after those of [`rounds`].
fn wrong(key: &str) -> String {
    format!("@{key} p1 scan\n@{key} p1 ok 1\n")
}

fn file(folder: &Path, text: &str) -> String {
    let path = folder.join("run.txt");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Each line of the report for programs.
fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_object_is_judged_to_its_own_first_violation() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["1", "\"b\"", "3", "4"];
    // 48 events and two more; 1 fails again, which is counted only; 4 is not a recording.
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
fn exit_codes_say_what_became_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let right = rounds(&["1", "2"], 1..9);
    for (more, code, said) in [
        (String::new(), 0, "linearizable so far (64 events of 2 objects, 0 operations open)"),
        ("@1 p7 ok\n".into(), 2, "malformed (1 of 2 objects malformed; 65 events"),
        (wrong("2"), 1, "violation (1 of 2 objects wrong; 66 events"),
        // What is no event ends the input, and not what was read before.
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

/// A scan may have read either of two equal values: an exact search decides, at the latest at the
/// end.
#[test]
fn what_values_leave_open_is_searched() {
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
    // No search tells which of two equal values an exchange read.
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

/// The lines of an output, as they come.
struct Lines(Receiver<String>);

impl Lines {
    fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || {
            let read = BufReader::new(output).lines().map_while(Result::ok);
            read.map_while(|line| sender.send(line + "\n").ok()).count()
        });
        Self(lines)
    }

    /// Reads until a line has this in it.
    fn until(&self, wanted: &str) -> String {
        let mut text = String::new();
        while !text.contains(wanted) {
            let line = self.0.recv_timeout(Duration::from_secs(60));
            text += &line.unwrap_or_else(|error| panic!("{error}, and no {wanted} in {text}"));
        }
        text
    }

    fn rest(self) -> String {
        self.0.iter().collect()
    }
}

#[test]
fn alarms_do_not_wait_and_the_others_go_on() {
    let mut child = monitor(&["--all"]);
    let mut input = child.stdin.take().unwrap();
    let output = Lines::of(child.stdout.take().unwrap());
    input.write_all((rounds(&["1", "2"], 1..4) + &wrong("1")).as_bytes()).unwrap();
    output.until("standard input @1: violation");
    input.write_all((rounds(&["1", "2"], 4..6) + &wrong("2")).as_bytes()).unwrap();
    output.until("standard input @2: violation");
    drop(input);
    let rest = output.rest();
    assert!(rest.contains("violation (2 of 2 objects wrong; 44 events"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A file that grows, its monitor with a checkpoint in a folder, and the arguments of that.
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

    fn monitor(&self, more: &[&str]) -> Child {
        let (log, saved) = (self.path("run.txt"), self.path("saved/checkpoint"));
        monitor(&[more, &["--follow", &log, "--checkpoint", &saved]].concat())
    }

    /// Writes rounds until there is a checkpoint with that in it; the next value.
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
fn what_is_in_the_checkpoint_is_not_raised_again() {
    let mut followed = Followed::new();
    fs::create_dir(followed.path("saved")).unwrap();
    followed.log.write_all(rounds(&["1", "2", "3"], 1..4).as_bytes()).unwrap();
    followed.log.write_all(wrong("2").as_bytes()).unwrap();
    let mut child = followed.monitor(&["--all"]);
    let output = Lines::of(child.stdout.take().unwrap());
    output.until(" @2: violation");
    let value = followed.write_until(&["1", "2", "3"], 4, "\"ended\"");
    child.kill().unwrap();
    child.wait().unwrap();
    followed.log.write_all(wrong("3").as_bytes()).unwrap();
    followed.log.write_all(b"@1 p9 ok\n").unwrap();
    let mut child = followed.monitor(&["--all", "--report", "json"]);
    let output = Lines::of(child.stdout.take().unwrap());
    let alarm = output.until("\"key\":3");
    assert_eq!(alarm.lines().count(), 1, "{alarm}");
    // The place is that of the whole input.
    let (events, before) = (12 * (value - 1) as u64, 2);
    let error = Lines::of(child.stderr.take().unwrap());
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

/// Connections are one recording here, too, and objects may go on from one to the next.
#[test]
fn objects_go_on_from_connection_to_connection() {
    let (mut child, address) = listening(&["--all", "--workers", "3"]);
    let output = Lines::of(child.stdout.take().unwrap());
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

/// A pipe cannot be read again: what the checkpoint holds is said all the same.
#[test]
fn where_nothing_comes_the_checkpoint_stands() {
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
fn a_checkpoint_that_cannot_be_written_stops_no_alarm() {
    let mut followed = Followed::new();
    followed.log.write_all(rounds(&["1", "2"], 1..4).as_bytes()).unwrap();
    let mut child = followed.monitor(&["--all"]);
    let error = Lines::of(child.stderr.take().unwrap());
    let mut value = 4;
    let warned = thread::spawn(move || (error.until("going on without a new checkpoint"), error));
    while !warned.is_finished() {
        followed.log.write_all(rounds(&["1", "2"], value..value + 50).as_bytes()).unwrap();
        value += 50;
        thread::sleep(Duration::from_millis(20));
    }
    let (warning, error) = warned.join().unwrap();
    assert!(warning.starts_with("warning: cannot write "), "{warning}");
    let output = Lines::of(child.stdout.take().unwrap());
    followed.log.write_all(wrong("1").as_bytes()).unwrap();
    output.until(" @1: violation");
    fs::create_dir(followed.path("saved")).unwrap();
    followed.write_until(&["1", "2"], value, "\"ended\"");
    wait_for(Path::new(&followed.path("saved/checkpoint")), |text| text.contains("\"ended\""));
    error.until("is written again");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Rounds of many objects, interleaved, of which every seventh fails somewhere; the text.
fn many(objects: usize, rounds: usize) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut text = String::from("segments 1\n");
    let mut values = vec![0; objects];
    for _ in 0..objects * rounds {
        let k = random.random_range(0..objects);
        values[k] += 1;
        let v = values[k];
        let is_wrong = k % 7 == 0 && v > 2 && random.random_range(0..rounds) == 0;
        let read = if is_wrong { v - 1 } else { v };
        for line in [&format!("p0 update {v}"), "p0 ok", "p1 scan", &format!("p1 ok {read}")] {
            text += &format!("@\"user {k}\" {line}\n");
        }
    }
    text
}

/// The key of an object and the place of its alarm, of its record.
fn alarm(record: &Value) -> (String, u64) {
    let line = record["violation"]["decided_at"]["line"].as_u64().unwrap();
    (record["key"].as_str().unwrap().to_owned(), line)
}

#[test]
fn workers_change_nothing_but_the_order() {
    let folder = tempfile::tempdir().unwrap();
    // Immediate snapshots, too: of process 0 alone, of which the last operation may be wrong.
    let mut immediate = String::from("object immediate\nprocesses 2\n");
    for k in 0..300 {
        let key = k % 60;
        let read = if k >= 240 && key % 7 == 0 { k - 60 } else { k };
        immediate += &format!("@{key} p0 exchange {}\n@{key} p0 ok {} 0\n", k + 1, read + 1);
    }
    for text in [many(60, 100), immediate] {
        the_same_by_any_workers(&file(folder.path(), &text));
    }
    let (code, _, error) = ended(monitor(&["--all", "--workers", "0", "-"]));
    assert!(code == 2 && error.contains("--workers"), "{error}");
}

fn the_same_by_any_workers(name: &str) {
    let (_, out, _) = answer(run(&format!("check --report json {name}")));
    let parts = records(&out)[0]["parts"].as_array().unwrap().len();
    let mut expected: Option<(Vec<String>, String)> = None;
    for workers in ["1", "2", "3", "5", "100"] {
        let arguments = ["--all", "--report", "json", "--workers", workers, name];
        let (code, out, error) = ended(monitor(&arguments));
        assert_eq!((code, error.as_str()), (1, ""));
        let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
        let summary = lines.pop().unwrap();
        lines.sort_unstable();
        assert!(lines.len() == parts && parts > 3, "{parts}: {out}");
        let (alarms, last) = expected.get_or_insert_with(|| (lines.clone(), summary.clone()));
        assert_eq!((&lines, &summary), (&*alarms, &*last), "{workers}");
    }
}

/// Killed at random points, again and again, each time with another number of workers: nothing
/// is missed, and nothing is raised that `check` does not find.
#[test]
fn killed_fifty_times_it_misses_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let folder = tempfile::tempdir().unwrap();
    let name = file(folder.path(), &many(150, 400));
    let saved = folder.path().join("checkpoint").display().to_string();
    let (code, out, _) = answer(run(&format!("check --report json {name}")));
    assert_eq!(code, 1);
    let expected: BTreeSet<_> =
        records(&out)[0]["parts"].as_array().unwrap().iter().map(alarm).collect();
    assert!(expected.len() > 10, "{expected:?}");
    let (code, whole, _) = ended(monitor(&["--all", "--report", "json", &name]));
    assert_eq!(code, 1);
    let whole = whole.lines().last().unwrap().to_owned();

    let (mut raised, mut kills, mut resumed) = (BTreeMap::new(), 0, BTreeSet::new());
    let summary = loop {
        let workers = random.random_range(1..5).to_string();
        let arguments = ["--all", "--report", "json", "--workers", &workers, "--every", "0"];
        let arguments = [&arguments[..], &["--checkpoint", &saved, &name]].concat();
        let mut child = monitor(&arguments);
        if kills < 50 {
            // Now and then before it has kept anything, else some time after it has.
            let before = fs::read(&saved).ok();
            let is_early = random.random_range(0..4) == 0;
            while !is_early
                && fs::read(&saved).ok() == before
                && child.try_wait().unwrap().is_none()
            {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(random.random_range(0..20)));
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        kills += usize::from(output.status.code().is_none());
        resumed.insert(String::from_utf8(output.stderr).unwrap());
        let mut last = None;
        // What was being written when it was killed is no line.
        for line in String::from_utf8(output.stdout).unwrap().split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else { continue };
            let record: Value = serde_json::from_str(line).unwrap();
            match record["objects"].is_object() {
                true => last = Some(line.to_owned()),
                false => *raised.entry(alarm(&record)).or_insert(0) += 1,
            }
        }
        match last {
            // It was quicker than the kill: again, from the beginning.
            Some(_) if kills < 50 => drop(fs::remove_file(&saved)),
            Some(summary) => break summary,
            None => {}
        }
    };
    let found: BTreeSet<_> = raised.keys().cloned().collect();
    assert_eq!(found, expected);
    assert_eq!(summary, whole);
    assert!(resumed.len() > 10, "{resumed:?}");
}

/// Alarms are not read: the input is not read either, however much of it there is.
#[test]
fn an_output_that_is_not_read_holds_the_input_up() {
    let mut text = String::from("segments 1\n");
    for k in 0..20_000 {
        let k = format!("\"a user with quite a long name, so that there is much to be read: {k}\"");
        text += &format!("@{k} p0 update 1\n@{k} p0 ok\n@{k} p1 scan\n@{k} p1 ok 0\n");
    }
    let mut child = monitor(&["--all", "--workers", "2"]);
    let mut input = child.stdin.take().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let total = text.len();
    let writer = thread::spawn(move || {
        for piece in text.as_bytes().chunks(1 << 12) {
            input.write_all(piece).unwrap();
            counter.fetch_add(piece.len(), Ordering::Relaxed);
        }
    });
    let mut before = 0;
    loop {
        thread::sleep(Duration::from_millis(500));
        let now = written.load(Ordering::Relaxed);
        if now > 0 && now == before {
            break;
        }
        before = now;
    }
    assert!(before < total / 2, "{before} of {total} bytes were taken");
    let (code, out, _) = ended(child);
    writer.join().unwrap();
    assert_eq!(code, 1);
    assert_eq!(out.matches(": violation (2 operations").count(), 20_000);
    assert!(
        out.contains("violation (20000 of 20000 objects wrong; 80000 events"),
        "{}",
        &out[out.len() - 200..]
    );
}

/// A reader that has seen enough: it ends, quietly.
#[test]
fn an_output_that_is_closed_ends_it() {
    let mut child = monitor(&["--all", "--workers", "3"]);
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    for value in 1.. {
        let text = rounds(&["1"], 1..2) + &format!("@{value} p1 scan\n@{value} p1 ok 9\n");
        if input.write_all(text.as_bytes()).is_err() {
            break;
        }
    }
    let (code, _, error) = ended(child);
    assert_eq!((code, error.as_str()), (1, ""));
}
