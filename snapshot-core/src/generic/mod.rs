//! Linearizability of any object: by rules where it has some, else by search.
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
//! Queues, stacks, priority queues, registers, locks, sets and counters have rules, which decide a
//! part in O(n log n) if its values are told apart: [`Specification::decide_part`]. What the rules
//! leave open is searched. Violations by rules have a [`Proof`] of a few operations, which
//! [`Specification::check_proof`] checks by other code.
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

mod certificate;
mod decide;
mod effect;
mod fewest;
mod history;
mod monitors;
pub mod objects;
mod online;
pub(crate) mod problem;
mod projection;
mod proof;
mod replay;
mod search;
pub(crate) mod slots;
mod specification;
pub(crate) mod states;
mod weaken;

pub use certificate::ProofError;
pub use effect::Effect;
pub use fewest::fewest;
pub use history::{Ending, History, HistoryBuilder, HistoryError, Operation};
pub use monitors::{Beyond, Decision};
pub use online::{Online, OnlineOf};
pub use projection::{ByValues, PartsOutcome, Refuted, RelevantValues, refute_parts};
pub use proof::{Debt, Proof, Stay};
pub use replay::replay;
pub use specification::Specification;
pub use weaken::{Refutation, barriers, refute, refute_within, weaken};

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
        /// Why.
        reason: Reason,
        /// Number of configurations entered.
        states: u64,
    },
    /// A budget ran out.
    Exhausted {
        /// Budget that ran out.
        exhausted: Exhausted,
        /// How far the search got, in the part that it was busy with.
        furthest: DeepestPrefix,
        /// Why rules did not decide that part.
        beyond: Beyond,
        /// Number of configurations entered.
        states: u64,
    },
}

impl Outcome {
    /// The number of configurations that a search entered: 0 iff there was none, since rules
    /// decided.
    pub const fn states(&self) -> u64 {
        match self {
            Self::Linearizable { states, .. }
            | Self::NotLinearizable { states, .. }
            | Self::Exhausted { states, .. } => *states,
        }
    }
}

/// Why a history is not linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reason {
    /// A rule is broken by a few operations.
    Rule(Proof),
    /// The search tried every order.
    Searched(DeepestPrefix),
}

/// The longest prefix of a part of a history that the search could explain.
///
/// What the prefix did not yet show, an output of an operation open at its
/// end, was heeded already: so a longer prefix may be linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeepestPrefix {
    /// Number of events of the prefix, those of other parts included.
    pub events: usize,
    /// The operation whose response is the next event.
    pub due: OperationId,
    /// An order of operations of the same part that explains the prefix.
    pub order: Linearization,
}

/// Decides whether a history is linearizable, if the budget allows it: part by part by the rules of
/// the object, and what these leave open by search.
///
/// Reading the history is linear in its length. Without concurrency so is all
/// of it; the worst case is exponential in the number of operations open at
/// once, per position.
pub fn check<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let rules = specification.has_rules().then(|| decide::by_rules(specification, history));
    decide::decide(specification, history, rules.unwrap_or_default(), budget)
}

/// As [`check`], but by search alone. For comparison, and as a second opinion.
pub fn search<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Outcome {
    decide::decide(specification, history, decide::ByRules::default(), budget)
}

/// As [`search()`], but whatever the object's parts. For comparison, and as a
/// second opinion.
pub fn check_whole<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Outcome {
    let problems = problem::whole(specification, history);
    decide::search(specification, history, problems, decide::ByRules::default(), budget)
}

/// Checks that a proof shows that a history is not linearizable, without any search.
///
/// O(operations) and what the object takes to tell its parts apart.
///
/// # Errors
/// If it does not.
pub fn check_proof<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    proof: &Proof,
) -> Result<(), ProofError> {
    let operations = history.operations();
    let Some(first) = proof.operations().first().copied() else {
        return Err(ProofError::Count { rule: proof.rule() });
    };
    let Some(operation) = operations.get(first.index()) else {
        return Err(ProofError::NoSuchOperation { operation: first });
    };
    let part = specification.part(&operation.input);
    let ids: Vec<OperationId> = (0..operations.len())
        .filter(|id| {
            !operations[*id].is_failed() && specification.part(&operations[*id].input) == part
        })
        .map(OperationId::from_index)
        .collect();
    specification.check_proof(history, &ids, proof)
}
