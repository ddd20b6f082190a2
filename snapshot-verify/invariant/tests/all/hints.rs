//! Views that each hint of a proof saves: hints need no trust, so a list without one is closed, too,
//! or it is too coarse.

use std::time::Instant;

use snapshot_invariant::Budget;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{Obstacle, close_within};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::either;

use crate::programs::{of_corpus, parts};

/// Number of views of a part, or the reason why there are none.
fn closed(program: &Program, part: &Part, most: usize) -> Result<usize, String> {
    let layout = lay_out(program, part).map_err(|unfit| unfit.0.to_owned())?;
    let mut budget = Budget { memory: 8 << 30, proceed: &mut || true };
    match close_within(&layout, InjectedFault::default(), most, &mut budget) {
        Ok(family) => Ok(family.len()),
        Err(Obstacle::Failure(failure)) => Err(failure.to_string()),
        Err(Obstacle::Views) => Err(format!("more than {most} views")),
        Err(Obstacle::Unfinished(unfinished)) => Err(unfinished.name().to_owned()),
    }
}

/// A part with all hints, and without each one.
fn variants(program: &Program, part: &Part) -> Vec<(&'static str, Part)> {
    let all = Part { alike: true, ..part.clone() };
    let layout = Layout::new(program, part.obligation).unwrap();
    let names: Vec<String> = layout.names().map(str::to_owned).collect();
    let of = |owner: u8, (procedure, fors): (usize, usize)| {
        (0..fors).map(move |number| (owner, procedure, number))
    };
    let code: Vec<_> = layout.code.iter().map(|code| code.fors).enumerate().collect();
    let loops: Vec<_> =
        (0..2).flat_map(|owner| code.iter().flat_map(move |one| of(owner, *one))).collect();
    let guess = Part {
        kept: names.clone(),
        late: true,
        loose: loops.clone(),
        decided: Vec::new(),
        classes: Vec::new(),
        ..all.clone()
    };
    vec![
        ("all hints", all.clone()),
        ("not alike", Part { alike: false, ..all.clone() }),
        ("not late", Part { late: false, ..all.clone() }),
        ("not loose", Part { loose: Vec::new(), ..all.clone() }),
        ("no classes", Part { classes: Vec::new(), ..all.clone() }),
        ("not decided", Part { decided: Vec::new(), ..all.clone() }),
        ("all kept", Part { kept: names.clone(), ..all.clone() }),
        ("no hint but late, loose, alike", guess.clone()),
        ("all loops loose", Part { loose: loops.clone(), ..all }),
    ]
}

/// Rows of the table: a variant, and its number of views.
fn table(name: &str, rung: &str, most: usize) -> Vec<(&'static str, Result<usize, String>)> {
    let program = of_corpus(name, None);
    let part = parts(&program, &[rung]).remove(0);
    let mut rows = Vec::new();
    for (what, part) in variants(&program, &part) {
        let began = Instant::now();
        let views = closed(&program, &part, most);
        println!("{name} {rung}, {what}: {views:?} ({:?})", began.elapsed());
        rows.push((what, views));
    }
    rows
}

/// At night also the large algorithms.
#[test]
fn each_hint_saves_views_or_is_idle() {
    let mut all = vec![("bowman", "scans.observer", 60_000)];
    all.extend(either(vec![], vec![("afek_unbounded", "calls.memory-t", 200_000)]));
    if test_support::effort::is_night() {
        all.push(("afek_bounded", "calls.memory-t", 400_000));
        all.push(("attiya_welch", "calls.memory-t", 600_000));
    }
    for (name, rung, most) in all {
        let rows = table(name, rung, most);
        let Ok(least) = rows[0].1 else { panic!("{rows:?}") };
        let more = |(_, views): &&(&str, Result<usize, String>)| !matches!(views, Ok(views) if *views <= least);
        // No hint hides a view that the program has: without it the list is at least as long.
        assert!(rows[1..8].iter().all(|(_, views)| !matches!(views, Ok(views) if *views < least)));
        assert!(rows.iter().filter(more).count() >= 4, "{rows:?}");
    }
}
