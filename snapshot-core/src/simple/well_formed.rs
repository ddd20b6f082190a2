//! The words that are simple histories.

use thiserror::Error;

use super::letter::{Letter, Switching, Symbol};
use crate::Process;

/// The activity of a process.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
enum Activity {
    #[default]
    Idle,
    Scan,
    Update {
        segment: Switching,
        value: bool,
    },
    Other,
}

/// The state of the check of a word for well-formedness.
///
/// A word is a simple history when every process invokes and responds in turn, and each of i and j
/// receives zeros, then ones: no update to 0 is invoked after one to 1, nor may any still be open
/// when the first one to 1 is invoked. Updates of one segment with one value may overlap: in any
/// order, the segment holds that value.
///
/// A process that invokes an operation while its update is open has lost the outcome of that
/// update, which stays pending forever. Scans whose outcome was lost do not occur in a simple
/// history.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct WellFormed {
    activity: Vec<Activity>,
    /// For each segment, true if an update to 1 was invoked.
    switched: [bool; 2],
    /// For each segment, true if an update to 0 was lost: it may take effect at any later time, so
    /// the segment must not switch.
    lost_zero: [bool; 2],
}

impl WellFormed {
    /// Creates the state before the first letter of a word over this many processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        Self {
            activity: vec![Activity::Idle; processes],
            switched: [false; 2],
            lost_zero: [false; 2],
        }
    }

    /// Number of operations that are open, not counting lost ones.
    pub fn open(&self) -> usize {
        self.activity.iter().filter(|activity| **activity != Activity::Idle).count()
    }

    /// Admits the next letter. O(1), or O(processes) for an update to 1.
    ///
    /// # Errors
    /// If no simple history can continue with the letter; nothing changes then.
    pub fn admit(&mut self, letter: Letter) -> Result<(), MalformedKind> {
        let process = letter.process();
        let Some(&activity) = self.activity.get(process.index()) else {
            return Err(MalformedKind::NoSuchProcess { process, processes: self.activity.len() });
        };
        let next = match letter.symbol() {
            Symbol::InvokeScan => Activity::Scan,
            Symbol::InvokeOther => Activity::Other,
            Symbol::InvokeUpdate { segment, value } => Activity::Update { segment, value },
            Symbol::RespondScan { .. } | Symbol::RespondForeign => {
                return self.close(process, Activity::Scan);
            }
            Symbol::RespondOther => return self.close(process, Activity::Other),
            Symbol::RespondUpdate { segment, value } => {
                return self.close(process, Activity::Update { segment, value });
            }
        };
        if activity == Activity::Scan {
            return Err(MalformedKind::ScanOpen { process });
        }
        if let Activity::Update { segment, value } = next {
            self.admit_update(segment, value)?;
        }
        if let Activity::Update { segment, value: false } = activity {
            self.lost_zero[segment.index()] = true;
        }
        self.activity[process.index()] = next;
        Ok(())
    }

    fn close(&mut self, process: Process, expected: Activity) -> Result<(), MalformedKind> {
        let activity = &mut self.activity[process.index()];
        if *activity != expected {
            return Err(MalformedKind::WrongResponse { process });
        }
        *activity = Activity::Idle;
        Ok(())
    }

    fn admit_update(&mut self, segment: Switching, value: bool) -> Result<(), MalformedKind> {
        let switched = &mut self.switched[segment.index()];
        if value {
            let zero = Activity::Update { segment, value: false };
            if self.lost_zero[segment.index()] || self.activity.contains(&zero) {
                return Err(MalformedKind::ZeroStillOpen { segment });
            }
            *switched = true;
        } else if *switched {
            return Err(MalformedKind::SwitchedBack { segment });
        }
        Ok(())
    }
}

/// A word that is not a simple history.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("letter {position}: {kind}")]
pub struct Malformed {
    /// Index of the first letter that cannot be there.
    pub position: usize,
    /// The fault of the letter.
    pub kind: MalformedKind,
}

/// The fault of a letter.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum MalformedKind {
    /// The letter's process is beyond the number of processes.
    #[error("process {process} does not exist: there are {processes}, numbered from 0")]
    NoSuchProcess {
        /// The process named.
        process: Process,
        /// Number of processes.
        processes: usize,
    },
    /// A response without its invocation.
    #[error("process {process} gets a response, but that operation is not open")]
    WrongResponse {
        /// The process.
        process: Process,
    },
    /// An invocation during a scan.
    #[error(
        "process {process} invokes an operation while its scan is open; \
             drop a scan whose outcome was lost"
    )]
    ScanOpen {
        /// The process.
        process: Process,
    },
    /// A segment goes back to 0.
    #[error("segment {segment} receives 0 after 1; a simple history switches for good")]
    SwitchedBack {
        /// The segment.
        segment: Switching,
    },
    /// A segment switches while an update to 0 may still take effect.
    #[error(
        "segment {segment} receives 1 while an update to 0 may still take effect; \
             updates with different values must not overlap"
    )]
    ZeroStillOpen {
        /// The segment.
        segment: Switching,
    },
}
