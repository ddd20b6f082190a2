//! Kinds of objects: the common interface of judges, certificates and explanations.
//!
//! | kind | executions | order | proof of a violation |
//! | --- | --- | --- | --- |
//! | [`Atomic`] | snapshots | [`Linearization`](crate::verdict::Linearization) | [`AtomicProof`] |
//! | [`Immediate`] | immediate snapshots | [`SetLinearization`](crate::immediate::SetLinearization) | [`immediate::Violation`](crate::immediate::Violation) |
//! | [`Single`](crate::synchronisation::Single) | objects with operations that take effect one at a time | groups of one | [`GroupsProof`] |
//! | [`ByKeys`], [`BySearch`] | objects with operations that take effect together | groups | [`GroupsProof`] |
//!
//! ```
//! use snapshot_core::generic::History;
//! use snapshot_core::generic::objects::{Queue, QueueInput, QueueOutput};
//! use snapshot_core::object::{Answer, Evidence, ObjectKind};
//! use snapshot_core::search::Budget;
//! use snapshot_core::synchronisation::Single;
//!
//! let mut history = History::builder();
//! history.invoke(0, QueueInput::Dequeue).unwrap();
//! history.respond(0, QueueOutput::Dequeued(7)).unwrap();
//! let (queue, history) = (Single(Queue::default()), history.finish());
//! let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
//! let judged = queue.judge(&history, &mut budget);
//! let Answer::Violation(violation) = judged.answer else { panic!() };
//! let proof = violation.proof().unwrap();
//! assert_eq!(queue.check_proof(&history, &proof), Ok(()));
//! ```

mod first;
mod groups;
mod snapshots;
mod watch;

pub use first::{Completion, alarm, completion};
pub use groups::{ByKeys, BySearch, GroupsProof, GroupsProofError, Open};
pub use snapshots::{Atomic, AtomicProof, AtomicProofError, Immediate};
pub use watch::Watch;

use std::error::Error;

use crate::OperationId;
use crate::generic::{History, Online, PartsOutcome};
use crate::search::Budget;
use crate::synchronisation::Synchronisation;
use crate::synchronisation::progress::Progress;
use crate::verdict::Dispute;

/// The criterion of a correct execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Criterion {
    /// Operations take effect one at a time.
    Linearizable,
    /// Operations take effect in groups.
    SetLinearizable,
}

impl Criterion {
    /// Returns `linearizable` or `set-linearizable`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linearizable => "linearizable",
            Self::SetLinearizable => "set-linearizable",
        }
    }
}

/// The answer of a judge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer<O, V, U> {
    /// The execution is correct, by this order.
    Correct(O),
    /// The execution is not correct.
    Violation(V),
    /// The judge cannot decide, for this reason.
    Unknown(U),
    /// Two judges contradict each other, so neither is believed.
    Disputed(Dispute),
}

/// An answer with the method that reached it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judged<O, V, U> {
    /// The answer.
    pub answer: Answer<O, V, U>,
    /// The method in a word: `keys`, `matching`, `rules`, `search`, `conditions`, or a
    /// [`Method`](crate::verdict::Method).
    pub method: &'static str,
}

/// [`Judged`] of a kind of object.
pub type JudgedOf<K> =
    Judged<<K as ObjectKind>::Order, <K as ObjectKind>::Violation, <K as ObjectKind>::Unknown>;

/// The cost of a decision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cost {
    /// Polynomial in the length of every history.
    Polynomial,
    /// Polynomial if rules decide, which depends on the history; else exponential.
    Rules,
    /// Exponential in the number of overlapping operations.
    Search,
}

/// The finding that an execution is not correct.
pub trait Evidence {
    /// The part of it that can be checked.
    type Proof;

    /// Returns the proof; `None` if only a search finds the violation, or if the proof is too
    /// large.
    fn proof(&self) -> Option<Self::Proof>;

    /// Returns the operations that it names, each once, in the order of its argument.
    fn operations(&self) -> Vec<OperationId>;
}

