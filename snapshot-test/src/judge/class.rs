//! The class of a finding: what exit codes, tallies and verdicts depend on.

use super::{Finding, immediate};
use crate::format::Object;
use crate::synchronisation;

/// The class of a finding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// The input is linearizable, or set-linearizable.
    Right,
    Violation,
    Unknown,
    Malformed,
    /// The input cannot be opened.
    Unreadable,
    /// Two judges contradict each other.
    Disputed,
}

impl Finding {
    /// Returns the class; of several objects, that of the worst.
    pub fn class(&self) -> Class {
        match self {
            Self::Linearizable { .. } => Class::Right,
            Self::Violation(_) => Class::Violation,
            Self::Unknown { .. } | Self::Unsearched { .. } => Class::Unknown,
            Self::Immediate(finding) => match finding {
                immediate::Finding::SetLinearizable(_) => Class::Right,
                immediate::Finding::Violation(_) => Class::Violation,
                immediate::Finding::Undecided(..) => Class::Unknown,
                immediate::Finding::Disputed(_) => Class::Disputed,
            },
            Self::Recorded(judgement) => match judgement.finding {
                synchronisation::Finding::SetLinearizable(_) => Class::Right,
                synchronisation::Finding::Violation(_) => Class::Violation,
                synchronisation::Finding::Unknown { .. } => Class::Unknown,
                synchronisation::Finding::Disputed(_) => Class::Disputed,
            },
            Self::Objects(_) if self.disputed().is_some() => Class::Disputed,
            Self::Objects(objects) if objects.violations > 0 => Class::Violation,
            Self::Objects(objects) if objects.unknown > 0 => Class::Unknown,
            Self::Objects(_) => Class::Right,
            Self::Malformed(error) if error.unopened().is_some() => Class::Unreadable,
            Self::Malformed(_) => Class::Malformed,
            Self::Disputed(_) => Class::Disputed,
        }
    }

    /// Returns the criterion of a correct input: `linearizable` or `set-linearizable`.
    pub fn criterion(&self) -> &'static str {
        match self {
            Self::Immediate(_) => Object::Immediate.criterion(),
            Self::Recorded(judgement) => judgement.object.criterion(),
            Self::Objects(objects) => objects.criterion,
            _ => Object::Snapshot.criterion(),
        }
    }
}
