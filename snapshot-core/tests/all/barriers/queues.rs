//! No number of barriers suffices for queues that may answer that they are empty.

use snapshot_core::generic::objects::{Queue, QueueInput, QueueOutput};
use snapshot_core::generic::{History, HistoryBuilder, Refutation, barriers, refute};
use snapshot_core::search::Budget;

/// A dequeue returns empty, though at any time while it is open one of these `values` is in the
/// queue: each is enqueued before the previous one begins to be dequeued.
fn covered(values: u8) -> History<QueueInput<u8>, QueueOutput<u8>> {
    const WHOLE: usize = 0;
    let mut builder = History::builder();
    let enqueue = |builder: &mut HistoryBuilder<_, _>, value| {
        builder.invoke(1, QueueInput::Enqueue(value)).unwrap();
        builder.respond(1, QueueOutput::Enqueued).unwrap();
    };
    enqueue(&mut builder, 0);
    builder.invoke(WHOLE, QueueInput::Dequeue).unwrap();
    for value in 0..values {
        if value + 1 < values {
            enqueue(&mut builder, value + 1);
        } else {
            builder.respond(WHOLE, QueueOutput::Empty).unwrap();
        }
        builder.invoke(2, QueueInput::Dequeue).unwrap();
        builder.respond(2, QueueOutput::Dequeued(value)).unwrap();
    }
    builder.finish()
}

/// Each further value needs a further cut: so no number is enough for all.
#[test]
fn covered_empty_answer_needs_one_cut_more_than_values() {
    for values in 1..=5 {
        let history = covered(values);
        assert!(barriers(&history).len() > usize::from(values));
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        let found = refute(&Queue::default(), &history, usize::MAX, &mut budget);
        let Refutation::Refuted { cuts, is_least: true, .. } = found else {
            panic!("{values}: {found:?}");
        };
        assert_eq!(cuts.len(), usize::from(values) + 1, "{history:?}");
    }
}

/// A twin: if one value is dequeued before the next is there, the queue may have been empty.
#[test]
fn a_gap_in_the_chain_explains_the_answer() {
    let mut builder = History::builder();
    builder.invoke(1, QueueInput::Enqueue(0_u8)).unwrap();
    builder.respond(1, QueueOutput::Enqueued).unwrap();
    builder.invoke(0, QueueInput::Dequeue).unwrap();
    builder.invoke(1, QueueInput::Enqueue(1)).unwrap();
    builder.invoke(2, QueueInput::Dequeue).unwrap();
    builder.respond(1, QueueOutput::Enqueued).unwrap();
    builder.respond(2, QueueOutput::Dequeued(0)).unwrap();
    builder.respond(0, QueueOutput::Empty).unwrap();
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let found = refute(&Queue::default(), &builder.finish(), usize::MAX, &mut budget);
    assert!(matches!(found, Refutation::Unrefuted { is_linearizable: true, .. }), "{found:?}");
}
