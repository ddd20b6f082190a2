//! Faults in the search that prove wrong programs, one for each rule: the check finds each.

use snapshot_invariant::check::Refusal;
use snapshot_invariant::step::InjectedFault;

use crate::programs::{certificate, of_corpus, parts, refused, small};
use crate::wrong;

fn mistakes() -> Vec<(&'static str, InjectedFault)> {
    let right = InjectedFault::default();
    vec![
        ("no steps of further processes", InjectedFault { no_others: true, ..right }),
        ("no steps of i and j in their scans", InjectedFault { no_scans: true, ..right }),
        ("unknown is false", InjectedFault { unknown_is_false: true, ..right }),
        ("no steps of others", InjectedFault { no_others: true, no_scans: true, ..right }),
    ]
}

/// A right program is proved by fewer views, which are not closed.
#[test]
fn too_short_lists_of_right_programs_are_refused() {
    let programs = [
        (of_corpus("bowman", None), vec!["scans.observer"]),
        (small("locked"), vec!["scans.observer"]),
        (of_corpus("afek_unbounded", None), vec!["calls.nesting"]),
    ];
    let mut acted = vec![0; mistakes().len()];
    for (program, rungs) in &programs {
        let parts = parts(program, rungs);
        let (whole, _) = certificate(program, &parts, InjectedFault::default()).unwrap();
        for (number, (mistake, planted)) in mistakes().iter().enumerate() {
            let Ok((text, _)) = certificate(program, &parts, *planted) else { continue };
            if whole == text {
                continue;
            }
            let refusal = refused(program, text.as_bytes());
            let is_escape = matches!(refusal, Refusal::Escape { .. } | Refusal::Failure { .. });
            // A fault may remove only unneeded views; then the missing half of the proof is
            // noticed.
            assert!(is_escape || matches!(refusal, Refusal::Missing(_)), "{mistake}: {refusal}");
            acted[number] += usize::from(is_escape);
        }
    }
    for ((mistake, _), acted) in mistakes().iter().zip(acted) {
        assert!(acted > 0, "{mistake}: made no difference");
    }
}

/// The fault proves a wrong program, and the check refuses the proof.
#[test]
fn proofs_by_injected_faults_are_refused() {
    let mut proved = vec![0; mistakes().len()];
    for (program, rung) in wrong::programs() {
        let parts = parts(&program, &[rung]);
        for (number, (mistake, planted)) in mistakes().iter().enumerate() {
            if let Ok((text, _)) = certificate(&program, &parts, *planted) {
                let refusal = refused(&program, text.as_bytes());
                let is_right = matches!(refusal, Refusal::Escape { .. } | Refusal::Failure { .. });
                assert!(is_right, "{mistake}, {}: {refusal}", program.name);
                proved[number] += 1;
            }
        }
    }
    assert!(proved.iter().filter(|proved| **proved > 0).count() >= 3, "{proved:?}");
}

/// Without the rule, two processes own a lock that only one can own.
#[test]
fn two_owners_lose_the_proof() {
    let bowman = of_corpus("bowman", None);
    let planted = InjectedFault { two_named: true, ..InjectedFault::default() };
    assert!(certificate(&bowman, &parts(&bowman, &["scans.observer"]), planted).is_err());
}
