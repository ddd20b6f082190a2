//! What a program can do wrong while it runs.

use thiserror::Error;

use crate::language::Span;

/// A step that has no meaning: the algorithm is faulty, whatever it returns.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{kind}")]
pub struct Fault {
    /// The text that has no meaning there.
    pub span: Span,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a step.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A number outside of the range of its type.
    #[error(
        "{given} is out of range: from {low} to {high} is possible here; \
         test the number first, or widen the type"
    )]
    OutOfRange {
        /// The number.
        given: i64,
        /// The least possible.
        low: i64,
        /// The greatest possible.
        high: i64,
    },
    /// `none` where something is needed.
    #[error("this is none, but something is needed here; test it with `!= none` first")]
    NoneUnwrapped,
    /// The first of an empty list, or its rest.
    #[error("the list is empty: it has neither a first nor a rest; test it with `= []` first")]
    EmptyList,
    /// A list that grows and grows.
    #[error(
        "the list has more than {limit} elements: bound it, by `when len(...) < 3` for the \
         operation that makes it longer, say"
    )]
    ListTooLong {
        /// The longest possible.
        limit: usize,
    },
    /// A field of a node that was freed.
    #[error("{node} was freed: nothing may access it any more")]
    UseAfterFree {
        /// The node.
        node: String,
    },
    /// A node that was freed is freed again.
    #[error("{node} was freed already")]
    FreedTwice {
        /// The node.
        node: String,
    },
    /// There are as many nodes as there may be: nothing is known of what would follow.
    #[error(
        "more than {limit} nodes are needed at a time: write `node {name} up to {}`, or let the \
         object's `when` bound it",
        limit * 2
    )]
    NodesExhausted {
        /// What they are of.
        name: String,
        /// How many there may be.
        limit: usize,
    },
    /// Of an empty set: there are too few processes.
    #[error("there is nothing to choose from with as few processes")]
    NothingToChoose,
    /// Operations that take effect together.
    #[error(
        "what operations do that take effect together depends on their order: before `together`, \
         let each change what no other one changes or looks at"
    )]
    OrderMatters,
    /// More operations than are tried in all blocks.
    #[error(
        "more than {limit} operations that may take effect together are open at a time: fewer \
         processes are needed"
    )]
    TooManyTogether {
        /// How many there may be.
        limit: usize,
    },
    /// Local computation without end.
    #[error(
        "no access to shared memory within {limit} local operations: \
         this loop does not seem to end"
    )]
    Endless {
        /// How long it was tried.
        limit: u32,
    },
}

impl FaultKind {
    /// Whether it is a limit of what is explored, and no mistake of the algorithm.
    pub const fn is_limit(&self) -> bool {
        matches!(self, Self::NodesExhausted { .. })
    }

    /// This, at a place.
    pub(super) const fn at(self, span: Span) -> Fault {
        Fault { span, kind: self }
    }
}
