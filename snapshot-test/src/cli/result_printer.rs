//! Results of several threads, or of several processes: printed as they arrive, until printing
//! ends.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use snapshot_io::output::{self, Printed};

use super::check::ReportFormat;
use super::result::Report;
use super::{TROUBLE, trouble};

/// The outputs of this process.
pub(super) struct ResultPrinter {
    report: ReportFormat,
    /// True if printing continues after a violation, or a malformed input.
    is_all: bool,
    alarms: AtomicU64,
    /// Serialises reports.
    turn: Mutex<()>,
    /// The exit code for all reports so far.
    worst: AtomicU8,
    /// The exit code, once printing has ended: the first violation was enough, the output is closed
    /// or fails, or an input cannot be judged.
    end: OnceLock<u8>,
    /// Set when printing ends, so that inputs end, too.
    stop: &'static AtomicBool,
}

impl ResultPrinter {
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

    /// Number of violations so far.
    pub fn alarms(&self) -> u64 {
        self.alarms.load(Ordering::Relaxed)
    }

    /// Returns true if printing continues after a violation, or a malformed input.
    pub const fn is_all(&self) -> bool {
        self.is_all
    }

    /// Returns the flag that ends the inputs.
    pub const fn stop(&self) -> &'static AtomicBool {
        self.stop
    }

    /// Returns the exit code, if printing has ended.
    pub fn ended(&self) -> Option<u8> {
        self.end.get().copied()
    }

    /// Ends everything with this exit code, including inputs. Returns false if it has ended
    /// already.
    pub fn end(&self, code: u8) -> bool {
        let is_first = self.end.set(code).is_ok();
        self.stop.store(true, Ordering::Relaxed);
        is_first
    }

    /// Ends everything without an answer, for this reason.
    pub fn fail(&self, message: impl Display) -> bool {
        let is_first = self.end(TROUBLE);
        if is_first {
            trouble(message);
        }
        is_first
    }

    /// Prints a report, unless printing has ended. Returns true if the caller is to continue.
    pub fn show(&self, report: &Report) -> bool {
        // Of two simultaneous reports the first one may end printing.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended().is_some() {
            return false;
        }
        let Report { result, diagnostic, code, .. } = report;
        let is_alarm = *code == 1;
        self.alarms.fetch_add(u64::from(is_alarm), Ordering::Relaxed);
        // A malformed input may have no result.
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

    /// Prints a result. Returns false if that fails; then everything ends: if the output is closed,
    /// with this exit code, or the one of earlier reports.
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

/// Returns the exit code of two findings: a violation has priority over malformed input, and
/// malformed input over undecided.
const fn worse(first: u8, second: u8) -> u8 {
    match (first, second) {
        (1, _) | (_, 1) => 1,
        (TROUBLE, _) | (_, TROUBLE) => TROUBLE,
        (0, other) | (other, _) => other,
    }
}
