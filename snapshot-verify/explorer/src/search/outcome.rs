//! What a search found.

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

use super::budget::Unfinished;
use super::code::Fault;
use super::product::Choice;
use super::self_check::Examined;
use crate::instance::Scalar;
use crate::limits::LimitSet;

/// What a search found, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer.
    pub verdict: SearchVerdict,
    /// States that were explored or, at the end, were about to be. Without
    /// antichain: all that were reached.
    pub states: u64,
    /// Moves that were tried.
    pub transitions: u64,
    /// The greatest distance of a state from the initial one.
    pub depth: u32,
    /// Seconds, finding the trace included.
    pub seconds: f64,
    /// The most memory that states took at a time.
    pub peak_bytes: u64,
    /// What the self-check tried.
    pub examined: Examined,
    /// The limits of techniques that it came to.
    pub limits: LimitSet,
}

/// The answer of a search.
///
/// It depends neither on time nor on the number of threads, unless it is
/// [`SearchVerdict::Unknown`].
#[derive(Clone, Debug, PartialEq)]
pub enum SearchVerdict {
    /// No reachable response violates linearizability.
    Verified,
    /// One does, after as few steps as possible.
    Violation {
        /// The steps; the last one is the violation.
        trace: SearchPath,
        /// Why the observer accepts.
        alarm: Alarm,
    },
    /// The program goes wrong, after as few steps as possible, before any
    /// violation.
    Fault {
        /// The steps; the last one goes wrong.
        trace: SearchPath,
        /// Where and what.
        fault: Fault,
    },
    /// The search ended early.
    Unknown {
        /// Why.
        cause: Unfinished,
        /// If a violation or fault had been found, and only its trace had not:
        /// the number of its steps.
        found_at: Option<u32>,
    },
}

/// Steps from the initial state on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPath {
    /// In order.
    pub steps: Vec<PathStep>,
}

/// One step of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep {
    /// The process.
    pub process: Process,
    /// What.
    pub choice: Choice,
    /// How many shared accesses of the program's text the step made.
    pub accesses: u32,
    /// The reactions after the step, in order: the process, and how many shared
    /// accesses of the text that passed over. If something goes wrong, it is the
    /// last of these that does; without any, the step itself.
    pub reactions: Vec<(Process, u32)>,
    /// The state after it, by register; if the program goes wrong, the state at
    /// that moment. Versions and counters are those of
    /// the canonical form; processes are the trace's own.
    pub state: Vec<Scalar>,
}

impl Outcome {
    /// The most memory that states took at a time, per state.
    pub fn bytes_per_state(&self) -> f64 {
        self.peak_bytes as f64 / self.states.max(1) as f64
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Seconds since it began.
    pub seconds: f64,
    /// States explored.
    pub states: u64,
    /// States explored per second, since the last report.
    pub states_per_second: f64,
    /// States of the level that is being explored.
    pub frontier: u64,
    /// The number of that level.
    pub depth: u32,
    /// Bytes in use.
    pub memory: u64,
    /// Whether a violation was found and only its trace is being made.
    pub tracing: bool,
    /// Whether a level is done and no thread is at work on the next: no speed is measured then,
    /// and the numbers do not depend on the machine.
    pub between: bool,
}
