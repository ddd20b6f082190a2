//! `check --workers` and `check --cluster`: several workers, several processes, and the behaviour
//! of the others when one is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;
use test_support::effort::either;

use super::{json, refused};

pub(super) const CASE: &str = "check bowman -n 3 --pairs 0,1 --reductions dead,constant";
/// Takes some seconds.
const LONG: &str = "check bowman -n 4 --pairs 0,1 --reductions dead,constant";

pub(super) fn counts(lines: &[Value]) -> Vec<Value> {
    let keys = ["verdict", "states", "transitions", "depth", "violation"];
    keys.iter().map(|key| lines[0][*key].clone()).collect()
}

/// Writes a file that names this many local processes, at free ports.
pub(super) fn hosts(processes: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = test_support::network::hosts(folder.path(), processes);
    (folder, path)
}

pub(super) fn start(case: &str, hosts: &Path, process: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(case.split_whitespace())
        .arg("--cluster")
        .arg(hosts)
        .args(["--process", &process.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the outputs of all processes, once all have ended.
pub(super) fn ended(children: Vec<Child>) -> Vec<(Option<i32>, String, String)> {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let end = |child: Child| {
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        (status.code(), text(stdout), text(stderr))
    };
    children.into_iter().map(end).collect()
}

#[test]
fn any_number_of_workers_gives_the_same_answer() {
    for (bug, code) in [("", 0), (" --bug early_exit", 1)] {
        let expected = counts(&json(code, &format!("{CASE}{bug}")));
        for workers in [1, 2, 4] {
            let found = json(code, &format!("{CASE}{bug} --workers {workers}"));
            assert_eq!(counts(&found), expected, "{workers} workers");
        }
    }
}

#[test]
fn processes_give_the_same_answer_and_one_reports_it() {
    for (bug, code) in [("", 0), (" --bug early_exit", 1)] {
        let expected = counts(&json(code, &format!("{CASE}{bug}")));
        let clusters = [(1, 2), (4, 1), (2, 1), (3, 2)];
        for &(processes, workers) in if code == 0 { &clusters[..2] } else { &clusters[2..] } {
            let (_folder, hosts) = hosts(processes);
            let case = format!("{CASE}{bug} --report json --workers {workers}");
            let children = (0..processes).map(|process| start(&case, &hosts, process)).collect();
            for (process, (found, out, error)) in ended(children).into_iter().enumerate() {
                assert_eq!((found, error.as_str()), (Some(code), ""), "process {process}");
                if process > 0 {
                    assert_eq!(out, "", "process {process}");
                    continue;
                }
                let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
                let lines: Vec<Value> = lines.collect();
                assert_eq!(counts(&lines), expected, "{processes} processes");
            }
        }
    }
}

/// All processes prepare the same search of each algorithm, with any reductions.
#[test]
fn every_algorithm_is_searched_by_several_processes() {
    // Programs that look at values are not explored.
    let is_explored =
        |file: &&corpus::Algorithm| !["register", "double_collect"].contains(&file.name);
    // Every fifth one; in the slow suite each.
    for file in corpus::algorithms().iter().filter(is_explored).step_by(either(5, 1)) {
        let case = format!("check {} -n 2 --operations 1", file.name);
        let expected = counts(&json(0, &case));
        let (_folder, hosts) = hosts(2);
        let case = format!("{case} --report json");
        let ended = ended((0..2).map(|process| start(&case, &hosts, process)).collect());
        assert_eq!((ended[0].0, ended[1].0), (Some(0), Some(0)), "{}: {ended:?}", file.name);
        let lines = ended[0].1.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(counts(&lines.collect::<Vec<Value>>()), expected, "{}", file.name);
    }
}

/// The same processes run several searches, one after the other: of all pairs, with growing bounds.
#[test]
fn processes_run_successive_searches() {
    let case = "check bowman --all-bugs -n 3 --operations grow --report json";
    let of = |line: &Value| ["bug", "pair", "verdict", "violation"].map(|key| line[key].clone());
    let told = |lines: Vec<Value>| lines.iter().map(of).collect::<Vec<_>>();
    let expected = told(json(1, &case.replace(" --report json", "")));
    let (_folder, hosts) = hosts(2);
    let children = (0..2).map(|process| start(case, &hosts, process)).collect();
    let ended = ended(children);
    let lines = ended[0].1.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(told(lines.collect()), expected, "{ended:?}");
    assert_eq!((ended[0].0, ended[1].0), (Some(1), Some(1)));
}

/// Number of kills.
pub(super) fn kills() -> usize {
    test_support::effort::by_effort(1, 3, 200)
}

/// The others end soon, with an error that names the killed process, unless they already had the
/// answer.
#[test]
fn killed_process_is_reported_by_the_others() {
    let began = Instant::now();
    let (_folder, hosts) = hosts(3);
    let whole = ended((0..3).map(|process| start(LONG, &hosts, process)).collect());
    let took = began.elapsed();
    assert!(whole.iter().all(|(code, ..)| *code == Some(0)), "{whole:?}");
    let answer = "verified (2,151,306 states, 9,276,497 transitions";
    assert!(whole[0].1.contains(answer), "{whole:?}");
    let mut random = ChaCha8Rng::seed_from_u64(223);
    let mut answered = 0;
    for number in 0..kills() {
        let mut children: Vec<Child> = (0..3).map(|process| start(LONG, &hosts, process)).collect();
        let killed = (number + 1) % 3;
        // The first kill is half-way; of the others some are immediate, some near the end.
        let share = if number == 0 { 0.5 } else { (random.next_u64() % 1000) as f64 / 1000.0 };
        thread::sleep(took.mul_f64(share));
        children[killed].kill().unwrap();
        let killed_at = Instant::now();
        let ended = ended(children);
        // A process that is killed before it has greeted the others is waited for.
        let patience = Duration::from_secs(60 + 8);
        assert!(killed_at.elapsed() < took.mul_f64(2.0) + patience, "they hang");
        for (process, (code, out, error)) in ended.iter().enumerate() {
            match code {
                // The process that was killed, or had ended by itself.
                None => assert_eq!(process, killed),
                Some(0) => {
                    answered += 1;
                    assert!(process > 0 || out.contains(answer), "{out}");
                }
                Some(2) => {
                    assert!(!out.contains("verified"), "{out}");
                    // The third process may first miss another process than the killed one.
                    let named = error.contains(&format!("process {killed} of the cluster"))
                        || error.contains(&format!("process {killed} (127.0.0.1"));
                    assert!(named && error.contains("tart"), "{number}: {ended:?}");
                }
                _ => panic!("{ended:?}"),
            }
        }
    }
    assert!(answered < 3 * kills(), "some were killed in time");
}

#[test]
fn processes_with_different_searches_refuse() {
    let (_folder, hosts) = hosts(2);
    for other in
        ["check bowman -n 2 --pairs 0,1 --reductions dead,constant", &format!("{CASE} --workers 2")]
    {
        let ended = ended(vec![start(CASE, &hosts, 0), start(other, &hosts, 1)]);
        for (code, out, error) in ended {
            assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
            let says = error.contains("searches something else")
                || error.contains("knows of 2 processes")
                || error.contains("ended before")
                || error.contains("cannot be reached");
            assert!(says, "{error}");
        }
    }
}

#[test]
fn invalid_cluster_options_are_refused() {
    let (folder, hosts) = hosts(2);
    let shown = hosts.display();
    let cluster = format!("--cluster {shown} --process");
    for (arguments, why) in [
        (format!("{CASE} {cluster} 2"), "there is no process 2: 2 are named"),
        (format!("{CASE} --cluster {shown}.no --process 0"), "cannot read --cluster"),
        (format!("{CASE} --process 0"), "--cluster"),
        (format!("{CASE} --cluster {shown}"), "--process"),
        (format!("{CASE} --workers 0"), "--workers"),
        (format!("{CASE} --workers 2 --threads 2"), "--threads"),
        (format!("{CASE} --workers 2 --checkpoint {shown}.new"), "--checkpoint"),
        (format!("{CASE} --workers 2 --disk /tmp"), "--disk"),
        ("check bowman -n every --workers 2".to_owned(), "--workers works only with the search"),
        (
            format!("check bowman --method proof {cluster} 0"),
            "--cluster works only with the search",
        ),
        (
            "check bowman --method refinement --workers 2".to_owned(),
            "--workers works only with the search",
        ),
    ] {
        let error = refused(&arguments);
        assert!(error.contains(why), "{arguments}: {error}");
    }
    fs::write(folder.path().join("hosts"), "127.0.0.1:1\nnowhere\n").unwrap();
    let error = refused(&format!("{CASE} {cluster} 0"));
    assert!(error.contains("line 2: \"nowhere\" is no address"), "{error}");
}

/// Each process has a memory limit, and one that exceeds it ends all as unknown.
#[test]
fn exhausted_memory_ends_all_processes() {
    let (_folder, hosts) = hosts(2);
    let case = format!("{LONG} --memory 20M");
    let ended = ended((0..2).map(|process| start(&case, &hosts, process)).collect());
    assert!(ended.iter().all(|(code, ..)| *code == Some(3)), "{ended:?}");
    assert!(ended[0].1.contains("out of memory"), "{ended:?}");
}
