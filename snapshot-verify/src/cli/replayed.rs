//! An execution that is replayed: compared with its record, and judged.

use std::fmt::Display;
use std::process::ExitCode;

use snapshot_verify::deadline::{Deadline, Stopped};
use snapshot_verify::interpret::{Machine, Sequential, Trace, digest, judge};
use snapshot_verify::object::{Judge, forbidden};

use super::recorded::Recorded;
use super::{BUG, UNKNOWN, trouble};

/// Memory limit in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 30;

/// A trace with the machine that repeats it. All errors are exit codes, printed before.
pub struct Replayed<'a> {
    pub recorded: &'a Recorded,
    pub machine: Machine<'a>,
    /// The object of an algorithm that declares one.
    pub sequential: Option<Sequential<'a>>,
    /// True if the algorithm is not the one that was recorded.
    pub has_changed: bool,
    deadline: Deadline<'a>,
}

impl<'a> Replayed<'a> {
    /// Prepares the replay.
    ///
    /// # Errors
    /// If the program cannot run with this many processes.
    pub fn new(recorded: &'a Recorded, deadline: Deadline<'a>) -> Result<Self, ExitCode> {
        let Recorded { path, trace, variant, .. } = recorded;
        let bad = |error: &dyn Display| trouble(format_args!("{path}: {error}"));
        let machine = match trace.points {
            true => Machine::at_points(&variant.program, trace.processes),
            false => Machine::new(&variant.program, trace.processes),
        };
        let machine = machine.map_err(|error| bad(&error))?;
        let object = variant.program.object();
        let sequential = object.map(|object| Sequential::new(object, trace.processes)).transpose();
        let sequential = sequential.map_err(|error| bad(&error))?;
        let has_changed =
            trace.program.as_ref().is_some_and(|one| *one != digest(&variant.program));
        Ok(Self { recorded, machine, sequential, has_changed, deadline })
    }

    /// Prints an error about the trace.
    pub fn trouble(&self, error: &dyn Display) -> ExitCode {
        trouble(format_args!("{}: {error}", self.recorded.path))
    }

    /// Prints that a move is bad input, at its line.
    pub fn refused(&self, number: usize, error: &dyn Display) -> ExitCode {
        match Trace::line_of(&self.recorded.text, number) {
            Some(line) => self.trouble(&format_args!("line {line}: {error}")),
            None => self.trouble(error),
        }
    }

    fn stopped(&self, stopped: Stopped) -> ExitCode {
        self.trouble(&stopped);
        ExitCode::from(UNKNOWN)
    }

    /// Fails if the time is up.
    pub fn in_time(&self) -> Result<(), ExitCode> {
        self.deadline.check().map_err(|stopped| self.stopped(stopped))
    }

    /// Refuses moves that begin operations that the object forbids there.
    pub fn require_allowed(&self) -> Result<(), ExitCode> {
        let Some(sequential) = &self.sequential else { return Ok(()) };
        let source = self.recorded.input.algorithm.source();
        let proceed = || self.deadline.check().is_ok();
        let found = forbidden(&self.machine, sequential, &self.recorded.trace.moves, proceed);
        self.in_time()?;
        let found = found.map_err(|fault| {
            let at = source.place(fault.span);
            self.trouble(&format_args!("the object goes wrong at {at}: {fault}"))
        })?;
        let Some(found) = found else { return Ok(()) };
        let at = source.place(found.span);
        let help = "help: an algorithm promises nothing to clients that do not keep to the \
                    object: take the move out, or change the object";
        Err(self.refused(found.number, &format_args!("{found} ({at})\n{help}")))
    }

    /// Returns the reason why the execution may differ from its record.
    pub fn changed(&self) -> String {
        match self.has_changed {
            true => {
                format!("{} has changed since this trace was written", self.recorded.input.name)
            }
            false => "this is not what the trace says".to_owned(),
        }
    }

    /// Compares the deeds of a move with those of the record.
    pub fn differs(&self, number: usize, now: &str) -> Option<ExitCode> {
        let trace = &self.recorded.trace;
        let made = trace.moves[number - 1];
        let was = trace.deeds.get(&number).filter(|was| *was != now)?;
        let changed = self.changed();
        Some(self.trouble(&format_args!(
            "{changed}: move {number}, `{made}`, was `{was}`, and is now `{now}`\n\
             help: check the algorithm again, for a trace of what it does now"
        )))
    }

    /// Compares the verdict with that of the record.
    pub fn differs_in_verdict(&self, is_linearizable: bool) -> Option<ExitCode> {
        let was = self.recorded.trace.linearizable.filter(|was| *was != is_linearizable)?;
        let named = |is: bool| if is { "linearizable" } else { "not linearizable" };
        let (was, now, changed) = (named(was), named(is_linearizable), self.changed());
        Some(self.trouble(&format_args!("{changed}: its history was {was}, and is {now}")))
    }

    /// Returns true if the moves of a loop, if the trace has one, lead back to the state before
    /// it. Its first round counts for the stem: it overwrites variables that are not read.
    pub fn repeats(&self) -> bool {
        let trace = &self.recorded.trace;
        let Some(stem) = trace.repeats else { return true };
        let twice = [&*trace.moves, &trace.moves[stem..]].concat();
        match (self.machine.run(&trace.moves), self.machine.run(&twice)) {
            (Ok(once), Ok(twice)) => self.machine.key(&once.last) == self.machine.key(&twice.last),
            _ => false,
        }
    }

    /// Judges the history.
    ///
    /// # Errors
    /// If the moves cannot be made, the time is up, or judges disagree.
    pub fn is_linearizable(&self) -> Result<bool, ExitCode> {
        let execution = self.machine.run(&self.recorded.trace.moves);
        let execution = execution.map_err(|error| self.trouble(&error))?;
        let failed = |error: &dyn Display, is_ours: bool| {
            let code = self.trouble(error);
            if is_ours { ExitCode::from(BUG) } else { code }
        };
        if let Some(sequential) = &self.sequential {
            let events: Vec<_> = execution.events().collect();
            let judged = Judge::new(sequential).judge(&events);
            let judged = judged.map_err(|error| failed(&error, error.is_ours()))?;
            return Ok(judged.is_linearizable());
        }
        let mut proceed = || self.deadline.check().is_ok();
        let report = judge(&execution.history(), MEMORY, &mut proceed);
        self.in_time()?;
        let report = report.map_err(|error| failed(&error, error.is_ours()))?;
        Ok(report.explanation.is_none())
    }
}
