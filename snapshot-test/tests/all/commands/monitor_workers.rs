//! `monitor --all --workers`: the same alarms for any number of threads, any times of kills, and
//! any speed of the reader of the output.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::commands::monitor::{ended, monitor};
use crate::commands::monitor_all::{file, records, rounds};
use crate::commands::{answer, run};

/// Returns rounds of many objects, interleaved, of which every seventh fails somewhere.
pub fn many(objects: usize, rounds: usize) -> String {
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

/// Returns the key of an object and the position of its alarm, from its record.
pub fn alarm(record: &Value) -> (String, u64) {
    let line = record["violation"]["decided_at"]["line"].as_u64().unwrap();
    (record["key"].as_str().unwrap().to_owned(), line)
}

#[test]
fn number_of_workers_changes_only_the_order() {
    let folder = tempfile::tempdir().unwrap();
    // Immediate snapshots, too: of process 0 alone, of which the last operation may be wrong.
    let mut immediate = String::from("object immediate\nprocesses 2\n");
    for k in 0..300 {
        let key = k % 60;
        let read = if k >= 240 && key % 7 == 0 { k - 60 } else { k };
        immediate += &format!("@{key} p0 exchange {}\n@{key} p0 ok {} 0\n", k + 1, read + 1);
    }
    for text in [many(60, 100), immediate] {
        assert_same_for_any_workers(&file(folder.path(), &text));
    }
    let (code, _, error) = ended(monitor(&["--all", "--workers", "0", "-"]));
    assert!(code == 2 && error.contains("--workers"), "{error}");
}

fn assert_same_for_any_workers(name: &str) {
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

/// Kills monitors of these inputs at random points, fifty times, and lets the last one end. Returns
/// all alarms, by record. The summary must equal that of a run without kills.
pub fn killed_fifty_times<A: Ord>(
    inputs: &[&str],
    saved: &str,
    random: &mut ChaCha8Rng,
    alarm: impl Fn(&Value) -> A,
) -> BTreeSet<A> {
    let (code, whole, _) = ended(monitor(&[&["--all", "--report", "json"], inputs].concat()));
    assert_eq!(code, 1);
    let whole = whole.lines().last().unwrap().to_owned();

    let (mut raised, mut kills, mut resumed) = (BTreeSet::new(), 0, BTreeSet::new());
    let summary = loop {
        let workers = random.random_range(1..5).to_string();
        let arguments = ["--all", "--report", "json", "--workers", &workers, "--every", "0"];
        let arguments = [&arguments[..], &["--checkpoint", saved], inputs].concat();
        let mut child = monitor(&arguments);
        if kills < 50 {
            // Sometimes before the first checkpoint, else some time after it.
            let before = fs::read(saved).ok();
            let is_early = random.random_range(0..4) == 0;
            while !is_early && fs::read(saved).ok() == before && child.try_wait().unwrap().is_none()
            {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(random.random_range(0..20)));
            let _ = child.kill();
        }
        let output = child.output();
        kills += usize::from(output.status.code().is_none());
        resumed.insert(String::from_utf8(output.stderr).unwrap());
        let mut last = None;
        // A line that was unfinished at the kill is dropped.
        for line in String::from_utf8(output.stdout).unwrap().split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else { continue };
            let record: Value = serde_json::from_str(line).unwrap();
            match record["objects"].is_object() {
                true => last = Some(line.to_owned()),
                false => drop(raised.insert(alarm(&record))),
            }
        }
        match last {
            // The program ended before the kill: again, from the beginning.
            Some(_) if kills < 50 => drop(fs::remove_file(saved)),
            Some(summary) => break summary,
            None => {}
        }
    };
    assert_eq!(summary, whole);
    assert!(resumed.len() > 10, "{resumed:?}");
    raised
}

/// Alarms are not read: then the input is not read either, for any length of it.
#[test]
fn unread_output_blocks_the_input() {
    let mut child = monitor(&["--all", "--workers", "2"]);
    let writer = blocked_writer(child.stdin.take().unwrap(), 20_000);
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

/// Writes this many objects, each of them wrong, until the program stops reading, which happens
/// before half of them. The thread continues once it reads again.
pub fn blocked_writer(mut input: ChildStdin, objects: usize) -> JoinHandle<()> {
    let mut text = String::from("segments 1\n");
    for k in 0..objects {
        let k = format!("\"a user with quite a long name, so that there is much to be read: {k}\"");
        text += &format!("@{k} p0 update 1\n@{k} p0 ok\n@{k} p1 scan\n@{k} p1 ok 0\n");
    }
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
    assert!(before < total / 2, "{before} of {total} bytes were read");
    writer
}

/// A reader closes the output: the program ends quietly.
#[test]
fn closed_output_ends_the_program() {
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
