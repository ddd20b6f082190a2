//! The results of a search.

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

use super::budget::Unfinished;
use super::code::Fault;
use super::product::Choice;
use super::self_check::Examined;
use crate::instance::Scalar;
use crate::limits::LimitSet;

/// The results of a search and its costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub verdict: SearchVerdict,
    /// The number of states that were explored or, at the end, waited to be explored. Without
    /// antichain: of all states reached.
    pub states: u64,
    pub transitions: u64,
    /// The greatest distance of a state from the initial one.
    pub depth: u32,
    /// The duration in seconds, including the reconstruction of the trace.
    pub seconds: f64,
    /// The greatest number of bytes that states took at a time.
    pub peak_bytes: u64,
    /// How often the self-check examined each claim.
    pub examined: Examined,
    /// The limits of techniques that the search reached.
    pub limits: LimitSet,
}

/// The answer of a search.
///
/// Unless it is [`SearchVerdict::Unknown`], it depends neither on time nor on the number of
/// threads.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchVerdict {
    /// No reachable response violates linearizability.
    Verified,
    /// A reachable response violates linearizability. The trace is shortest.
    Violation {
        /// The steps; the last one violates.
        trace: SearchPath,
        /// Why the observer accepts.
        alarm: Alarm,
    },
    /// The program goes wrong before any violation. The trace is shortest.
    Fault {
        /// The steps; the last one faults.
        trace: SearchPath,
        /// The place and kind of the fault.
        fault: Fault,
    },
    Unknown {
        cause: Unfinished,
        /// The number of steps to a violation or fault, if one was found but its trace was not.
        found_at: Option<u32>,
    },
}

/// A path from the initial state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPath {
    pub steps: Vec<PathStep>,
}

/// One step of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep {
    pub process: Process,
    pub choice: Choice,
    /// The number of shared accesses of the program's text in the step.
    pub accesses: u32,
    /// The reactions after the step, in order: the process, and the number of shared accesses of
    /// the text that it passed. If something goes wrong, it is in the last reaction, or, without
    /// reactions, in the step itself.
    pub reactions: Vec<(Process, u32)>,
    /// The state after the step, by register; after a fault, the state at that moment. Versions and
    /// counters have their canonical numbers; processes keep the trace's names.
    pub state: Vec<Scalar>,
}

impl Outcome {
    /// Returns the peak of memory per state.
    pub fn bytes_per_state(&self) -> f64 {
        self.peak_bytes as f64 / self.states.max(1) as f64
    }
}

/// The progress of a running search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Seconds since the start of the search.
    pub seconds: f64,
    pub states: u64,
    /// States explored per second since the last report.
    pub states_per_second: f64,
    /// The number of states of the current level.
    pub frontier: u64,
    /// The number of the current level.
    pub depth: u32,
    /// Bytes in use.
    pub memory: u64,
    /// Whether a violation was found and only its trace is being reconstructed.
    pub tracing: bool,
    /// Whether the report falls between two levels, when no thread is at work. No speed is measured
    /// then, and the counts do not depend on the machine.
    pub between: bool,
}

/// Seconds between two reports of progress.
const REPORT: f64 = 0.5;

/// The time and the number of states of the last report within a level.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    seconds: f64,
    states: u64,
}

impl Reporter {
    /// Returns a report within a level, unless the last one is recent.
    pub(super) fn tick(&mut self, now: Progress) -> Option<Progress> {
        let passed = now.seconds - self.seconds;
        if passed < REPORT {
            return None;
        }
        let states_per_second = now.states.saturating_sub(self.states) as f64 / passed;
        (self.seconds, self.states) = (now.seconds, now.states);
        Some(Progress { states_per_second, between: false, ..now })
    }
}
