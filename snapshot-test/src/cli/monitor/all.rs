//! `monitor --all`: each of several objects, to its own first violation.

use std::io::Read;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use snapshot_core::history::Declaration;
use snapshot_io::escape;
use snapshot_io::output::{self, Printed};
use snapshot_test::format::{Format, Location, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{
    Answer, Checkpoint, Crew, Desk, Judge, Outbox, Share, Standing, Summary, owner,
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

    /// Prints the summary, if that can be; the exit code. `is_bad`: something in the input was no
    /// event.
    fn concluded(&self, summary: Summary, is_bad: bool) -> ExitCode {
        if self.end.get().is_none() {
            self.print(|name| summary.human(name), |name| summary.json(name), summary.code());
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
    /// The summary of what a checkpoint holds, where nothing has come since.
    pub(super) fn unchanged<J: Judge>(
        &self,
        name: &str,
        checkpoint: &Checkpoint,
    ) -> Result<ExitCode, ExitCode> {
        let format = checkpoint.input_format().unwrap_or(Format::Text);
        let shares = self.shares::<J>(name, format, &checkpoint.declaration(), Some(checkpoint))?;
        let mut standing = Standing::default();
        shares.iter().for_each(|share| standing.add(share.standing()));
        Ok(self.printer(name).concluded(standing.summary(J::OBJECT), false))
    }

    fn printer<'a>(&self, name: &'a str) -> Printer<'a> {
        Printer { name, report: self.report, alarms: AtomicU64::new(0), end: OnceLock::new() }
    }

    /// What each worker judges, with its objects of a checkpoint.
    fn shares<J: Judge>(
        &self,
        name: &str,
        format: Format,
        declaration: &Declaration<Value>,
        resumed: Option<&Checkpoint>,
    ) -> Result<Vec<Share<J>>, ExitCode> {
        let workers = self.workers.get();
        let options = Options { memory: self.budget_memory / workers, ..self.options() };
        let share = |_| Share::<J>::of_many(format, declaration.clone(), options);
        let mut shares: Vec<_> = (0..workers).map(share).collect();
        let Some(checkpoint) = resumed else { return Ok(shares) };
        let (bytes, lines) = (checkpoint.bytes, checkpoint.lines);
        shares.iter_mut().for_each(|share| share.begin_behind(bytes, lines));
        for saved in &checkpoint.objects {
            let Some(key) = &saved.key else {
                return Err(trouble(format_args!(
                    "{name}: the checkpoint is of a recording without keys: leave out --all"
                )));
            };
            let resumed = shares[owner(&key.into(), workers)].resume(saved);
            resumed.map_err(|error| trouble(format_args!("{name}: {error}")))?;
        }
        Ok(shares)
    }

    /// Judges a recording of several objects, or what comes after a checkpoint of it.
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
        let format = reader.format();
        let shares = self.shares::<J>(name, format, &declaration, resumed)?;
        let printer = self.printer(name);
        let stop = AtomicBool::new(false);
        let judged: Result<_, ExitCode> = thread::scope(|scope| {
            let crew = Crew::new(scope, shares, outbox.clone(), &printer, &stop);
            let mut crew = crew.map_err(|error| {
                trouble(format_args!(
                    "{} workers cannot be started ({error}): ask for fewer (--workers)",
                    self.workers
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
                        format!(
                            "{events} events read, {} objects, {alarms} alarms",
                            reader.keys().len()
                        )
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
        Ok(printer.concluded(standing.summary(J::OBJECT), is_bad))
    }
}
