//! Executions of the interpreter, projected: for every tuple of processes, each state has a view in
//! the list of a certificate, and each move leads from a view of the state before to one of the
//! state after, by the steps of certificates.
//!
//! That states have views is the projection gate of the product. The comparison shares no code with
//! the rules of certificates, so this tests the statement of docs/certificates.md on closed lists,
//! independently of the property that they prove: also for wrong programs, if failures are ignored.

mod aimed;
mod counted;
mod follow;
mod holes;
mod lost;
pub mod named;
mod renamed;
mod walk;
mod ways;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_invariant::Budget;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::projection::unfit;
use snapshot_invariant::search::{Obstacle, ViewSets, close};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{by_effort, either, is_night};

use self::walk::{Counts, Views, walk};
use crate::programs::{by_rounds, conditions, of_corpus, parsed, part, parts, rungs, small};
use crate::{relative, rules, wrong};

/// Ignores failures.
const SILENT: InjectedFault = relative::SILENT;

/// Returns the list of a part; `None` if it takes more than `memory` bytes.
fn listed(layout: &Layout<'_>, planted: InjectedFault, memory: u64) -> Option<ViewSets> {
    let mut proceed = || true;
    match close(layout, planted, &mut Budget { memory, proceed: &mut proceed }) {
        Ok(family) => Some(family),
        Err(Obstacle::Unfinished(_) | Obstacle::Views) => None,
        Err(Obstacle::Failure(failure)) => {
            // If a step is unsupported, nothing is listed.
            assert_eq!(planted, SILENT, "{failure}");
            None
        }
    }
}

/// Runs executions of 2 to 4 processes; the error is the first state without a view.
fn among(
    program: &Program,
    part: &Part,
    planted: InjectedFault,
    runs: u64,
    moves: usize,
) -> Result<Counts, String> {
    among_laid_out(&lay_out(program, part).unwrap(), planted, runs, moves)
}

/// As [`among`], for a layout.
fn among_laid_out(
    layout: &Layout<'_>,
    planted: InjectedFault,
    runs: u64,
    moves: usize,
) -> Result<Counts, String> {
    let (program, obligation) = (layout.program, layout.obligation);
    let family = listed(layout, planted, 2 << 30).expect("all views");
    let views = Views::new(layout, &family, planted);
    let mut counts = Counts::default();
    for seed in 0..runs {
        counts.add(walk(&views, 2 + seed as usize % 3, seed, moves)?);
    }
    println!("{} {}: {} views, {counts:?}", program.name, obligation.name(), family.len());
    Ok(counts)
}

/// Returns the number of executions. `SNAPSHOT_EFFORT=night` makes about a million projections
/// of each.
fn executions() -> u64 {
    by_effort(40, 64, 2_000)
}

fn covered(program: &Program, rungs: &[&str]) -> Counts {
    let mut total = Counts::default();
    for part in parts(program, rungs) {
        match among(program, &part, InjectedFault::default(), executions(), 200) {
            Ok(counts) => total.add(counts),
            Err(missing) => panic!("{missing}"),
        }
    }
    assert_eq!(total.violations, 0, "a case that the proof excludes");
    let [projections, bytes] = either([15_000, 60_000], [20_000, 100_000]);
    assert!(total.projections > projections && total.bytes > bytes, "{total:?}");
    assert!(total.changes > 5_000, "{total:?}");
    total
}

#[test]
fn states_of_programs_by_scans_have_views() {
    covered(&of_corpus("bowman", None), &["scans.observer"]);
    covered(&small("locked"), &["scans.observer"]);
    let memory = ["scans.observer", "scans.memory-t", "scans.memory-i", "scans.memory-j"];
    covered(&small("versioned"), &memory);
}

#[test]
fn states_of_programs_with_links_have_views() {
    for name in ["locked_by_links", "undisturbed", "turns"] {
        let counts = covered(&small(name), &["scans.observer"]);
        assert!(counts.links > 5_000, "{name}: {counts:?}");
    }
}

