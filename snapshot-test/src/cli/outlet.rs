//! Results of several threads, or of several processes: printed as they come, until nothing more is
//! to be printed.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use snapshot_io::output::{self, Printed};

use super::check::ReportFormat;
use super::{TROUBLE, trouble};

/// Something to be printed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Report {
    /// What it is about: reports of one process with the same name are of one finding.
    pub id: String,
    /// For standard output.
    pub result: Option<String>,
    /// For standard error.
    pub diagnostic: Option<String>,
    /// The exit code for this alone.
    pub code: u8,
}

/// The outputs of this process.
pub(super) struct Outlet {
    report: ReportFormat,
    /// Whether it goes on after a violation, and after what is malformed.
    is_all: bool,
    alarms: AtomicU64,
    /// Reports are printed one after the other.
    turn: Mutex<()>,
    /// The exit code for all reports so far.
    worst: AtomicU8,
    /// The exit code, once nothing more is to be printed: the first violation was all that was
    /// wanted, the output is closed or fails, or an input cannot be judged.
    end: OnceLock<u8>,
    /// Set then: inputs end, too.
    stop: &'static AtomicBool,
}

impl Outlet {
    pub const fn new(report: ReportFormat, is_all: bool, stop: &'static AtomicBool) -> Self {
        Self {
            report,
            is_all,
            alarms: AtomicU64::new(0),
            turn: Mutex::new(()),
            worst: AtomicU8::new(0),
            end: OnceLock::new(),
            stop,
        }
    }

    /// Violations so far.
    pub fn alarms(&self) -> u64 {
        self.alarms.load(Ordering::Relaxed)
    }

    /// Whether it goes on after a violation, and after what is malformed.
    pub const fn is_all(&self) -> bool {
        self.is_all
    }

    /// What is set where all ends.
    pub const fn stop(&self) -> &'static AtomicBool {
        self.stop
    }

    /// The exit code, if all has ended.
    pub fn ended(&self) -> Option<u8> {
        self.end.get().copied()
    }

    /// Ends all with this exit code, unless all is ended already: inputs end, too.
    pub fn end(&self, code: u8) -> bool {
        let is_first = self.end.set(code).is_ok();
        self.stop.store(true, Ordering::Relaxed);
        is_first
    }

    /// Ends all: there is no answer, and this is why.
    pub fn fail(&self, message: impl Display) -> bool {
        let is_first = self.end(TROUBLE);
        if is_first {
            trouble(message);
        }
        is_first
    }

    /// Prints a report, unless all has ended. Whether to go on.
    pub fn show(&self, report: &Report) -> bool {
        // Of two that come at the same time the first one may end all.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended().is_some() {
            return false;
        }
        let Report { result, diagnostic, code, .. } = report;
        let is_alarm = *code == 1;
        self.alarms.fetch_add(u64::from(is_alarm), Ordering::Relaxed);
        // What is malformed may have no result.
        let code = if *code == 0 && diagnostic.is_some() { TROUBLE } else { *code };
        let _ = self
            .worst
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |worst| Some(worse(worst, code)));
        let is_printed = result.as_ref().is_none_or(|result| self.print(result, code));
        match diagnostic {
            Some(diagnostic) if self.is_all => output::report(diagnostic),
            Some(diagnostic) => drop(self.fail(diagnostic)),
            None if is_printed && is_alarm && !self.is_all => drop(self.end(1)),
            None => {}
        }
        is_printed && self.ended().is_none()
    }

    /// Whether it was printed; if not, all ends: where the output is closed, with this exit code,
    /// or that of what was reported before.
    pub fn print(&self, result: &str, code: u8) -> bool {
        let printed = match self.report {
            ReportFormat::Human => output::print_text(result),
            ReportFormat::Json => output::print_data(result),
        };
        match printed {
            Ok(Printed::Whole) => return true,
            Ok(Printed::Closed) => drop(self.end(worse(self.worst.load(Ordering::Relaxed), code))),
            Err(error) => {
                self.fail(format_args!("cannot write to standard output: {error}"));
            }
        }
        false
    }
}

/// The exit code of two findings: a violation counts for more than what is malformed, and that for
/// more than what is undecided.
const fn worse(first: u8, second: u8) -> u8 {
    match (first, second) {
        (1, _) | (_, 1) => 1,
        (TROUBLE, _) | (_, TROUBLE) => TROUBLE,
        (0, other) | (other, _) => other,
    }
}
