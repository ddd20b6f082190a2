//! The ways to a proof take turns: the result depends only on views.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_everyn::ladder::{Answer, Budget, Climb, Ladder, Models, prove_all};
use snapshot_everyn::prove::{Finding, INTERRUPTED, MEMORY, TIME, VIEWS};
use snapshot_language::program::Program;

use super::verdicts::{corpus, parsed};

/// Returns the results, without the time taken.
fn found(answer: &Answer) -> (bool, Vec<String>, Vec<(String, String, usize)>) {
    let names = answer.way.iter().map(|rung| rung.name()).collect();
    let rungs = answer.rungs.iter().map(|rung| {
        let attempt = rung.finding.as_ref().map(|finding| format!("{:?}", finding.attempt));
        let views = rung.finding.as_ref().map_or(0, |finding| finding.views());
        (rung.obligation.name(), format!("{attempt:?}"), views)
    });
    (answer.proved, names, rungs.collect())
}

/// Climbs in steps of random sizes.
fn in_steps(program: &Program, most: usize, random: &mut ChaCha8Rng) -> Answer {
    let models = Models::default();
    let mut ladder = Ladder::new(program, &models);
    let mut views = 0;
    loop {
        let budget = Budget { views: views.min(most), bytes: 1 << 29, ..Budget::default() };
        match ladder.climb(budget, &mut |_| {}) {
            Climb::Short(VIEWS) if views < most => views += (random.next_u32() % 3_000) as usize,
            _ => return ladder.answer(),
        }
    }
}

#[test]
fn findings_do_not_depend_on_the_division_of_the_budget() {
    let mut random = ChaCha8Rng::seed_from_u64(45);
    let programs = [
        corpus("bowman", None),
        corpus("bowman", Some("early_exit")),
        corpus("afek_unbounded", None),
        corpus("naive_collect", None),
        corpus("riany", None),
        parsed(corpus::small("locked"), None),
        parsed(corpus::small("published"), None),
    ];
    for program in programs {
        let most = 30_000;
        let budget = Budget { views: most, bytes: 1 << 29, ..Budget::default() };
        let at_once = found(&prove_all(&program, budget));
        for _ in 0..2 {
            let in_steps = found(&in_steps(&program, most, &mut random));
            assert_eq!(in_steps, at_once, "{}", program.name);
        }
    }
}

/// A way of this many views before the successful one takes only its part of each round:
/// attiya_welch is proved by calls, jayanti by rounds, and their large ways come last.
#[test]
fn unsuccessful_rung_does_not_starve_the_others() {
    let program = corpus("jayanti", None);
    let models = Models::default();
    let mut ladder = Ladder::paced(&program, &models, 20_000);
    let budget = Budget { views: 60_000, bytes: 1 << 30, ..Budget::default() };
    assert_eq!(ladder.climb(budget, &mut |_| {}), Climb::Short(VIEWS));
    let answer = ladder.answer();
    let begun: Vec<String> = answer.rungs.iter().map(|rung| rung.obligation.name()).collect();
    // No rung is finished, and each possible rung has had its turn.
    assert!(begun.iter().any(|name| name == "scans.faults+nesting"), "{begun:?}");
    assert!(answer.rungs.iter().all(|rung| !rung.holds()), "{begun:?}");
    assert_eq!(answer.short, Some(VIEWS));
}

#[test]
fn interrupted_climb_continues() {
    let program = corpus("bowman", None);
    let models = Models::default();
    let mut ladder = Ladder::new(&program, &models);
    let stop = AtomicBool::new(true);
    let cut = [
        (Budget { stop: Some(&stop), ..Budget::default() }, INTERRUPTED),
        (Budget { until: Some(Instant::now()), ..Budget::default() }, TIME),
        (Budget { views: 100, ..Budget::default() }, VIEWS),
        (Budget { views: 0, ..Budget::default() }, VIEWS),
    ];
    for (budget, why) in cut {
        assert_eq!(ladder.climb(budget, &mut |_| {}), Climb::Short(why));
        assert_eq!(ladder.answer().short, Some(why));
    }
    assert_eq!(ladder.climb(Budget::default(), &mut |_| {}), Climb::Proved);
    let whole = prove_all(&program, Budget::default());
    assert_eq!(found(&ladder.answer()), found(&whole));
    assert_eq!(whole.short, None);
}

/// A rung is not abandoned because other rungs hold memory; it is if it alone needs too much.
#[test]
fn rung_alone_without_memory_is_abandoned() {
    let program = corpus("bowman", None);
    let models = Models::default();
    let mut ladder = Ladder::new(&program, &models);
    let few = Budget { bytes: 20_000, ..Budget::default() };
    assert_eq!(ladder.climb(few, &mut |_| {}), Climb::Short(MEMORY));
    assert_eq!(ladder.answer().short, Some(MEMORY));
    assert!(ladder.answer().rungs.iter().any(|rung| rung.short() == Some(MEMORY)));
}

/// As long as another rung holds memory, a rung without any waits, and begins again: afek_unbounded
/// has a proof in this memory, though its rungs together need more.
#[test]
fn a_rung_without_memory_waits_for_the_others() {
    let program = corpus("afek_unbounded", None);
    let models = Models::default();
    let mut ladder = Ladder::paced(&program, &models, 2_000);
    let budget = Budget { bytes: 1 << 22, ..Budget::default() };
    assert_eq!(ladder.climb(budget, &mut |_| {}), Climb::Proved);
    assert!(ladder.views() > views(&ladder.answer()), "no rung has begun again");
}

/// Returns the number of views of all rungs, as they ended.
fn views(answer: &Answer) -> usize {
    answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok()).map(Finding::views).sum()
}

/// A rung that used up its views goes on from them: none is found twice.
#[test]
fn a_paused_rung_keeps_its_views() {
    let program = corpus("bowman", None);
    let models = Models::default();
    let mut ladder = Ladder::new(&program, &models);
    let mut pauses = 0;
    for most in (100..).step_by(100) {
        let budget = Budget { views: most, ..Budget::default() };
        match ladder.climb(budget, &mut |_| {}) {
            Climb::Short(VIEWS) => pauses += 1,
            climb => {
                assert_eq!(climb, Climb::Proved);
                break;
            }
        }
        assert!(ladder.views() >= most && ladder.bytes() > 0, "{} of {most}", ladder.views());
    }
    assert!(pauses > 20, "{pauses}");
    assert_eq!(ladder.views(), views(&prove_all(&program, Budget::default())));
}
