//! Random programs: without each reduction, with each reduction alone, with none, and by the second
//! method, the answers agree with those of all reductions together.
//!
//! `SNAPSHOT_SEEDS=FROM..TO` chooses the seeds: for 100,000 programs see `docs/verification.md`.
//! With `SNAPSHOT_DISAGREEMENTS=FOLDER`, disagreements are shrunk and written there, and all seeds
//! are tried.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::refine::Techniques;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::{
    Method, Operations, Pairs, Reduction, Reductions, Request, TABLE, Unwatched, VerifyError,
    verify,
};

use test_support::effort::seeds;

use crate::agreement::shrink::shrunk;
use crate::agreement::{request, word};

/// Memory limit: a search that needs more is abandoned as unknown.
const LITTLE: u64 = 2 << 20;

/// A method and reductions that lead to an answer.
#[derive(Clone, Debug)]
struct Way {
    /// As options of the command line.
    name: String,
    request: Request,
    /// The omitted reduction, if all others are used.
    without: Option<&'static str>,
}

/// Answer of a way.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Answer {
    /// Per pair.
    Words(Vec<&'static str>),
    /// Too large, or unsupported by the method.
    Unknown,
    /// A fault of the verifier.
    Bug(String),
}

impl Way {
    /// Returns the answer, and the number of states.
    fn take(&self, program: &Program) -> (Answer, u64) {
        let asked = || verify(program, true, &self.request, &Unwatched::default());
        let answer = match catch_unwind(AssertUnwindSafe(asked)) {
            Ok(Ok(outcomes)) => {
                let words = outcomes.iter().map(|outcome| word(&outcome.verdict));
                let states = outcomes.iter().map(|outcome| outcome.measures.states).sum();
                let words = words.collect::<Option<_>>();
                return (words.map_or(Answer::Unknown, Answer::Words), states);
            }
            Ok(Err(error)) if error.is_ours() => Answer::Bug(error.to_string()),
            Ok(Err(VerifyError::Counters | VerifyError::Explore(_))) => Answer::Unknown,
            Ok(Err(error)) => Answer::Bug(format!("refused: {error}")),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.into()));
                Answer::Bug(format!("panic: {}", text.unwrap_or_default()))
            }
        };
        (answer, 0)
    }
}

/// Returns the size of executions for a seed: small executions of many programs.
fn size(seed: u64) -> (usize, Operations) {
    use Operations::{AtMost, Unbounded};
    let sizes = [
        (2, AtMost(1)),
        (2, AtMost(2)),
        (2, AtMost(3)),
        (2, Unbounded),
        (2, Unbounded),
        (3, AtMost(1)),
        (3, AtMost(2)),
        (3, Unbounded),
        (4, AtMost(1)),
        (4, Unbounded),
    ];
    sizes[seed as usize % sizes.len()]
}

/// Returns all pairs of one program in four, and one pair of the others: all pairs take about the
/// same time.
fn pairs(seed: u64, processes: usize) -> Pairs {
    let number = seed / 10;
    if number.is_multiple_of(4) {
        return Pairs::All;
    }
    let at = |number: u64, below: usize| (number % below as u64) as usize;
    let j = 1 + at(number, processes - 1);
    let i = at(number / 7, j);
    Pairs::One(Process::from_index(i), Process::from_index(j))
}

/// Returns the way with all reductions first, then the ways to compare with it. The first uses the
/// self-check; the search without reductions has nothing to check.
fn ways(seed: u64, all: bool) -> Vec<Way> {
    let (processes, operations) = size(seed);
    let base = request(processes, 1, Reductions::NONE);
    let pairs = pairs(seed, processes);
    let of = match pairs {
        Pairs::All => "all".to_owned(),
        Pairs::One(i, j) => format!("{},{}", i.index(), j.index()),
    };
    let base = Request { operations, memory: LITTLE, pairs, self_check: None, ..base };
    let size = format!("-n {processes} --operations {operations} --pairs {of}");
    let with = |reductions: Reductions| Way {
        name: format!("{size} --reductions {reductions}"),
        request: Request {
            reductions,
            self_check: (reductions == Reductions::standard()).then_some(SelfCheck::DEFAULT),
            ..base.clone()
        },
        without: None,
    };
    let refinement = Method::Refinement(Techniques { partial_order: true, ..Techniques::NONE });
    let mut ways = vec![
        with(Reductions::standard()),
        Way {
            name: format!("{size} --method refinement"),
            request: Request { method: refinement, ..base.clone() },
            without: None,
        },
        with(Reductions::NONE),
    ];
    let rotated = |of: u64| all || (seed / 10) % TABLE.len() as u64 == of;
    for (at, entry) in (0..).zip(TABLE) {
        let one = Reductions::NONE.with(entry.reduction);
        if rotated(at) {
            let others = with(Reductions::standard().without(entry.reduction));
            ways.push(Way { without: Some(entry.name), ..others });
            ways.push(with(one.with(Reduction::Counters)));
            ways.push(with(one));
        }
    }
    ways
}

