//! Refinement and enumeration, on Bowman's algorithm and its bug.

use snapshot_core::Process;
use snapshot_semantics::enumerate::{Enumeration, enumerate};
use snapshot_semantics::interpret::{Client, Machine, Values};
use snapshot_semantics::refine::{Refinement, RefinementVerdict};
use test_support::effort::either;

use crate::interpret::bowman::bowman;
use crate::interpret::texts::{PLAIN, refined_with};

fn simple(i: usize, j: usize) -> Values {
    Values::Simple(Process::from_index(i), Process::from_index(j))
}

fn refined(machine: &Machine<'_>, client: &Client) -> Refinement {
    refined_with(machine, client, PLAIN, 3_000_000)
}

fn enumerated(machine: &Machine<'_>, client: &Client) -> Enumeration {
    enumerate(machine, client, 3_000_000).unwrap()
}

#[test]
fn bowman_is_linearizable_and_early_exit_needs_three_processes() {
    let (program, bug) = (bowman(false), bowman(true));
    for n in [2, 3] {
        let machine = Machine::new(&program, n).unwrap();
        let found = refined(&machine, &Client::unbounded(simple(0, 1)));
        assert_eq!(found.verdict, RefinementVerdict::Verified);
    }
    let machine = Machine::new(&bug, 2).unwrap();
    let found = refined(&machine, &Client::unbounded(simple(0, 1)));
    assert_eq!(found.verdict, RefinementVerdict::Verified);
    let machine = Machine::new(&bug, 3).unwrap();
    let found = refined(&machine, &Client::unbounded(simple(0, 1)));
    let RefinementVerdict::Violation(moves) = found.verdict else { panic!("{:?}", found.verdict) };
    // One move more than without the reads of the constant a[2].
    assert_eq!(moves.len(), 16);
}

#[test]
fn refinement_and_enumeration_agree() {
    let cases =
        [(false, 2, 1), (true, 2, 1), (false, 2, 2), (true, 2, 2), (true, 3, 1), (false, 3, 1)];
    // All orders of a right algorithm of three processes: in the slow suite.
    for (early_exit, n, operations) in cases.into_iter().take(either(5, 6)) {
        let program = bowman(early_exit);
        let machine = Machine::new(&program, n).unwrap();
        for values in [simple(0, 1), Values::Full(2), Values::Distinct] {
            let client = Client::bounded(values, operations);
            let refined = refined(&machine, &client);
            let enumerated = enumerated(&machine, &client);
            match refined.verdict {
                RefinementVerdict::Verified => assert_eq!(enumerated.first, None),
                RefinementVerdict::Violation(moves) => {
                    assert_eq!(Some(moves.len()), enumerated.first.map(|moves| moves.len()));
                }
                verdict => panic!("{verdict:?}"),
            }
        }
    }
}
