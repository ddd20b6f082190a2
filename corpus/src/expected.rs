//! Expected verdict of a case.

use std::fmt;

use snapshot_core::immediate::Condition;
use snapshot_core::verdict::Reason;

use crate::generate::Rule;

/// Conditions of immediate snapshots.
const CONDITIONS: [Condition; 4] =
    [Condition::OwnValue, Condition::Containment, Condition::Immediacy, Condition::Validity];

/// Verdict that a checker must give.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Expected {
    /// The history is linearizable, or, for an immediate snapshot, set-linearizable.
    Linearizable,
    /// The history is not linearizable.
    Violation {
        /// Only rule that the history breaks, as named by
        /// [`Reason::name`](snapshot_core::verdict::Reason::name) or
        /// [`Condition::name`](snapshot_core::immediate::Condition::name); `None` if the case may
        /// break any rule.
        reason: Option<&'static str>,
    },
}

impl Expected {
    /// Returns true if the history is linearizable.
    pub const fn is_linearizable(self) -> bool {
        matches!(self, Self::Linearizable)
    }

    /// Parses the output of [`Display`](fmt::Display); `None` if it is invalid.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.strip_prefix("violation") {
            None => {
                matches!(name, "linearizable" | "set-linearizable").then_some(Self::Linearizable)
            }
            Some("") => Some(Self::Violation { reason: None }),
            Some(rest) => {
                let reason = rest.strip_prefix(' ')?;
                let named = Rule::from_name(reason).map(Rule::name);
                let others = [Reason::Cycle, Reason::Ordering, Reason::NoOrder].map(|r| r.name());
                let others = others.into_iter().chain(CONDITIONS.map(Condition::name));
                let mut others = others.filter(|other| *other == reason);
                let reason = named.or_else(|| others.next())?;
                Some(Self::Violation { reason: Some(reason) })
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_verdicts_parse_as_displayed() {
        let reasons = Rule::ALL
            .map(Rule::name)
            .into_iter()
            .chain(["cycle", "ordering", "no-order", "containment", "validity"])
            .map(Some);
        let violations = reasons.chain([None]).map(|reason| Expected::Violation { reason });
        for answer in violations.chain([Expected::Linearizable]) {
            assert_eq!(Expected::from_name(&answer.to_string()), Some(answer));
        }
        for name in ["", "violations", "violation ", "violation sometimes", "linearizable stale"] {
            assert_eq!(Expected::from_name(name), None, "{name}");
        }
    }
}
