//! `monitor --all`: each of several objects, to its own first violation.

use std::io::Read;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use snapshot_io::escape;
use snapshot_io::output::{self, Printed};
use snapshot_test::format::{Location, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{
    Answer, Checkpoint, Crew, Desk, Judge, Outbox, Share, Summary, owner,
};
use snapshot_test::{InputError, Value};

use super::clocks::{Clocks, Keeper};
use super::{Monitor, STOP};
use crate::cli::check::ReportFormat;
use crate::cli::{TROUBLE, trouble};

/// Prints alarms as they come, and the summary.
struct Printer<'a> {
    name: &'a str,
    report: ReportFormat,
    alarms: AtomicU64,
    /// The exit code, once nothing more can be printed: the reader has had enough, or the output
    /// fails.
    end: OnceLock<u8>,
}

impl Printer<'_> {
    /// Whether it was printed.
    fn print(
        &self,
        people: impl FnOnce(&str) -> String,
        programs: impl FnOnce(&str) -> String,
        code: u8,
    ) -> bool {
        let printed = match self.report {
            ReportFormat::Human => output::print_text(&people(&escape::name(self.name))),
            ReportFormat::Json => output::print_data(&programs(self.name)),
        };
        match printed {
            Ok(Printed::Whole) => return true,
            Ok(Printed::Closed) => {
                let _ = self.end.set(code);
            }
            Err(error) => {
                if self.end.set(TROUBLE).is_ok() {
                    trouble(format_args!("cannot write to standard output: {error}"));
                }
            }
        }
        false
    }

    fn summary(&self, summary: &Summary) -> bool {
        self.print(|name| summary.human(name), |name| summary.json(name), summary.code())
    }
}

impl Desk for Printer<'_> {
    fn answer(&self, answer: &Answer) -> bool {
        self.alarms.fetch_add(u64::from(answer.code() == 1), Ordering::Relaxed);
        self.print(|name| answer.human(name), |name| answer.json(name), answer.code())
    }

    fn refuse(&self, key: &Value, error: &InputError) {
        output::report(format_args!(
            "{}\nnote: object @{key} is judged no further; the others go on",
            error.report(self.name)
        ));
    }
}

impl Monitor {
    pub(super) fn watch_all<J: Judge, R: Read>(
        &self,
        name: &str,
        mut reader: Reader<R>,
        outbox: Outbox,
        resumed: Option<&Checkpoint>,
    ) -> Result<ExitCode, ExitCode> {
        let begin = Location {
            offset: resumed.map_or(0, |checkpoint| checkpoint.bytes),
            line: resumed.map_or(0, |checkpoint| checkpoint.lines),
            ..Location::START
        };
        let placed = |error: InputError| error.behind(begin.offset, begin.line);
        let declaration = match resumed {
            Some(checkpoint) => checkpoint.declaration(),
            None => reader.declaration().clone(),
        };
        if let Err(error) = J::new(declaration.clone()) {
            let error = J::refused(Location::START, error, None);
            return Err(trouble(error.report(name)));
        }
        let workers = self.workers.get();
        let options = Options { memory: self.budget_memory / workers, ..self.options() };
        let format = reader.format();
        let share = |_| Share::<J>::of_many(format, declaration.clone(), options);
        let mut shares: Vec<_> = (0..workers).map(share).collect();
        shares.iter_mut().for_each(|share| share.begin_behind(begin.offset, begin.line));
        for saved in resumed.iter().flat_map(|checkpoint| &checkpoint.objects) {
            let key = saved.key.as_ref().map_or(Value::ZERO, Value::from);
            let resumed = shares[owner(&key, workers)].resume(saved);
            resumed.map_err(|error| trouble(format_args!("{name}: {error}")))?;
        }
        let printer =
            Printer { name, report: self.report, alarms: AtomicU64::new(0), end: OnceLock::new() };
        let stop = AtomicBool::new(false);
        let judged: Result<_, ExitCode> = thread::scope(|scope| {
            let crew = Crew::new(scope, shares, outbox.clone(), &printer, &stop);
            let mut crew = crew.map_err(|error| {
                trouble(format_args!(
                    "{workers} workers cannot be started ({error}): ask for fewer (--workers)"
                ))
            })?;
            let mut clocks = Clocks::new(self.status, self.every);
            let mut keeper = Keeper::new(self.checkpoint.as_deref(), self.every);
            let mut is_bad = false;
            while !crew.is_stopped() {
                let next = match crew.next(&mut reader) {
                    None => break,
                    Some(Ok(next)) => next,
                    // The line that is being written.
                    Some(Err(_)) if STOP.load(Ordering::Relaxed) => break,
                    Some(Err(error)) => {
                        output::report(placed(error.into()).report(name));
                        is_bad = true;
                        break;
                    }
                };
                if clocks.is_time(outbox.was_read()) {
                    let alarms = printer.alarms.load(Ordering::Relaxed);
                    clocks.tell(name, |events| {
                        format!("{events} events, {} objects, {alarms} alarms", reader.keys().len())
                    });
                    if keeper.is_due() {
                        let began = Instant::now();
                        let (line, offset) = (next.location().line, next.location().offset);
                        let objects = crew.save(next.location());
                        let at = Location {
                            line: line + begin.line,
                            offset: offset + begin.offset,
                            ..begin
                        };
                        let kind = (format, J::OBJECT);
                        // What could not be printed is not to be held.
                        if !crew.is_stopped() {
                            keeper.keep(&Checkpoint::at(at, kind, &declaration, objects), began);
                        }
                    }
                }
                crew.deal(&next, &mut reader);
            }
            Ok((crew.finish(), is_bad))
        });
        let (standing, is_bad) = judged?;
        let summary = standing.summary(J::OBJECT);
        if printer.end.get().is_none() {
            printer.summary(&summary);
        }
        let code = match (printer.end.get(), summary.code()) {
            (Some(code), _) => *code,
            (None, 1) => 1,
            (None, _) if is_bad => TROUBLE,
            (None, code) => code,
        };
        Ok(ExitCode::from(code))
    }
}
