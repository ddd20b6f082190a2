//! Memoised steps, and lists that stand for several kinds: the same as the steps of each view, by
//! the order of each kind.

use rustc_hash::FxHashSet;
use snapshot_invariant::Budget;
use snapshot_invariant::centre::centre;
use snapshot_invariant::interference::Effect;
use snapshot_invariant::recall::Recall;
use snapshot_invariant::search::close;
use snapshot_invariant::views::{centres, lists, steps};
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::either;

use crate::programs::{of_corpus, parsed, part, parts, rungs, small};
use crate::relative::{self, NOTED, SILENT};

/// Returns the number of views of a part, of lists that stand for several kinds, and of views that
/// have several centres.
fn compared(program: &Program, part: &Part) -> (usize, usize, usize) {
    let Ok(layout) = lay_out(program, part) else { return (0, 0, 0) };
    let mut proceed = || true;
    let mut budget = Budget { memory: 8 << 20, proceed: &mut proceed };
    let Ok(family) = close(&layout, SILENT, &mut budget) else { return (0, 0, 0) };
    let lists = lists(&layout);
    let mut several = 0;
    assert_eq!(lists.iter().map(Vec::len).sum::<usize>(), family.kinds.len());
    for (kinds, views) in lists.iter().zip(family.lists()) {
        let mut recall = Recall::new(&layout, kinds, SILENT);
        for view in views.iter() {
            let Ok(recalled) = recall.steps(&layout, view) else { continue };
            let made = kinds.iter().map(|kind| steps(&layout, kind, view, SILENT).unwrap());
            let (mut next, mut effects) = (FxHashSet::default(), FxHashSet::<Effect>::default());
            for steps in made {
                next.extend(steps.views);
                effects.extend(steps.effects);
            }
            let homes = centres(&layout, kinds, view);
            let is_home = |kind| homes.contains(&centre(&layout, kind, view));
            assert!(kinds.iter().all(is_home), "{view:?}");
            several += usize::from(homes.len() > 1);
            let what = format!("{} {}: {view:?}", program.name, part.obligation.name());
            assert_eq!(recalled.views.into_iter().collect::<FxHashSet<_>>(), next, "{what}");
            assert_eq!(recalled.effects.into_iter().collect::<FxHashSet<_>>(), effects, "{what}");
        }
    }
    let shared = lists.iter().filter(|kinds| kinds.len() > 1).count();
    (family.len(), shared, several)
}

/// Three random programs of each kind, in the slow suite twelve.
#[test]
fn memoised_steps_equal_those_of_each_view() {
    let (mut views, mut shared, mut apart, mut several) = (0, 0, 0, 0);
    let mut add = |program: &Program, part: &Part| {
        let (more, alike, centres) = compared(program, part);
        views += more;
        several += centres;
        shared += alike;
        apart += usize::from(more > 0 && alike == 0);
    };
    let calls = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    for (program, rungs) in [
        (of_corpus("bowman", None), &["scans.observer"][..]),
        (small("locked"), &["scans.observer"]),
        (small("versioned"), &["scans.observer", "scans.memory-t"]),
        (of_corpus("afek_unbounded", None), &calls),
        (of_corpus("attiya_welch", None), &["calls.faults", "calls.memory-i", "calls.memory-j"]),
    ] {
        for (number, part) in parts(&program, rungs).into_iter().enumerate() {
            // In turns, in the slow suite both.
            for alike in either(vec![number % 2 == 1], vec![false, true]) {
                add(&program, &Part { alike, ..part.clone() });
            }
        }
    }
    // An update of i pauses in the round of t, before, between or behind i and j.
    let noted = parsed(NOTED, None);
    for rung in ["scans.memory-t", "scans.memory-i"] {
        add(&noted, &Part { alike: true, ..relative::noted(&noted, rung, false) });
    }
    let programs = either(3, 12);
    let of = [corpus::program::text, corpus::program::exchanging];
    for text in of.into_iter().flat_map(|text| (0..programs).map(text)) {
        let program = parsed(&text, None);
        for rung in rungs() {
            if !["scans.observer", "scans.memory-t", "scans.nesting"].contains(&&*rung.name()) {
                continue;
            }
            let Some(found) = part(&program, rung) else { continue };
            add(&program, &found);
            add(&program, &Part { alike: true, ..found });
        }
    }
    println!("{views} views, {shared} lists of several kinds, {apart} parts without, {several}");
    assert!(views > 40_000 && shared > 8 && apart > 8, "{views} {shared} {apart}");
    assert!(several > 20, "views that have several centres: {several}");
}
