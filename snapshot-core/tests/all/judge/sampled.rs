//! All checkers agree on larger histories, at random.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::certificate::{linearization, witness};
use snapshot_core::verdict::{Reason, Witness};
use snapshot_core::{History, OperationId, Segment};

use crate::judge::cases;
use crate::judge::checkers::{agreed_verdict, drawing};
use crate::judge::random::{differentiated, perturbed, runs, shapes};
use crate::judge::recording::Recording;
use crate::judge::witnesses::minimal_witness;

/// Returns the number of linearizable histories in a sample with a fixed seed.
fn linearizable_among(samples: u32, strategy: &impl Strategy<Value = History<i64>>) -> u32 {
    let mut runner = TestRunner::deterministic();
    (0..samples)
        .filter(|_| {
            agreed_verdict(&strategy.new_tree(&mut runner).expect("no rejection").current())
        })
        .count() as u32
}

#[test]
fn falsified_runs_have_both_verdicts() {
    let both = 200..=900;
    assert!(both.contains(&linearizable_among(1000, &perturbed(shapes(), 20))));
    assert!(both.contains(&linearizable_among(1000, &perturbed(shapes(), 60))));
    assert!(both.contains(&linearizable_among(1000, &perturbed(differentiated(), 60))));
}

proptest! {
    #![proptest_config(cases(5000))]

    #[test]
    fn runs_of_an_atomic_object_are_linearizable(run in runs(shapes(), 80)) {
        run.history.validate();
        linearization::check(&run.history, &run.effects).unwrap();
        prop_assert!(agreed_verdict(&run.history), "{}", drawing(&run.history));
    }

    #[test]
    fn the_order_of_effects_proves_long_runs(run in runs(shapes(), 2000)) {
        linearization::check(&run.history, &run.effects).unwrap();
    }

    #[test]
    fn checkers_agree_on_falsified_runs(history in perturbed(shapes(), 60)) {
        agreed_verdict(&history);
    }

    #[test]
    fn two_segments_suffice_if_no_value_repeats(history in perturbed(differentiated(), 50)) {
        if let Some(minimal) = minimal_witness(&history) {
            prop_assert!(minimal.segments.len() <= 2, "{minimal:?} of {}", drawing(&history));
        }
    }

    #[test]
    fn no_random_witness_refutes_a_run(
        run in runs(shapes(), 60),
        unlisted in any::<(u128, u128)>(),
        kept in any::<u8>(),
    ) {
        let history = &run.history;
        let kept = |segment: &Segment| kept >> segment.index() & 1 == 1;
        // Three operations of four are listed: most witnesses get as far as brute force.
        let listed = |id: &OperationId| (unlisted.0 & unlisted.1) >> id.index() & 1 == 0;
        let may_be_listed = |id: &OperationId| {
            let operation = history.operation(*id);
            operation.segment().map_or(operation.is_complete(), |segment| kept(&segment))
        };
        let witness = Witness {
            reason: Reason::NoOrder,
            segments: (0..history.segments()).map(Segment::from_index).filter(kept).collect(),
            operations: history.operation_ids().filter(listed).filter(may_be_listed).collect(),
            renaming: None,
        };
        prop_assert!(witness::check(history, &witness).is_err(), "{}", drawing(history));
    }

    #[test]
    fn a_recording_repeats_its_history(history in perturbed(shapes(), 60)) {
        let repeated = Recording::of(&history).history();
        prop_assert_eq!(drawing(&repeated), drawing(&history));
    }
}
