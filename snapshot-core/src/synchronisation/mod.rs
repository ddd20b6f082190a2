//! Objects whose operations take effect together: channels, exchangers, barriers.
//!
//! A send on a synchronous channel and the receive that takes its value happen at one instant; so
//! do the calls of all threads that meet at a barrier. An execution of such an object is
//! *set-linearizable* (Neiger, PODC 1994; *synchronisation-linearisable*: Lawrence and Lowe,
//! "Synchronisation: Specification and Testing") iff its complete operations, and some of the
//! pending ones, can be put into a sequence of groups, each with an instant inside the intervals of
//! all its operations, such that the object, executed group by group, allows every group with the
//! recorded outputs. A [`Synchronisation`] specifies an object; [`objects`] has the specifications
//! of the paper.
//!
//! | decided by | objects | cost |
//! | --- | --- | --- |
//! | [`by_keys`] | stateless, groups of at most two, outputs name the partner's argument | O(n log n) |
//! | [`by_matching`] | stateless, groups of at most two | polynomial |
//! | [`one_by_one`] | operations take effect one at a time ([`Single`]) | as [`crate::generic`] |
//! | [`by_search`] | any | exponential at worst (the problem is NP-complete), so with a budget |
//!
//! [`crate::certificate::groups`] replays a set linearization; [`crate::certificate::deficiency`]
//! checks the proof that none exists ([`Deficiency`]). Neither searches.
//!
//! An object must not only return correct outputs, but also let operations proceed that can:
//! [`progress`] judges the end of an execution in which nothing can run any more.
//!
//! ```
//! use snapshot_core::generic::History;
//! use snapshot_core::search::Budget;
//! use snapshot_core::synchronisation::objects::{Channel, ChannelInput, ChannelOutput};
//! use snapshot_core::synchronisation::{Verdict, by_keys};
//!
//! let mut history = History::builder();
//! history.invoke(0, ChannelInput::Send(7)).unwrap();
//! history.respond(0, ChannelOutput::Sent).unwrap(); // before anything is received
//! history.invoke(1, ChannelInput::Receive).unwrap();
//! history.respond(1, ChannelOutput::Received(7)).unwrap();
//! let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
//! let verdict = by_keys(&Channel::default(), &history.finish(), &mut budget);
//! assert!(matches!(verdict, Verdict::Violation(_))); // as in a buffer, but not in a channel
//! ```

mod combination;
mod general;
mod graph;
mod keyed;
pub mod objects;
pub mod progress;
mod search;
mod single;
mod specification;

pub use general::Deficiency;
pub use keyed::{Keyed, Matching, Role, Side, matching};
pub use search::DeepestPrefix;
pub use single::{Single, one_by_one};
pub use specification::{Bond, Member, Synchronisation};

use self::general::{Matched, linearization};
use crate::OperationId;
use crate::generic::{Beyond, History, Proof};
use crate::immediate::SetLinearization;
use crate::search::Budget;
use crate::verdict::Exhausted;

/// The verdict on a history, with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The history is set-linearizable, by these groups.
    SetLinearizable(SetLinearization),
    /// The history is not set-linearizable.
    Violation(Violation),
    /// A budget ran out.
    Unknown {
        /// The budget that ran out.
        exhausted: Exhausted,
        /// The longest prefix that a search explained.
        furthest: Option<DeepestPrefix>,
        /// Why rules did not decide it, where there are some.
        beyond: Option<Beyond>,
    },
}

/// The reason why a history is not set-linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// Not all operations can have partners.
    Unmatched {
        /// The first operation without a partner when all before it have theirs.
        operation: OperationId,
        /// The proof, unless it is too large.
        deficiency: Option<Deficiency>,
    },
    /// An exhaustive search found no sequence.
    Searched(DeepestPrefix),
    /// These operations have no order of their own, whatever the others did, and a search tried every
    /// order: few, of an object whose operations take effect one at a time.
    Few(Vec<OperationId>),
    /// A rule of an object whose operations take effect one at a time is broken.
    Rule(Proof),
}

/// Decides by search whether a history is set-linearizable, if the budget allows it.
///
/// Linear in the length where operations do not overlap; exponential in the number of concurrently
/// open operations at worst.
pub fn by_search<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Verdict {
    match search::find(specification, history, true, budget, &mut 0, &mut |_, _| Ok(true)) {
        search::Ending::Found(groups) => Verdict::SetLinearizable(linearization(groups)),
        search::Ending::None(furthest) => Verdict::Violation(Violation::Searched(furthest)),
        search::Ending::Exhausted(exhausted, furthest) => {
            Verdict::Unknown { exhausted, furthest: Some(furthest), beyond: None }
        }
    }
}

/// Decides by matching whether a history of a stateless object is set-linearizable.
///
/// Polynomial: O(operations^3) per part of the history between instants without open operations;
/// the pairs of operations that can meet are kept within the budget of memory.
///
/// # Panics
/// If groups may have more than two operations.
pub fn by_matching<S: Synchronisation<State = ()>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Verdict {
    assert!(*specification.arities().end() <= 2, "matching is for groups of at most two");
    match general::matching(specification, history, &|_| true, budget) {
        Ok(Matched::Perfect(groups)) => Verdict::SetLinearizable(linearization(groups)),
        Ok(Matched::Not(deficiency)) => {
            let operation = deficiency.components[0][0];
            let deficiency = Some(deficiency);
            Verdict::Violation(Violation::Unmatched { operation, deficiency })
        }
        Err(exhausted) => Verdict::Unknown { exhausted, furthest: None, beyond: None },
    }
}

/// Decides by keys whether a history is set-linearizable. O(n log n); where a pending
/// operation of several pools is needed, as [`by_matching`].
pub fn by_keys<S: Keyed>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Verdict {
    match matching(specification, history, true) {
        Matching::Perfect(groups) => Verdict::SetLinearizable(groups),
        Matching::Undecided(_) => by_matching(specification, history, budget),
        Matching::None(operation) => {
            let deficiency = keyed::deficiency(specification, history, operation, budget);
            Verdict::Violation(Violation::Unmatched { operation, deficiency })
        }
    }
}
