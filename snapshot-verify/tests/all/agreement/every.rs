//! Proofs for every n against the search for small n: no mutant that the search finds wrong is
//! proved.

use std::num::NonZeroUsize;

use snapshot_hints::ladder::{Budget, prove_all};
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{Operations, Pairs, Reductions, Request, Unwatched, verify};
use test_support::effort::{by_effort, either, is_night, seeds};

use super::mutants::{Mutant, mutants};
use super::request;

/// A flag per scan: a write in between clears it.
const ANNOUNCED: &str = "
algorithm announced
shared last: version
shared a[segment]: value
update(v):
    last := fresh
    a[me] := v
scan:
    local copy[segment]: value
    repeat
        mine := fresh
        last := mine
        for s in segments:
            copy[s] := a[s]
        seen := last
    until seen = mine
    return copy
";

/// The whole snapshot in one cell.
const WHOLE: &str = "
algorithm whole
shared owner: process or none := none
shared turn: bool
shared a[segment]: value
private told: bool
update(v):
    told := not told
    owner := none
    atomic:
        a[me] := v
        turn := told
scan:
    local copy[segment]: value
    owner := me
    atomic:
        for s in segments:
            copy[s] := a[s]
        told := turn
    return copy
";

/// Number of mutants by result.
#[derive(Debug, Default)]
struct Counts {
    tried: usize,
    proved: usize,
    wrong: usize,
    searched: usize,
}

/// Maximum number of views of a proof: programs not proved within it count as unproved.
fn proving() -> usize {
    either(8_000, 40_000)
}

/// Checks that no proved mutant is wrong for n = 2, 3 or 4. Of the others, every `sample`th is
/// searched, too, for the figures.
fn check(mutants: impl Iterator<Item = Mutant>, sample: usize, views: usize) -> Counts {
    let mut counts = Counts::default();
    for mutant in mutants {
        let budget = Budget { bytes: 1 << 28, views: 3 * views };
        let is_proved = prove_all(&mutant.program, budget).is_proved();
        counts.tried += 1;
        counts.proved += usize::from(is_proved);
        if !is_proved && counts.tried % sample != 0 {
            continue;
        }
        // Unproved mutants need no long search.
        let states = if is_proved { either(150_000, 500_000) } else { either(50_000, 150_000) };
        let is_wrong = wrong_for(&mutant.program, states).is_some();
        assert!(!(is_proved && is_wrong), "{} is proved, and wrong:\n{}", mutant.name, mutant.text);
        counts.searched += 1;
        counts.wrong += usize::from(is_wrong);
    }
    counts
}

/// Returns the least n of 2, 3 and 4 for which the search finds a program wrong within this many
/// states.
fn wrong_for(program: &Program, states: u64) -> Option<usize> {
    [2, 3, 4].into_iter().find(|&processes| {
        let request = Request {
            operations: Operations::AtMost(2),
            keep_going: false,
            self_check: None,
            threads: NonZeroUsize::MIN,
            pairs: Pairs::All,
            states: Some(states),
            ..request(processes, 2, Reductions::standard())
        };
        let outcomes = verify(program, true, &request, &Unwatched::default());
        outcomes.is_ok_and(|outcomes| outcomes.iter().any(|one| one.verdict.is_wrong()))
    })
}

fn texts() -> [(&'static str, &'static str); 7] {
    [
        ("afek", corpus::algorithm("afek_unbounded").unwrap().text),
        ("bowman", corpus::algorithm("bowman").unwrap().text),
        ("naive", corpus::algorithm("naive_collect").unwrap().text),
        ("versioned", corpus::small("versioned")),
        ("locked", corpus::small("locked")),
        ("announced", ANNOUNCED),
        ("whole", WHOLE),
    ]
}

/// Every thirtieth mutant, every fifth in the slow suite, each at night.
#[test]
fn no_mutant_that_is_wrong_for_small_n_is_proved() {
    let step = by_effort(30, 5, 1);
    let mutants = texts().into_iter().flat_map(|(name, text)| mutants(name, text));
    let counts = check(mutants.step_by(step), 2, proving());
    println!("{counts:?}");
    assert!(
        counts.tried >= either(5, 25) && counts.proved >= either(1, 3) && counts.wrong >= 1,
        "{counts:?}"
    );
}

/// Every twelfth mutant of small programs with LL/SC, every third in the slow suite, each
/// at night.
#[test]
fn no_wrong_mutant_with_links_is_proved() {
    let step = by_effort(12, 3, 1);
    let names = ["undisturbed", "locked_by_links", "turns", "published"];
    let mutants = names.into_iter().flat_map(|name| mutants(name, corpus::small(name)));
    let counts = check(mutants.step_by(step), 2, proving());
    println!("{counts:?}");
    assert!(counts.tried >= either(7, 30) && counts.proved >= 5 && counts.wrong >= 1, "{counts:?}");
}

