//! Certificates with planted mistakes, in the format of correct ones: lists that a wrong search
//! would take to be closed.

#![cfg(test)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::VecDeque;
use std::io::Write;

use sha2::{Digest, Sha256};
use snapshot_core::Process;

use super::claim::hexadecimal;
use super::search::List;
use super::system::System;
use super::write::section;
use super::{Answer, Budget, Claim, Coverage, Refusal, check, digest};
use crate::interpret::Machine;
use crate::language::parse;
use crate::program::Program;

/// A program that is wrong with four processes if the last update is by process 3.
fn only_p3() -> &'static str {
    corpus::small("name_equal_number")
}

/// The list of a wrong search. It drops accepting states and, with symmetry, makes the moves of
/// only one state per orbit.
fn wrong_list(system: &mut System<'_, '_>, coverage: Coverage) -> List {
    let mut list = List::new(coverage, system.width());
    let first = system.initial();
    list.push(&first.0, first.1);
    let mut waiting = VecDeque::from([first]);
    let mut after = Vec::new();
    while let Some((row, set)) = waiting.pop_front() {
        system.successors(&row, set, &mut after).unwrap();
        for next in after.drain(..) {
            let drops = system.judge.is_accepting(next.set);
            if !drops && !list.covers(system, &next.row, next.set) {
                list.push(&next.row, next.set);
                waiting.push_back((next.row, next.set));
            }
        }
    }
    list
}

fn wrong_certificate(program: &Program, claim: &Claim) -> String {
    let machine = Machine::new(program, claim.processes).unwrap();
    let symmetry = claim.coverage.symmetry;
    let mut system = System::new(&machine, claim.pairs[0], claim.operations, symmetry);
    let list = wrong_list(&mut system, claim.coverage);
    let mut text = claim.to_string().into_bytes();
    writeln!(text, "pair {},{}", claim.pairs[0][0], claim.pairs[0][1]).unwrap();
    section(&mut text, &machine, &system, &list).unwrap();
    let seal = hexadecimal(Sha256::new_with_prefix(&text));
    writeln!(text, "end {seal}").unwrap();
    String::from_utf8(text).unwrap()
}

fn refusal(text: &str, bug: Option<&str>, n: usize, coverage: Coverage) -> Refusal {
    let program = parse("test", text).unwrap().program(bug).unwrap();
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        digest: digest(text),
        processes: n,
        operations: Some(1),
        coverage,
        pairs: vec![[0, 1].map(Process::from_index)],
    };
    let certificate = wrong_certificate(&program, &claim);
    let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
    match check(&program, &claim.digest, &mut certificate.as_bytes(), &mut budget).unwrap() {
        Answer::Refused(refusal) => refusal,
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn dropped_violations_are_missed() {
    let naive = corpus::algorithm("naive_collect").unwrap().text;
    for coverage in Coverage::ALL {
        let refusal = refusal(naive, None, 3, coverage);
        assert!(matches!(refusal, Refusal::Escape { violation: true, .. }), "{refusal}");
    }
    let refusal = refusal(only_p3(), None, 4, Coverage::default());
    assert!(matches!(refusal, Refusal::Escape { violation: true, .. }), "{refusal}");
}

/// The search wrongly takes the exchange of processes 2 and 3 for a symmetry: writes of process 2
/// cover writes of process 3, though the program distinguishes them by a number.
#[test]
fn a_wrong_exchange_of_processes_is_found_out() {
    let symmetry = Coverage { symmetry: true, antichain: false };
    let refusal = refusal(only_p3(), None, 4, symmetry);
    assert!(matches!(refusal, Refusal::Escape { permuted: true, .. }), "{refusal}");
}
