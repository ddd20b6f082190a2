//! The script of the tables: its own tests, and its quick sizes, in which every method answers
//! rightly and all is recorded.
//!
//! Where Python is not installed there is nothing to test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use benches::methods::METHODS;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a script; `None` without Python.
fn python(script: &str, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("python3");
    let output = command.arg("-B").arg(folder(script)).args(arguments).output();
    output.inspect_err(|error| eprintln!("python3 cannot be run: {error}")).ok()
}

/// Where the programs are built.
fn programs() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_benches")).parent().expect("a program is in a folder")
}

fn measure(records: &Path, arguments: &[&str]) -> Option<Output> {
    let (records, programs) = (records.to_str().unwrap(), programs().to_str().unwrap());
    let common = ["--quick", "--record", records, "--programs", programs];
    python("tables", &[arguments, &common].concat())
}

/// Some columns of all records of a table that was measured rightly.
fn measured(
    records: &Path,
    arguments: &[&str],
    table: &str,
    columns: &[&str],
) -> Option<Vec<Vec<String>>> {
    let output = measure(records, arguments)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}\n{errors}", output.status);
    let script = "import csv, sys\n\
                  for row in csv.DictReader(open(sys.argv[1])):\n    \
                  print(*(row[name] for name in sys.argv[2:]), sep='\\t')";
    let path = records.join(table).with_extension("csv");
    let output = Command::new("python3").args(["-c", script]).arg(path).args(columns).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let rows = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    assert!(!rows.is_empty(), "{table}");
    Some(rows)
}

#[test]
fn the_scripts_own_tests_pass() {
    let Some(output) = python("tests/test_tables.py", &[]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("Ran 27 tests"), "{errors}");
}

#[test]
fn histories() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (command, table) in [
        ("3", "disc2022-table3"),
        ("4", "disc2022-table4"),
        ("hard", "hard"),
        ("many-writers", "many-writers"),
        ("growth", "growth"),
    ] {
        // Limits are on the clock, and other tests run beside this one.
        let arguments = [command, "--time-limit", "0.08", "--limit", "linear=60"];
        let columns = ["method", "outcome", "expected"];
        let Some(rows) = measured(directory, &arguments, table, &columns) else { return };
        let methods: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(methods, METHODS.iter().map(|(name, _)| *name).collect(), "{table}");
        let mut linear = rows.iter().filter(|row| row[0] == METHODS[0].0);
        assert!(linear.all(|row| row[1] == row[2]), "{table}: {rows:?}");
    }
    // All that is recorded is kept, and nothing is measured twice.
    let hard = || fs::read_to_string(directory.join("hard.csv")).unwrap();
    let before = hard();
    let again = ["hard", "--time-limit", "0.08", "--limit", "linear=60", "--resume"];
    measured(directory, &again, "hard", &["case"]).unwrap();
    assert_eq!(before, hard());
    let only = ["hard", "--only", "linear", "--time-limit", "60"];
    let rows = measured(directory, &only, "hard", &["method"]).unwrap();
    assert!(rows.iter().all(|row| row[0] == "linear"), "{rows:?}");

    let (page, records) = (directory.join("RESULTS.md"), directory.to_str().unwrap());
    let arguments = ["render", "--record", records, "--output", page.to_str().unwrap()];
    assert!(python("tables", &arguments).unwrap().status.success());
    let page = fs::read_to_string(page).unwrap();
    for part in ["Table 3", "Table 4", "The hard corpus", "Many writers", "## Growth"] {
        assert!(page.contains(part), "{part} is in\n{page}");
    }
}

/// `snapshot-verify` is there when the whole workspace is tested; else its absence is
/// reported.
#[test]
fn verification() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    if !programs().join("snapshot-verify").is_file() {
        let Some(output) = measure(directory, &["1"]) else { return };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("cargo build --release -p snapshot-verify"), "{errors}");
        assert!(!output.status.success());
        return;
    }
    let columns = ["method", "outcome", "states", "transitions"];
    for (command, table, outcome) in
        [("1", "disc2022-table1", "violation"), ("2", "disc2022-table2", "linearizable")]
    {
        let Some(rows) = measured(directory, &[command], table, &columns) else { return };
        let unbounded = rows.iter().find(|row| row[0] == "unbounded").unwrap();
        assert_eq!(unbounded[1], outcome);
    }
    let rows = measured(directory, &["refinement"], "fm2009-table1", &columns).unwrap();
    let outcomes: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(outcomes, ["linearizable", "linearizable", "violation", "violation"]);
    let rows = measured(directory, &["synchronisation"], "synchronisation", &columns).unwrap();
    assert!(rows.len() == 4 && rows.iter().all(|row| row[1] == "violation"), "{rows:?}");
    let rows = measured(directory, &["strong"], "strong", &columns).unwrap();
    let no = rows.iter().filter(|row| row[1] == "violation");
    assert_eq!(no.map(|row| row[2].as_str()).collect::<Vec<_>>(), ["6011"], "{rows:?}");
    assert!(rows.len() == 5 && rows.iter().all(|row| row[1] != "time"), "{rows:?}");
    let arguments = ["every-n", "--time-limit", "60"];
    let rows = measured(directory, &arguments, "every-n", &columns).unwrap();
    for method in ["proof", "certificate", "certify", "scans.observer"] {
        let row = rows.iter().find(|row| row[0] == method).unwrap();
        assert!(row[1] == "linearizable" && row[2].parse::<u64>().unwrap() > 0, "{row:?}");
    }
    if Command::new("spin").arg("-V").output().is_ok() {
        let arguments = ["bowman", "--time-limit", "60"];
        let rows = measured(directory, &arguments, "bowman", &columns).unwrap();
        let same = rows.iter().filter(|row| row[0] != "reduced");
        for row in same.clone() {
            assert_eq!(row[1..], ["linearizable", "76075", "249645"], "{row:?}");
        }
        assert_eq!(same.count(), 4);
    }
}

/// A time limit is kept, and giving up saves the rest of a row.
#[test]
fn a_method_that_exceeds_its_limits_gives_up() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["hard", "--time-limit", "0.0001", "--give-up", "1"];
    let measured = measured(directory.path(), &arguments, "hard", &["outcome"]);
    let Some(rows) = measured else { return };
    assert!(rows.iter().all(|row| row[0] == "time"), "{rows:?}");
    // Two bad histories and their twins: two rows, of which each method gave up both.
    assert_eq!(rows.len(), 2 * METHODS.len());
}

/// The least size misses no target; `snapshot-test` is there when the whole workspace is tested.
#[test]
fn ratios() {
    if programs().join("snapshot-test").is_file() {
        let arguments = ["ratios", "--events", "1000", "--programs", programs().to_str().unwrap()];
        let Some(output) = python("tables", &arguments) else { return };
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("check / wc -l"), "{output:?}");
        assert_eq!(told.lines().count(), 7, "{told}");
    }
}