/// Two ways that disagree, with their answers; the expected one is first.
type Disagreement = (Way, Answer, Way, Answer);

#[derive(Debug, Default)]
struct Tally {
    right: u64,
    wrong: u64,
    /// Unknown with all reductions together.
    unknown: u64,
    /// Comparisons made, and comparisons with an unknown side, by way.
    compared: u64,
    skipped: u64,
    refinement: u64,
    /// By reduction, the number of programs for which it alone was omitted, and the number of these
    /// for which that changed the states.
    acted: BTreeMap<&'static str, [u64; 2]>,
    /// Number of programs in which each feature occurs.
    features: BTreeMap<&'static str, u64>,
    disagreements: Vec<u64>,
}

/// Features of programs, with the texts that show them.
const FEATURES: [(&str, &str); 12] = [
    ("names", ": process"),
    ("names or none", ": process or none"),
    ("versions", "version"),
    ("counters", "counter"),
    ("two successors", " + 1"),
    ("LL", "LL("),
    ("SC", "SC("),
    ("VL", "VL("),
    ("CAS", "CAS("),
    ("atomic", "atomic:"),
    ("loops over processes", "for i in processes"),
    ("locks", "lock"),
];

impl Tally {
    fn note(&mut self, seed: u64, text: &str) {
        for (name, word) in FEATURES {
            let least = if name == "two successors" { 2 } else { 1 };
            let occurs = text.matches(word).count() >= least;
            *self.features.entry(name).or_default() += u64::from(occurs);
        }
        let (processes, operations) = size(seed);
        let size = match (processes, operations) {
            (2, _) => "n = 2",
            (3, _) => "n = 3",
            _ => "n = 4",
        };
        *self.features.entry(size).or_default() += 1;
        let bound = match operations {
            Operations::AtMost(1) => "1 operation",
            Operations::AtMost(2) => "2 operations",
            Operations::AtMost(_) => "3 operations",
            _ => "any number of operations",
        };
        *self.features.entry(bound).or_default() += 1;
    }
}

/// Compares the answers of several ways; returns the first two that disagree.
fn disagreement(program: &Program, ways: &[Way], tally: &mut Tally) -> Option<Disagreement> {
    let mut first: Option<(Way, Answer)> = None;
    let mut all = 0;
    for (number, way) in ways.iter().enumerate() {
        let (answer, states) = way.take(program);
        if number == 0 {
            all = states;
        }
        if let (Some(name), Answer::Words(_), Some(_)) = (way.without, &answer, &first) {
            let [tried, acted] = tally.acted.entry(name).or_default();
            (*tried, *acted) = (*tried + 1, *acted + u64::from(states != all));
        }
        match (answer, &first) {
            (Answer::Unknown, _) if number == 0 => tally.unknown += 1,
            (Answer::Unknown, _) => tally.skipped += 1,
            (bug @ Answer::Bug(_), _) => {
                let none = (way.clone(), Answer::Words(Vec::new()));
                let (other, answer) = first.unwrap_or(none);
                return Some((other, answer, way.clone(), bug));
            }
            (answer, None) => {
                let Answer::Words(words) = &answer else { continue };
                let is_wrong = words.contains(&"wrong");
                *if is_wrong { &mut tally.wrong } else { &mut tally.right } += 1;
                first = Some((way.clone(), answer));
            }
            (answer, Some((other, known))) => {
                tally.compared += 1;
                tally.refinement += u64::from(matches!(way.request.method, Method::Refinement(_)));
                if answer != *known {
                    return Some((other.clone(), known.clone(), way.clone(), answer));
                }
            }
        }
    }
    None
}

fn program(text: &str) -> Option<Program> {
    let program = parse("generated", text).and_then(|algorithm| algorithm.program(None)).ok()?;
    independence::check(&program).is_ok().then_some(program)
}

