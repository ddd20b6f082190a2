//! Conjectures about stale cells are refuted where they are wrong.

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::pipeline::Prepared;
use snapshot_explorer::quotient::canonical_renaming::CanonicalRenaming;
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_explorer::search::{Exploration, SearchVerdict};
use test_support::effort::either;

use crate::explore::published::prepared;

fn jayanti() -> (Prepared, CanonicalRenaming) {
    let text = corpus::algorithm("jayanti").unwrap().text;
    let prepared = prepared(text, None, 2, Reductions::standard().without(Reduction::Symmetry));
    let numbering = prepared.numbering.clone().unwrap();
    (prepared, numbering)
}

/// Returns the verdict, the number of states, and the number of refutations.
fn explore(prepared: &mut Prepared, exploration: &Exploration<'_>) -> (SearchVerdict, u64, u32) {
    for refutations in 0.. {
        let forgetting = prepared.forgetting();
        let forgetting = forgetting.as_ref().map(|forgetting| forgetting as _);
        let forgetful = Exploration { forgetting, ..exploration.clone() };
        let outcome = forgetful.run(prepared.explored(), &mut |_| ()).unwrap();
        if !prepared.refute(exploration, &outcome.verdict, Deadline::NEVER).unwrap() {
            return (outcome.verdict, outcome.states, refutations);
        }
    }
    unreachable!("refutations come to an end")
}

/// One operation per process; two in the slow suite, where the reduction saves more.
#[test]
fn a_wrong_conjecture_is_refuted_until_it_is_right() {
    let (operations, share) = either((1, 1), (2, 2));
    let (mut prepared, numbering) = jayanti();
    let exploration = Exploration {
        operations: Some(operations),
        numbering: Some(&numbering),
        antichain: true,
        ..Exploration::default()
    };
    let (plain, most, refutations) = explore(&mut prepared, &exploration);
    assert_eq!((plain, refutations), (SearchVerdict::Verified, 0));

    prepared.learn(&exploration, Deadline::NEVER).unwrap();
    let (learnt, fewer, _) = explore(&mut prepared, &exploration);
    assert_eq!(learnt, SearchVerdict::Verified);
    assert!(fewer * share < most, "{fewer} of {most}");

    prepared.mark_all_dead();
    let (corrected, _, refutations) = explore(&mut prepared, &exploration);
    assert_eq!(corrected, SearchVerdict::Verified);
    assert!(refutations > 3, "{refutations}");
}