/// Proof of a violation, by the kind of object.
pub type ProofOf<K> = <<K as ObjectKind>::Violation as Evidence>::Proof;

/// A kind of object: its executions, their judge, and the proofs of its answers.
pub trait ObjectKind {
    /// An execution.
    type History;
    /// The proof that an execution is correct.
    type Order;
    /// The finding that an execution is not correct.
    type Violation: Evidence;
    /// The reason for a missing answer.
    type Unknown;
    /// The reason why an order proves nothing.
    type OrderError: Error;
    /// The reason why a proof of a violation proves nothing.
    type ProofError: Error;

    /// The criterion of a correct execution.
    const CRITERION: Criterion;
    /// The cost of a decision.
    const COST: Cost;

    /// Decides whether an execution is correct, if the budget allows it.
    fn decide(&self, history: &Self::History, budget: &mut Budget<'_>) -> JudgedOf<Self>;

    /// Checks an order, without any search.
    ///
    /// # Errors
    /// The first reason why the order proves nothing.
    fn check_order(
        &self,
        history: &Self::History,
        order: &Self::Order,
    ) -> Result<(), Self::OrderError>;

    /// Checks the proof of a violation, by code that shares nothing with [`Self::decide`].
    ///
    /// # Errors
    /// The first reason why it proves nothing.
    fn check_proof(
        &self,
        history: &Self::History,
        proof: &ProofOf<Self>,
    ) -> Result<(), Self::ProofError>;

    /// As [`Self::decide`]; each order is replayed, and each proof checked, before it is returned.
    fn judge(&self, history: &Self::History, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        const DECISION: &str = "the way of deciding";
        const CHECK: &str = "the check of its proof";
        let decided = self.decide(history, budget);
        let dispute = match &decided.answer {
            Answer::Correct(order) if self.check_order(history, order).is_err() => {
                Dispute { accepting: DECISION, refusing: CHECK }
            }
            Answer::Violation(violation)
                if violation
                    .proof()
                    .is_some_and(|proof| self.check_proof(history, &proof).is_err()) =>
            {
                Dispute { accepting: CHECK, refusing: DECISION }
            }
            _ => return decided,
        };
        Judged { answer: Answer::Disputed(dispute), ..decided }
    }

    /// Returns the judge of executions that are being made; `None` if the kind has none.
    ///
    /// Snapshots of either kind have judges that take events of their own:
    /// [`Monitor`](crate::monitor::Monitor) and [`immediate::Monitor`](crate::immediate::Monitor).
    /// Others without a judge are judged again as they grow ([`Watch`]).
    fn online(&self) -> Option<Box<dyn Online<Self::History, Self> + '_>>
    where
        Self: Sized,
    {
        None
    }

    /// Judges the progress of a correct execution at whose end nothing can run any more; `None` if
    /// operations of the object never wait.
    fn progress(&self, history: &Self::History, budget: &mut Budget<'_>) -> Option<Progress> {
        let _ = (history, budget);
        None
    }

    /// Looks for operations on few values, and at most `most` cuts, that show a violation
    /// ([`refute_parts`](crate::generic::refute_parts)); `None` if the object has no parts by
    /// values.
    fn refute_parts(
        &self,
        history: &Self::History,
        most: usize,
        budget: &mut Budget<'_>,
    ) -> Option<PartsOutcome> {
        let _ = (history, most, budget);
        None
    }

    /// Returns the operations that every part of an execution by values has, and without which its
    /// other operations may be impossible: those that concern all values, and may change the
    /// object. `None` if the object has no parts by values.
    fn shared(&self, history: &Self::History) -> Option<Vec<OperationId>> {
        let _ = history;
        None
    }
}

/// History of a specified object.
type HistoryOf<S> = History<<S as Synchronisation>::Input, <S as Synchronisation>::Output>;

/// A kind of object that a specification defines.
pub trait Specified: ObjectKind<History = HistoryOf<Self::Specification>> {
    /// The type of the specification.
    type Specification: Synchronisation;

    /// Returns the specification.
    fn specification(&self) -> &Self::Specification;
}
