//! Layouts with room for fewer numbers of versions and counters than may occur.

use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::{Exploration, Outcome, SearchVerdict, Unfinished};
use test_support::effort::either;

use crate::explore::published::explored;

fn riany(bug: Option<&str>, operations: u32, most_numbers: Option<u32>) -> Outcome {
    let operations = Some(operations);
    let bounds = Exploration { operations, most_numbers, ..Exploration::default() };
    explored("riany", bug, Reductions::standard(), bounds)
}

#[test]
fn narrow_layout_ends_the_search_or_changes_nothing() {
    let cases = [(None, 1), (Some("early_count"), 2)];
    for (bug, operations) in cases.into_iter().take(either(1, 2)) {
        let all = riany(bug, operations, None);
        assert_eq!(matches!(all.verdict, SearchVerdict::Verified), bug.is_none());
        let mut ended = 0;
        for most_numbers in [1, 6] {
            let narrow = riany(bug, operations, Some(most_numbers));
            if let SearchVerdict::Unknown { cause, .. } = narrow.verdict {
                assert_eq!(cause, Unfinished::TooNarrow);
                ended += 1;
                continue;
            }
            // The packing of states decides which of several violations comes first.
            let steps = |outcome: &Outcome| match &outcome.verdict {
                SearchVerdict::Violation { trace, .. } => Some(trace.steps.len()),
                _ => None,
            };
            let answer = |outcome: &Outcome| {
                (outcome.states, outcome.transitions, outcome.depth, steps(outcome))
            };
            assert_eq!(answer(&narrow), answer(&all), "{most_numbers}");
        }
        assert_eq!(ended, 1, "1 number is too few, and 6 are enough");
    }
}