/// Mutants, evenly chosen, of algorithms with LL/SC that have no proof themselves, and the bugs of
/// these algorithms. At night all are tried, with more time for each.
#[test]
fn no_wrong_mutant_of_helpers_with_links_is_proved() {
    let (most, views) = by_effort((4, 4_000), (4, 8_000), (1_000, 250_000));
    let mut counts = Counts::default();
    for (name, bug) in [("jayanti", "plain_ss"), ("riany", "early_count")] {
        let text = corpus::algorithm(name).unwrap().text;
        let all = mutants(name, text);
        assert!(all.len() >= 40, "{name}: {}", all.len());
        let step = (all.len() / most).max(1);
        let program = parse(name, text).unwrap().program(Some(bug)).unwrap();
        let found = check(all.into_iter().step_by(step), usize::MAX, views);
        counts.tried += found.tried;
        counts.proved += found.proved;
        // The corpus lists these bugs as wrong, so no search has to establish it in time.
        let budget = Budget { bytes: 1 << 28, views };
        assert!(!prove_all(&program, budget).is_proved(), "{name} with {bug}");
    }
    println!("{counts:?}");
    assert!(counts.tried >= 8, "{counts:?}");
}

/// Mutants of mutants, evenly chosen from some thousand. At night 1,000 of
/// them, in about ten minutes.
#[test]
fn no_mutant_of_a_mutant_that_is_wrong_for_small_n_is_proved() {
    let most = by_effort(3, 10, 1_000);
    let first = texts().into_iter().flat_map(|(name, text)| mutants(name, text));
    let second: Vec<Mutant> =
        first.flat_map(|mutant| mutants(&mutant.name, &mutant.text)).collect();
    let step = (second.len() / most).max(1);
    let counts = check(second.into_iter().step_by(step), 4, proving());
    println!("{counts:?}");
    assert!(counts.tried >= most.min(1_000) && counts.proved > 0, "{counts:?}");
}

/// Random programs: few are proved, and the proved ones are right for small n.
/// `SNAPSHOT_SEEDS=FROM..TO` chooses the seeds.
#[test]
fn no_random_program_that_is_wrong_for_small_n_is_proved() {
    let seeds = seeds(7, 24);
    let least = 4 * (seeds.end - seeds.start) as usize;
    let texts = seeds.flat_map(|seed| {
        let texts = [
            corpus::program::text(seed),
            corpus::program::exchanging(seed),
            corpus::program::keeping(seed),
            corpus::program::helping(seed),
        ];
        texts.into_iter().map(move |text| (format!("seed {seed}"), text))
    });
    let programs = texts.map(|(name, text)| {
        let program = parse("generated", &text).unwrap().program(None).unwrap();
        Mutant { name, program, text }
    });
    let counts = check(programs, 4, proving());
    println!("{counts:?}");
    assert!(counts.tried >= least && counts.proved > 0 && counts.wrong > 0, "{counts:?}");
}

/// The programs whose mutants are tried, including those with links and the larger algorithms.
fn all_texts() -> Vec<(&'static str, &'static str)> {
    let links = ["undisturbed", "locked_by_links", "turns", "published"];
    let larger = ["afek_bounded", "attiya_welch", "jayanti", "riany"];
    let texts = texts().into_iter().chain(links.map(|name| (name, corpus::small(name))));
    texts.chain(larger.map(|name| (name, corpus::algorithm(name).unwrap().text))).collect()
}

/// Mutants that the search finds wrong are not proved. At night the test continues until
/// it has found 300 of them.
#[test]
fn no_mutant_that_the_search_finds_wrong_is_proved() {
    let (most, patience, proof) =
        by_effort((2, 60_000, proving()), (8, 150_000, proving()), (300, 500_000, 250_000));
    let first: Vec<Mutant> =
        all_texts().into_iter().flat_map(|(name, text)| mutants(name, text)).collect();
    // One mutant of each mutant, once the first ones are exhausted.
    let second = first.iter().enumerate().filter_map(|(number, mutant)| {
        let mut all = mutants(&mutant.name, &mutant.text);
        (!all.is_empty()).then(|| all.swap_remove(number * 7 % all.len()))
    });
    // A stride that visits each mutant once, and alternates between texts.
    let stride = (first.len() * 5 / 13..).find(|stride| coprime(*stride, first.len())).unwrap();
    let firsts = (0..first.len()).map(|number| &first[number * stride % first.len()]);
    let (mut tried, mut wrong, mut open, mut by_n) = (0, 0, 0, [0; 3]);
    let mut judge = |mutant: &Mutant| {
        tried += 1;
        let Some(n) = wrong_for(&mutant.program, patience) else { return wrong < most };
        let answer = prove_all(&mutant.program, Budget { bytes: 1 << 28, views: proof });
        assert!(!answer.is_proved(), "{} is proved, and wrong:\n{}", mutant.name, mutant.text);
        wrong += 1;
        by_n[n - 2] += 1;
        // Given more views, it might have been proved.
        open +=
            usize::from(answer.rungs.iter().any(|rung| rung.is_hinted && rung.short().is_some()));
        wrong < most
    };
    let goes_on = firsts.into_iter().all(&mut judge);
    if goes_on {
        second.into_iter().all(|mutant| judge(&mutant));
    }
    println!(
        "{tried} mutants, {wrong} of them wrong ({by_n:?} first with n = 2, 3, 4): none proved, \
         {open} of them within {proof} views"
    );
    assert!(wrong >= most, "{wrong} of {tried}");
    assert!(open * 2 < wrong || !is_night(), "most attempts at a proof had too few views: {open}");
}

fn coprime(one: usize, two: usize) -> bool {
    match two {
        0 => one == 1,
        two => coprime(two, one % two),
    }
}
