//! Each reduction has an effect, on few programs but with n = 2, 3 and 4 and with 1, 2, 3 and any
//! number of operations, and changes no answer.

use std::collections::BTreeMap;

use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{
    Operations, Pairs, Reductions, Request, TABLE, Unwatched, VerifyError, verify,
};
use test_support::effort::is_night;

use crate::agreement::mutants::mutants;
use crate::agreement::{all_but, request, word};

/// With all reductions but one, most cases take a fraction of this.
const MEMORY: u64 = 16 << 20;

const ALL: Pairs = Pairs::All;
/// One pair, where a pair takes seconds.
const ONE: Pairs = Pairs::One(Process::from_index(0), Process::from_index(1));

/// Algorithm, n, operations, pairs, and the indices of mutants to try at night.
type Case = (&'static str, usize, Operations, Pairs, &'static [usize]);

const CASES: [Case; 7] = [
    ("bowman", 2, Operations::Unbounded, ALL, &[3]),
    ("bowman", 3, Operations::Unbounded, ALL, &[]),
    ("bowman", 4, Operations::AtMost(1), ONE, &[5]),
    ("naive_collect", 3, Operations::AtMost(2), ALL, &[1]),
    ("afek_unbounded", 2, Operations::AtMost(3), ALL, &[]),
    ("attiya_welch", 2, Operations::AtMost(2), ALL, &[2]),
    ("jayanti", 2, Operations::AtMost(2), ALL, &[]),
];

/// Cases that take ten seconds, at night.
const LARGE: [Case; 2] = [
    ("attiya_welch", 3, Operations::AtMost(1), ONE, &[]),
    ("riany", 2, Operations::AtMost(1), ONE, &[]),
];

/// Per pair the answer, the states and whether another pair's answer was taken, if all pairs have
/// an answer.
type Answers = Option<Vec<(&'static str, u64, bool)>>;

fn answers(program: &Program, request: &Request) -> Answers {
    let outcomes = match verify(program, true, request, &Unwatched::default()) {
        // Without `counters` a layout may be impossible.
        Err(VerifyError::Explore(error)) => {
            assert!(!error.to_string().contains("BUG"), "{error}");
            return None;
        }
        outcomes => outcomes.unwrap(),
    };
    let answer = outcomes.iter().map(|outcome| {
        let measures = outcome.measures;
        Some((word(&outcome.verdict)?, measures.states, measures.like.is_some()))
    });
    answer.collect()
}

#[test]
fn each_reduction_acts_and_changes_no_answer() {
    let mut acted: BTreeMap<&str, u32> = BTreeMap::new();
    let cases = CASES.into_iter().chain(LARGE.into_iter().filter(|_| is_night()));
    for (name, processes, operations, pairs, changed) in cases {
        let text = corpus::algorithm(name).unwrap().text;
        let mutants = mutants(name, text);
        let whole = parse(name, text).unwrap().program(None).unwrap();
        let changed = if is_night() { changed } else { &[] };
        let programs = changed.iter().map(|&number| &mutants[number % mutants.len()].program);
        for (number, program) in [&whole].into_iter().chain(programs).enumerate() {
            let with = |reductions: Reductions| {
                let request = request(processes, 1, reductions);
                answers(program, &Request { operations, pairs, memory: MEMORY, ..request })
            };
            let Some(all) = with(Reductions::standard()) else { continue };
            *acted.entry("like").or_default() +=
                all.iter().filter(|(.., like)| *like).count() as u32;
            for entry in TABLE {
                let Some(fewer) = with(all_but(entry.reduction)) else { continue };
                let words = |of: &[(&'static str, u64, bool)]| {
                    of.iter().map(|(word, ..)| *word).collect::<Vec<_>>()
                };
                let without = entry.name;
                assert_eq!(words(&all), words(&fewer), "{name} {number} without {without}");
                let changes = all.iter().zip(&fewer).any(|(one, other)| one.1 != other.1);
                *acted.entry(without).or_default() += u32::from(changes);
            }
        }
    }
    println!("{acted:?}");
    for name in TABLE.map(|entry| entry.name).into_iter().chain(["like"]) {
        assert!(acted.get(name).is_some_and(|&times| times > 0), "{name}: {acted:?}");
    }
}
