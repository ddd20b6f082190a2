//! Memoised steps.

use snapshot_everyn::compile::compile;
use snapshot_everyn::model::Obligation;
use snapshot_everyn::prove::{Attempt, Limits, Sabotage, prove};
use snapshot_everyn::rungs;
use snapshot_language::program::Program;
use trial::effort::{Effort, either, is_left_out};

use super::verdicts::{corpus, parsed};

/// Asserts that memoised and unmemoised steps give the same views; returns the number of views.
fn views(program: &Program, rung: Obligation, most: usize) -> usize {
    let Ok(model) = compile(program, rung) else { return 0 };
    let limits = Limits { views: most, bytes: 1 << 29, ..Limits::default() };
    let recalled = prove(&model, limits, Sabotage::default());
    let made = prove(&model, limits, Sabotage { no_recall: true, ..Sabotage::default() });
    let what = format!("{} {}", program.name, rung.name());
    match (&recalled.finding.attempt, &made.finding.attempt) {
        (Attempt::Fails(one, way), Attempt::Fails(two, other)) => {
            assert_eq!((one, way.len()), (two, other.len()), "{what}");
        }
        (one, two) => {
            assert_eq!(std::mem::discriminant(one), std::mem::discriminant(two), "{what}")
        }
    }
    assert_eq!(recalled.finding.centres, made.finding.centres, "{what}");
    assert!(recalled.views().eq(made.views()), "{what}");
    made.finding.views()
}

/// The same views, in the same order, as without memo.
#[test]
fn memoised_steps_lead_to_the_same_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut total = 0;
    let of_all = |program: &Program, most: usize| {
        rungs::all().iter().map(|rung| views(program, *rung, most)).sum::<usize>()
    };
    for algorithm in corpus::algorithms() {
        let program = corpus(algorithm.name, None);
        total += of_all(&program, either(600, 1_500));
    }
    for name in ["versioned", "locked", "locked_by_links", "published", "cached", "masked", "noted"]
    {
        let program = parsed(corpus::small(name), None);
        total += of_all(&program, either(500, 1_000));
    }
    assert!(total > either(12_000, 25_000), "{total}");
    let texts = (0..20).map(corpus::program::text);
    for text in texts.chain((0..10).map(corpus::program::exchanging)) {
        let program = parsed(&text, None);
        total += of_all(&program, either(250, 500));
    }
    println!("{total} views");
}
