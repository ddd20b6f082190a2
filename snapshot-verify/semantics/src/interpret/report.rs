//! What a step did, for people and for replays.

use std::fmt;

use snapshot_core::Process;

use super::event::Event;
use crate::language::Span;

/// What one step did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepReport {
    /// The process that made it.
    pub process: Process,
    /// The text that was executed: of an access or an `atomic` block. A step
    /// that only invokes or responds has none.
    pub span: Option<Span>,
    /// Its accesses to shared memory: one, or those of an `atomic` block.
    pub accesses: Vec<AccessReport>,
    /// The invocation or response that it is.
    pub event: Option<Event>,
}

impl StepReport {
    /// What the step did, on one line.
    pub fn deeds(&self) -> String {
        let accesses = self.accesses.iter().map(ToString::to_string);
        let event = self.event.iter().map(|event| event.action.to_string());
        let deeds: Vec<String> = accesses.chain(event).collect();
        if deeds.is_empty() { "no access".to_owned() } else { deeds.join("; ") }
    }
}

/// One access to a shared cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccessReport {
    /// Its text.
    pub span: Span,
    /// The cell with its indices, or the node: `r[1]`, `Node 1.next`, say.
    pub cell: String,
    /// What was done, with what was read and written as people read it.
    pub deed: Deed,
    /// Whether it is a linearization point of the operation; of none in a program that was made
    /// without.
    pub linearizes: bool,
}

/// What was done with a cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deed {
    /// It was read.
    Read {
        /// What it held.
        seen: String,
    },
    /// It was written.
    Write {
        /// What it holds now.
        written: String,
    },
    /// It was read, and the process linked to it.
    LoadLinked {
        /// What it held.
        seen: String,
    },
    /// It was written iff the link was unbroken.
    StoreConditional {
        /// What it holds now; `None` if the link was broken.
        written: Option<String>,
    },
    /// The link was tested.
    Validate {
        /// Whether it is unbroken.
        linked: bool,
    },
    /// It was written iff it held what was expected.
    CompareAndSwap {
        /// What was expected.
        expected: String,
        /// What it held.
        seen: String,
        /// What it holds now, if it held what was expected.
        written: Option<String>,
    },
    /// It is a node that was allocated.
    Allocate {
        /// What its fields hold.
        fields: Vec<String>,
    },
    /// It is a node that was freed.
    Free,
    /// It is no cell, but a set of which one was chosen.
    Choose {
        /// Which.
        chosen: String,
    },
}

impl Deed {
    /// Whether a conditional access succeeded; `None` of the others.
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

/// `a[1] := 5`, `a[1] is 5`, `LL(X) is 5`, `SC(X, 5) succeeds`, `SC(X) fails`,
/// `VL(X) is true`, `CAS(x, 1, 2) succeeds`, `CAS(x, 1) fails: 3`, `new Node 1(none, 5)`,
/// `free Node 1`, `choose 2 of 0..3`.
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
