//! The ways to a proof take turns: the result depends only on views.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_hints::ladder::{
    Answer, Attempt, Budget, Climb, INTERRUPTED, Ladder, Limit, MEMORY, Rung, TIME, VIEWS,
    prove_all,
};
use snapshot_hints::rungs::Rungs;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::Program;

use crate::{of_corpus, parsed};

const NEVER: Limit<'static> = Limit::never(&|| true);

/// Returns the results, without the time taken.
fn found(answer: &Answer) -> (usize, Vec<(String, bool, String, usize)>) {
    let rungs = answer.rungs.iter().map(|rung| {
        let attempt = format!("{:?}", rung.attempt);
        (rung.obligation.name(), rung.is_hinted, attempt, rung.views())
    });
    (answer.parts.len(), rungs.collect())
}

/// Climbs in steps of random sizes.
fn in_steps(program: &Program, most: usize, random: &mut ChaCha8Rng) -> Answer {
    let mut ladder = Ladder::new(program, &Rungs::default(), NEVER);
    let mut views = 0;
    loop {
        let budget = Budget { views: views.min(most), bytes: 1 << 29 };
        match ladder.climb(budget, &mut |_| {}) {
            Climb::Short(VIEWS) if views < most => views += (random.next_u32() % 3_000) as usize,
            _ => return ladder.answer(),
        }
    }
}

#[test]
fn what_is_found_does_not_depend_on_the_steps_in_which_the_budget_comes() {
    let mut random = ChaCha8Rng::seed_from_u64(45);
    let programs = [
        of_corpus("bowman", None),
        of_corpus("bowman", Some("early_exit")),
        of_corpus("afek_unbounded", None),
        of_corpus("naive_collect", None),
        of_corpus("riany", None),
        parsed(corpus::small("published"), None),
    ];
    let mut failures = 0;
    for program in programs {
        let most = 8_000;
        let at_once = prove_all(&program, Budget { views: most, bytes: 1 << 29 });
        let in_steps = in_steps(&program, most, &mut random);
        assert_eq!(found(&in_steps), found(&at_once), "{}", program.name);
        // The steps to a failure are told, and begin in an initial state.
        for rung in &at_once.rungs {
            if let Attempt::Fails(failure, events) = &rung.attempt
                && failure.span().is_some()
            {
                assert!(events.first().is_some_and(|event| event.span.is_none()), "{rung:?}");
                failures += 1;
            }
        }
    }
    assert!(failures >= 5, "{failures}");
}

#[test]
fn a_climb_that_was_cut_says_why() {
    let program = of_corpus("bowman", None);
    let stop = AtomicBool::new(false);
    let cut = |deadline: Deadline<'_>, views| {
        let proceed = || !deadline.is_over();
        let limit = Limit { deadline, proceed: &proceed };
        let mut ladder = Ladder::new(&program, &Rungs::default(), limit);
        let climb = ladder.climb(Budget { views, ..Budget::default() }, &mut |_| {});
        assert!(matches!(climb, Climb::Short(why) if ladder.answer().short == Some(why)));
        climb
    };
    assert_eq!(cut(Deadline::new(None, Some(&stop)), 100), Climb::Short(VIEWS));
    assert_eq!(cut(Deadline::NEVER, 0), Climb::Short(VIEWS));
    let over = Deadline::new(Some(Instant::now()), None);
    assert_eq!(cut(over, usize::MAX), Climb::Short(TIME));
    stop.store(true, Ordering::Relaxed);
    let over = Deadline::new(None, Some(&stop));
    assert_eq!(cut(over, usize::MAX), Climb::Short(INTERRUPTED));
}

/// A rung is not abandoned because other rungs hold memory; it is if it alone needs too much.
#[test]
fn a_rung_without_memory_is_given_up_only_if_it_is_alone() {
    let program = of_corpus("bowman", None);
    let mut ladder = Ladder::new(&program, &Rungs::default(), NEVER);
    let few = Budget { bytes: 20_000, ..Budget::default() };
    assert_eq!(ladder.climb(few, &mut |_| {}), Climb::Short(MEMORY));
    assert_eq!(ladder.answer().short, Some(MEMORY));
    assert!(ladder.answer().rungs.iter().any(|rung| rung.short() == Some(MEMORY)));
}

/// As long as another rung holds memory, a rung without any waits, and begins again; not if the others
/// hold for the proof and keep theirs.
#[test]
fn rungs_without_memory_wait_and_end() {
    let program = of_corpus("afek_unbounded", None);
    for bytes in [1 << 19, 1 << 20, 1 << 21] {
        let mut ladder = Ladder::paced(&program, &Rungs::default(), NEVER, 1_000);
        let budget = Budget { bytes, ..Budget::default() };
        assert_eq!(ladder.climb(budget, &mut |_| {}), Climb::Short(MEMORY));
        let answer = ladder.answer();
        assert!(ladder.views() > answer.views(), "no rung has begun again");
        assert!(bytes < 1 << 21 || answer.rungs.iter().any(Rung::holds), "{:?}", found(&answer));
    }
}

/// A rung that used up its views goes on from them: none is found twice.
#[test]
fn a_paused_rung_keeps_its_views() {
    let program = of_corpus("bowman", None);
    let mut ladder = Ladder::new(&program, &Rungs::default(), NEVER);
    let mut pauses = 0;
    for views in (100..).step_by(100) {
        match ladder.climb(Budget { views, ..Budget::default() }, &mut |_| {}) {
            Climb::Short(VIEWS) => pauses += 1,
            climb => {
                assert_eq!(climb, Climb::Proved);
                break;
            }
        }
        assert!(ladder.views() >= views && ladder.bytes() > 0, "{} of {views}", ladder.views());
    }
    assert!(pauses > 20, "{pauses}");
    assert_eq!(ladder.views(), prove_all(&program, Budget::default()).views());
}

/// A large way that leads nowhere takes only its part of each round.
#[test]
fn each_way_has_its_turn() {
    let program = of_corpus("jayanti", None);
    let mut ladder = Ladder::paced(&program, &Rungs::default(), NEVER, 100);
    let budget = Budget { views: 20_000, bytes: 1 << 30 };
    assert_eq!(ladder.climb(budget, &mut |_| {}), Climb::Short(VIEWS));
    let answer = ladder.answer();
    // No rung is finished, and the ways that keep everything have had their turn, too.
    assert!(answer.rungs.iter().any(|rung| !rung.is_hinted), "{:?}", found(&answer));
    assert!(answer.rungs.iter().all(|rung| !rung.holds()), "{:?}", found(&answer));
}
