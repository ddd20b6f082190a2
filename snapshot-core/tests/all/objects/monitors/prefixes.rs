//! Violations of random histories: their first event against all prefixes, and their fewest
//! operations, each against all orders.

use std::fmt::Debug;

use snapshot_core::OperationId;
use snapshot_core::generic::objects::{
    Counter, Lock, PriorityQueue, Queue, Register, Set, Stack, SwapRegister,
};
use snapshot_core::generic::{
    ByValues, Ending, History, Outcome, Reason, RelevantValues, Specification, fewest, search,
};
use snapshot_core::object::{Answer, ObjectKind, alarm, completion};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::Single;

use super::has_order;
use super::random::{Drawn, Draws, execute};

/// Numbers of violations.
#[derive(Debug, Default)]
struct Counts {
    violations: usize,
    /// Violations whose first event is known.
    first: usize,
    /// Prefixes with an alarm, and wrong ones without.
    alarms: usize,
    missed: usize,
    /// Operations of violations that a search found, and those of their histories.
    few: usize,
    all: usize,
    /// Operations that were left out and do not explain the others.
    others: usize,
}

fn budget(proceed: &mut dyn FnMut() -> bool) -> Budget<'_> {
    Budget { memory: 1 << 24, proceed }
}

/// Returns the history of some operations, with the outputs of the responses before `end`.
fn restricted<I: Clone, O: Clone>(
    history: &History<I, O>,
    ids: &[OperationId],
    end: usize,
) -> History<I, O> {
    let mut builder = History::builder();
    for event in 0..end {
        for id in ids {
            let operation = &history.operations()[id.index()];
            if operation.invocation == event {
                builder.invoke(id.index(), operation.input.clone()).unwrap();
            }
            match &operation.ending {
                Ending::Complete { response, output } if *response == event => {
                    builder.respond(id.index(), output.clone()).unwrap();
                }
                _ => {}
            }
        }
    }
    builder.finish()
}

fn compare<S>(object: &S, rounds: u64) -> Counts
where
    S: Drawn + ByValues + Clone + Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    let kind = Single(object.clone());
    let mut counts = Counts::default();
    for round in 0..rounds {
        let mut draws = Draws(round);
        let size = 5 + draws.below(5);
        let history = execute(object, &mut draws, (4, size), true, round % 2 == 0).history();
        let is_wrong = |events: &usize| !has_order(object, &history.prefix(*events));
        let Some(wrong) = (1..=history.len()).find(is_wrong) else { continue };
        counts.violations += 1;
        for events in 1..=history.len() {
            match alarm(&kind, &history.prefix(events)) {
                Some(_) => {
                    assert!(events >= wrong, "an alarm at {events} of {history:?}");
                    counts.alarms += 1;
                }
                None => counts.missed += usize::from(events >= wrong),
            }
        }
        let judged = kind.judge(&history, &mut budget(&mut || true)).answer;
        let Answer::Violation(violation) = judged else { panic!("{judged:?}") };
        let found = completion(&kind, &history, &violation, &mut budget(&mut || true));
        assert!(found.event + 1 >= wrong, "{found:?}, not {wrong}: {history:?}");
        if found.is_first {
            assert_eq!(found.event + 1, wrong, "{history:?}");
            counts.first += 1;
        }
        let searched = search(object, &history, &mut budget(&mut || true));
        let Outcome::NotLinearizable { reason: Reason::Searched(furthest), .. } = searched else {
            panic!("{searched:?}")
        };
        let few = fewest(object, &history, &furthest, &mut budget(&mut || true));
        let due = &history.operations()[furthest.due.index()];
        let end = due.response().unwrap() + 1;
        // They are operations of the prefix if that is a violation already.
        let is_early = !has_order(object, &history.prefix(end));
        let base = if is_early { end } else { history.len() };
        assert!(!has_order(object, &restricted(&history, &few, base)), "{few:?} of {history:?}");
        counts.few += few.len();
        counts.all += history.operations().len();
        // No query can be left out; an operation without output is none.
        let shown = history.prefix(base);
        for id in &few {
            let operation = &shown.operations()[id.index()];
            if object.is_query(&operation.input, operation.output()) {
                let rest: Vec<OperationId> = few.iter().filter(|one| *one != id).copied().collect();
                assert!(has_order(object, &restricted(&history, &rest, base)), "{id} of {few:?}");
            }
        }
        // No other operation explains them.
        let concern = |id: OperationId| {
            let operation = &shown.operations()[id.index()];
            object.concern(&operation.input, operation.output())
        };
        for id in (0..shown.operations().len()).map(|index| OperationId::new(index).unwrap()) {
            let of_few = |value| few.iter().any(|one| concern(*one) == value);
            let operation = &shown.operations()[id.index()];
            // Changes of a value are all among them, or none.
            if matches!(concern(id), RelevantValues::Value(_))
                && !operation.is_failed()
                && !object.is_query(&operation.input, operation.output())
            {
                assert_eq!(few.contains(&id), of_few(concern(id)), "{id}, {few:?} of {history:?}");
            }
            let is_part = match concern(id) {
                RelevantValues::All => few.contains(&id),
                value @ RelevantValues::Value(_) => of_few(value),
            };
            if !is_part {
                let more = [few.as_slice(), &[id]].concat();
                assert!(!has_order(object, &restricted(&history, &more, base)), "{id}, {few:?}");
                counts.others += 1;
            }
        }
    }
    counts
}

/// Returns the number of operations that were tried beside few.
fn assert_exact<S>(object: &S) -> usize
where
    S: Drawn + ByValues + Clone + Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    let counts = compare(object, 800);
    assert!(counts.violations > 50, "{counts:?}");
    // Values are unique, so rules decide nearly all prefixes.
    assert!(10 * counts.first > 8 * counts.violations, "{counts:?}");
    assert!(10 * counts.alarms > 8 * (counts.alarms + counts.missed), "{counts:?}");
    assert!(10 * counts.few < 8 * counts.all, "{counts:?}");
    counts.others
}

#[test]
fn queues_and_stacks_have_exact_small_refutations() {
    let others = [
        assert_exact(&Queue::default()),
        assert_exact(&Stack::default()),
        assert_exact(&PriorityQueue::default()),
    ];
    assert!(others.iter().all(|others| *others > 50), "{others:?}");
}

#[test]
fn cells_and_locks_have_exact_small_refutations() {
    assert_exact(&Register { initial: 0 });
    assert_exact(&Lock::default());
    let counts = compare(&SwapRegister { initial: 0 }, 800);
    assert!(counts.violations > 50 && counts.first > 25, "{counts:?}");
}

#[test]
fn searched_objects_have_small_refutations() {
    for counts in [compare(&Set::default(), 500), compare(&Counter::default(), 500)] {
        assert!(counts.violations > 50, "{counts:?}");
        assert!(10 * counts.few < 9 * counts.all, "{counts:?}");
    }
}
