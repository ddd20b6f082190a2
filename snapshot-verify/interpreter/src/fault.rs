//! Faults of a program at run time.

use thiserror::Error;

use crate::language::Span;

/// A meaningless step: the algorithm is faulty, even if its results would be right.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{kind}")]
pub struct Fault {
    /// Text of the meaningless step.
    pub span: Span,
    pub kind: FaultKind,
}

#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A number is outside of the range of its type.
    #[error(
        "{given} is out of range: from {low} to {high} is possible here; \
         test the number first, or widen the type"
    )]
    OutOfRange {
        given: i64,
        /// Least possible number.
        low: i64,
        /// Greatest possible number.
        high: i64,
    },
    /// A value is `none` where a content is needed.
    #[error("this is none, but something is needed here; test it with `!= none` first")]
    NoneUnwrapped,
    /// The first element or the rest of an empty list is taken.
    #[error("the list is empty: it has neither a first nor a rest; test it with `= []` first")]
    EmptyList,
    /// A list exceeds the limit of its length.
    #[error(
        "the list has more than {limit} elements: bound it, by `when len(...) < 3` for the \
         operation that makes it longer, say"
    )]
    ListTooLong {
        /// Largest possible length.
        limit: usize,
    },
    /// A field of a freed node is accessed.
    #[error("{node} was freed: nothing may access it any more")]
    UseAfterFree {
        /// Name of the node.
        node: String,
    },
    /// A freed node is freed again.
    #[error("{node} was freed already")]
    FreedTwice {
        /// Name of the node.
        node: String,
    },
    /// All nodes of a kind are in use: the continuation is unknown.
    #[error(
        "more than {limit} nodes are needed at a time: write `node {name} up to {}`, or let the \
         object's `when` bound it",
        limit * 2
    )]
    NodesExhausted {
        /// Name of the kind of nodes.
        name: String,
        /// Largest possible number of nodes.
        limit: usize,
    },
    /// The set to choose from is empty: there are too few processes.
    #[error("there is nothing to choose from with as few processes")]
    NothingToChoose,
    /// The effect of operations that take effect together depends on their order.
    #[error(
        "what operations do that take effect together depends on their order: before `together`, \
         let each change what no other one changes or looks at"
    )]
    OrderMatters,
    /// Too many operations to try in all blocks.
    #[error(
        "more than {limit} operations that may take effect together are open at a time: fewer \
         processes are needed"
    )]
    TooManyTogether {
        /// Largest possible number of operations.
        limit: usize,
    },
    /// Local computation does not end.
    #[error(
        "no access to shared memory within {limit} local operations: \
         this loop does not seem to end"
    )]
    Endless {
        /// Number of local operations tried.
        limit: u32,
    },
}

impl FaultKind {
    /// Returns true for a limit of the exploration, as opposed to a mistake of the algorithm.
    pub const fn is_limit(&self) -> bool {
        matches!(self, Self::NodesExhausted { .. })
    }

    /// Creates a fault of this kind at a place of the text.
    pub(super) const fn at(self, span: Span) -> Fault {
        Fault { span, kind: self }
    }
}
