//! `check --checkpoint`, killed, and `check --resume`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

use super::{answer, json, refused};

/// Returns the fields that must be equal.
fn counts(lines: &[Value]) -> Vec<Value> {
    let keys = ["verdict", "states", "transitions", "depth", "steps", "history"];
    let answers = lines.iter().filter(|line| line.get("pair").is_some());
    answers.map(|line| keys.iter().map(|key| line[*key].clone()).collect()).collect()
}

/// Runs a check that saves checkpoints, and kills it [`KILLS`] times, each time some milliseconds
/// after a checkpoint. Returns the number of kills, and the lines of the last run.
fn survive(arguments: &str, folder: &Path, random: &mut ChaCha8Rng) -> (u32, Vec<Value>) {
    let mut kills = 0;
    loop {
        let option = if folder.exists() { "--resume" } else { "--checkpoint" };
        let before = kept(folder);
        let child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .args(arguments.split_whitespace())
            .args(["--report", "json", "--every", "0.01", option])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        while kills < KILLS && kept(folder) == before && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        if kills < KILLS {
            thread::sleep(Duration::from_millis(random.next_u64() % 20));
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_some() {
            let (out, error) = (output.stdout, output.stderr);
            assert_eq!(String::from_utf8_lossy(&error), "", "{arguments}");
            let out = String::from_utf8(out).unwrap();
            return (kills, out.lines().map(|line| serde_json::from_str(line).unwrap()).collect());
        }
        kills += 1;
    }
}

/// Number of kills.
const KILLS: u32 = 6;

/// Returns the sizes and times of the saved searches.
fn kept(folder: &Path) -> Vec<(u64, SystemTime)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|kind| kind == "search"));
    let metadata = paths.filter_map(|path| path.metadata().ok());
    metadata.map(|file| (file.len(), file.modified().unwrap())).collect()
}

/// Returns the number of saved searches.
fn searches(folder: &Path) -> usize {
    kept(folder).len()
}

#[test]
fn killed_check_resumes_to_the_same_answer() {
    let mut random = ChaCha8Rng::seed_from_u64(220);
    let mut kills = 0;
    for (code, arguments) in [
        (0, "check bowman -n 3 --pairs 0,1 --reductions constant,dead --threads 2"),
        (1, "check bowman --bug early_exit -n 3 --pairs 0,1 --reductions constant,dead"),
    ] {
        let expected = counts(&json(code, &format!("{arguments} --method exploration")));
        assert!(!expected.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        json(code, &format!("{arguments} --checkpoint {} --every 0.01", whole.display()));
        let folder = folder.path().join("kept");
        let (times, lines) = survive(arguments, &folder, &mut random);
        assert_eq!(counts(&lines), expected, "{arguments}");
        assert_eq!(searches(&folder), searches(&whole), "no search began twice");
        kills += times;
    }
    assert!(kills > 0, "no check was killed");
}

#[test]
fn resuming_another_question_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("kept");
    let shown = folder.display();
    let check = |options: &str| format!("check bowman {options}");
    let error = refused(&check(&format!("-n 2 --resume {shown}")));
    assert!(error.contains("holds no checkpoint") && error.contains("--checkpoint"), "{error}");
    let arguments = check(&format!("-n 3 --checkpoint {shown} --every 0"));
    assert_eq!(answer(&arguments).0, 0);
    let error = refused(&arguments);
    assert!(error.contains("go on with --resume"), "{error}");
    let resume = format!("--resume {shown}");
    for (options, what) in [
        ("-n 4", "processes were [3] and are [4]"),
        ("-n 3 --pairs 0,1", "pairs were \"all\""),
        ("-n 3 --operations 2", "operations were \"none\""),
        ("-n 3 --reductions none", "reductions were"),
        ("-n 3 --bug early_exit", "algorithms were"),
    ] {
        let error = refused(&check(&format!("{options} {resume}")));
        assert!(error.contains(what) && error.contains("question.json"), "{error}");
    }
    assert_eq!(answer(&check(&format!("-n 3 {resume}"))).0, 0);
    let question = folder.join("question.json");
    let text = fs::read_to_string(&question).unwrap();
    let other = text.replacen("\"build\":\"", "\"build\":\"0", 1);
    assert_ne!(other, text);
    for (text, what) in [(other.as_str(), "build were"), ("{", "damaged")] {
        fs::write(&question, text).unwrap();
        let error = refused(&check(&format!("-n 3 {resume}")));
        assert!(error.contains(what), "{error}");
    }
    for options in ["-n every", "-n 2 --method refinement", "-n 2 --method proof"] {
        let other = parent.path().join("other");
        let error = refused(&check(&format!("{options} --checkpoint {}", other.display())));
        assert!(error.contains("--checkpoint works only with the search"), "{error}");
        assert!(!other.exists());
    }
    let error = refused(&check("-n 2 --every 3"));
    assert!(error.contains("add --checkpoint DIR"), "{error}");
}

#[test]
fn damaged_files_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("kept");
    let shown = folder.display();
    let arguments =
        "check bowman -n 5 --pairs 0,1 --reductions constant,dead --threads 1 --every 0.5";
    // Ended by time, the search is saved in its final state.
    let (code, first, error) = answer(&format!("{arguments} --checkpoint {shown} --time 1"));
    assert_eq!(code, 3, "{first}{error}");
    assert!(error.contains("go on with --resume"), "{error}");
    assert_eq!(searches(&folder), 1);
    let entry = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = entry.into_iter().find(|path| path.extension().unwrap() == "search").unwrap();
    let whole = fs::read(&file).unwrap();
    let resumed = |time| {
        let begin = Instant::now();
        let answer = answer(&format!("{arguments} --resume {shown} --time {time}"));
        (answer, begin.elapsed().as_secs_f64())
    };
    let mut damaged = vec![whole[..whole.len() - 1].to_vec(), whole[..60].to_vec(), Vec::new()];
    for at in [0, 16, 20, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        damaged.push(bytes);
    }
    for bytes in damaged {
        fs::write(&file, bytes).unwrap();
        let ((code, _, error), _) = resumed(60.0);
        assert_eq!(code, 2, "{error}");
        assert!(
            error.contains(&file.display().to_string()) && error.contains("remove it"),
            "{error}"
        );
    }
    fs::write(&file, &whole).unwrap();
    // The file that a killed process left is removed.
    let left = folder.join("0123.search.99.new");
    fs::write(&left, "half").unwrap();
    let ((code, out, _), seconds) = resumed(0.01);
    assert_eq!(code, 3, "{out}");
    assert!(seconds < 3.0, "{seconds} s: the time is over while states are read");
    assert!(!left.exists());
    assert!(fs::read(&file).unwrap() == whole, "a partly read checkpoint is not overwritten");
    // As many states are read as were saved.
    let ((code, out, _), _) = resumed(2.5);
    assert_eq!(code, 3, "{out}");
    let states = |out: &str| {
        let (_, rest) = out.split_once("out of time (").expect("it ran out of time");
        rest.split_once(" states").unwrap().0.replace(',', "").parse::<u64>().unwrap()
    };
    assert!(states(&out) > states(&first), "{first}{out}");
}

#[test]
fn unwritable_checkpoint_does_not_stop_the_search() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("kept");
    let arguments = "check bowman -n 4 --pairs 0,1 --reductions constant,dead --every 0.05";
    let arguments = format!("{arguments} --checkpoint {}", folder.display());
    let child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(arguments.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while searches(&folder) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    // The running check may be writing there.
    while folder.exists() {
        let _ = fs::remove_dir_all(&folder);
    }
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("warning: cannot keep the search"), "{error}");
}
