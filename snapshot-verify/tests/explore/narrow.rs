//! Fewer numbers of versions and counters than there might be.

use snapshot_core::Process;
use snapshot_verify::explore::{Cause, Exploration, Outcome, Verdict};
use snapshot_verify::language::parse;
use snapshot_verify::verify::{Prepared, Reductions};

fn explored(bug: Option<&str>, operations: u32, most_numbers: Option<u32>) -> Outcome {
    let text = corpus::algorithm("riany").unwrap().text;
    let program = parse("riany", text).unwrap().program(bug).unwrap();
    let pair = [0, 1].map(Process::must);
    let prepared = Prepared::new(&program, 2, pair, Reductions::standard(), |_| true).unwrap();
    let ample = prepared.ample(Some(operations));
    let exploration = Exploration {
        operations: Some(operations),
        antichain: true,
        ample: ample.as_ref().map(|ample| ample as _),
        numbering: prepared.numbering.as_ref().map(|numbering| numbering as _),
        most_numbers,
        ..Exploration::default()
    };
    exploration.run(prepared.explored(), &mut |_| ()).unwrap()
}

#[test]
fn what_does_not_fit_ends_the_search_and_all_else_is_the_same() {
    for (bug, operations) in [(None, 1), (Some("early_count"), 2)] {
        let all = explored(bug, operations, None);
        assert_eq!(matches!(all.verdict, Verdict::Verified), bug.is_none());
        let mut ended = 0;
        for most_numbers in [1, 3, 5, 6, 8] {
            let narrow = explored(bug, operations, Some(most_numbers));
            if let Verdict::Unknown { cause, .. } = narrow.verdict {
                assert_eq!(cause, Cause::TooNarrow);
                ended += 1;
                continue;
            }
            // Which of several violations comes first depends on how states are packed.
            let steps = |outcome: &Outcome| match &outcome.verdict {
                Verdict::Violation { trace, .. } => Some(trace.steps.len()),
                _ => None,
            };
            let answer = |outcome: &Outcome| {
                (outcome.states, outcome.transitions, outcome.depth, steps(outcome))
            };
            assert_eq!(answer(&narrow), answer(&all), "{most_numbers}");
        }
        assert!((1..5).contains(&ended), "{ended}");
    }
}