/// Returns the smallest text on which two ways disagree, with their answers.
fn smallest(text: &str, found: &Disagreement) -> String {
    let ways = [found.0.clone(), found.2.clone()];
    let is_bug = matches!(found.3, Answer::Bug(_));
    let find = |text: &str| {
        let program = program(text)?;
        disagreement(&program, &ways, &mut Tally::default())
            .filter(|(.., answer)| matches!(answer, Answer::Bug(_)) == is_bug)
    };
    let small = shrunk(text, |text| find(text).is_some());
    let (one, expected, other, answer) = find(&small).unwrap_or_else(|| found.clone());
    format!(
        "# check FILE {}: {expected:?}; check FILE {}: {answer:?}\n{small}",
        one.name, other.name
    )
}

/// Tries the programs with these seeds.
fn tried(seeds: Range<u64>, all: bool, text: fn(u64) -> String) -> Tally {
    let folder = std::env::var_os("SNAPSHOT_DISAGREEMENTS").map(PathBuf::from);
    let mut tally = Tally::default();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds {
        let text = text(seed);
        let program = program(&text).unwrap_or_else(|| {
            let refused = parse("generated", &text).and_then(|text| text.program(None)).err();
            panic!("seed {seed} is no program:\n{text}\n{refused:?}")
        });
        tally.note(seed, &text);
        let ways = ways(seed, all);
        let Some(found) = disagreement(&program, &ways, &mut tally) else { continue };
        tally.disagreements.push(seed);
        let kind = match &found.3 {
            Answer::Bug(text) => text.chars().take(60).collect(),
            _ => format!("{} {:?} {:?}", found.2.name, found.1, found.3),
        };
        let number = kinds.entry(kind).or_default();
        *number += 1;
        if let Some(folder) = folder.as_ref().filter(|_| *number <= 3) {
            fs::write(folder.join(format!("{seed}.snapshot")), smallest(&text, &found)).unwrap();
        } else if folder.is_none() {
            panic!("seed {seed}:\n{}", smallest(&text, &found));
        }
    }
    tally
}

/// The generator follows the rules of the language.
#[test]
fn random_texts_are_data_independent_programs() {
    let mut refused = BTreeMap::new();
    let texts = (0..2000).map(corpus::program::text);
    let texts = texts.chain((0..2000).map(corpus::program::exchanging));
    for (seed, text) in texts.chain((0..2000).map(corpus::program::keeping)).enumerate() {
        match parse("generated", &text).and_then(|text| text.program(None)) {
            Err(diagnostics) => {
                refused.insert(diagnostics.to_string(), seed);
            }
            Ok(program) => assert_eq!(independence::check(&program), Ok(()), "{text}"),
        }
    }
    assert!(
        refused.is_empty(),
        "{} texts: {}",
        refused.len(),
        refused.keys().take(5).cloned().collect::<String>()
    );
}

#[test]
fn all_ways_agree_on_random_programs() {
    let seeds = seeds(14, 80);
    let count = seeds.end - seeds.start;
    let tally = tried(seeds, false, corpus::program::text);
    println!("{count} programs: {tally:#?}");
    assert_eq!(tally.disagreements, [0; 0]);
    assert!(tally.right * 10 > count && tally.wrong * 10 > count, "{tally:?}");
    assert!(tally.unknown * 10 < count, "{tally:?}");
    assert!(tally.skipped < tally.compared, "{tally:?}");
    assert!(tally.refinement * 2 > count, "{tally:?}");
    // Every feature named on the generator's page occurs.
    assert!(tally.features.values().all(|&times| times * 100 > count), "{tally:?}");
}

/// Features of programs with exchanges, with the texts that show them.
const EXCHANGES: [(&str, &str); 9] = [
    ("SWAP", "SWAP("),
    ("FAA", "FAA("),
    ("TAS", "TAS("),
    ("part of a cell", "pair.flag :="),
    ("quotient", " / "),
    ("up to me", "in 0..me:"),
    ("below me", "in 0..me-1:"),
    ("above me", "in me+1..n-1:"),
    ("from me", "in me..n-1:"),
];

#[test]
fn all_ways_agree_on_exchanging_programs() {
    let seeds = seeds(9, 48);
    let count = seeds.end - seeds.start;
    for (name, word) in EXCHANGES {
        let with = (0..1000).filter(|&seed| corpus::program::exchanging(seed).contains(word));
        assert!(with.count() > 40, "{name}");
    }
    let tally = tried(seeds, false, corpus::program::exchanging);
    println!("{count} programs: {tally:#?}");
    assert_eq!(tally.disagreements, [0; 0]);
    assert!(tally.right * 10 > count && tally.wrong * 10 > count, "{tally:?}");
    assert!(tally.unknown * 10 < count, "{tally:?}");
    assert!(tally.refinement * 3 > count, "{tally:?}");
}
