//! Random walks, and the verdicts on their histories.

use snapshot_core::Process;
use snapshot_core::verdict::Verdict;
use snapshot_semantics::counterexample::Counterexample;
use snapshot_semantics::interpret::{Action, Client, Machine, Roles, Values, judge, walk};

use crate::interpret::bowman::bowman;

const MEMORY: usize = 1 << 24;

fn all_values() -> [Values; 3] {
    [
        Values::Simple(Process::from_index(0), Process::from_index(2)),
        Values::Full(2),
        Values::Distinct,
    ]
}

#[test]
fn walks_of_a_correct_algorithm_are_linearizable() {
    let program = bowman(false);
    let machine = Machine::new(&program, 3).unwrap();
    for values in all_values() {
        let client = Client::unbounded(values);
        let mut scans = 0;
        for seed in 0..40 {
            let walk = walk(&machine, &client, seed, 400);
            assert_eq!((walk.moves.len(), &walk.faulty), (400, &None));
            let history = walk.execution.history();
            scans += history.scans();
            let report = judge(&history, MEMORY, &mut || true).unwrap();
            assert!(matches!(report.verdict, Verdict::Linearizable(_)), "{values}, seed {seed}");
        }
        assert!(scans > 100, "{scans}");
    }
}

#[test]
fn walks_of_a_wrong_algorithm_become_counterexamples() {
    let program = bowman(true);
    let machine = Machine::new(&program, 3).unwrap();
    let client = Client::unbounded(Values::Distinct);
    let mut found = 0;
    for seed in 0..200 {
        let walk = walk(&machine, &client, seed, 400);
        let report = judge(&walk.execution.history(), MEMORY, &mut || true).unwrap();
        if matches!(report.verdict, Verdict::Violation(_)) {
            found += 1;
            let counterexample = Counterexample::validated(&machine, None, &walk.moves).unwrap();
            let prefix = counterexample.history().prefix(counterexample.history().len() - 1);
            let before = judge(&prefix, MEMORY, &mut || true).unwrap();
            assert!(matches!(before.verdict, Verdict::Linearizable(_)), "seed {seed}");
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_scanner_scans_and_the_others_update() {
    let program = bowman(false);
    let machine = Machine::new(&program, 3).unwrap();
    let scanner = Process::from_index(1);
    let client = Client::unbounded(Values::Full(2)).with_roles(Roles::Scanner(scanner));
    let walk = walk(&machine, &client, 0, 400);
    let history = walk.execution.history();
    let scans = history.operations().iter().filter(|operation| operation.is_scan());
    assert!(scans.count() > 0);
    for operation in history.operations() {
        assert_eq!(operation.is_scan(), operation.process() == scanner);
    }
}

#[test]
fn a_walk_is_determined_by_its_seed_and_keeps_to_its_client() {
    let program = bowman(false);
    let machine = Machine::new(&program, 3).unwrap();
    let client = Client::bounded(all_values()[0], 2);
    let one = walk(&machine, &client, 5, 1000);
    assert_eq!(one, walk(&machine, &client, 5, 1000));
    assert_ne!(one.moves, walk(&machine, &client, 6, 1000).moves);
    assert!(one.moves.len() < 1000, "it ends when all operations are done");
    let history = one.execution.history();
    assert_eq!((history.operations().len(), history.pending()), (6, 0));

    let client = Client::unbounded(all_values()[0]);
    let mut last = [0; 3];
    let mut ones = 0;
    for seed in 0..20 {
        let walk = walk(&machine, &client, seed, 200);
        for event in walk.execution.events() {
            let process = event.process.index();
            if let Action::InvokeUpdate(value) = event.action {
                assert!(value >= last[process] && value <= u32::from(process != 1));
                last[process] = value;
                ones += value;
            }
        }
        last = [0; 3];
    }
    assert!(ones > 20, "{ones}");
}
