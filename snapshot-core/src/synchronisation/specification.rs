//! Specifications of objects whose operations take effect together.

use std::hash::Hash;
use std::ops::RangeInclusive;

/// An operation in a specification: its input, and its output unless it is pending.
pub type Member<'a, I, O> = (&'a I, Option<&'a O>);

/// The relation of operations in a given state: can they take effect together?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bond {
    /// They can. A larger group that contains them may be possible as well.
    Yes,
    /// They cannot, nor can any group that contains them.
    No,
    /// They cannot, but a larger group that contains them may.
    Prefix,
}

/// A deterministic object whose operations take effect in groups: the specification object
/// and the abstraction function of Lawrence and Lowe ("Synchronisation: Specification and
/// Testing", section 2.4) in one.
///
/// A channel with a counter, in full:
///
/// ```
/// use std::ops::RangeInclusive;
/// use snapshot_core::generic::History;
/// use snapshot_core::search::Budget;
/// use snapshot_core::synchronisation::{Bond, Member, Synchronisation, Verdict, by_search};
///
/// struct Counted;
///
/// #[derive(Eq, Hash, PartialEq)]
/// enum Input { Send(char), Receive }
///
/// /// The counter, and what a receive returns besides.
/// type Output = (u64, Option<char>);
///
/// impl Synchronisation for Counted {
///     type State = u64;
///     type Input = Input;
///     type Output = Output;
///
///     fn initial(&self) -> u64 { 0 }
///     fn arities(&self) -> RangeInclusive<usize> { 2..=2 }
///
///     fn together(&self, count: &mut u64, group: &[Member<'_, Input, Output>]) -> Bond {
///         let (sent, received) = match group {
///             [_] => return Bond::Prefix,
///             [(Input::Send(x), sent), (Input::Receive, received)]
///             | [(Input::Receive, received), (Input::Send(x), sent)] => {
///                 *count += 1;
///                 (sent.is_none_or(|sent| *sent == (*count, None)),
///                  received.is_none_or(|received| *received == (*count, Some(*x))))
///             }
///             _ => return Bond::No,
///         };
///         if sent && received { Bond::Yes } else { Bond::No }
///     }
/// }
///
/// let mut history = History::builder();
/// history.invoke(0, Input::Send('x')).unwrap();
/// history.invoke(1, Input::Receive).unwrap();
/// history.respond(0, (1, None)).unwrap();
/// history.respond(1, (1, Some('x'))).unwrap();
/// let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
/// let verdict = by_search(&Counted, &history.finish(), &mut budget);
/// assert!(matches!(verdict, Verdict::SetLinearizable(groups) if groups.len() == 1));
/// ```
pub trait Synchronisation {
    /// The state of the object, which determines its future; `()` if it is stateless, which the
    /// search exploits. Equivalent states must compare equal.
    type State: Clone + Eq + Hash;
    /// The invocation, with its arguments.
    type Input: Eq + Hash;
    /// The response.
    type Output: Eq + Hash;

    /// The state before the first group.
    fn initial(&self) -> Self::State;

    /// The possible sizes of a group; at least 1. The search tries no larger group, so the upper
    /// end may be `usize::MAX` if only the number of processes bounds groups.
    fn arities(&self) -> RangeInclusive<usize>;

    /// Decides whether these operations can take effect together in this state, with their outputs
    /// (`None`: a pending operation, which may return anything). After [`Bond::Yes`], `state` is
    /// the state after the group; otherwise it is unspecified.
    ///
    /// Contract: a group is a set; the answer and the new state must not depend on the order
    /// in which its operations are given. It is never empty.
    fn together(
        &self,
        state: &mut Self::State,
        group: &[Member<'_, Self::Input, Self::Output>],
    ) -> Bond;

    /// Returns true if a group that is [`Bond::Prefix`] in this state can become possible by adding
    /// some of these operations. `true` is always correct, but costs time: an object whose groups
    /// must have certain operations returns `false` if one is missing, and saves the search from
    /// trying all subsets of the others.
    fn can_complete(
        &self,
        state: &Self::State,
        group: &[Member<'_, Self::Input, Self::Output>],
        left: &[Member<'_, Self::Input, Self::Output>],
    ) -> bool {
        let _ = (state, group, left);
        true
    }

    /// Approximate number of bytes of a state, for the budget.
    fn bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }
}

/// Returns true if an object has only one state, so that the order of groups does not matter.
pub(super) const fn is_stateless<S: Synchronisation>() -> bool {
    size_of::<S::State>() == 0
}
