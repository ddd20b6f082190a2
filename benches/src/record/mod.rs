//! What was measured, as CSV: one file per table, and one of sessions.
//!
//! A [`Record`] is one run in a process of its own; a [`Session`] is one run of a
//! command, with all that its records share: when, on which machine, on which commit,
//! by which command. Tables and plots are made from these files and nothing else.

mod machine;
mod store;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
pub use store::{Store, StoreError, read};

use crate::process::Limits;

/// How a run ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It answered: linearizable, or verified.
    Linearizable,
    /// It answered: not linearizable.
    Violation,
    /// It took too long.
    Time,
    /// It had too little memory.
    Memory,
    /// It ended without an answer: it does not support the question, or has its own
    /// limit.
    None,
}

impl Outcome {
    /// Of an answer.
    pub const fn of(is_linearizable: bool) -> Self {
        if is_linearizable { Self::Linearizable } else { Self::Violation }
    }

    /// Whether it is an answer, right or wrong.
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Linearizable | Self::Violation)
    }
}

/// One run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// Number of its [`Session`].
    pub session: u32,
    /// What was asked, unique in its table; fixes the seed, where there is one.
    pub case: String,
    /// The row, or the curve, of which it is a part.
    pub group: String,
    /// Where on its curve it lies, if that is a number.
    pub x: Option<f64>,
    /// The method that answered.
    pub method: String,
    /// The part of the method that answered, if the process tells it: `proof`, `search` or
    /// `growing`.
    #[serde(default)]
    pub by: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The right answer, as it is known beforehand.
    pub expected: Option<Outcome>,
    /// Seconds of the work alone, if the process tells them.
    pub seconds: Option<f64>,
    /// Seconds of the process, from start to end.
    pub wall_seconds: f64,
    /// Seconds of all its processors.
    pub cpu_seconds: f64,
    /// The largest part of its memory that was resident at once.
    pub peak_bytes: u64,
    /// States that it counted.
    pub states: Option<u64>,
    /// Transitions that it counted; of a certificate, its bytes.
    pub transitions: Option<u64>,
    /// The limit on its time, in seconds.
    pub time_limit: f64,
    /// The limit on its address space, in bytes.
    pub memory_limit: u64,
}

impl Record {
    /// Whether it answered, and wrongly.
    pub fn is_wrong(&self) -> bool {
        self.outcome.is_answer() && self.expected.is_some_and(|expected| expected != self.outcome)
    }

    /// Seconds of the work, or else of the process.
    pub fn work(&self) -> f64 {
        self.seconds.unwrap_or(self.wall_seconds)
    }

    /// Whether it is an answer to the same question within the same limits.
    pub fn answers(&self, case: &str, method: &str, limits: Limits) -> bool {
        self.case == case
            && self.method == method
            && self.time_limit == limits.time.as_secs_f64()
            && self.memory_limit == limits.memory
    }
}

/// The last run of each method on each case, where the first of them was: what was
/// measured again replaces what it was before.
pub fn latest(records: Vec<Record>) -> Vec<Record> {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut latest: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        let place =
            *places.entry((record.case.clone(), record.method.clone())).or_insert(latest.len());
        match latest.get_mut(place) {
            Some(earlier) => *earlier = record,
            None => latest.push(record),
        }
    }
    latest
}

/// One run of a command.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Session {
    /// Its number, from 1.
    pub session: u32,
    /// When it began, UTC.
    pub date: String,
    /// What was measured, as git names it.
    pub commit: String,
    /// Processor, cores, memory.
    pub machine: String,
    /// The command.
    pub command: String,
}
