//! Judgements for human readers and for programs.

mod exchanges;
mod human;
mod json;
mod objects;
mod shown;
mod violation;

pub use human::{explained, human, summary};
pub use json::{Record, SCHEMA, json};
pub(crate) use json::{json_of, text};
pub use shown::{Shown, shown};

use serde::{Deserialize, Serialize};
use snapshot_core::check::counted;
use snapshot_core::verdict::Exhausted;

use crate::format::Doubt;
use crate::judge::{Class, Finding};

/// Numbers of inputs by verdict.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// Linearizable, or set-linearizable.
    pub right: usize,
    pub violations: usize,
    pub unknown: usize,
    pub malformed: usize,
    /// Inputs on which two judges contradict each other.
    pub disputed: usize,
    /// Inputs that cannot be opened.
    pub unreadable: usize,
}

impl Tally {
    pub fn count(&mut self, finding: &Finding) {
        let count = match finding.class() {
            Class::Right => &mut self.right,
            Class::Violation => &mut self.violations,
            Class::Unknown => &mut self.unknown,
            Class::Malformed => &mut self.malformed,
            Class::Unreadable => &mut self.unreadable,
            Class::Disputed => &mut self.disputed,
        };
        *count += 1;
    }

    /// Adds the counts of another tally.
    pub const fn add(&mut self, other: Self) {
        self.right += other.right;
        self.violations += other.violations;
        self.unknown += other.unknown;
        self.malformed += other.malformed;
        self.disputed += other.disputed;
        self.unreadable += other.unreadable;
    }

    pub const fn inputs(&self) -> usize {
        self.right
            + self.violations
            + self.unknown
            + self.malformed
            + self.unreadable
            + self.disputed
    }

    /// Returns the exit code: 4 if two judges contradict each other, else 1 if there is a
    /// violation, else 2 if an input is malformed or cannot be opened, else 3 if one is unknown,
    /// else 0.
    pub const fn code(&self) -> u8 {
        match self {
            Self { disputed: 1.., .. } => 4,
            Self { violations: 1.., .. } => 1,
            Self { malformed: 1.., .. } | Self { unreadable: 1.., .. } => 2,
            Self { unknown: 1.., .. } => 3,
            _ => 0,
        }
    }

    /// Renders the tally for human readers, in one line.
    pub fn human(&self) -> String {
        self.human_of("linearizable")
    }

    /// As [`Self::human`], with this word for correct inputs.
    pub fn human_of(&self, criterion: &str) -> String {
        let Self { right, violations, unknown, malformed, unreadable, disputed } = self;
        let inputs = counted(self.inputs() as u64, "input", "inputs");
        let violations = counted(*violations as u64, "violation", "violations");
        let mut text = format!(
            "{inputs}: {right} {criterion}, {violations}, {unknown} unknown, {malformed} malformed"
        );
        for (count, word) in [(unreadable, "unreadable"), (disputed, "disputed")] {
            if *count > 0 {
                text += &format!(", {count} {word}");
            }
        }
        text + "\n"
    }
}

/// Returns the exit code for a set of findings, as [`Tally::code`].
pub fn exit_code<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> u8 {
    let mut tally = Tally::default();
    findings.into_iter().for_each(|finding| tally.count(finding));
    tally.code()
}

/// Returns the consequence of times that run backwards for a finding.
pub fn doubt(finding: &Finding) -> Doubt {
    match exit_code([finding]) {
        0 => Doubt::Missed,
        1 => Doubt::FalseAlarm,
        _ => Doubt::Either,
    }
}

pub fn verdict(finding: &Finding) -> &'static str {
    match finding.class() {
        Class::Right => finding.criterion(),
        Class::Violation => "violation",
        Class::Unknown => "unknown",
        Class::Malformed => "malformed",
        Class::Unreadable => "unreadable",
        Class::Disputed => "disputed",
    }
}

fn exhausted(exhausted: Exhausted) -> &'static str {
    match exhausted {
        Exhausted::Time => "time",
        Exhausted::Memory => "memory",
    }
}
