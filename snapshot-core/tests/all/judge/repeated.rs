//! Values that repeat, with many writers: the relation narrows the sources of entries, and guides
//! the search for the rest.

use snapshot_core::History;
use snapshot_core::certificate::{linearization, refutation};
use snapshot_core::check::check;
use snapshot_core::saturation::{self, Outcome};
use snapshot_core::search::{self, Budget};
use snapshot_core::verdict::{Line, Rule, Verdict};

use crate::judge::forgetting::{Draw, Shape, history};
use crate::judge::{checkers, sketch};

fn unlimited<T>(run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    run(&mut Budget { memory: usize::MAX, proceed: &mut || true })
}

fn saturated(history: &History<i64>) -> Outcome {
    unlimited(|budget| saturation::check(history, budget))
}

const REPEATED: Shape =
    Shape { segments: 2, processes: 4, events: 44, unknown: 0, failed: 0, repeated: 2, wrong: 20 };

/// Compares with plain search, which uses only time; counts the use of each part.
#[test]
fn narrowing_and_guided_search_agree_with_plain_search() {
    let shapes = [
        REPEATED,
        Shape { segments: 1, processes: 5, events: 30, wrong: 1, ..REPEATED },
        Shape { processes: 5, events: 30, wrong: 1, ..REPEATED },
        Shape { segments: 3, processes: 6, events: 40, ..REPEATED },
        Shape { unknown: 6, failed: 9, ..REPEATED },
        Shape { unknown: 3, failed: 9, repeated: 1, ..REPEATED },
        Shape { wrong: 0, repeated: 1, ..REPEATED },
    ];
    let (mut settled, mut excluded, mut guided) = (0, 0, 0);
    for (number, shape) in shapes.into_iter().enumerate() {
        for seed in 0..800 {
            let history = history(shape, &mut Draw(seed << 8 | number as u64));
            let plain = unlimited(|budget| search::search_plainly(&history, budget));
            let truth = matches!(plain, search::Outcome::Linearizable(_));
            let found = match saturated(&history) {
                Outcome::Linearizable(order) => {
                    linearization::check(&history, &order).unwrap();
                    settled += 1;
                    true
                }
                Outcome::Violation { .. } => false,
                Outcome::Excluded => {
                    excluded += 1;
                    false
                }
                Outcome::Ambiguous(guide) => {
                    guided += 1;
                    let run =
                        |budget: &mut Budget<'_>| search::search_guided(&history, &guide, budget);
                    match unlimited(run) {
                        search::Outcome::Linearizable(order) => {
                            linearization::check(&history, &order).unwrap();
                            true
                        }
                        _ => false,
                    }
                }
                Outcome::Exhausted { .. } => panic!("there is no limit"),
            };
            assert_eq!(found, truth, "{}", checkers::drawing(&history));
            if !truth && seed % 4 == 0 {
                assert!(!checkers::agreed_verdict(&history));
            }
        }
    }
    assert!(settled > 250 && excluded > 60 && guided > 600, "{settled} {excluded} {guided}");
}

/// Each candidate is possible by itself, but no choice of all of them: found in 3 of 10,000 random
/// histories, so these are fixed.
#[test]
fn guided_search_refutes_ambiguous_histories() {
    for events in [
        "3:s 0:u1=0 4:u0=0 2:u1=0 4:ok 3:0,0 4:u0=1 3:u0=1 0:ok 1:s 1:1,0 2:ok 3:ok 4:ok \
         4:u0=2 2:s 3:s 1:u1=3 0:s 1:ok 2:1,3 3:2,0",
        "0:s 3:s 1:u1=0 0:0,0 4:u0=1 2:u1=2 0:u1=0 4:ok 3:0,0 3:u0=3 0:ok 1:ok 1:s 0:s 1:1,2 \
         1:u0=3 0:3,0",
    ] {
        let history = sketch::history(2, events);
        assert!(!checkers::agreed_verdict(&history), "{events}");
        let Outcome::Ambiguous(guide) = saturated(&history) else { panic!("{events}") };
        let found = unlimited(|budget| search::search_guided(&history, &guide, budget));
        assert!(matches!(found, search::Outcome::NotLinearizable { .. }), "{events}");
        let good = history.prefix(history.len() - 1);
        assert!(checkers::agreed_verdict(&good), "{events}");
    }
}

