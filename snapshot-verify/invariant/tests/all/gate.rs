//! The projection gate: executions that are projected into the views of a certificate, and lists that
//! a broken rule leaves without the views of some of them.

use std::time::Instant;

use snapshot_hints::guess::guesses;
use snapshot_invariant::Budget;
use snapshot_invariant::check::{Answer, check_projecting};
use snapshot_invariant::projection::cover::Views;
use snapshot_invariant::projection::{Coverage, Extent, project};
use snapshot_invariant::search::close;
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{Effort, is_left_out};

use crate::programs::{certificate, of_corpus, parts, small};

/// Projects executions into the certificate of a program.
fn covered(program: &Program, parts: &[Part], extent: Extent) -> Vec<Coverage> {
    let (text, _) = certificate(program, parts, InjectedFault::default()).unwrap();
    let mut budget = Budget { memory: 6 << 30, proceed: &mut || true };
    let began = Instant::now();
    match check_projecting(program, "digest", &mut text.as_bytes(), &mut budget, Some(extent)) {
        Ok(Answer::Accepted(accepted)) => {
            for one in &accepted.projected {
                let [views, seen] = one.views();
                println!(
                    "{} {}: {} states of n = 2 (all: {}), {} of n = 3, {} at random; {seen} of {views} views, {:?} joins, {:?} {:?} of {:?}",
                    program.name,
                    one.obligation.name(),
                    one.two,
                    one.is_whole,
                    one.three,
                    one.random,
                    one.joins,
                    one.unfit,
                    one.elapsed,
                    began.elapsed(),
                );
            }
            accepted.projected
        }
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn all_states_of_two_processes_and_most_joins_are_projected() {
    let bowman = of_corpus("bowman", None);
    let versioned = small("versioned");
    let memory = ["scans.memory-t", "scans.memory-i", "scans.memory-j"];
    let of =
        [(&bowman, parts(&bowman, &["scans.observer"])), (&versioned, parts(&versioned, &memory))];
    let mut all = 0;
    for (program, parts) in of {
        for coverage in covered(program, &parts, Extent::default()) {
            let [views, seen] = coverage.views();
            let [joins, shown] = coverage.joins;
            assert_eq!(coverage.unfit, None);
            assert!(coverage.is_whole && coverage.two > 100 && coverage.three > 1_000);
            assert!(coverage.random > 1_000, "{coverage:?}");
            assert!(10 * seen > views && views > 100, "{coverage:?}");
            assert!(4 * shown >= 3 * joins, "{coverage:?}");
            all += joins;
        }
    }
    assert!(all > 5, "{all}");
}

/// At night: every program that is closed without hints, with its measures.
#[test]
fn executions_of_programs_without_hints_are_projected() {
    if is_left_out(Effort::Night) {
        return;
    }
    let all = ["bowman", "afek_unbounded"].map(|name| of_corpus(name, None));
    let unbounded = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    for (program, rungs) in all.iter().zip([&["scans.observer"][..], &unbounded]) {
        covered(program, &parts(program, rungs), Extent::default());
    }
    for name in ["locked", "locked_by_links", "undisturbed", "turns", "published", "cached"] {
        let program = small(name);
        for way in guesses(&program) {
            if certificate(&program, &way, InjectedFault::default()).is_ok() {
                covered(
                    &program,
                    &way,
                    Extent { two: 20_000, three: 2_000, walks: 10, moves: 200 },
                );
                break;
            }
        }
    }
    let bounded = of_corpus("afek_bounded", None);
    for rung in ["calls.nesting", "calls.memory-t"] {
        for part in parts(&bounded, &[rung]) {
            let layout = lay_out(&bounded, &part).unwrap();
            let mut budget = Budget { memory: 6 << 30, proceed: &mut || true };
            let family = close(&layout, InjectedFault::default(), &mut budget).unwrap();
            let views = Views::of_family(&layout, &family);
            let coverage =
                project(&views, &Default::default(), &Extent { two: 100_000, ..Extent::default() })
                    .unwrap();
            println!("afek_bounded {rung}: {coverage:?}");
        }
    }
}

/// A list that is closed without some of the steps lacks the views of some states.
#[test]
fn omitted_rules_are_detected() {
    let planted = [
        InjectedFault { no_others: true, ..InjectedFault::default() },
        InjectedFault { no_scans: true, ..InjectedFault::default() },
        InjectedFault { unknown_is_false: true, ..InjectedFault::default() },
        InjectedFault { late_is_unseen: true, ..InjectedFault::default() },
    ];
    let bowman = of_corpus("bowman", None);
    let unbounded = of_corpus("afek_unbounded", None);
    let of = [(&bowman, "scans.observer"), (&unbounded, "calls.nesting")];
    let extent = Extent { two: 4_000, three: 900, walks: 12, moves: 120 };
    let noticed = planted.map(|planted| {
        let mut missing = of.iter().filter_map(|(program, rung)| {
            let part = parts(program, &[rung]).remove(0);
            let layout = lay_out(program, &part).unwrap();
            let mut budget = Budget { memory: 6 << 30, proceed: &mut || true };
            let planted = InjectedFault { no_failures: true, ..planted };
            let family = close(&layout, planted, &mut budget).unwrap();
            let views = Views::of_family(&layout, &family);
            project(&views, &Default::default(), &extent).err()
        });
        missing.next().is_some_and(|missing| missing.contains("no view of"))
    });
    assert_eq!(noticed, [true; 4]);
}

/// A certificate that lacks a view is refused before anything is projected.
#[test]
fn forged_certificate_is_refused_before_projection() {
    let bowman = of_corpus("bowman", None);
    let (text, _) =
        certificate(&bowman, &parts(&bowman, &["scans.observer"]), InjectedFault::default())
            .unwrap();
    let planted = InjectedFault { no_others: true, no_failures: true, ..InjectedFault::default() };
    let (forged, _) = certificate(&bowman, &parts(&bowman, &["scans.observer"]), planted).unwrap();
    assert!(forged.len() < text.len());
    let mut budget = Budget { memory: 6 << 30, proceed: &mut || true };
    let answer = check_projecting(
        &bowman,
        "digest",
        &mut forged.as_bytes(),
        &mut budget,
        Some(Extent::default()),
    );
    assert!(matches!(answer, Ok(Answer::Refused(_))), "{answer:?}");
}
