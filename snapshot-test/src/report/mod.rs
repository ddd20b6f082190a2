//! Judgements for people and for programs.

mod exchanges;
mod human;
mod json;
mod objects;

pub use human::{explained, human, summary};
pub use json::{Record, SCHEMA, json};
pub(crate) use json::{json_of, text};

use snapshot_core::verdict::Exhausted;

use crate::judge::{Finding, immediate};

/// The exit code for a set of findings: 1 if there is a violation, else 2 if
/// an input is malformed, else 3 if one is unknown, else 0.
pub fn exit_code<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> u8 {
    let severity = |finding: &Finding| match finding {
        Finding::Linearizable { .. }
        | Finding::Immediate(immediate::Finding::SetLinearizable(_)) => 0,
        Finding::Unknown { .. }
        | Finding::Unsearched { .. }
        | Finding::Immediate(immediate::Finding::Undecided(..)) => 1,
        Finding::Malformed(_) => 2,
        Finding::Violation(_) | Finding::Immediate(immediate::Finding::Violation(_)) => 3,
        Finding::Objects(objects) if objects.violations > 0 => 3,
        Finding::Objects(objects) => u8::from(objects.unknown > 0),
    };
    match findings.into_iter().map(severity).max() {
        None | Some(0) => 0,
        Some(1) => 3,
        Some(2) => 2,
        Some(_) => 1,
    }
}

/// The one-word verdict.
pub fn verdict(finding: &Finding) -> &'static str {
    match finding {
        Finding::Linearizable { .. } => "linearizable",
        Finding::Immediate(immediate::Finding::SetLinearizable(_)) => "set-linearizable",
        Finding::Violation(_) | Finding::Immediate(immediate::Finding::Violation(_)) => "violation",
        Finding::Unknown { .. }
        | Finding::Unsearched { .. }
        | Finding::Immediate(immediate::Finding::Undecided(..)) => "unknown",
        Finding::Malformed(_) => "malformed",
        Finding::Objects(objects) if objects.violations > 0 => "violation",
        Finding::Objects(objects) if objects.unknown > 0 => "unknown",
        Finding::Objects(objects) => objects.object.criterion(),
    }
}

fn exhausted(exhausted: Exhausted) -> &'static str {
    match exhausted {
        Exhausted::Time => "time",
        Exhausted::Memory => "memory",
    }
}
