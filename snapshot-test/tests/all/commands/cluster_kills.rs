//! Clusters whose processes are killed, and whose networks are cut.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use test_support::network::{Relay, hosts};

use crate::commands::Running;
use crate::commands::cluster::{logs, plain, start};
use crate::commands::monitor::{ended, monitor};
use crate::commands::monitor_workers::alarm;

/// Number of times that processes are killed, or networks cut.
fn kills() -> usize {
    test_support::effort::by_effort(10, 20, 200)
}

/// Returns the alarms of a report for programs, and its summary, if any. A line that was unfinished
/// when the process was killed is dropped.
fn alarms(out: &str) -> (Vec<(String, String, u64)>, Option<String>) {
    let (mut alarms, mut summary) = (Vec::new(), None);
    for line in out.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["objects"].is_object() {
            summary = Some(line.to_owned());
            continue;
        }
        let (key, place) = alarm(&record);
        alarms.push((record["input"].as_str().unwrap().to_owned(), key, place));
    }
    (alarms, summary)
}

const MONITOR: &str = "monitor --all --report json --every 0 --checkpoint";

/// Two reading processes, and one that reports.
struct Course {
    folder: tempfile::TempDir,
    hosts: std::path::PathBuf,
    names: Vec<String>,
}

impl Course {
    fn new(rounds: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hosts = hosts(folder.path(), 3);
        let names = logs(folder.path(), &["north", "south"], rounds);
        Self { folder, hosts, names }
    }

    /// Starts a process, or starts it again.
    fn start(&self, process: usize, hosts: &Path) -> Running {
        let saved = self.folder.path().join(format!("kept-{process}")).display().to_string();
        let name = if process > 0 { &[self.names[process - 1].as_str()][..] } else { &[] };
        start(&format!("{MONITOR} {saved}"), hosts, process, name)
    }

    /// Returns the findings of one process that reads all inputs: alarms, and the summary.
    fn expected(&self) -> (Vec<(String, String, u64)>, String) {
        let (code, out, _) =
            ended(monitor(&["--all", "--report", "json", &self.names[0], &self.names[1]]));
        assert_eq!(code, 1);
        let (mut found, summary) = alarms(&out);
        found.sort_unstable();
        assert!(found.len() > 5, "{out}");
        (found, summary.unwrap())
    }
}

/// A reading process that is killed, at any point and any number of times, misses nothing after a
/// restart, and process 0, which was never killed, prints each alarm once.
#[test]
fn restarted_process_misses_no_alarm() {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let mut killed = 0;
    let mut again = 0;
    while killed < kills() {
        let course = Course::new(300);
        let (expected, summary) = course.expected();
        let mut first = course.start(0, &course.hosts);
        let mut others = [1, 2].map(|process| course.start(process, &course.hosts));
        let mut was_killed = [false; 2];
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(random.random_range(0..60)));
            let process = random.random_range(1..=2);
            let child = &mut others[process - 1];
            let _ = child.kill();
            killed += usize::from(child.wait().unwrap().code().is_none());
            was_killed[process - 1] = true;
            if first.try_wait().unwrap().is_some() {
                break;
            }
            *child = course.start(process, &course.hosts);
        }
        let (code, out, error) = ended(first);
        assert_eq!(code, 1, "{error}");
        let (found, last) = alarms(&out);
        let mut found: Vec<_> =
            found.into_iter().map(|(input, key, at)| (plain(&input), key, at)).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(last.map(|last| plain(&last)), Some(summary));
        again += error.matches("is back").count();
        for (mut child, was_killed) in others.into_iter().zip(was_killed) {
            // A process killed after it had reported its end may return after the end, and would
            // search for process 0 for a minute; or at the end, where process 0 closes the
            // connection.
            if was_killed && !has_ended(&mut child, 3) {
                let _ = child.kill();
            }
            if child.wait().unwrap().code().is_some() {
                let (code, _, error) = ended(child);
                let is_late = was_killed && error.contains("is lost: it closed the connection");
                assert!(code == 1 || code == 2 && is_late, "{code}: {error}");
            }
        }
    }
    assert!(again >= kills() / 4, "{again} of {killed} were restarted after they had joined");
}

