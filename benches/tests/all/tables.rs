//! The quick sizes of the tables: every method answers rightly, all is recorded, and
//! the page is made from the records.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use benches::method::METHODS;
use benches::model::expected;
use benches::record::{Outcome, Record, read};
use benches::tables::{
    TableError, bowman, every, program, refinement, synchronisation, verification,
};
use benches::{model, render};

fn tables(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.args(arguments).arg("--record").arg(directory);
    let output = command.output().expect("the program was built for this test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}\n{errors}", output.status);
    output
}

fn records(directory: &Path, table: &str) -> Vec<Record> {
    let records: Vec<Record> = read(directory, table).expect("they were just written");
    assert!(!records.is_empty(), "{table}");
    let wrong: Vec<&Record> = records.iter().filter(|record| record.is_wrong()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    records
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
        tables(directory, &[command, "--quick", "--time-limit", "0.08"]);
        let records = records(directory, table);
        for method in METHODS {
            assert!(records.iter().any(|record| record.method == method.name), "{}", method.name);
        }
        let mut linear = records.iter().filter(|record| record.method == METHODS[0].name);
        assert!(linear.all(|record| record.outcome.is_answer()), "{table}: {records:?}");
    }
    // All that is recorded is kept, and nothing is measured twice.
    let before = records(directory, "hard");
    tables(directory, &["hard", "--quick", "--time-limit", "0.08", "--resume"]);
    assert_eq!(before, records(directory, "hard"));
    tables(directory, &["hard", "--quick", "--only", "linear"]);
    assert!(records(directory, "hard").iter().all(|record| record.method == "linear"));

    let page = directory.join("RESULTS.md");
    render::render(directory, &page).unwrap();
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
    let built = program("snapshot-verify").is_ok();
    if !built {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
        let output = command.args(["1", "--quick", "--record"]).arg(directory).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("cargo build --release -p snapshot-verify"), "{errors}");
        assert!(matches!(program("snapshot-verify"), Err(TableError::NotBuilt { .. })));
        return;
    }
    for (command, table) in
        [("1", verification::Table::Bugs), ("2", verification::Table::Algorithms)]
    {
        tables(directory, &[command, "--quick"]);
        let records = records(directory, table.name());
        let unbounded = records.iter().find(|record| record.method == "unbounded").unwrap();
        assert_eq!(unbounded.outcome, table.expected());
    }
    tables(directory, &["refinement", "--quick"]);
    let refinement = records(directory, refinement::TABLE);
    let outcomes: Vec<_> = refinement.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes[..2], [Outcome::Linearizable; 2]);
    assert_eq!(outcomes[2..], [Outcome::Violation; 2]);
    tables(directory, &["synchronisation", "--quick"]);
    let found = records(directory, synchronisation::TABLE);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|record| record.outcome == Outcome::Violation));
    tables(directory, &["every-n", "--quick", "--time-limit", "60"]);
    let records_of_proofs = records(directory, every::TABLE);
    for (method, _) in every::METHODS {
        let record = records_of_proofs.iter().find(|record| record.method == method).unwrap();
        assert_eq!(record.outcome, Outcome::Linearizable, "{record:?}");
        assert!(record.states > Some(0), "{record:?}");
    }
    assert!(records_of_proofs.iter().any(|record| record.method == "scans.observer"));
    if model::spin::is_installed() {
        tables(directory, &["bowman", "--quick", "--time-limit", "60"]);
        let records = records(directory, bowman::TABLE);
        let same = |record: &&Record| bowman::SAME_STATES.contains(&record.method.as_str());
        let known = expected(3).map(|counts| (counts.states, counts.transitions));
        for record in records.iter().filter(same) {
            assert_eq!(record.outcome, Outcome::Linearizable, "{record:?}");
            assert_eq!(record.states.zip(record.transitions), known, "{}", record.method);
        }
        assert_eq!(records.iter().filter(same).count(), bowman::SAME_STATES.len());
    }
}

/// A time limit is kept, and giving up saves the rest of a row.
#[test]
fn a_method_that_exceeds_its_limits_gives_up() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let limits = ["--time-limit", "0.0001", "--give-up", "1"];
    tables(directory, &[&["hard", "--quick"], &limits[..]].concat());
    let records = records(directory, "hard");
    assert!(records.iter().all(|record| record.outcome == Outcome::Time), "{records:?}");
    // Two bad histories and their twins: two rows, of which each method gave up both.
    assert_eq!(records.len(), 2 * METHODS.len());
}
