//! Objects with a specification as kinds of objects: one wrapper per way of deciding.

use thiserror::Error;

use super::{Answer, Cost, Criterion, Evidence, Judged, JudgedOf, ObjectKind, Specified};
use crate::OperationId;
use crate::certificate::deficiency::{self, DeficiencyError};
use crate::certificate::groups::{self, GroupsError};
use crate::generic::{
    self, Beyond, ByValues, History, Online, OnlineOf, Outcome, PartsOutcome, Proof, ProofError,
    Reason, RelevantValues, Specification,
};
use crate::immediate::SetLinearization;
use crate::search::Budget;
use crate::synchronisation::progress::{self, Progress};
use crate::synchronisation::{
    Deficiency, Keyed, Single, Synchronisation, Verdict, Violation, by_keys, by_search,
};
use crate::verdict::Exhausted;

/// An object whose outputs name the partner's argument: decided by keys, in O(n log n).
#[derive(Clone, Copy, Debug, Default)]
pub struct ByKeys<S>(pub S);

/// An object of which only the specification is known: decided by search.
#[derive(Clone, Copy, Debug, Default)]
pub struct BySearch<S>(pub S);

/// The proof that a history is not set-linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GroupsProof {
    /// Operations that cannot all have partners.
    Deficiency(Deficiency),
    /// Operations that break a rule.
    Rule(Proof),
}

/// The reason why a [`GroupsProof`] proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum GroupsProofError {
    /// The operations can have partners.
    #[error("the operations are no proof of a violation: {0}")]
    Deficiency(#[from] DeficiencyError),
    /// The operations break no rule.
    #[error("the operations break no rule: {0}")]
    Rule(#[from] ProofError),
}

/// The reason why a judge of groups has no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Open {
    /// The budget that ran out.
    pub exhausted: Exhausted,
    /// The reason why rules did not decide, if the object has rules.
    pub beyond: Option<Beyond>,
}

fn judged(verdict: Verdict, method: &'static str) -> Judged<SetLinearization, Violation, Open> {
    let answer = match verdict {
        Verdict::SetLinearizable(groups) => Answer::Correct(groups),
        Verdict::Violation(violation) => Answer::Violation(violation),
        Verdict::Unknown { exhausted, beyond, .. } => Answer::Unknown(Open { exhausted, beyond }),
    };
    Judged { answer, method }
}

impl Evidence for Violation {
    type Proof = GroupsProof;

    fn proof(&self) -> Option<GroupsProof> {
        match self {
            Self::Unmatched { deficiency, .. } => deficiency.clone().map(GroupsProof::Deficiency),
            Self::Rule(proof) => Some(GroupsProof::Rule(proof.clone())),
            Self::Searched(_) | Self::Few(_) => None,
        }
    }

    fn operations(&self) -> Vec<OperationId> {
        match self {
            Self::Unmatched { deficiency: Some(Deficiency { partners, components }), .. } => {
                components.iter().flatten().chain(partners).copied().collect()
            }
            Self::Unmatched { operation, deficiency: None } => vec![*operation],
            Self::Searched(furthest) => furthest.due.into_iter().collect(),
            Self::Few(operations) => operations.clone(),
            Self::Rule(proof) => proof.operations(),
        }
    }
}

impl<S: Keyed> ObjectKind for ByKeys<S> {
    type History = History<S::Input, S::Output>;
    type Order = SetLinearization;
    type Violation = Violation;
    type Unknown = Open;
    type OrderError = GroupsError;
    type ProofError = GroupsProofError;

    const CRITERION: Criterion = Criterion::SetLinearizable;
    const COST: Cost = Cost::Polynomial;

    fn decide(&self, history: &Self::History, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        judged(by_keys(&self.0, history, budget), "keys")
    }

    fn check_order(
        &self,
        history: &Self::History,
        order: &SetLinearization,
    ) -> Result<(), GroupsError> {
        groups::check(&self.0, history, order)
    }

    fn check_proof(
        &self,
        history: &Self::History,
        proof: &GroupsProof,
    ) -> Result<(), GroupsProofError> {
        match proof {
            GroupsProof::Deficiency(sets) => Ok(deficiency::check(&self.0, history, sets)?),
            GroupsProof::Rule(proof) => Err(ProofError::Object { rule: proof.rule() }.into()),
        }
    }

    fn progress(&self, history: &Self::History, budget: &mut Budget<'_>) -> Option<Progress> {
        Some(progress::by_keys(&self.0, history, budget))
    }
}

impl<S: Synchronisation> ObjectKind for BySearch<S> {
    type History = History<S::Input, S::Output>;
    type Order = SetLinearization;
    type Violation = Violation;
    type Unknown = Open;
    type OrderError = GroupsError;
    type ProofError = GroupsProofError;

    const CRITERION: Criterion = Criterion::SetLinearizable;
    const COST: Cost = Cost::Search;

