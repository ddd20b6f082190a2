//! `monitor --all`: each of several objects, to its own first violation.

use std::io::Read;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use snapshot_io::escape;
use snapshot_io::output::{self, Printed};
use snapshot_test::format::Reader;
use snapshot_test::monitor::{Answer, Checkpoint, CheckpointError, Judge, Next, Share, Summary};
use snapshot_test::{InputError, Value};

use super::clocks::{Clocks, Keeper};
use super::{Monitor, STOP};
use crate::cli::check::ReportFormat;
use crate::cli::{TROUBLE, trouble};

/// Where alarms and the summary go.
struct Printer<'a> {
    name: &'a str,
    report: ReportFormat,
}

impl Printer<'_> {
    /// # Errors
    /// The exit code, if nothing more is to be printed: the reader has had enough, or the output
    /// fails.
    fn print(
        &self,
        people: impl FnOnce(&str) -> String,
        programs: impl FnOnce(&str) -> String,
        code: u8,
    ) -> Result<(), ExitCode> {
        let printed = match self.report {
            ReportFormat::Human => output::print_text(&people(&escape::name(self.name))),
            ReportFormat::Json => output::print_data(&programs(self.name)),
        };
        match printed {
            Ok(Printed::Whole) => Ok(()),
            Ok(Printed::Closed) => Err(ExitCode::from(code)),
            Err(error) => Err(trouble(format_args!("cannot write to standard output: {error}"))),
        }
    }

    fn answer(&self, answer: &Answer) -> Result<(), ExitCode> {
        self.print(|name| answer.human(name), |name| answer.json(name), answer.code())
    }

    /// Of an event that no history can have there: it says nothing of the other objects.
    fn refusal(&self, key: &Value, error: &InputError) {
        output::report(format_args!(
            "{}\nnote: object @{key} is judged no further; the others go on",
            error.report(self.name)
        ));
    }

    fn summary(&self, summary: &Summary) -> Result<(), ExitCode> {
        self.print(|name| summary.human(name), |name| summary.json(name), summary.code())
    }
}

impl Monitor {
    pub(super) fn watch_all<J: Judge, R: Read>(
        &self,
        name: &str,
        mut reader: Reader<R>,
        resumed: Option<&Checkpoint>,
    ) -> Result<ExitCode, ExitCode> {
        let contradiction = |error: CheckpointError| trouble(format_args!("{name}: {error}"));
        let declaration =
            resumed.map_or_else(|| reader.declaration().clone(), Checkpoint::declaration);
        let format = reader.format();
        let mut share: Share<J> = Share::of_many(format, declaration.clone(), self.options());
        if let Some(checkpoint) = resumed {
            share.begin_behind(checkpoint.bytes, checkpoint.lines);
            checkpoint
                .objects
                .iter()
                .try_for_each(|saved| share.resume(saved))
                .map_err(contradiction)?;
        }
        let placed = |error: InputError| match resumed {
            Some(checkpoint) => error.behind(checkpoint.bytes, checkpoint.lines),
            None => error,
        };
        let printer = Printer { name, report: self.report };
        let mut clocks = Clocks::new(self.status);
        let mut keeper = Keeper::new(self.checkpoint.as_deref());
        let mut is_bad = false;
        loop {
            let Next { key, location, event } = match J::next(&mut reader) {
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
            let Some(key) = key else { break };
            if clocks.is_time() {
                clocks.tell(name, || {
                    format!("{} events, {} objects", share.events(), share.objects())
                });
                if keeper.is_due() {
                    let began = Instant::now();
                    let violated =
                        share.cut(location).map_err(|error| contradiction(error.into()))?;
                    for number in violated {
                        printer.answer(&share.alarm(number))?;
                    }
                    let (at, objects) = (share.place(location), share.save(location));
                    let kind = (format, J::OBJECT);
                    keeper.keep(&Checkpoint::at(at, kind, &declaration, objects), began);
                }
            }
            match share.observe(Some(key), location, &event) {
                Ok(None) => {}
                Ok(Some(number)) => printer.answer(&share.alarm(number))?,
                Err(error) => {
                    let error = placed(J::refused(location, error, None));
                    if !share.refuse(key, location, error.kind().to_string()) {
                        return Err(trouble(error.report(name)));
                    }
                    printer.refusal(key.1, &error);
                }
            }
        }
        for number in share.undecided().collect::<Vec<_>>() {
            if let Some(answer) = share.settle(number) {
                printer.answer(&answer)?;
            }
        }
        let summary = share.standing().summary(J::OBJECT);
        printer.summary(&summary)?;
        let code = match summary.code() {
            1 => 1,
            _ if is_bad => TROUBLE,
            code => code,
        };
        Ok(ExitCode::from(code))
    }
}
