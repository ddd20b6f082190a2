//! Models in Promela: Spin gives the verdicts and counts the states of the search.
//!
//! Where Spin or a C compiler is not installed, the tests say so and end.
//! `SNAPSHOT_SPIN=full` takes larger instances, too.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{answer, printed, refused};

/// What a verifier printed.
#[derive(Debug, Eq, PartialEq)]
enum Found {
    /// It explored this many states and transitions.
    All(u64, u64),
    /// An assertion failed.
    Violation,
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    output
}

fn is_installed() -> bool {
    let there = |program: &str, version: &str| {
        Command::new(program).arg(version).output().is_ok_and(|output| output.status.success())
    };
    let found = there("spin", "-V") && there("cc", "--version");
    if !found {
        eprintln!("spin and cc are not installed: models are not compared");
    }
    found
}

fn spin(model: &str) -> Found {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.pml"), model).unwrap();
    run("spin", folder.path(), &["-o2", "-a", "model.pml"]);
    let flags = ["-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=4096", "-o", "pan", "pan.c"];
    run("cc", folder.path(), &flags);
    let output = run("./pan", folder.path(), &["-m1000000"]);
    let text = String::from_utf8(output.stdout).unwrap();
    if text.contains("assertion violated") {
        assert!(!text.contains("!(fault)"), "{text}");
        return Found::Violation;
    }
    let is_complete = text.contains("errors: 0") && !text.contains("max search depth too small");
    assert!(is_complete, "{text}");
    let number = |label: &str| {
        let line = text.lines().find(|line| line.contains(label)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    Found::All(number(" states, stored"), number(" transitions (=") - 1)
}

/// What both say of the algorithm of the corpus, or the file, with these options.
fn compare(input: &str, options: &str) -> (Found, Found) {
    let model = printed(0, &format!("emit {input} --stage promela {options}"));
    let (_, lines, _) = answer(&format!("check {input} --pairs 0,1 {options} --report json"));
    let answer: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let ours = match answer["verdict"].as_str().unwrap() {
        "verified" => {
            let [states, transitions] =
                ["states", "transitions"].map(|name| answer[name].as_u64().unwrap());
            Found::All(states, transitions)
        }
        "violation" => Found::Violation,
        other => panic!("{input} {options}: {other}"),
    };
    (spin(&model), ours)
}

#[test]
fn spin_counts_the_same_states() {
    if !is_installed() {
        return;
    }
    let small =
        |name: &str| format!("{}/../corpus/small/{name}.snapshot", env!("CARGO_MANIFEST_DIR"));
    let locked = small("locked");
    let counters = small("two_counters");
    let mut cases = vec![
        ("bowman", "-n 2 --reductions none", 7_435),
        ("bowman", "-n 3 --reductions constant,dead", 76_075),
        ("bowman", "-n 2 --reductions constant,dead,shrink", 629),
        ("afek_bounded", "-n 2 --reductions none --operations 1", 2_057),
        ("jayanti", "-n 2 --reductions none --operations 1", 21_401),
        ("jayanti", "-n 2 --reductions none --operations 1 --bug plain_ss", 18_899),
        (&locked, "-n 2 --reductions none", 1_158),
        (&counters, "-n 2 --reductions none --operations 1", 125),
    ];
    if std::env::var("SNAPSHOT_SPIN").is_ok_and(|size| size == "full") {
        cases.extend([
            ("bowman", "-n 3 --reductions none", 1_716_115),
            ("bowman", "-n 4 --reductions constant,dead", 2_151_306),
            ("attiya_welch", "-n 2 --reductions none --operations 1", 3_164),
            ("afek_bounded", "-n 2 --reductions none --operations 2", 156_149),
        ]);
    }
    for (input, options, states) in cases {
        let (theirs, ours) = compare(input, options);
        assert_eq!(theirs, ours, "{input} {options}");
        assert!(matches!(ours, Found::All(found, _) if found == states), "{input}: {ours:?}");
    }
}

#[test]
fn spin_finds_the_bugs() {
    if !is_installed() {
        return;
    }
    for (input, options) in [
        ("naive_collect", "-n 3 --reductions none --operations 1"),
        ("bowman", "-n 3 --reductions constant,dead --bug early_exit"),
        ("afek_bounded", "-n 3 --reductions constant,dead,shrink --operations 2 --bug no_negation"),
        ("riany", "-n 2 --reductions constant,dead,shrink --operations 2 --bug early_count"),
    ] {
        assert_eq!(compare(input, options), (Found::Violation, Found::Violation), "{input}");
    }
}

#[test]
fn a_model_has_only_reductions_that_make_instances() {
    let all = printed(0, "emit bowman --stage promela -n 2");
    assert!(all.starts_with("/* bowman; reductions: constant,dead,shrink\n"), "{all:.80}");
    assert_eq!(all.matches("active proctype").count(), 1);
    let growing = printed(0, "emit riany --stage promela -n 2");
    assert!(growing.contains("infinitely many states without --operations"));
    let text = refused("emit bowman --stage promela --operations 256");
    assert!(text.contains("at most 255 operations"), "{text}");
    let text = refused("emit ms_queue --stage promela");
    assert!(text.contains("is for snapshots"), "{text}");
}
