//! Invalid sequences of events, orders that prove nothing, and the report of a search that found no
//! order.

use snapshot_core::certificate::groups::GroupsError;
use snapshot_core::generic::objects::{Queue, QueueInput, QueueOutput};
use snapshot_core::generic::{
    History, HistoryBuilder, HistoryError, Outcome, Reason, replay, search,
};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Exhausted, Linearization};
use snapshot_core::{OperationId, Process};

type Builder = HistoryBuilder<QueueInput<u8>, QueueOutput<u8>>;

#[test]
fn refused_events_leave_no_trace() {
    let mut builder = Builder::default();
    let idle = HistoryError::NothingOpen { event: 0, process: Process::from_index(3) };
    assert_eq!(builder.respond(3, QueueOutput::Empty), Err(idle));
    let open = builder.invoke(3, QueueInput::Dequeue).expect("the process is idle");
    let busy = HistoryError::AlreadyOpen { event: 1, process: Process::from_index(3), open };
    assert_eq!(builder.invoke(3, QueueInput::Dequeue), Err(busy));
    let given = Process::LIMIT + 1;
    let missing = HistoryError::NoSuchProcess { event: 1, given, limit: Process::LIMIT };
    assert_eq!(builder.invoke(given, QueueInput::Dequeue), Err(missing.clone()));
    assert_eq!(builder.fail(given), Err(missing));
    builder.respond(3, QueueOutput::Empty).expect("an operation is open");
    let idle = HistoryError::NothingOpen { event: 2, process: Process::from_index(3) };
    assert_eq!(builder.unknown(3), Err(idle));
    let history = builder.finish();
    assert_eq!((history.len(), history.operations().len()), (2, 1));
}

/// Enqueues 1, then 2, both complete; a pending, a failed and a lost enqueue; dequeues 1.
fn history() -> History<QueueInput<u8>, QueueOutput<u8>> {
    let mut builder = Builder::default();
    for value in [1, 2] {
        builder.invoke(0, QueueInput::Enqueue(value)).expect("the process is idle");
        builder.respond(0, QueueOutput::Enqueued).expect("an operation is open");
    }
    builder.invoke(1, QueueInput::Enqueue(3)).expect("the process is idle");
    builder.invoke(2, QueueInput::Enqueue(4)).expect("the process is idle");
    builder.fail(2).expect("an operation is open");
    builder.invoke(2, QueueInput::Dequeue).expect("the process is idle");
    builder.respond(2, QueueOutput::Dequeued(1)).expect("an operation is open");
    builder.finish()
}

#[test]
fn invalid_orders_are_refused_by_replay() {
    let id = OperationId::from_index;
    let replayed = |order: &[usize]| {
        let order = order.iter().map(|&operation| id(operation)).collect();
        replay(&Queue::default(), &history(), &Linearization { order })
    };
    assert_eq!(replayed(&[0, 1, 4]), Ok(()));
    assert_eq!(replayed(&[0, 1, 2, 4]), Ok(()), "a pending operation may take effect");
    assert_eq!(replayed(&[0, 1]), Err(GroupsError::Missing { operation: id(4) }));
    assert_eq!(replayed(&[0, 1, 3, 4]), Err(GroupsError::Failed { operation: id(3) }));
    assert_eq!(replayed(&[0, 1, 1, 4]), Err(GroupsError::Repeated { operation: id(1) }));
    assert_eq!(
        replayed(&[0, 4, 1]),
        Err(GroupsError::Precedence { group: 2, operation: id(1), later: id(4) })
    );
    assert_eq!(
        replayed(&[2, 0, 1, 4]),
        Err(GroupsError::Precedence { group: 1, operation: id(0), later: id(2) })
    );
    let missing = GroupsError::NoSuchOperation { operation: id(5), operations: 5 };
    assert_eq!(replayed(&[0, 5]), Err(missing));
    let mut builder = Builder::default();
    builder.invoke(0, QueueInput::Dequeue).expect("the process is idle");
    builder.respond(0, QueueOutput::Dequeued(1)).expect("an operation is open");
    let order = Linearization { order: vec![id(0)] };
    let error = replay(&Queue::default(), &builder.finish(), &order);
    assert_eq!(error, Err(GroupsError::NotAllowed { group: 0 }));
}

/// Many concurrent enqueues, then dequeues in an order that ends badly.
fn crowded() -> History<QueueInput<u8>, QueueOutput<u8>> {
    let mut builder = Builder::default();
    for value in 0..12 {
        builder.invoke(value, QueueInput::Enqueue(value as u8)).expect("the process is idle");
    }
    for value in 0..12 {
        builder.respond(value, QueueOutput::Enqueued).expect("an operation is open");
    }
    for value in [3, 5, 3] {
        builder.invoke(0, QueueInput::Dequeue).expect("the process is idle");
        builder.respond(0, QueueOutput::Dequeued(value)).expect("an operation is open");
    }
    builder.finish()
}

#[test]
fn exhausted_budgets_end_the_search() {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || false };
    let outcome = search(&Queue::default(), &crowded(), &mut budget);
    assert!(
        matches!(outcome, Outcome::Exhausted { exhausted: Exhausted::Time, states, .. }
        if states > 0),
        "{outcome:?}"
    );
    let mut budget = Budget { memory: 1 << 12, proceed: &mut || true };
    let outcome = search(&Queue::default(), &crowded(), &mut budget);
    assert!(matches!(outcome, Outcome::Exhausted { exhausted: Exhausted::Memory, .. }));
}

/// Enqueues 1 and 2 concurrently, then dequeues 2 twice. The order that is tried first fails at the
/// first dequeue; the other explains it.
#[test]
fn report_has_the_furthest_order() {
    let mut builder = Builder::default();
    for value in [1, 2] {
        builder.invoke(value.into(), QueueInput::Enqueue(value)).expect("the process is idle");
    }
    for value in [1, 2] {
        builder.respond(value, QueueOutput::Enqueued).expect("an operation is open");
    }
    for _ in 0..2 {
        builder.invoke(1, QueueInput::Dequeue).expect("the process is idle");
        builder.respond(1, QueueOutput::Dequeued(2)).expect("an operation is open");
    }
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let outcome = search(&Queue::default(), &builder.finish(), &mut budget);
    let Outcome::NotLinearizable { reason: Reason::Searched(furthest), .. } = outcome else {
        panic!("2 was enqueued once: {outcome:?}");
    };
    assert_eq!((furthest.events, furthest.due), (7, OperationId::from_index(3)));
    let order = [1, 0, 2].map(OperationId::from_index).to_vec();
    assert_eq!(furthest.order, Linearization { order });
}
