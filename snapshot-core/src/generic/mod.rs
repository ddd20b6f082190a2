//! Linearizability of any object, by search.
//!
//! Everything else in this crate knows one object, the snapshot, and is fast
//! for that reason. Here the object is a parameter, a [`Specification`]; what
//! remains to go by is the order of time. This is the method of Wing and Gong with
//! the memory and the just-in-time linearization of Lowe, part by part where the
//! object has parts (see [`Specification::part`]): exact, and exponential in the
//! number of concurrent operations in the worst case, so it takes a budget, of which the parts
//! have shares that grow in turns.
//! `search.rs` says what makes it quick.
//!
//! [`objects`] has specifications to begin with; [`replay()`] checks an order
//! without any search. [`weaken()`] forgets order of time, and [`refute`] looks for a violation
//! that needs little of it; [`refute_parts`] does so value by value, where the whole is too long.
//!
//! ```
//! use snapshot_core::generic::objects::{Queue, QueueInput, QueueOutput};
//! use snapshot_core::generic::{History, Outcome, check};
//! use snapshot_core::search::Budget;
//!
//! let mut history = History::builder();
//! history.invoke(0, QueueInput::Enqueue('x')).unwrap();
//! history.invoke(1, QueueInput::Enqueue('y')).unwrap();
//! history.respond(1, QueueOutput::Enqueued).unwrap();
//! history.respond(0, QueueOutput::Enqueued).unwrap();
//! history.invoke(0, QueueInput::Dequeue).unwrap();
//! history.respond(0, QueueOutput::Dequeued('y')).unwrap();
//! let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
//! let outcome = check(&Queue::default(), &history.finish(), &mut budget);
//! assert!(matches!(outcome, Outcome::Linearizable { .. })); // y was enqueued first
//! ```

mod history;
pub mod objects;
pub(crate) mod problem;
mod projection;
mod replay;
mod search;
pub(crate) mod slots;
mod specification;
pub(crate) mod states;
mod weaken;

pub use history::{Ending, History, HistoryBuilder, HistoryError, Operation};
pub use projection::{ByValues, Concern, PartsOutcome, Refuted, refute_parts};
pub use replay::{ReplayError, replay};
pub use specification::Specification;
pub use weaken::{Refutation, barriers, refute, refute_within, weaken};

use self::problem::Problem;
use self::search::Stuck;
use crate::OperationId;
use crate::search::Budget;
use crate::verdict::{Exhausted, Linearization};

/// What the search found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// An order that explains the history.
    Linearizable {
        /// The order.
        linearization: Linearization,
        /// Number of configurations entered.
        states: u64,
    },
    /// There is none.
    NotLinearizable {
        /// How far the search got.
        furthest: Furthest,
        /// Number of configurations entered.
        states: u64,
    },
    /// A budget ran out.
    Exhausted {
        /// Which.
        exhausted: Exhausted,
        /// How far the search got, in the part that it was busy with.
        furthest: Furthest,
        /// Number of configurations entered.
        states: u64,
    },
}

/// The longest prefix of a part of a history that the search could explain.
///
/// What the prefix did not yet show, an output of an operation open at its
/// end, was heeded already: so a longer prefix may be linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Furthest {
    /// Number of events of the prefix, those of other parts included.
    pub events: usize,
    /// The operation whose response is the next event.
    pub due: OperationId,
    /// An order of operations of the same part that explains the prefix.
    pub order: Linearization,
}

/// Decides whether a history is linearizable, if the budget allows it.
///
/// Reading the history is linear in its length. Without concurrency so is all
/// of it; the worst case is exponential in the number of operations open at
/// once, per position.
pub fn check<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Outcome {
    decide(specification, history, problem::by_part(specification, history), budget)
}

/// As [`check`], but whatever the object's parts. For comparison, and as a
/// second opinion.
pub fn check_whole<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Outcome {
    decide(specification, history, problem::whole(specification, history), budget)
}

/// Configurations that a search of one of several parts may enter at its first turn, in addition
/// to one for each operation.
const FIRST_TURN: u64 = 1 << 12;

/// How much more each turn allows than the one before: what is searched again is a small share.
const GROWTH: u64 = 8;

/// Searches the parts in turns. A search that has not ended within its turn begins anew at
/// the next one, which is longer: it holds no memory meanwhile, and no part waits for the end of
/// another that is harder.
fn decide<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    problems: Vec<Problem<'_, S::Input, S::Output>>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let mut states = 0;
    let mut orders = vec![Vec::new(); problems.len()];
    let furthest = |Stuck { due, order }| {
        let due = OperationId::from_index(due as usize);
        let response = history.operations()[due.index()].response();
        let events = response.expect("only what responds is ever due");
        Furthest { events, due, order: linearization(&order) }
    };
    let mut too_large: Option<Stuck> = None;
    let mut turn = FIRST_TURN;
    let mut open: Vec<_> = problems.into_iter().enumerate().collect();
    while !open.is_empty() {
        let is_last = open.len() == 1;
        let mut left = Vec::new();
        for (part, problem) in open {
            // One that goes straight on enters as many as it has operations.
            let most =
                if is_last { u64::MAX } else { turn.saturating_add(problem.items.len() as u64) };
            match search::find(specification, problem, most, budget, &mut states) {
                search::Ending::Found(order) => orders[part] = order,
                search::Ending::None(stuck) => {
                    return Outcome::NotLinearizable { furthest: furthest(stuck), states };
                }
                search::Ending::Interrupted(problem) => left.push((part, problem)),
                search::Ending::Exhausted(Exhausted::Memory, stuck) => {
                    too_large.get_or_insert(stuck);
                }
                search::Ending::Exhausted(exhausted, stuck) => {
                    return Outcome::Exhausted { exhausted, furthest: furthest(stuck), states };
                }
            }
        }
        open = left;
        turn = turn.saturating_mul(GROWTH);
    }
    match too_large {
        Some(stuck) => {
            let exhausted = Exhausted::Memory;
            Outcome::Exhausted { exhausted, furthest: furthest(stuck), states }
        }
        None => Outcome::Linearizable { linearization: merge(history, &orders), states },
    }
}

fn linearization(order: &[u32]) -> Linearization {
    Linearization { order: order.iter().map(|&id| OperationId::from_index(id as usize)).collect() }
}

/// One order from those of the parts. Each operation is given a point in time
/// within its interval, as early as its part's order allows; where operation A
/// precedes B, A's point, some invocation before A's response, comes before B's.
fn merge<I, O>(history: &History<I, O>, orders: &[Vec<u32>]) -> Linearization {
    if let [order] = orders {
        return linearization(order);
    }
    let mut points: Vec<(usize, u32)> = Vec::new();
    for order in orders {
        let mut point = 0;
        for &id in order {
            point = point.max(history.operations()[id as usize].invocation);
            points.push((point, id));
        }
    }
    by_points(points)
}

/// Operations by their points in time; those of one point as they stand.
fn by_points(mut points: Vec<(usize, u32)>) -> Linearization {
    points.sort_by_key(|(point, _)| *point);
    let order: Vec<u32> = points.into_iter().map(|(_, id)| id).collect();
    linearization(&order)
}
