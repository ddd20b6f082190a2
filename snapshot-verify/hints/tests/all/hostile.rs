//! Hints need no trust: whatever they say, no wrong program is proved, and the certificate of each
//! proof is accepted.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_hints::guess::guesses;
use snapshot_hints::ladder::{Budget, Climb, Ladder, Limit};
use snapshot_hints::ways::ways;
use snapshot_invariant::check::Answer;
use snapshot_invariant::claim::{Claim, Ghosts};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::write::Part;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::Program;
use test_support::effort::by_effort;

use crate::{of_corpus, parsed};

/// Number of views of a way.
const MOST: usize = 6_000;

/// What became of ways with altered hints.
#[derive(Debug, Default)]
struct Counts {
    tried: usize,
    proved: usize,
    /// Attempts with a failure that could not be excluded.
    failed: usize,
}

/// Returns the ways of all kinds, with hints and without.
fn all_ways(program: &Program) -> Vec<Vec<Part>> {
    let kinds = [Ghosts::Scans, Ghosts::Calls].into_iter();
    let steps = kinds.flat_map(|ghosts| ways(program, (ghosts, None), false));
    let of = |way: Vec<_>| -> Option<Vec<Part>> {
        way.iter()
            .map(|step: &snapshot_hints::ways::Step| step.part(program, Deadline::NEVER).ok())
            .collect()
    };
    let hinted: Vec<Vec<Part>> = steps.filter_map(of).collect();
    [hinted, guesses(program)].concat()
}

fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    (random.next_u64() % bound.max(1) as u64) as usize
}

/// Alters what a part guesses.
fn alter(part: &mut Part, program: &Program, random: &mut ChaCha8Rng) {
    let Ok(layout) = Layout::new(program, part.obligation) else { return };
    let names: Vec<String> = layout.names().map(str::to_owned).collect();
    for _ in 0..=below(random, 3) {
        let name = names[below(random, names.len())].clone();
        let procedure = below(random, layout.code.len());
        let at = below(random, layout.code[procedure].instructions.len());
        match below(random, 11) {
            0 => part.kept.push(name),
            1 if !part.kept.is_empty() => {
                part.kept.swap_remove(below(random, part.kept.len()));
            }
            2 => part.kept.retain(|one| !one.contains("[t]")),
            3 => part.late = !part.late,
            4 => part.alike = !part.alike,
            5 => part.loose.push((below(random, 2) as u8, procedure, below(random, 4))),
            6 => part.decided.push((name, (procedure, at), Vec::new())),
            7 => part
                .classes
                .push(vec![(name, None), (names[below(random, names.len())].clone(), None)]),
            8 => part.nested = !part.nested,
            9 => part.windows.push((name, below(random, 5))),
            _ => part.point = Some(below(random, 6)),
        }
    }
}

/// Tries ways of a program with altered hints.
fn tried(program: &Program, seed: u64, rounds: usize, counts: &mut Counts) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let right = all_ways(program);
    for _ in 0..rounds {
        let mut altered = right.clone();
        for way in &mut altered {
            way.iter_mut().for_each(|part| alter(part, program, &mut random));
        }
        for way in altered {
            counts.tried += 1;
            let proceed = || true;
            let limit = Limit::never(&proceed);
            let mut ladder = Ladder::of_parts(program, vec![way], limit);
            let climb = ladder.climb(Budget { bytes: 1 << 28, views: MOST }, &mut |_| {});
            counts.failed += usize::from(climb == Climb::Failed);
            if climb == Climb::Proved {
                counts.proved += 1;
                accepted(program, &mut ladder);
            }
        }
    }
}

/// The certificate of a proof is accepted, whatever the hints are.
fn accepted(program: &Program, ladder: &mut Ladder<'_>) {
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        digest: "digest".to_owned(),
        rewritten: Vec::new(),
    };
    let mut text = Vec::new();
    ladder.certificate(&claim, &mut text).unwrap().unwrap();
    let mut proceed = || true;
    let mut budget = snapshot_invariant::Budget { memory: 1 << 30, proceed: &mut proceed };
    let answer =
        snapshot_invariant::check(program, "digest", &mut text.as_slice(), &mut budget).unwrap();
    assert!(matches!(answer, Answer::Accepted(_)), "{}: {answer:?}", program.name);
}

#[test]
fn no_wrong_program_is_proved_with_hostile_hints() {
    let wrong = [
        ("bowman", Some("early_exit")),
        ("naive_collect", None),
        ("afek_unbounded", Some("moved_once")),
        ("afek_bounded", Some("no_negation")),
        ("attiya_welch", None),
    ];
    let mut counts = Counts::default();
    for (number, (name, bug)) in wrong.into_iter().enumerate() {
        let algorithm = snapshot_language::parse(name, corpus::algorithm(name).unwrap().text);
        let algorithm = algorithm.unwrap();
        let bugs: Vec<String> = algorithm.bugs().iter().map(|bug| bug.name.text.clone()).collect();
        let is_wrong = name == "naive_collect";
        let chosen = bug.filter(|bug| bugs.iter().any(|one| one == bug));
        let bug = chosen.or(bugs.first().map(String::as_str)).filter(|_| !is_wrong);
        if bug.is_none() && !is_wrong {
            continue;
        }
        let program = of_corpus(name, bug);
        let before = counts.proved;
        tried(&program, number as u64, by_effort(2, 20, 1_000), &mut counts);
        assert_eq!(counts.proved, before, "{name} {bug:?}");
    }
    println!("{counts:?}");
    assert!(counts.tried >= 24 && 2 * counts.failed > counts.tried, "{counts:?}");
}

#[test]
fn proofs_with_hostile_hints_are_accepted() {
    let mut counts = Counts::default();
    let texts = [corpus::algorithm("bowman").unwrap().text, corpus::small("locked")];
    for (number, text) in texts.into_iter().enumerate() {
        tried(&parsed(text, None), number as u64, by_effort(4, 40, 2_000), &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.proved >= 3 && counts.proved < counts.tried, "{counts:?}");
}
