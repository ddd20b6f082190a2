//! Models in Promela and TLA+: Spin and TLC give the verdicts and count the states of the search.
//!
//! If Spin or a C compiler is not installed, or `SNAPSHOT_TLC` names no `tla2tools.jar`, the tests
//! say so and end. `SNAPSHOT_EFFORT=night` also takes larger instances.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use test_support::effort::{is_night, is_slow};

use super::{answer, printed, refused};

/// Result of a model checker.
#[derive(Debug, Eq, PartialEq)]
enum Found {
    /// It explored this many states and transitions.
    All(u64, u64),
    /// An execution is wrong.
    Violation,
    /// The program has a fault.
    Fault,
}

/// TLC, by the path of `tla2tools.jar`: `SNAPSHOT_TLC`.
struct Tlc {
    jar: String,
}

impl Tlc {
    fn installed() -> Option<Self> {
        let jar = std::env::var("SNAPSHOT_TLC").ok();
        if jar.is_none() {
            eprintln!("SNAPSHOT_TLC names no tla2tools.jar: modules are not compared");
        }
        jar.map(|jar| Self { jar })
    }

    fn check(&self, model: &str, name: &str) -> Found {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!("{name}.tla")), model).unwrap();
        let config = "INIT Init NEXT Next INVARIANT Right\n";
        fs::write(folder.path().join(format!("{name}.cfg")), config).unwrap();
        let arguments = ["-cp", &self.jar, "tlc2.TLC", "-deadlock", name];
        let output = Command::new("java").args(arguments).current_dir(folder.path()).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        if text.contains("Invariant Right is violated") {
            let is_fault = text.contains("verdict |-> \"fault\"");
            return if is_fault { Found::Fault } else { Found::Violation };
        }
        assert!(text.contains("No error has been found"), "{text}");
        let line = text.lines().rev().find(|line| line.contains("distinct states found")).unwrap();
        let number = |label: &str| {
            let before = line.split(label).next().unwrap();
            let digits = before.split_whitespace().next_back().unwrap();
            digits.replace(',', "").parse::<u64>().unwrap()
        };
        // TLC counts the initial state as generated.
        Found::All(number(" distinct states found"), number(" states generated") - 1)
    }
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
        return if text.contains("!(fault)") { Found::Fault } else { Found::Violation };
    }
    let is_complete = text.contains("errors: 0") && !text.contains("max search depth too small");
    assert!(is_complete, "{text}");
    let number = |label: &str| {
        let line = text.lines().find(|line| line.contains(label)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    Found::All(number(" states, stored"), number(" transitions (=") - 1)
}

/// Returns both results for the algorithm of the corpus, or the file, with these options.
fn compare(input: &str, options: &str) -> (Found, Found) {
    let model = printed(0, &format!("emit {input} --stage promela {options}"));
    (spin(&model), ours(input, options))
}

/// Returns the result of `check`.
fn ours(input: &str, options: &str) -> Found {
    let (_, lines, _) = answer(&format!("check {input} --pairs 0,1 {options} --report json"));
    let answer: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    match answer["verdict"].as_str().unwrap() {
        "verified" => {
            let [states, transitions] =
                ["states", "transitions"].map(|name| answer[name].as_u64().unwrap());
            Found::All(states, transitions)
        }
        "violation" => Found::Violation,
        other => panic!("{input} {options}: {other}"),
    }
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
    if is_night() {
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

/// Returns true if Spin finds no cycle: with `-DPROGRESS` of states without progress, with `-DFAIR`
/// of states that the claim accepts.
fn has_no_cycle(model: &str, define: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.pml"), model).unwrap();
    run("spin", folder.path(), &[define, "-o2", "-a", "model.pml"]);
    let (flag, option) = if define == "-DFAIR" { ("-DFAIR", "-a") } else { ("-DNP", "-l") };
    let flags = ["-O0", "-w", flag, "-DNOREDUCE", "-DVECTORSZ=4096", "-o", "pan", "pan.c"];
    run("cc", folder.path(), &flags);
    let output = run("./pan", folder.path(), &[option, "-E", "-m1000000"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("max search depth too small"), "{text}");
    let found = ["non-progress", "acceptance"]
        .iter()
        .any(|kind| text.contains(&format!("pan:1: {kind} cycle")));
    assert_eq!(found, !text.contains("errors: 0"), "{text}");
    !found
}

/// A cycle of a model is an infinite execution without progress: what `check --progress` decides on
/// the interpreter's graph.
#[test]
fn spin_decides_freedom_from_locks_and_deadlock_alike() {
    if !is_installed() {
        return;
    }
    let small =
        |name: &str| format!("{}/../corpus/small/{name}.snapshot", env!("CARGO_MANIFEST_DIR"));
    let [locked, turns] = ["locked", "turns"].map(small);
    let mut inputs = vec!["bowman", "locked_snapshot", "one_cell_snapshot"];
    if is_slow() {
        inputs.extend(["naive_collect", "double_collect", &locked, &turns]);
    }
    let mut counts = [[0; 2]; 2];
    for input in inputs {
        let model = printed(0, &format!("emit {input} --stage promela -n 2"));
        let theirs = ["-DPROGRESS", "-DFAIR"].map(|define| has_no_cycle(&model, define));
        let line = printed(0, &format!("check {input} --progress -n 2 --report json"));
        let line: Value = serde_json::from_str(&line).unwrap();
        let ours = ["lock_free", "deadlock_free"].map(|name| match &line[name]["standing"] {
            standing if standing == "holds" => true,
            standing if standing == "fails" => false,
            other => panic!("{input}: {other}"),
        });
        assert_eq!(theirs, ours, "{input}: freedom from locks, from deadlock");
        for (count, holds) in counts.iter_mut().zip(ours) {
            count[usize::from(holds)] += 1;
        }
    }
    println!("{counts:?}: not lock-free, lock-free; not deadlock-free, deadlock-free");
    assert!(counts.iter().flatten().all(|count| *count > 0), "{counts:?}");
}

/// Versions that no slot holds any more differ from the initial versions of variables.
#[test]
fn fresh_version_differs_from_the_initial_one() {
    const RENEWED: &str = "\
algorithm renewed
shared r: version
shared a[segment]: value
private one: 0..1 := 1
update(v):
    a[me] := v
    r := fresh
    compare()
procedure compare():
    local first: version
    local k: 0..1
    x := r
    if x = first: k := one + one
scan:
    local copy[segment]: value
    atomic: for s in segments: copy[s] := a[s]
    return copy
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("renewed.snapshot");
    fs::write(&file, RENEWED).unwrap();
    let file = file.to_str().unwrap();
    let options = "-n 2 --reductions none --operations 2";
    if is_installed() {
        let model = printed(0, &format!("emit {file} --stage promela {options}"));
        assert!(matches!(spin(&model), Found::All(..)));
        // With versions that restart at 0, the model describes a faulty program.
        let wrong = model.replace("fresh = 1;", "fresh = 0;");
        assert_eq!(spin(&wrong), Found::Fault);
    }
    if let Some(tlc) = Tlc::installed() {
        let model = printed(0, &format!("emit {file} --stage tla {options}"));
        assert!(matches!(tlc.check(&model, "renewed"), Found::All(..)));
    }
}

#[test]
fn tlc_counts_the_same_states_and_finds_the_bugs() {
    let Some(tlc) = Tlc::installed() else { return };
    let mut cases = vec![
        ("bowman", "-n 2 --reductions none"),
        ("bowman", "-n 3 --reductions constant,dead,shrink"),
        ("jayanti", "-n 2 --reductions constant,dead --operations 1"),
        ("naive_collect", "-n 3 --reductions none --operations 1"),
        ("bowman", "-n 3 --reductions constant,dead,shrink --bug early_exit"),
    ];
    if is_night() {
        cases.extend([
            ("bowman", "-n 3 --reductions constant,dead"),
            ("afek_bounded", "-n 2 --reductions none --operations 1"),
            ("jayanti", "-n 2 --reductions none --operations 1"),
        ]);
    }
    for (input, options) in cases {
        let model = printed(0, &format!("emit {input} --stage tla {options}"));
        let (theirs, ours) = (tlc.check(&model, input), ours(input, options));
        assert_eq!(theirs, ours, "{input} {options}");
    }
}

#[test]
fn models_use_only_reductions_of_instances() {
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
