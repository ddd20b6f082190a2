//! The functions of the crate against the definition.

use std::collections::BTreeSet;

use snapshot_core::generic::{
    History, HistoryBuilder, Outcome, Refutation, Specification, barriers, check, refute, weaken,
};
use snapshot_core::search::Budget;

use super::definition::{Answered, is_linearizable};
use super::objects::Register;
use super::orders::{self, Order};

/// An object of the tests as an object of the crate: inputs are operations with their answers.
pub struct Object<A>(std::marker::PhantomData<A>);

impl<A: Answered> Specification for Object<A> {
    type State = A::State;
    type Input = A;
    type Output = ();
    type Part = ();

    fn initial(&self) -> A::State {
        A::State::default()
    }

    fn apply(&self, state: &mut A::State, input: &A, _: Option<&()>) -> bool {
        input.execute(state)
    }

    fn part(&self, _: &A) {}
}

fn unlimited<R>(run: impl FnOnce(&mut Budget<'_>) -> R) -> R {
    run(&mut Budget { memory: usize::MAX, proceed: &mut || true })
}

/// Returns the history with this order of time: in each interval the invocations, then the
/// responses.
pub fn history<A: Answered>(operations: &[A], order: &Order) -> History<A, ()> {
    let mut builder: HistoryBuilder<A, ()> = History::builder();
    for interval in 0..order.intervals {
        for (process, (first, _)) in order.spans.iter().enumerate() {
            if *first == interval {
                builder.invoke(process, operations[process].clone()).expect("the process is idle");
            }
        }
        for (process, (_, last)) in order.spans.iter().enumerate() {
            if *last == interval {
                builder.respond(process, ()).expect("an operation is open");
            }
        }
    }
    builder.finish()
}

/// The crate finds a violation with the needed number of cuts, and with no fewer.
pub fn agree<A: Answered>(operations: &[A], order: &Order, needed: Option<usize>) {
    let object = Object(std::marker::PhantomData);
    let history = history(operations, order);
    assert_eq!(barriers(&history).len() + 1, order.intervals, "{history:?}");
    let found = unlimited(|budget| refute(&object, &history, usize::MAX, budget));
    let Some(needed) = needed else {
        assert!(
            matches!(found, Refutation::Unrefuted { is_linearizable: true, .. }),
            "{found:?}: {history:?}"
        );
        return;
    };
    let Refutation::Refuted { cuts, is_least: true, .. } = &found else {
        panic!("{needed} needed, {found:?}: {history:?}");
    };
    assert_eq!(cuts.len(), needed, "{history:?}");
    let fewer = needed.checked_sub(1);
    let with_fewer =
        fewer.map(|fewer| unlimited(|budget| refute(&object, &history, fewer, budget)));
    assert!(
        matches!(with_fewer, None | Some(Refutation::Unrefuted { is_linearizable: false, .. })),
        "{with_fewer:?}: {history:?}"
    );
    let weakened = weaken(&history, cuts);
    let verdict = unlimited(|budget| check(&object, &weakened, budget));
    assert!(matches!(verdict, Outcome::NotLinearizable { .. }));
}

/// Returns the pairs of operations in precedence, of processes numbered like their operations.
fn precedence<I, O>(history: &History<I, O>) -> BTreeSet<(usize, usize)> {
    let operations = history.operations();
    let pairs = operations.iter().flat_map(|one| operations.iter().map(move |other| (one, other)));
    let pairs = pairs.filter(|(one, other)| one.precedes(other));
    pairs.map(|(one, other)| (one.process.index(), other.process.index())).collect()
}

/// For every order and all cuts, at barriers or not.
#[test]
fn weaken_keeps_exactly_the_order_across_cuts() {
    let mut forgotten = 0;
    for operations in 1..=4 {
        orders::each(operations, &mut |order| {
            let writes: Vec<Register> = (0..operations as u8).map(Register::Write).collect();
            let history = history(&writes, order);
            for choice in 0..1_u32 << history.len() {
                let cuts: Vec<usize> =
                    (0..history.len()).rev().filter(|cut| choice >> cut & 1 == 1).collect();
                let weakened = weaken(&history, &cuts);
                let kept = |(one, other): &(usize, usize)| {
                    let of = |process: usize| {
                        let of = |o: &&snapshot_core::generic::Operation<_, _>| {
                            o.process.index() == process
                        };
                        history.operations().iter().find(of).expect("there is one each")
                    };
                    let response = of(*one).response().expect("all respond");
                    cuts.iter().any(|&cut| response < cut && cut <= of(*other).invocation)
                };
                let whole = precedence(&history);
                let expected: BTreeSet<_> = whole.iter().copied().filter(kept).collect();
                let left = precedence(&weakened);
                assert_eq!(left, expected, "{cuts:?} of {history:?}");
                forgotten += whole.len() - left.len();
                assert!(barriers(&weakened).len() <= cuts.len());
                let inputs = |of: &History<Register, ()>| {
                    of.operations().iter().map(|o| o.input.clone()).collect::<Vec<_>>()
                };
                assert_eq!(inputs(&weakened), inputs(&history), "operations keep their numbers");
            }
        });
    }
    assert!(forgotten > 10_000, "{forgotten}");
}

/// Any history of at most k barriers whose order is contained in a history is contained in the
/// remainder of that history for some k cuts.
#[test]
fn every_weaker_order_survives_some_cuts() {
    let mut contained = 0;
    for operations in 1..=4 {
        let mut all = Vec::new();
        orders::each(operations, &mut |order| all.push(order.clone()));
        let within = |less: &[u32], more: &[u32]| less.iter().zip(more).all(|(l, m)| l & !m == 0);
        for order in &all {
            let whole = order.before(order.barriers());
            let left: Vec<(u32, Vec<u32>)> =
                (0..=order.barriers()).map(|cuts| (cuts, order.before(cuts))).collect();
            for weaker in &all {
                let of_weaker = weaker.before(weaker.barriers());
                if !within(&of_weaker, &whole) {
                    continue;
                }
                contained += 1;
                let barriers = weaker.intervals - 1;
                let mut few =
                    left.iter().filter(|(cuts, _)| cuts.count_ones() as usize <= barriers);
                assert!(few.any(|(_, left)| within(&of_weaker, left)), "{weaker:?} of {order:?}");
            }
        }
    }
    assert!(contained > 3_000, "{contained}");
}

/// Pending operations are open forever, failed ones are absent, and neither ends an interval.
#[test]
fn operations_without_response_end_no_interval() {
    let mut builder: HistoryBuilder<Register, ()> = History::builder();
    builder.invoke(0, Register::Write(1)).unwrap();
    builder.unknown(0).unwrap();
    builder.invoke(1, Register::Write(2)).unwrap();
    builder.respond(1, ()).unwrap();
    builder.invoke(0, Register::Write(3)).unwrap();
    builder.fail(0).unwrap();
    builder.invoke(2, Register::Read(1)).unwrap();
    builder.respond(2, ()).unwrap();
    let history = builder.finish();
    assert_eq!(barriers(&history), [6], "the failed write begins no interval");
    let weakened = weaken(&history, &[6]);
    assert_eq!(precedence(&weakened), BTreeSet::from([(1, 2)]));
    let pending = &weakened.operations()[0];
    assert!(pending.response().is_none() && !pending.is_failed());
    assert!(weakened.operations()[2].is_failed());
    // The pending write comes last.
    let object = Object(std::marker::PhantomData);
    let found = unlimited(|budget| refute(&object, &history, 1, budget));
    assert!(matches!(found, Refutation::Unrefuted { is_linearizable: true, .. }), "{found:?}");
}

/// An exhausted budget is not an answer, and an answer despite it states its strength.
#[test]
fn refute_ends_with_its_budget_and_number_of_cuts() {
    let order = Order { spans: vec![(0, 0), (1, 1), (2, 2)], intervals: 3 };
    let operations = [Register::Write(1), Register::Write(2), Register::Read(1)];
    assert!(!is_linearizable(&operations, &order.before(order.barriers())));
    let history = history(&operations, &order);
    let object: Object<Register> = Object(std::marker::PhantomData);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || false };
    let found = refute(&object, &history, 2, &mut budget);
    assert!(matches!(found, Refutation::Exhausted { .. }), "{found:?}");
    let found = unlimited(|budget| refute(&object, &history, 1, budget));
    assert!(matches!(found, Refutation::Unrefuted { is_linearizable: false, .. }), "{found:?}");
    let found = unlimited(|budget| refute(&object, &history, 2, budget));
    let Refutation::Refuted { cuts, is_least: true, .. } = found else { panic!("{found:?}") };
    assert_eq!(cuts, [2, 4]);
}
