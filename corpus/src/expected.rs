//! The answer that a case carries.

use std::fmt;

/// The answer that a checker must give.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Expected {
    /// The history is linearizable.
    Linearizable,
    /// It is not.
    Violation {
        /// The only rule that it breaks, as
        /// [`Reason::name`](snapshot_core::verdict::Reason::name) calls it;
        /// `None` where the case breaks some rule, whichever.
        reason: Option<&'static str>,
    },
}

impl Expected {
    /// Whether the history is linearizable.
    pub const fn is_linearizable(self) -> bool {
        matches!(self, Self::Linearizable)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linearizable => f.write_str("linearizable"),
            Self::Violation { reason: None } => f.write_str("violation"),
            Self::Violation { reason: Some(reason) } => write!(f, "violation {reason}"),
        }
    }
}
