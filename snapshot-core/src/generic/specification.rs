//! What an object does when its operations are executed one at a time.

use std::hash::Hash;

use super::certificate::ProofError;
use super::history::History;
use super::monitors::{Beyond, Decision};
use super::online::OnlineOf;
use super::proof::Proof;
use crate::OperationId;

/// The sequential specification of a deterministic object.
///
/// Executed in a given state, an operation has exactly one effect and one
/// output; which of its outputs a recorded execution shows is compared here, so
/// that no output need be built. An operation that is not defined in a state
/// (`get` of an empty queue in Herlihy and Wing's sense, which waits) is simply
/// not allowed there.
///
/// A register that can be reset, in full:
///
/// ```
/// use snapshot_core::generic::{History, Outcome, Specification, check};
/// use snapshot_core::search::Budget;
///
/// struct Counter;
///
/// #[derive(Eq, Hash, PartialEq)]
/// enum Input { Increment, Read }
///
/// impl Specification for Counter {
///     type State = u64;
///     type Input = Input;
///     type Output = Option<u64>; // what a read returned
///     type Part = ();
///
///     fn initial(&self) -> u64 { 0 }
///
///     fn apply(&self, state: &mut u64, input: &Input, output: Option<&Option<u64>>) -> bool {
///         match input {
///             Input::Increment => *state += 1,
///             Input::Read => return output.is_none_or(|value| *value == Some(*state)),
///         }
///         true
///     }
///
///     fn part(&self, _: &Input) {}
///
///     fn is_query(&self, input: &Input, _: Option<&Option<u64>>) -> bool {
///         matches!(input, Input::Read)
///     }
/// }
///
/// let mut history = History::builder();
/// history.invoke(0, Input::Increment).unwrap(); // never responds
/// history.invoke(1, Input::Read).unwrap();
/// history.respond(1, Some(1)).unwrap();
/// history.invoke(1, Input::Read).unwrap();
/// history.respond(1, Some(0)).unwrap();
/// let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
/// let outcome = check(&Counter, &history.finish(), &mut budget);
/// assert!(matches!(outcome, Outcome::NotLinearizable { .. }));
/// ```
pub trait Specification {
    /// All that the future of the object depends on. Equal states must be
    /// equal: a state without real equality is never recognised when it is met
    /// again, and the search becomes a tree.
    type State: Clone + Eq + Hash;
    /// What is invoked, with its arguments.
    type Input: Eq + Hash;
    /// What is returned.
    type Output: Eq + Hash;
    /// Names the independent parts that an object is made of; `()` if it is
    /// one piece.
    type Part: Eq + Hash;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// Executes an operation: whether it is defined in this state and returns
    /// `output` there; if so, `state` becomes what it is afterwards, else
    /// anything. `None` allows any output: the operation never responded.
    fn apply(
        &self,
        state: &mut Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> bool;

    /// The part that an operation concerns.
    ///
    /// Contract: the state is a state per part; an operation depends on and changes
    /// only its own part's. Then a history is linearizable iff the operations
    /// of each part are (locality: Herlihy and Wing, "Linearizability: A Correctness
    /// Condition for Concurrent Objects", 1990, Theorem 1; P-compositionality: Horn
    /// and Kroening, "Faster Linearizability Checking via P-Compositionality", 2015),
    /// and each part is searched on its own.
    fn part(&self, input: &Self::Input) -> Self::Part;

    /// Whether an operation with this output changes no state that allows it:
    /// reads, and modifications that report to have failed. (`None`: whatever
    /// the output.) `false` is always right, and costs time.
    ///
    /// Contract: if `true`, [`Self::apply`] leaves each state as it is.
    fn is_query(&self, input: &Self::Input, output: Option<&Self::Output>) -> bool {
        let _ = (input, output);
        false
    }

    /// Whether a state allows a query; as [`Self::apply`] says, without a copy.
    fn allows(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> bool {
        self.apply(&mut state.clone(), input, output)
    }

    /// Bytes that a state takes, for the budget; about.
    fn bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }

    /// Decides a part of a history by rules, if the object has any: an order, a proof that there is
    /// none, or that the search must decide. By default always the last.
    ///
    /// `part` has the operations of one part that did not fail, in the order of their invocations.
    /// An order is replayed and a proof checked before either is believed.
    fn decide_part(
        &self,
        history: &History<Self::Input, Self::Output>,
        part: &[OperationId],
    ) -> Decision {
        let _ = (history, part);
        Decision::Beyond(Beyond::Object)
    }

    /// Checks a proof by [`Self::decide_part`], by code that shares nothing with it.
    ///
    /// # Errors
    /// If it proves nothing of this part.
    fn check_proof(
        &self,
        history: &History<Self::Input, Self::Output>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let _ = (history, part);
        Err(ProofError::Object { rule: proof.rule() })
    }

    /// Returns the judge of executions that are being made; `None` if the object has none, and they
    /// are judged again as they grow. By default none.
    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>>
    where
        Self: Sized,
    {
        None
    }

    /// Whether [`Self::decide_part`] decides anything.
    fn has_rules(&self) -> bool {
        false
    }
}
