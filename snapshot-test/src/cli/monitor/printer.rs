//! What a monitor of many objects prints: alarms as they come, and the summary.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use snapshot_io::escape;
use snapshot_io::output::{self, Printed};
use snapshot_test::monitor::{Answer, Clash, Desk, Summary};
use snapshot_test::{InputError, Value};

use super::STOP;
use crate::cli::check::ReportFormat;
use crate::cli::{TROUBLE, trouble};

/// Prints alarms as they come, and the summary.
pub(super) struct Printer<'a> {
    /// The names of the inputs.
    names: &'a [String],
    report: ReportFormat,
    /// Whether it goes on after an alarm.
    is_all: bool,
    alarms: AtomicU64,
    /// The exit code, once nothing more is to be printed: the first alarm was all that was wanted,
    /// the reader has had enough, the output fails, or an input cannot be judged.
    end: OnceLock<u8>,
}

impl<'a> Printer<'a> {
    pub const fn new(names: &'a [String], report: ReportFormat, is_all: bool) -> Self {
        Self { names, report, is_all, alarms: AtomicU64::new(0), end: OnceLock::new() }
    }

    /// Alarms so far.
    pub fn alarms(&self) -> u64 {
        self.alarms.load(Ordering::Relaxed)
    }

    /// Ends all with this exit code, unless all is ended already: inputs end, too.
    pub fn end(&self, code: u8) -> bool {
        let is_first = self.end.set(code).is_ok();
        STOP.store(true, Ordering::Relaxed);
        is_first
    }

    /// An input is no recording, from some place on; that was reported.
    pub fn lose(&self) {
        if !self.is_all {
            self.end(TROUBLE);
        }
    }

    /// Whether it was printed; if not, all ends.
    fn print(
        &self,
        people: impl FnOnce() -> String,
        programs: impl FnOnce() -> String,
        code: u8,
    ) -> bool {
        let printed = match self.report {
            ReportFormat::Human => output::print_text(&people()),
            ReportFormat::Json => output::print_data(&programs()),
        };
        match printed {
            Ok(Printed::Whole) => return true,
            Ok(Printed::Closed) => drop(self.end(code)),
            Err(error) => {
                if self.end(TROUBLE) {
                    trouble(format_args!("cannot write to standard output: {error}"));
                }
            }
        }
        false
    }

    /// Prints the summary, if that is to be; the exit code. `is_bad`: something in the inputs was no
    /// event.
    pub fn concluded(&self, summary: &Summary, is_bad: bool) -> ExitCode {
        if self.end.get().is_none() {
            self.print(|| summary.human(), || summary.json(), summary.code());
        }
        ExitCode::from(match (self.end.get(), summary.code()) {
            (Some(code), _) => *code,
            (None, 1) => 1,
            (None, _) if is_bad => TROUBLE,
            (None, code) => code,
        })
    }
}

impl Desk for Printer<'_> {
    fn answer(&self, input: usize, answer: &Answer) -> bool {
        let name = &self.names[input];
        let is_alarm = answer.code() == 1;
        self.alarms.fetch_add(u64::from(is_alarm), Ordering::Relaxed);
        let people = || answer.human(&escape::name(name));
        let is_printed = self.print(people, || answer.json(name), answer.code());
        if is_printed && is_alarm && !self.is_all {
            self.end(1);
            return false;
        }
        is_printed
    }

    fn refuse(&self, input: usize, key: Option<&Value>, error: &InputError) -> bool {
        let report = error.report(&self.names[input]);
        if !self.is_all {
            if self.end(TROUBLE) {
                output::report(report);
            }
            return false;
        }
        let object = key.map_or("this recording".to_owned(), |key| format!("object @{key}"));
        output::report(format_args!(
            "{report}\nnote: {object} is judged no further; the others go on"
        ));
        true
    }

    fn clash(&self, clash: &Clash<'_>) {
        if !self.end(TROUBLE) {
            return;
        }
        let (first, second) = (&self.names[clash.first], &self.names[clash.second]);
        let place = clash.at.map_or(String::new(), |at| format!(":{at}"));
        trouble(format_args!(
            "{second}{place}: object @{} is in {first}, too, and in which order the events of two \
             inputs happened is not known\nhelp: write all events of an object to one input, in their \
             order, or give different objects different keys",
            clash.key
        ));
    }
}
