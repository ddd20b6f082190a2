//! Exact search, for the histories that the linear-time conditions leave open:
//! those in which values are ambiguous, or updates of one segment overlap.
//!
//! First `candidates.rs` narrows the candidates of each entry, over the whole history; where that
//! leaves one candidate per entry, the conditions decide after all. Else `order.rs` searches for a
//! linearization, and remembers every state that it has left without success (Wing and Gong; Lowe's
//! memoisation). With one writer per segment a state is little more than a position per process, so
//! there are at most (length x 2^processes) states; this is still exponential, so the search takes
//! a budget, and may end without an answer.

mod candidates;
mod guide;
mod order;
mod problem;

use std::hash::Hash;

use self::candidates::{Candidates, Narrowing};
pub use self::guide::Guide;
pub(crate) use self::guide::Source;
use self::order::Ending;
use self::problem::Problem;
use crate::OperationId;
use crate::history::History;
use crate::verdict::{Exhausted, Linearization};

/// Limits of an exact search.
pub struct Budget<'a> {
    /// Bytes that remembered states may take.
    pub memory: usize,
    /// Polled regularly; `false` ends the search.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// The result of an exact search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The history is linearizable, by this order.
    Linearizable(Linearization),
    /// The history is not linearizable.
    NotLinearizable {
        /// Number of states visited; 0 if narrowing alone showed it.
        states: u64,
    },
    /// A budget ran out.
    Exhausted {
        /// The budget that ran out.
        exhausted: Exhausted,
        /// Number of states visited.
        states: u64,
        /// The longest prefix, in events, found to be linearizable.
        linearizable_events: usize,
    },
}

/// Decides any history, if the budget allows it.
///
/// Exact for all values and any number of writers. The worst case is exponential in the number of
/// concurrent operations.
pub fn search<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Outcome {
    narrowed(history, None, budget)
}

/// As [`search`], guided by facts of [`crate::saturation`] about every linearization: operations
/// are taken in the known order, and no value that a scan needs is replaced.
pub fn search_guided<V: Clone + Eq + Hash>(
    history: &History<V>,
    guide: &Guide,
    budget: &mut Budget<'_>,
) -> Outcome {
    narrowed(history, Some(guide), budget)
}

fn narrowed<V: Clone + Eq + Hash>(
    history: &History<V>,
    guide: Option<&Guide>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let problem = Problem::new(history);
    let mut candidates = Candidates::new(&problem);
    if candidates.narrow() == Narrowing::Contradiction {
        return Outcome::NotLinearizable { states: 0 };
    }
    finish(&problem, order::find(&problem, Some(&candidates), guide, budget))
}

/// As [`search`], but without narrowing: uses only the order of operations and the meaning of
/// update and scan. For comparison, and as a second opinion.
pub fn search_plainly<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let problem = Problem::new(history);
    finish(&problem, order::find(&problem, None, None, budget))
}

fn finish(problem: &Problem, ending: Ending) -> Outcome {
    match ending {
        Ending::Found(order) => {
            let id = |operation: &u32| {
                OperationId::from_index(problem.operations[*operation as usize].id as usize)
            };
            Outcome::Linearizable(Linearization { order: order.iter().map(id).collect() })
        }
        Ending::None { states } => Outcome::NotLinearizable { states },
        Ending::Exhausted { exhausted, states, linearizable_events } => {
            Outcome::Exhausted { exhausted, states, linearizable_events }
        }
    }
}