/// Histories of many operations, which plain search leaves undecided.
#[test]
fn guided_search_decides_where_plain_search_fails() {
    let shape = Shape {
        segments: 3,
        processes: 24,
        events: 1500,
        unknown: 0,
        failed: 0,
        repeated: 3,
        wrong: 0,
    };
    let (mut guided, mut plain) = (0, 0);
    for seed in 0..6 {
        let history = history(shape, &mut Draw(seed));
        let mut asked = 0;
        let mut proceed = || {
            asked += 1;
            asked < 30
        };
        let Outcome::Ambiguous(guide) = saturated(&history) else { continue };
        let mut budget = Budget { memory: 1 << 26, proceed: &mut proceed };
        let found = search::search_guided(&history, &guide, &mut budget);
        guided += usize::from(matches!(found, search::Outcome::Linearizable(_)));
        let mut asked = 0;
        let mut proceed = || {
            asked += 1;
            asked < 30
        };
        let mut budget = Budget { memory: 1 << 26, proceed: &mut proceed };
        let found = search::search(&history, &mut budget);
        plain += usize::from(matches!(found, search::Outcome::Linearizable(_)));
        let report = unlimited(|budget| check(&history, budget));
        assert!(matches!(report.verdict, Verdict::Linearizable(_)));
    }
    assert!(guided == 6 && plain < 3, "{guided} {plain}");
}

/// Two updates of a value, of which the relation excludes one by time, by another scan, or by the
/// values of a scan of another segment.
#[test]
fn candidates_are_excluded_by_cycles() {
    // 1 was overwritten by 2 before it was written again: the scan saw the second 1.
    let again = "0:u0=1 0:ok 0:u0=2 0:ok 0:u0=1 1:s 1:1 0:ok";
    assert!(matches!(saturated(&sketch::history(1, again)), Outcome::Linearizable(_)));
    // One scan saw 2 replace the first 1, and 5; then 1 with 0 in segment 1 is seen too late.
    let before = "0:u0=1 1:u0=2 2:u1=5 2:ok 3:s 3:2,5 0:ok 1:ok 4:u0=1";
    let good = sketch::history(2, &format!("{before} 3:s 3:1,5"));
    let bad = sketch::history(2, &format!("{before} 3:s 3:1,0"));
    assert!(checkers::agreed_verdict(&good) && !checkers::agreed_verdict(&bad));
}

/// Long histories with one wrong entry: few operations refute them, in lines that are confirmed
/// against the whole.
#[test]
fn refutations_of_long_histories_are_small() {
    let shape = Shape { segments: 3, processes: 8, events: 1200, wrong: 300, ..REPEATED };
    let (mut refuted, mut sourced) = (0, 0);
    for seed in 0..16 {
        let history = history(shape, &mut Draw(seed));
        let report = unlimited(|budget| check(&history, budget));
        let Verdict::Violation(witness) = &report.verdict else { continue };
        let Some(lines) = report.explanation.and_then(|shown| shown.refutation) else { continue };
        assert_eq!(refutation::check(&history, &lines), Ok(()));
        assert!(witness.operations.len() <= 40, "{seed}: {witness:?}");
        let is_source = |line: &Line| matches!(line.rule, Rule::Source { .. });
        (refuted, sourced) =
            (refuted + 1, sourced + usize::from(lines.lines.iter().any(is_source)));
    }
    assert!(refuted >= 8 && sourced >= 1, "{refuted} {sourced}");
}