/// With any rounds as the ghost scans: failures are ignored.
#[test]
fn states_of_programs_with_rounds_have_views() {
    let published = small("published");
    let mut total = Counts::default();
    for part in by_rounds(&published).into_iter().flatten() {
        let layout = lay_out(&published, &part).unwrap();
        let mut proceed = || true;
        let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
        let closed = close(&layout, InjectedFault::default(), &mut budget);
        let planted = if closed.is_ok() { InjectedFault::default() } else { SILENT };
        match among_laid_out(&layout, planted, executions(), 200) {
            Ok(counts) => total.add(counts),
            Err(missing) => panic!("{missing}"),
        }
    }
    assert!(total.changes > 5_000, "{total:?}");
}

/// Lists of afek_bounded take minutes; they are checked at night.
#[test]
fn states_of_programs_by_calls_have_views() {
    let rungs = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    let unbounded = covered(&of_corpus("afek_unbounded", None), &rungs);
    assert!(unbounded.late > 1_000, "{unbounded:?}");
    if is_night() {
        let bounded = covered(&of_corpus("afek_bounded", None), &rungs);
        assert!(bounded.late > 1_000 && bounded.flipped > 1_000, "{bounded:?}");
    }
}

/// Small programs, right and wrong, that exercise rules.
#[test]
fn states_of_small_programs_have_views() {
    let mut total = Counts::default();
    for (program, part) in small_programs() {
        match among(&program, &part, SILENT, executions() / 2, 60) {
            Ok(counts) => total.add(counts),
            Err(missing) => panic!("{missing}"),
        }
    }
    let counts = [total.flipped, total.rounds, total.late, total.loose, total.violations];
    let of = [counts.as_slice(), &[total.changes, total.joins]].concat();
    assert!(of.iter().all(|count| *count > 10), "{total:?}");
}

/// One program per rule.
#[test]
fn states_of_aimed_programs_have_views() {
    let mut total = Counts::default();
    for (number, (program, part)) in aimed::programs().into_iter().enumerate() {
        // In turns, in the slow suite both.
        for alike in either(vec![number.is_multiple_of(2)], vec![false, true]) {
            let part = Part { alike, ..part.clone() };
            let mut layout = lay_out(&program, &part).unwrap();
            if !alike {
                // Forgetting a link is a guess, too.
                layout.unlinked.iter_mut().flatten().for_each(Vec::clear);
            }
            match among_laid_out(&layout, SILENT, executions() / either(8, 4), 60) {
                Ok(counts) => total.add(counts),
                Err(missing) => panic!("{missing}"),
            }
        }
    }
    let of = [total.flipped, total.late, total.loose, total.links, total.changes, total.joins];
    assert!(of.iter().all(|count| *count > 100), "{total:?}");
}

/// Programs with names, versions, numbers, loops and blocks of all kinds, and programs that keep
/// state between operations, each with the hints' choices, and with guesses: of kept scalars,
/// late operations, loose loops, and classes of bits. No guess makes a list wrong.
#[test]
fn states_of_random_programs_have_views() {
    let programs = by_effort(10, 64, 2_000);
    let (mut listed, mut samples, mut total) = (0, 0, Counts::default());
    let of = [corpus::program::text, corpus::program::exchanging, corpus::program::keeping];
    for (seed, text) in of.iter().flat_map(|text| (0..programs).map(|seed| (seed, text(seed)))) {
        let program = parsed(&text, None);
        for rung in rungs() {
            if !RANDOM.contains(&&*rung.name()) {
                continue;
            }
            let Some(found) = part(&program, rung) else { continue };
            if lay_out(&program, &found).is_err() {
                continue;
            }
            let some = guessed(&program, sampled(&program, found.clone(), seed), seed);
            let all = guessed(&program, found.clone(), seed);
            for (number, part) in [found, all, some].iter().enumerate() {
                let Some(counts) = among_known(&program, part) else { continue };
                listed += 1;
                samples += u64::from(number == 2);
                total.add(counts);
            }
        }
    }
    println!("{listed} lists, {samples} of them with some of all scalars: {total:?}");
    let of = [total.flipped, total.late];
    assert!(of.iter().all(|count| *count > 100), "{total:?}");
    assert!(listed > programs && 6 * samples > programs, "{listed} {samples}");
}

/// Rungs of random programs.
const RANDOM: [&str; 6] = [
    "scans.observer",
    "scans.memory-t",
    "scans.memory-i",
    "calls.nesting",
    "calls.memory-t",
    "calls.memory-i",
];

