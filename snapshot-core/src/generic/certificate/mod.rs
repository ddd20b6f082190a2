//! The check of proofs that a history is not linearizable.
//!
//! Nothing here is shared with a monitor or the search: a rule knows the effects of
//! operations, their invocations and responses ([`Facts`]), and counts and compares these.

mod rules;

use std::hash::Hash;

use thiserror::Error;

use super::effect::Effect;
use super::history::History;
use super::proof::Proof;
use crate::OperationId;
use crate::seeded::SeededMap;

/// Why a proof proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ProofError {
    /// The history has no such operation, or it failed, or belongs to another part of the object.
    #[error(
        "operation {operation} is no operation of the part of the history that the proof is about"
    )]
    NoSuchOperation {
        /// The operation named.
        operation: OperationId,
    },
    /// The object does not have this rule.
    #[error("the rule `{rule}` does not apply to this object")]
    Object {
        /// The name of the rule.
        rule: &'static str,
    },
    /// The operation does not have the effect that the rule wants.
    #[error("operation {operation} does not do what the rule `{rule}` says of it")]
    Effect {
        /// The name of the rule.
        rule: &'static str,
        /// The operation.
        operation: OperationId,
    },
    /// The value of the operation is not told apart from equal ones.
    #[error(
        "the value of operation {operation} occurs more than once, so the rule `{rule}` says nothing of it"
    )]
    Ambiguous {
        /// The name of the rule.
        rule: &'static str,
        /// The operation.
        operation: OperationId,
    },
    /// The operations do not come in the order that the rule wants.
    #[error(
        "the operations do not begin and end in the order that the rule `{rule}` needs, at operation {operation}"
    )]
    Time {
        /// The name of the rule.
        rule: &'static str,
        /// The operation at which the order is another.
        operation: OperationId,
    },
    /// Operations are missing, or too few for the rule.
    #[error("the rule `{rule}` needs other or more operations than the proof names")]
    Count {
        /// The name of the rule.
        rule: &'static str,
    },
}

/// The order of two values.
pub(crate) type Order<'a, V> = &'a dyn Fn(&V, &V) -> std::cmp::Ordering;

/// The objects that rules are about.
pub(crate) enum Kind<'a, V> {
    Queue,
    Stack,
    /// The least value first.
    PriorityQueue(Order<'a, V>),
    /// With its initial value, if it has one.
    Cell(Option<&'a V>),
}

/// An operation as a rule sees it.
struct Fact<V> {
    effect: Effect<V>,
    began: usize,
    /// `usize::MAX` if it did not respond.
    ended: usize,
}

/// The operations of a part of a history.
pub(crate) struct Facts<'a, V> {
    kind: Kind<'a, V>,
    facts: SeededMap<OperationId, Fact<V>>,
}

impl<'a, V: Eq + Hash> Facts<'a, V> {
    /// The facts of a part's operations; `effects` has one for each.
    pub fn new<I, O>(
        kind: Kind<'a, V>,
        history: &History<I, O>,
        part: &[OperationId],
        effects: Vec<Effect<V>>,
    ) -> Self {
        let fact = |(id, effect): (&OperationId, Effect<V>)| {
            let operation = &history.operations()[id.index()];
            let ended = operation.response().unwrap_or(usize::MAX);
            (*id, Fact { effect, began: operation.invocation, ended })
        };
        Self { kind, facts: part.iter().zip(effects).map(fact).collect() }
    }

    /// Checks a proof. O(operations of the part).
    pub fn check(&self, proof: &Proof) -> Result<(), ProofError> {
        let rule = rules::Rule::new(self, proof)?;
        match proof {
            Proof::Impossible { operation } => rule.impossible(*operation),
            Proof::Unfounded { removals, additions } => rule.unfounded(removals, additions),
            Proof::Overtaken { first, second } => rule.overtaken(first, second),
            Proof::Overdue { debts, removals } => rule.overdue(debts, removals),
            Proof::Crossed { chain } => rule.crossed(chain),
            Proof::NotLeast { removed, smaller } => rule.not_least(removed, smaller),
            Proof::NotEmpty { operation, inside } => rule.not_empty(*operation, inside),
            Proof::Unwritten { operation, because } => rule.unwritten(*operation, because),
            Proof::ReplacedTwice { first, second, because } => {
                rule.replaced_twice(*first, *second, because)
            }
            Proof::Circle { operations, because } => rule.circle(operations, because),
            Proof::Reversed { sequence } => rule.reversed(sequence),
            Proof::Interleaved { first, second } => rule.interleaved(first, second),
            Proof::NotMissed { operation, before, after } => {
                rule.not_missed(*operation, *before, *after)
            }
            // These are about texts, not about values.
            Proof::Misplaced { .. } | Proof::Shown { .. } => {
                Err(ProofError::Object { rule: proof.rule() })
            }
        }
    }
}