/// Without process 0 there is no answer: the others report so, and all resume from their
/// checkpoints.
#[test]
fn killed_process_0_ends_the_others_and_all_resume() {
    let mut random = ChaCha8Rng::seed_from_u64(42);
    let course = Course::new(300);
    let (expected, summary) = course.expected();
    let (mut raised, mut lost) = (BTreeSet::new(), 0);
    for kill in 0.. {
        let mut children = [0, 1, 2].map(|process| course.start(process, &course.hosts));
        if kill < kills() / 2 {
            thread::sleep(Duration::from_millis(random.random_range(0..150)));
            let _ = children[0].kill();
        }
        let [first, others @ ..] = children;
        let output = first.output();
        let (found, last) = alarms(&String::from_utf8(output.stdout).unwrap());
        raised.extend(found.into_iter().map(|(input, key, at)| (plain(&input), key, at)));
        // A process that had not connected yet would wait for a minute.
        let is_over = output.status.code().is_some();
        for mut child in others {
            if is_over || has_ended(&mut child, 3) {
                let (code, out, error) = ended(child);
                assert_eq!(out, "");
                lost += usize::from(code == 2 && error.contains("process 0 (127.0.0.1:"));
                assert!(
                    if is_over { code == 1 } else { code == 2 || code == 1 },
                    "{code}: {error}"
                );
            } else {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
        if is_over && kill >= kills() / 2 {
            assert_eq!(last.map(|last| plain(&last)), Some(summary));
            break;
        }
    }
    assert!(lost > 0, "none lost process 0");
    assert_eq!(raised.into_iter().collect::<Vec<_>>(), expected);
}

/// Returns true if it ends within this many seconds.
pub fn has_ended(child: &mut Child, seconds: u64) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(seconds) {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// For every cut of the connection, the process reports it, and, started again, misses nothing.
#[test]
fn cut_or_slow_network_loses_no_alarm() {
    let mut random = ChaCha8Rng::seed_from_u64(43);
    let course = Course::new(60);
    let (expected, summary) = course.expected();
    let greetings = 400 + snapshot_io::join::BYTES;
    let mut total = 0;
    for cut in 0..=kills() / 2 {
        for process in 0..3 {
            let _ = fs::remove_file(course.folder.path().join(format!("kept-{process}")));
        }
        // The first time it is slow, but not cut.
        let (left, delay) = match cut {
            0 => (1 << 40, Duration::from_millis(2)),
            _ => (random.random_range(greetings..total), Duration::ZERO),
        };
        let (relay, relayed) = Relay::start(&course.hosts, left, delay);
        let mut first = course.start(0, &course.hosts);
        let second = course.start(1, &course.hosts);
        let mut third = course.start(2, &relayed);
        if cut == 0 {
            assert_eq!(ended(third).0, 1);
            total = relay.passed();
            assert!(total > 2 * greetings, "{total} bytes");
        } else {
            assert!(has_ended(&mut third, 60), "it hangs");
            let (code, out, error) = ended(third);
            let is_lost = code == 2 && error.contains("is lost: ");
            assert!(out.is_empty() && (code == 1 || is_lost), "{left} of {total}: {code}, {error}");
            // All processes may have ended before it was cut off.
            if is_lost && !has_ended(&mut first, 1) {
                assert_eq!(ended(course.start(2, &course.hosts)).0, 1);
            }
        }
        let (code, out, error) = ended(first);
        assert_eq!(code, 1, "{error}");
        let (mut found, last) = alarms(&out);
        found.iter_mut().for_each(|(input, ..)| *input = plain(input));
        found.sort_unstable();
        assert_eq!(
            (found, last.map(|last| plain(&last))),
            (expected.clone(), Some(summary.clone()))
        );
        assert_eq!(ended(second).0, 1);
    }
}
