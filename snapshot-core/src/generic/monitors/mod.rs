//! Monitors: objects of common kinds decided in O(n log n), without search.
//!
//! | monitor | object | decides |
//! | --- | --- | --- |
//! | [`queue`] | first in, first out | values that come once, or again after they left |
//! | [`stack`] | last in, first out | the same; removals without response if they are few |
//! | [`priority`] | least value out | the same |
//! | [`blocks`] | registers with compare-and-set, locks | values written once |
//! | [`alternating`] | an element of a set, a counter without decrements | always, if linearizable |
//!
//! A monitor sees the effects of operations ([`super::effect`]) and their times, and nothing of the object. It is never
//! wrong and may be silent: each order is replayed by the object's specification, and each proof
//! checked by [`super::certificate`], before either is believed.
//!
//! *Values that are ambiguous* (see [`values`]) are first left out: without some of its values, a
//! linearizable history of a collection is linearizable, so a violation of the rest is one of the whole. Then
//! additions and removals are paired by a guess, the k-th to begin with the k-th to end; an order for
//! that is one of the history if it replays. Else the search decides.

pub(super) mod alternating;
mod blocks;
mod misses;
pub(super) mod part;
mod pending;
mod priority;
mod queue;
mod stack;
pub(super) mod tree;
mod values;

use std::cmp::Ordering;
use std::hash::Hash;

use self::part::Part;
use self::values::{Life, Values};
use super::proof::Proof;
use crate::OperationId;

/// Number of operations that a [`Beyond`] names, at most.
const NAMED: usize = 12;

/// The answer of a monitor for a part of a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Decision {
    /// An order that explains the part, once it was replayed.
    Linearizable(Vec<OperationId>),
    /// A proof that there is none, once it was checked.
    Violation(Proof),
    /// The monitor does not know.
    Beyond(Beyond),
}

/// Why a monitor does not decide a part of a history.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Beyond {
    /// The object has no monitor.
    Object,
    /// Values that come again while they are there: operations that put some of them.
    Repeated(Vec<OperationId>),
    /// Removals without response, which may have taken any value: some of them.
    Unanswered(Vec<OperationId>),
    /// This operation: its kind is not known to the monitor, or its place is not settled by rules.
    Operation(OperationId),
    /// Values that come again while they are there, in pairs that were guessed wrongly.
    Guess,
}

/// The answer in places of a part.
enum Found {
    Order(Vec<u32>),
    Violation(Proof),
    Beyond(Beyond),
}

impl Found {
    fn named<V>(self, part: &Part<V>) -> Decision {
        match self {
            Self::Order(order) => Decision::Linearizable(part.named(order)),
            Self::Violation(proof) => Decision::Violation(proof),
            Self::Beyond(beyond) => Decision::Beyond(beyond),
        }
    }
}

/// Decides a part of a queue.
pub(super) fn queue<V: Eq + Hash>(part: &Part<V>) -> Decision {
    collection(part, |values, lives| queue::judge(values, lives))
}

/// Decides a part of a stack.
pub(super) fn stack<V: Eq + Hash>(part: &Part<V>) -> Decision {
    collection(part, |values, lives| {
        pending::judge(values, &lives, &|lives| stack::judge(values, lives))
    })
}

/// Decides a part of a priority queue that returns the least value.
pub(super) fn priority_queue<V: Eq + Hash>(
    part: &Part<V>,
    compare: impl Fn(&V, &V) -> Ordering,
) -> Decision {
    collection(part, |values, lives| {
        let mut sorted: Vec<u32> = (0..values.values.len() as u32).collect();
        let value = |number: u32| values.values[number as usize];
        sorted.sort_unstable_by(|one, other| compare(value(*one), value(*other)));
        let mut ranks = vec![0; sorted.len()];
        let mut rank = 0;
        for (place, &number) in sorted.iter().enumerate() {
            if place > 0 && compare(value(sorted[place - 1]), value(number)).is_lt() {
                rank += 1;
            }
            ranks[number as usize] = rank;
        }
        pending::judge(values, &lives, &|lives| priority::judge(values, lives, &ranks))
    })
}

fn collection<V: Eq + Hash>(
    part: &Part<V>,
    judge: impl Fn(&Values<'_, V>, Vec<Life>) -> Found,
) -> Decision {
    let values = match Values::new(part) {
        Ok(values) => values,
        Err(decision) => return decision,
    };
    let is_certain = |life: &Life| !values.ambiguous[life.value as usize];
    if values.lives.iter().all(is_certain) {
        return judge(&values, values.lives.clone()).named(part);
    }
    let certain = values.lives.iter().copied().filter(is_certain).collect();
    if let Found::Violation(proof) = judge(&values, certain) {
        return Decision::Violation(proof);
    }
    match judge(&values, values.lives.clone()) {
        Found::Order(order) => Decision::Linearizable(part.named(order)),
        _ => Decision::Beyond(Beyond::Repeated(values.repeated())),
    }
}

/// Decides a part of a cell with this initial value, if it has one.
pub(super) fn cell<V: Eq + Hash>(part: &Part<V>, initial: Option<&V>) -> Decision {
    blocks::judge(part, initial).named(part)
}

/// Decides a bit that is set at first or not.
pub(super) fn bit(part: &Part<bool>, initial: bool) -> Decision {
    alternating::bit(part, initial).named(part)
}

/// Decides a number that is 0 at first and never decreases.
pub(super) fn number(part: &Part<i64>) -> Decision {
    alternating::number(part).named(part)
}