    fn decide(&self, history: &Self::History, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        judged(by_search(&self.0, history, budget), "search")
    }

    fn check_order(
        &self,
        history: &Self::History,
        order: &SetLinearization,
    ) -> Result<(), GroupsError> {
        groups::check(&self.0, history, order)
    }

    fn check_proof(&self, _: &Self::History, proof: &GroupsProof) -> Result<(), GroupsProofError> {
        match proof {
            GroupsProof::Deficiency(_) => Err(DeficiencyError::Arity.into()),
            GroupsProof::Rule(proof) => Err(ProofError::Object { rule: proof.rule() }.into()),
        }
    }

    fn progress(&self, history: &Self::History, budget: &mut Budget<'_>) -> Option<Progress> {
        Some(progress::by_search(&self.0, history, budget))
    }
}

/// The judge of a specification's executions.
struct OfSingle<'s, S: Specification>(Box<OnlineOf<'s, S>>);

impl<S: Specification> Online<History<S::Input, S::Output>, Single<S>> for OfSingle<'_, S> {
    fn invoked(&mut self, history: &History<S::Input, S::Output>, operation: OperationId) {
        self.0.invoked(history, operation);
    }

    fn ended(&mut self, history: &History<S::Input, S::Output>, operation: OperationId) {
        self.0.ended(history, operation);
    }

    fn is_violation(&self) -> bool {
        self.0.is_violation()
    }

    fn is_partial(&self) -> bool {
        self.0.is_partial()
    }

    fn beyond(&self, history: &History<S::Input, S::Output>) -> Option<Beyond> {
        self.0.beyond(history)
    }

    fn take_settled(&mut self, settled: &mut Vec<usize>) {
        self.0.take_settled(settled);
    }

    fn object(&self) -> Option<Single<S>> {
        self.0.object().map(Single)
    }
}

impl<S: ByValues<Input: Clone, Output: Clone>> ObjectKind for Single<S> {
    type History = History<S::Input, S::Output>;
    type Order = SetLinearization;
    type Violation = Violation;
    type Unknown = Open;
    type OrderError = GroupsError;
    type ProofError = GroupsProofError;

    const CRITERION: Criterion = Criterion::Linearizable;
    const COST: Cost = Cost::Rules;

    fn decide(&self, history: &Self::History, budget: &mut Budget<'_>) -> JudgedOf<Self> {
        let outcome = generic::check(&self.0, history, budget);
        let method = if outcome.states() == 0 { "rules" } else { "search" };
        if let Outcome::NotLinearizable { reason: Reason::Searched(furthest), .. } = &outcome {
            let few = generic::fewest(&self.0, history, furthest, budget);
            return Judged { answer: Answer::Violation(Violation::Few(few)), method };
        }
        judged(outcome.into(), method)
    }

    fn check_order(
        &self,
        history: &Self::History,
        order: &SetLinearization,
    ) -> Result<(), GroupsError> {
        groups::check(self, history, order)
    }

    fn check_proof(
        &self,
        history: &Self::History,
        proof: &GroupsProof,
    ) -> Result<(), GroupsProofError> {
        match proof {
            GroupsProof::Deficiency(_) => Err(DeficiencyError::Arity.into()),
            GroupsProof::Rule(proof) => Ok(generic::check_proof(&self.0, history, proof)?),
        }
    }

    fn online(&self) -> Option<Box<dyn Online<Self::History, Self> + '_>> {
        self.0.online().map(|judge| Box::new(OfSingle(judge)) as Box<_>)
    }

    fn progress(&self, history: &Self::History, budget: &mut Budget<'_>) -> Option<Progress> {
        Some(progress::by_search(self, history, budget))
    }

    fn refute_parts(
        &self,
        history: &Self::History,
        most: usize,
        budget: &mut Budget<'_>,
    ) -> Option<PartsOutcome> {
        Some(generic::refute_parts(&self.0, history, most, budget))
    }

    fn shared(&self, history: &Self::History) -> Option<Vec<OperationId>> {
        let operations = history.operations().iter().enumerate();
        let shared = operations.filter(|(_, operation)| {
            let (input, output) = (&operation.input, operation.output());
            !operation.is_failed()
                && !self.0.is_query(input, output)
                && matches!(self.0.concern(input, output), RelevantValues::All)
        });
        Some(shared.map(|(index, _)| OperationId::from_index(index)).collect())
    }
}

impl<S: Keyed> Specified for ByKeys<S> {
    type Specification = S;

    fn specification(&self) -> &S {
        &self.0
    }
}

impl<S: Synchronisation> Specified for BySearch<S> {
    type Specification = S;

    fn specification(&self) -> &S {
        &self.0
    }
}

impl<S: ByValues<Input: Clone, Output: Clone>> Specified for Single<S> {
    type Specification = Self;

    fn specification(&self) -> &Self {
        self
    }
}
