//! Exploration of executions with few barriers against the oracle: algorithms of the corpus, and
//! random programs, with all reductions, with few, and without.
//!
//! `SNAPSHOT_SEEDS=FROM..TO` chooses the seeds of the random programs.

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{Reduction, Reductions, TABLE};

use super::{explored, is_wrong, oracle};
use test_support::effort::seeds;

/// Number of comparisons.
#[derive(Debug, Default)]
struct Tally {
    compared: u32,
    /// Programs that are right with this many barriers, and wrong with one more.
    at_the_bound: u32,
    wrong: u32,
    unknown: u32,
}

impl Tally {
    /// Compares all numbers of barriers up to `most`.
    fn compare(
        &mut self,
        name: &str,
        program: &Program,
        (processes, pair, most): (usize, [usize; 2], u32),
        reductions: &[Reductions],
        limit: usize,
    ) {
        let Ok(least) = oracle::least(program, processes, pair, most, limit) else {
            self.unknown += 1;
            return;
        };
        for barriers in 0..=most {
            let expected = least.is_some_and(|least| least <= barriers);
            for &reductions in reductions {
                let found = explored(program, processes, pair, barriers, reductions);
                let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
                let Some(found) = is_wrong(&found) else {
                    self.unknown += 1;
                    continue;
                };
                assert_eq!(
                    found, expected,
                    "{name}, n = {processes}, pair {pair:?}, {barriers} barriers, reductions \
                     {reductions}: the least is {least:?}"
                );
                self.compared += 1;
                self.wrong += u32::from(expected);
                self.at_the_bound += u32::from(least == Some(barriers + 1));
            }
        }
    }
}

/// Returns all reductions, none, and some subsets that depend on the number.
fn subsets(number: usize) -> Vec<Reductions> {
    let entry = |at: usize| TABLE[at % TABLE.len()].reduction;
    let one = Reductions::NONE.with(Reduction::Counters);
    vec![
        Reductions::standard(),
        one,
        Reductions::standard().without(entry(number)),
        one.with(entry(number)),
        one.with(entry(number)).with(entry(number / TABLE.len() + number + 1)),
    ]
}

/// Algorithms with a bug or without, n and the bound: small enough to be run move by move.
const SMALL: [(&str, Option<&str>, usize, u32); 5] = [
    ("naive_collect", None, 3, 1),
    ("naive_collect", None, 2, 2),
    ("double_collect", None, 2, 1),
    ("bowman", None, 2, 1),
    ("bowman", Some("early_exit"), 3, 0),
];

#[test]
fn algorithms_of_the_corpus_agree_with_the_oracle() {
    let mut tally = Tally::default();
    for (number, (name, bug, processes, most)) in SMALL.into_iter().enumerate() {
        let text = corpus::algorithm(name).unwrap().text;
        let program = parse(name, text).unwrap().program(bug).unwrap();
        let size = (processes, [0, 1], most);
        tally.compare(name, &program, size, &subsets(number)[..3], 200_000);
    }
    assert!(tally.unknown == 0 && tally.wrong == 3 && tally.at_the_bound == 3, "{tally:?}");
}

#[test]
fn random_programs_agree_with_the_oracle() {
    let seeds = seeds(20, 56);
    let mut tally = Tally::default();
    for seed in seeds {
        let text = corpus::program::text(seed);
        let program = parse("generated", &text).unwrap().program(None).unwrap();
        let sizes: [(usize, [usize; 2], u32); 4] =
            [(2, [0, 1], 2), (2, [0, 1], 1), (3, [0, 2], 1), (3, [1, 2], 0)];
        let size = sizes[seed as usize % sizes.len()];
        let name = format!("seed {seed}:\n{text}");
        tally.compare(&name, &program, size, &subsets(seed as usize / 4), 40_000);
    }
    assert!(tally.compared > 150 && tally.wrong > 20 && tally.at_the_bound > 10, "{tally:?}");
}
