//! Reports of steps, for people and for replays.

use std::fmt;

use snapshot_core::Process;

use super::event::Event;
use crate::language::Span;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepReport {
    pub process: Process,
    /// Executed text: an access or an `atomic` block. A step that only invokes or responds has
    /// none.
    pub span: Option<Span>,
    /// Accesses to shared memory: one, or those within an `atomic` block.
    pub accesses: Vec<AccessReport>,
    /// Invocation or response, if the step is one.
    pub event: Option<Event>,
}

impl StepReport {
    /// Describes the step on one line.
    pub fn deeds(&self) -> String {
        let accesses = self.accesses.iter().map(ToString::to_string);
        let event = self.event.iter().map(|event| event.action.to_string());
        let deeds: Vec<String> = accesses.chain(event).collect();
        if deeds.is_empty() { "no access".to_owned() } else { deeds.join("; ") }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccessReport {
    pub span: Span,
    /// The cell with its indices, or the node, such as `r[1]` or `Node 1.next`.
    pub cell: String,
    /// Kind of the access, with the data as text.
    pub deed: Deed,
    /// True for a linearization point of the operation; always false if the program was made
    /// without points.
    pub linearizes: bool,
}

/// Kind of an access, with its data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deed {
    Read {
        /// Content of the cell.
        seen: String,
    },
    Write {
        /// New content of the cell.
        written: String,
    },
    LoadLinked {
        /// Content of the cell.
        seen: String,
    },
    /// Writes iff the link is unbroken.
    StoreConditional {
        /// New content; `None` if the link was broken.
        written: Option<String>,
    },
    Validate {
        /// True if the link is unbroken.
        linked: bool,
    },
    /// Writes iff the cell holds the expected content.
    CompareAndSwap {
        expected: String,
        /// Content before the access.
        seen: String,
        /// New content; `None` if the expectation failed.
        written: Option<String>,
    },
    /// Allocates a node.
    Allocate {
        /// Contents of its fields.
        fields: Vec<String>,
    },
    /// Frees a node.
    Free,
    /// Chooses an element of a set, which stands in place of the cell.
    Choose {
        /// Chosen element.
        chosen: String,
    },
}

impl Deed {
    /// Returns true if a conditional access succeeded; `None` for other accesses.
    pub const fn success(&self) -> Option<bool> {
        match self {
            Self::Read { .. }
            | Self::Write { .. }
            | Self::LoadLinked { .. }
            | Self::Allocate { .. }
            | Self::Choose { .. }
            | Self::Free => None,
            Self::StoreConditional { written } | Self::CompareAndSwap { written, .. } => {
                Some(written.is_some())
            }
            Self::Validate { linked } => Some(*linked),
        }
    }
}

/// Formats as `a[1] := 5`, `a[1] is 5`, `LL(X) is 5`, `SC(X, 5) succeeds`, `SC(X) fails`, `VL(X) is
/// true`, `CAS(x, 1, 2) succeeds`, `CAS(x, 1) fails: 3`, `new Node 1(none, 5)`, `free Node 1`,
/// `choose 2 of 0..3`.
impl fmt::Display for AccessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = &self.cell;
        match &self.deed {
            Deed::Allocate { fields } => write!(f, "new {cell}({})", fields.join(", ")),
            Deed::Free => write!(f, "free {cell}"),
            Deed::Choose { chosen } => write!(f, "choose {chosen} of {cell}"),
            Deed::Read { seen } => write!(f, "{cell} is {seen}"),
            Deed::Write { written } => write!(f, "{cell} := {written}"),
            Deed::LoadLinked { seen } => write!(f, "LL({cell}) is {seen}"),
            Deed::StoreConditional { written: Some(written) } => {
                write!(f, "SC({cell}, {written}) succeeds")
            }
            Deed::StoreConditional { written: None } => write!(f, "SC({cell}) fails"),
            Deed::Validate { linked } => write!(f, "VL({cell}) is {linked}"),
            Deed::CompareAndSwap { expected, written: Some(written), .. } => {
                write!(f, "CAS({cell}, {expected}, {written}) succeeds")
            }
            Deed::CompareAndSwap { expected, seen, written: None } => {
                write!(f, "CAS({cell}, {expected}) fails: {seen}")
            }
        }
    }
}