/// Returns the part with a random third of all scalars; cells by number are all kept, or none.
fn sampled(program: &Program, found: Part, seed: u64) -> Part {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let layout = Layout::new(program, found.obligation).unwrap();
    let mut names: Vec<String> = layout.names().map(str::to_owned).collect();
    names.retain(|_| random.next_u32() % 3 == 0);
    let mut kept = [found.kept, names].concat();
    if kept.iter().any(|name| name.starts_with("slot[")) {
        kept.extend([0, 1].map(|place| format!("slot[{place}]")));
    }
    Part { kept, ..found }
}

/// Returns the part with more kept scalars, and guesses.
fn guessed(program: &Program, found: Part, seed: u64) -> Part {
    let truths = relative::truths(program, found.obligation);
    let layout = Layout::new(program, found.obligation).unwrap();
    let links = layout.names().filter(|name| name.contains(":link:") && seed % 5 < 3);
    let links: Vec<String> = links.map(str::to_owned).collect();
    let kept = [found.kept.clone(), truths.clone(), links].concat();
    let class: Vec<_> = truths.into_iter().map(|name| (name, None)).collect();
    let classes = match seed % 3 {
        0 => vec![class],
        1 => class.into_iter().map(|bit| vec![bit]).collect(),
        _ => Vec::new(),
    };
    let loose = if seed.is_multiple_of(2) { relative::loops(program) } else { Vec::new() };
    // Any condition may make a scalar forgotten.
    let conditions = conditions(program);
    let condition = |number: usize| conditions[(number + seed as usize) % conditions.len()];
    let named = kept.iter().filter(|name| name.contains(':')).enumerate();
    let guesses = named.map(|(number, name)| (name.clone(), condition(number), Vec::new()));
    let decided = if conditions.is_empty() { Vec::new() } else { guesses.collect() };
    Part { kept, classes, loose, decided, late: true, alike: seed % 4 < 2, ..found }
}

/// Runs executions of a program whose list can be closed, and is short.
fn among_known(program: &Program, part: &Part) -> Option<Counts> {
    let layout = lay_out(program, part).ok()?;
    if unfit(&layout).is_some() {
        return None;
    }
    let mut proceed = || true;
    let mut budget = Budget { memory: 4 << 20, proceed: &mut proceed };
    let family = close(&layout, InjectedFault::default(), &mut budget).ok()?;
    let views = Views::new(&layout, &family, InjectedFault::default());
    let mut counts = Counts::default();
    for seed in 0..6 {
        match walk(&views, 2 + seed as usize % 3, seed, 60) {
            Ok(more) => counts.add(more),
            Err(missing) => panic!("{part:?}\n{missing}"),
        }
    }
    assert_eq!(counts.violations, 0, "a case that the proof excludes");
    Some(counts)
}

fn small_programs() -> Vec<(Program, Part)> {
    let mut all = Vec::new();
    for text in [relative::TOGGLED, relative::TOLD] {
        let program = parsed(text, None);
        let parts = parts(&program, &["scans.memory-t", "scans.memory-i", "scans.observer"]);
        all.extend(parts.into_iter().map(|part| (program.clone(), part)));
    }
    let noted = parsed(relative::NOTED, None);
    for loose in [false, true] {
        for rung in ["scans.memory-t", "scans.memory-i"] {
            all.push((noted.clone(), relative::noted(&noted, rung, loose)));
        }
    }
    let masked = small("masked");
    for part in parts(&masked, &["scans.memory-t", "scans.memory-i"]) {
        all.push((masked.clone(), part));
    }
    let cached = small("cached");
    for part in parts(&cached, &["calls.nesting", "calls.memory-i"]) {
        all.push((cached.clone(), part));
    }
    let marked = parsed(relative::MARKED, None);
    all.push((marked.clone(), relative::marked(&marked)));
    for rung in ["calls.memory-t", "calls.memory-i"] {
        let hasty = parsed(rules::HASTY, None);
        let part = rules::hasty_part(&hasty, rung);
        all.push((hasty, part));
    }
    for text in relative::met() {
        let program = parsed(&text, None);
        for loose in [Vec::new(), relative::loops(&program)] {
            let part = Part { loose, ..relative::met_part(&program) };
            all.push((program.clone(), part));
        }
    }
    // In the slow suite all of them.
    for (program, rung) in wrong::programs().into_iter().step_by(either(4, 1)) {
        for part in parts(&program, &[rung]) {
            all.push((program.clone(), part));
        }
    }
    all
}
