//! The algorithms of the corpus meet their expectations.
//!
//! Expectations that take long are left to `snapshot-verify expect`.

use super::{answer, json, printed};

#[test]
fn list_shows_all_bugs_and_expectations() {
    for listed in corpus::all_algorithms() {
        let out = printed(0, &format!("list {}", listed.name));
        let bugs = listed.text.lines().filter(|line| line.starts_with("bug ")).count();
        let expectations = listed.text.lines().filter(|line| line.starts_with("expect ")).count();
        assert_eq!(out.matches("\n  bug ").count(), bugs, "{out}");
        assert_eq!(out.matches("\n    expect ").count(), expectations, "{out}");
    }
}

#[test]
fn all_algorithms_and_reductions_are_listed() {
    let lines = json(0, "list");
    let names: Vec<&str> = lines.iter().map(|line| line["algorithm"].as_str().unwrap()).collect();
    let expected: Vec<&str> = corpus::all_algorithms().map(|listed| listed.name).collect();
    assert_eq!(names, expected);
    let reductions = printed(0, "list --reductions");
    let names: Vec<&str> = reductions.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(
        names,
        [
            "constant",
            "decided",
            "dead",
            "shrink",
            "counters",
            "symmetry",
            "antichain",
            "stale",
            "ample"
        ]
    );
}

#[test]
fn random_executions_of_correct_algorithms_are_linearizable() {
    let is_snapshot = |name: &str| !name.contains("collect") && name != "register";
    for listed in corpus::algorithms().iter().filter(|listed| is_snapshot(listed.name)) {
        for n in [2, 3, 4] {
            let name = listed.name;
            printed(0, &format!("simulate {name} -n {n} --walks 100 --moves 300"));
            printed(0, &format!("simulate {name} -n {n} --walks 100 --moves 300 --pair 0,1"));
        }
    }
    printed(0, "simulate register -n 3 --values 4 --updater 0");
}

/// With one writer, the register is right for any number of values up to the one that its text
/// fixes; its bug is harmless with two values.
#[test]
fn register_is_right_with_one_writer() {
    let check = |code, rest: &str| json(code, &format!("check register {rest}"))[0].clone();
    for values in [2, 3, 4] {
        let line = check(0, &format!("-n 3 --updater 0 --values {values}"));
        assert_eq!((&line["verdict"], &line["updater"]), (&"verified".into(), &0.into()));
    }
    assert_eq!(check(0, "-n 3 --updater 0 --values 2 --bug up_only")["verdict"], "verified");
    assert_eq!(check(1, "-n 2 --updater 0 --values 3 --bug up_only")["verdict"], "violation");
    // With two writers, the updates of one are lost.
    assert_eq!(check(1, "-n 2 --values 2")["verdict"], "violation");
    assert_eq!(check(1, "-n 2 --updater 0 --values 5")["verdict"], "fault");
}

#[test]
fn numeric_values_and_updaters_need_refinement() {
    let refused = |command: &str, what: &str| {
        let (code, out, error) = answer(command);
        assert_eq!((code, out.as_str()), (2, ""), "{command}");
        assert!(error.contains(what), "{command}: {error}");
    };
    refused("check register -n 2", "--values 3");
    refused("check register -n 2", "register.snapshot:13:10");
    refused("check bowman --updater 0", "add --method refinement");
    refused("check register -n 2 --values 3 --updater 2", "processes are 0 to 1");
    refused("check register -n 2 --values 3 --updater 64", "from 0 to 63");
    refused("simulate register -n 2 --updater 2", "there is no process 2");
}

#[test]
fn quick_expectations_are_met() {
    let (code, out, error) = answer("expect bowman naive_collect register");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("21 expectations: 21 met, 0 contradicted, 0 undecided\n"), "{out}");
}

#[test]
fn a_wrong_expectation_is_contradicted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hopeful.snapshot");
    let text = corpus::algorithm("naive_collect").unwrap().text;
    let hopeful = text.replace("expect n = 3: violation", "expect n = 3: linearizable");
    assert_ne!(text, hopeful);
    std::fs::write(&path, hopeful).unwrap();
    let (code, out, _) = answer(&format!("expect {}", path.display()));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("contradicted"), "{out}");
    assert!(out.ends_with("2 expectations: 1 met, 1 contradicted, 0 undecided\n"), "{out}");
}

/// Bug, n, and a sufficient bound.
const BUGS: [(&str, &str, usize); 5] = [
    ("bowman", "early_exit", 3),
    ("afek_unbounded", "no_increment", 3),
    ("afek_bounded", "no_negation", 3),
    ("attiya_welch", "stale_view", 2),
    ("jayanti", "plain_ss", 2),
];

#[test]
fn bugs_are_found_with_growing_bounds() {
    for (algorithm, bug, n) in BUGS {
        let lines = json(1, &format!("check {algorithm} --bug {bug} -n {n} --operations grow"));
        assert_eq!(lines[0]["verdict"], "violation", "{algorithm} {bug}");
    }
}
