//! A stream at rest can be cut there: the continuation is judged by itself.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use snapshot_core::History;
use snapshot_core::monitor::Monitor;

use crate::judge::checkers::{drawing, quick_verdict};
use crate::judge::random::{perturbed, shapes};

#[test]
fn stream_at_rest_can_be_cut() {
    let mut runner = TestRunner::deterministic();
    let strategy = perturbed(shapes(), 24);
    let (mut cuts, mut wrong) = (0, 0);
    for _ in 0..4_000 {
        let history = strategy.new_tree(&mut runner).expect("no rejection").current();
        let expected = quick_verdict(&history);
        let mut monitor =
            Monitor::linear(history.declaration()).expect("the declaration of a history");
        for (position, event) in history.events().enumerate() {
            monitor.observe(&event).expect("an event of a history");
            let Some(declaration) = monitor.continuation() else { continue };
            let mut rest = History::builder(declaration).expect("the declaration of a history");
            for event in history.events().skip(position + 1) {
                rest.push(&event).expect("the continuation accepts the remaining events");
            }
            let found = quick_verdict(&rest.finish());
            assert_eq!(found, expected, "from event {} on: {}", position + 1, drawing(&history));
            cuts += 1;
            wrong += usize::from(!expected);
        }
    }
    assert!(cuts > 1_000 && wrong > 200, "{cuts} cuts, {wrong} before a violation");
}
