//! Answers do not depend on the seed for hashing values, so not on the order of a table.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::answer;

const TWINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/histories/twins");

const SEEDS: [&str; 2] = ["1", "18446744073709551557"];

/// Returns exit code and outputs of the program with a seed.
fn seeded(seed: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
    answer(
        command
            .env("SNAPSHOT_HASH_SEED", seed)
            .args(arguments)
            .output()
            .expect("the program starts"),
    )
}

fn assert_same(arguments: &[&str]) {
    let [first, second] = SEEDS.map(|seed| seeded(seed, arguments));
    assert_eq!(first, second, "{arguments:?}");
    assert!(!first.1.is_empty(), "{arguments:?}");
}

#[test]
fn answers_on_twins_do_not_depend_on_the_seed() {
    let folder = tempfile::tempdir().expect("there is room");
    let certificates = folder.path().to_str().expect("it is text");
    assert_same(&["check", "--report", "json", TWINS]);
    assert_same(&["check", "--certificate", certificates, TWINS]);
    for method in ["saturation", "search", "generic"] {
        assert_same(&["check", "--method", method, TWINS]);
    }
}

/// Recordings in which values repeat, updates overlap, and many operations are open.
#[test]
fn answers_on_large_recordings_do_not_depend_on_the_seed() {
    let folder = tempfile::tempdir().expect("there is room");
    let place = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    for seed in ["1", "2", "3"] {
        for style in [&["--style", "small-domain", "--values", "3"][..], &["--writers", "many"]] {
            let mut arguments = vec!["generate", "--processes", "5", "--segments", "3"];
            arguments.extend(["--operations", "120", "--seed", seed]);
            arguments.extend(style);
            let (code, text, error) = seeded("0", &arguments);
            assert_eq!((code, error.as_str()), (0, ""), "{arguments:?}");
            let lines: Vec<&str> = text.lines().collect();
            // A value that was returned early is returned late, too.
            let returned = lines.iter().filter(|line| line.contains(" ok ")).nth(4);
            let last = lines.iter().rposition(|line| line.contains(" ok "));
            let mut spoilt = lines.clone();
            let line = last.zip(returned).map(|(last, returned)| {
                let (process, _) = lines[last].split_once(" ok ").expect("a line with a response");
                let (_, values) = returned.split_once(" ok ").expect("a line with a response");
                (last, format!("{process} ok {values}"))
            });
            let (last, line) = line.expect("scans return");
            spoilt[last] = &line;
            for (name, lines) in [("right", &lines), ("wrong", &spoilt)] {
                let place = place(name);
                fs::write(&place, lines.join("\n") + "\n").expect("there is room");
                assert_same(&["check", "--report", "json", &place]);
                assert_same(&["check", "--explain", &place]);
            }
        }
    }
    assert!(Path::new(&place("wrong")).exists());
}

#[test]
fn answers_on_objects_do_not_depend_on_the_seed() {
    let folder = tempfile::tempdir().expect("there is room");
    for (object, text) in [
        ("channel", "p0 send 5\np1 send 7\np2 receive\np0 ok\np2 ok 5\np1 ok\n"),
        ("exchanger", "p0 exchange 5\np1 exchange 7\np2 exchange 9\np0 ok 7\np1 ok 5\n"),
        ("set", "p0 add 5\np1 add 7\np0 ok true\np1 ok true\np0 contains 5\np0 ok false\n"),
        ("queue", "p0 enqueue 5\np1 enqueue 7\np0 ok\np1 ok\np0 dequeue\np0 ok 9\n"),
    ] {
        let place = folder.path().join(object);
        fs::write(&place, text).expect("there is room");
        let place = place.to_str().expect("it is text");
        assert_same(&["check", "--object", object, place]);
        assert_same(&["check", "--object", object, "--report", "json", place]);
    }
}
