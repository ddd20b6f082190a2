//! Histories with many operations open at once: their searches use wide sets of slots.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::generic::objects::{SwapRegister, SwapRegisterInput};
use snapshot_core::generic::{HistoryBuilder, Outcome, check};
use snapshot_core::search::Budget;

use crate::objects::oracle::SwapRegisterMachine;
use crate::objects::random::{run_after, script, swap_input, swap_output};

/// The value that no operation writes.
const UNSEEN: u8 = 9;

/// Returns whether a run is linearizable behind this many compare-and-swaps without response, which
/// expect [`UNSEEN`], and the configurations of the search.
fn decided(pending: usize, script: &[(usize, u8)]) -> (bool, u64) {
    let mut builder = HistoryBuilder::default();
    for process in 4..4 + pending {
        let swap = SwapRegisterInput::CompareAndSwap { expected: UNSEEN, new: 0 };
        builder.invoke(process, swap).expect("the process is idle");
    }
    let script = script.to_vec();
    let history = run_after::<SwapRegisterMachine>(builder, &script, 12, swap_input, swap_output);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let outcome = check(&SwapRegister::default(), &history, &mut budget);
    (matches!(outcome, Outcome::Linearizable { .. }), outcome.states())
}

#[test]
fn pending_swaps_of_an_unseen_value_change_no_verdict() {
    let (mut searched, mut verdicts) = (0, [0; 2]);
    let mut runner = TestRunner::deterministic();
    for _ in 0..300 {
        let script = script(44).new_tree(&mut runner).expect("a script").current();
        let (is_linearizable, _) = decided(0, &script);
        // One word; one word less two slots; two, four and five words.
        for pending in [60, 62, 70, 250, 300] {
            let (is_found, states) = decided(pending, &script);
            assert_eq!(is_found, is_linearizable, "{pending} before {script:?}");
            searched += u64::from(pending > 62 && states > 1);
        }
        verdicts[usize::from(is_linearizable)] += 1;
    }
    assert!(searched > 300 && verdicts.iter().all(|count| *count > 40), "{searched} {verdicts:?}");
}
