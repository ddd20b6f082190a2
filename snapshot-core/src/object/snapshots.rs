//! Snapshots and immediate snapshots as kinds of objects.

use std::hash::Hash;
use std::marker::PhantomData;

use thiserror::Error;

use super::{Answer, Cost, Criterion, Evidence, Judged, JudgedOf, ObjectKind};
use crate::OperationId;
use crate::certificate::blocks::{self, BlocksError};
use crate::certificate::exchanges::{self, ExchangesError};
use crate::certificate::linearization::{self, LinearizationError};
use crate::certificate::refutation::{self, RefutationError};
use crate::certificate::witness::{self, WitnessError};
use crate::check::check;
use crate::explanation::Explanation;
use crate::history::History;
use crate::immediate::{self, Alarm, Repeated, SetLinearization};
use crate::search::Budget;
use crate::verdict::{Linearization, Refutation, Unknown, Verdict, Witness};

/// The atomic snapshot: `update` and `scan`.
#[derive(Clone, Copy, Debug)]
pub struct Atomic<V>(PhantomData<V>);

impl<V> Default for Atomic<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// The proof that a history of a snapshot is not linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AtomicProof {
    /// Operations that have no order.
    Witness(Witness),
    /// Lines that derive a contradiction.
    Refutation(Refutation),
}

/// The reason why an [`AtomicProof`] proves nothing.
#[derive(Debug, Error)]
pub enum AtomicProofError {
    /// The operations have an order, or are too many to try all orders.
    #[error(transparent)]
    Witness(#[from] WitnessError),
    /// A line does not follow.
    #[error(transparent)]
    Refutation(#[from] RefutationError),
}

impl<V> Evidence for Explanation<V> {
    type Proof = AtomicProof;

    fn proof(&self) -> Option<AtomicProof> {
        Some(match &self.refutation {
            Some(refutation) => AtomicProof::Refutation(refutation.clone()),
            None => AtomicProof::Witness(self.witness.clone()),
        })
    }

    fn operations(&self) -> Vec<OperationId> {
        self.operations.iter().map(|operation| operation.id).collect()
    }
}

impl<V: Clone + Eq + Hash> ObjectKind for Atomic<V> {
    type History = History<V>;
    type Order = Linearization;
    type Violation = Explanation<V>;
    type Unknown = Unknown;
    type OrderError = LinearizationError;
    type ProofError = AtomicProofError;

    const CRITERION: Criterion = Criterion::Linearizable;
    const COST: Cost = Cost::Rules;

    fn decide(&self, history: &History<V>, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        let report = check(history, budget);
        let answer = match report.verdict {
            Verdict::Linearizable(order) => Answer::Correct(order),
            Verdict::Violation(_) => Answer::Violation(
                report.explanation.expect("a violation comes with its explanation"),
            ),
            Verdict::Unknown(unknown) => Answer::Unknown(unknown),
            Verdict::Disputed(dispute) => Answer::Disputed(dispute),
        };
        Judged { answer, method: report.method.name() }
    }

    fn check_order(
        &self,
        history: &History<V>,
        order: &Linearization,
    ) -> Result<(), LinearizationError> {
        linearization::check(history, order)
    }

    fn check_proof(
        &self,
        history: &History<V>,
        proof: &AtomicProof,
    ) -> Result<(), AtomicProofError> {
        match proof {
            AtomicProof::Witness(witness) => Ok(witness::check(history, witness)?),
            AtomicProof::Refutation(lines) => Ok(refutation::check(history, lines)?),
        }
    }

    /// As [`Self::decide`], which confirms each finding itself.
    fn judge(&self, history: &History<V>, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        self.decide(history, budget)
    }
}

/// The immediate snapshot: `exchange`.
#[derive(Clone, Copy, Debug)]
pub struct Immediate<V>(PhantomData<V>);

impl<V> Default for Immediate<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl Evidence for Alarm {
    type Proof = immediate::Violation;

    fn proof(&self) -> Option<immediate::Violation> {
        Some(self.violation)
    }

    fn operations(&self) -> Vec<OperationId> {
        self.violation.operations()
    }
}

impl<V: Clone + Eq + Hash> ObjectKind for Immediate<V> {
    type History = immediate::History<V>;
    type Order = SetLinearization;
    type Violation = Alarm;
    type Unknown = Repeated;
    type OrderError = BlocksError;
    type ProofError = ExchangesError;

    const CRITERION: Criterion = Criterion::SetLinearizable;
    const COST: Cost = Cost::Polynomial;

    fn decide(&self, history: &immediate::History<V>, _: &mut Budget<'_>) -> JudgedOf<Self> {
        let answer = match immediate::check(history) {
            immediate::Verdict::SetLinearizable(blocks) => Answer::Correct(blocks),
            immediate::Verdict::Violation(alarm) => Answer::Violation(alarm),
            immediate::Verdict::Undecided(repeated) => Answer::Unknown(repeated),
        };
        Judged { answer, method: "immediate" }
    }

    fn check_order(
        &self,
        history: &immediate::History<V>,
        order: &SetLinearization,
    ) -> Result<(), BlocksError> {
        blocks::check(history, order)
    }

    fn check_proof(
        &self,
        history: &immediate::History<V>,
        proof: &immediate::Violation,
    ) -> Result<(), ExchangesError> {
        exchanges::check(history, proof)
    }
}
