//! `snapshot-verify replay`: an execution, step by step.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use snapshot_io::{output, quantity};
use snapshot_verify::deadline::{Deadline, Stopped};
use snapshot_verify::interpret::{Machine, Move, MoveErrorKind, Sequential, Trace, digest, judge};
use snapshot_verify::object::{Judge, forbidden};
use snapshot_verify::report::page::{Answer, PageInput, of_execution};

use super::page;
use super::recorded::Recorded;
use super::step;
use super::{BUG, UNKNOWN, WRONG, clear, interrupt, print, trouble};

/// Memory limit in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 30;

/// Shows an execution step by step, with the changes of each step, and judges it.
///
/// The interpreter shares no code with the search. Exit code: 1 if the execution is not
/// linearizable or the program has a fault, 2 if the trace is bad, or the algorithm behaves
/// differently than when it was written, 3 if it was interrupted or ran out of time, else 0.
#[derive(Debug, Args)]
pub struct Replay {
    /// A trace, as `check --trace` writes it (docs/traces.md).
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Show all cells and variables after each step, the changed ones marked.
    #[arg(long)]
    all: bool,
    /// Step by step, forwards and backwards, controlled by typed commands (Enter: on, b: back). The
    /// verdict is shown at the end.
    #[arg(long)]
    step: bool,
    /// Write a page for a browser: steps forwards and backwards, operations, the argument
    /// (docs/explain.md).
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Maximum time in seconds (default: no limit).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
}

impl Replay {
    pub fn run(self) -> ExitCode {
        match self.replay() {
            Ok((text, code)) => {
                let printed = print(&text);
                if printed == ExitCode::SUCCESS { code } else { printed }
            }
            Err(code) => code,
        }
    }

    fn replay(&self) -> Result<(String, ExitCode), ExitCode> {
        let Recorded { path, text, trace, input, variant } = Recorded::read(&self.trace)?;
        if let Some(place) = &self.html {
            clear(place, &[&self.trace, Path::new(&input.name)])?;
        }
        let machine = match trace.points {
            true => Machine::at_points(&variant.program, trace.processes),
            false => Machine::new(&variant.program, trace.processes),
        };
        let machine = machine.map_err(|error| trouble(format_args!("{path}: {error}")))?;
        // Bad input, at the line of a move.
        let refused = |number: usize, what: &dyn Display| match Trace::line_of(&text, number) {
            Some(line) => trouble(format_args!("{path}: line {line}: {what}")),
            None => trouble(format_args!("{path}: {what}")),
        };
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        let deadline = Deadline::new(until, Some(interrupt::listen()));
        let stopped = |stopped: Stopped| {
            trouble(format_args!("{path}: {stopped}"));
            ExitCode::from(UNKNOWN)
        };
        let sequential = match variant.program.object() {
            None => None,
            Some(object) => {
                let sequential = Sequential::new(object, trace.processes);
                Some(sequential.map_err(|error| trouble(format_args!("{path}: {error}")))?)
            }
        };
        if let Some(sequential) = &sequential {
            let proceed = || deadline.check().is_ok();
            let found = forbidden(&machine, sequential, &trace.moves, proceed);
            deadline.check().map_err(stopped)?;
            let found = found.map_err(|fault| {
                let at = input.algorithm.source().place(fault.span);
                trouble(format_args!("{path}: the object goes wrong at {at}: {fault}"))
            })?;
            if let Some(found) = found {
                let at = input.algorithm.source().place(found.span);
                let help = "help: an algorithm promises nothing to clients that do not keep to the \
                            object: take the move out, or change the object";
                return Err(refused(found.number, &format_args!("{found} ({at})\n{help}")));
            }
        }
        let has_changed =
            trace.program.as_ref().is_some_and(|one| *one != digest(&variant.program));
        let changed = match has_changed {
            true => format!("{} has changed since this trace was written", input.name),
            false => "this is not what the trace says".to_owned(),
        };
        let differs = |number: usize, now: &str| {
            let made = trace.moves[number - 1];
            let was = trace.deeds.get(&number).filter(|was| *was != now)?;
            Some(trouble(format_args!(
                "{path}: {changed}: move {number}, `{made}`, was `{was}`, and is now `{now}`\n\
                 help: check the algorithm again, for a trace of what it does now"
            )))
        };
        if self.step {
            let walked = step::interact(
                &machine,
                &trace.moves,
                self.all,
                io::stdin().lock(),
                output::print_text,
            );
            walked.map_err(|error| trouble(format_args!("{path}: {error}")))?;
        }
        let mut text = String::new();
        let page = |answer, words| match &self.html {
            None => Ok(()),
            Some(place) => {
                let input = PageInput {
                    title: format!("{path}: {}", variant.program.name),
                    source: input.algorithm.source(),
                    machine: &machine,
                    moves: &trace.moves,
                    answer,
                    summary: String::new(),
                    words,
                    trace: Some(trace.to_string()),
                    origin: page::written(&format!("replay {path}")),
                };
                page::write(of_execution(input), place)
            }
        };
        for scene in machine.replay(&trace.moves) {
            deadline.check().map_err(stopped)?;
            let number = scene.as_ref().map_or_else(|error| error.number, |scene| scene.number);
            if trace.repeats == Some(number - 1) && !self.step {
                text.push_str("      from here, the moves repeat for ever\n");
            }
            match scene {
                Ok(scene) => match differs(scene.number, &scene.deeds()) {
                    None if self.step => {}
                    None => text.push_str(&scene.text(self.all)),
                    Some(code) => return Ok((text, code)),
                },
                Err(error) => {
                    if let Some(code) = differs(error.number, &error.kind.to_string()) {
                        return Ok((text, code));
                    }
                    let MoveErrorKind::Fault(fault) = &error.kind else {
                        return Err(refused(error.number, &error));
                    };
                    let at = input.algorithm.source().place(fault.span);
                    text.push_str(&format!(
                        "{:>4}  p{}  the program goes wrong at {at}: {fault}\n",
                        error.number, error.made.process,
                    ));
                    let words = vec![format!("The last step goes wrong at {at}: {fault}.")];
                    page(Some((Answer::Faulty, "goes wrong".to_owned())), words)?;
                    let code = if fault.kind.is_limit() { UNKNOWN } else { WRONG };
                    return Ok((text, ExitCode::from(code)));
                }
            }
        }
        let execution =
            machine.run(&trace.moves).map_err(|error| trouble(format_args!("{path}: {error}")))?;
        if let Some(stem) = trace.repeats
            && !returns(&machine, &trace.moves, stem)
        {
            let code = trouble(format_args!(
                "{path}: the moves of the loop do not lead back to where it begins"
            ));
            return Ok((text, code));
        }
        let is_linearizable = match &sequential {
            None => {
                let mut proceed = || deadline.check().is_ok();
                let report = judge(&execution.history(), MEMORY, &mut proceed);
                deadline.check().map_err(stopped)?;
                let report = report.map_err(|error| {
                    let code = trouble(format_args!("{path}: {error}"));
                    if error.is_ours() { ExitCode::from(BUG) } else { code }
                })?;
                report.explanation.is_none()
            }
            Some(sequential) => {
                let events: Vec<_> = execution.events().collect();
                let judged = Judge::new(sequential).judge(&events);
                let judged = judged.map_err(|error| {
                    let code = trouble(format_args!("{path}: {error}"));
                    if error.is_ours() { ExitCode::from(BUG) } else { code }
                })?;
                judged.is_linearizable()
            }
        };
        if let (Some(was), now) = (trace.linearizable, is_linearizable)
            && was != now
        {
            let named = |is: bool| if is { "linearizable" } else { "not linearizable" };
            let (was, now) = (named(was), named(now));
            let code =
                trouble(format_args!("{path}: {changed}: its history was {was}, and is {now}"));
            return Ok((text, code));
        }
        let (verdict, code) = match is_linearizable {
            true => ("The history is linearizable.\n", ExitCode::SUCCESS),
            false => ("The history is not linearizable.\n", ExitCode::from(WRONG)),
        };
        let returning = if sequential.is_some() { "they" } else { "the scans" };
        let linearizable = format!(
            "The history of these steps is linearizable: there is an order of the operations that \
             explains what {returning} returned."
        );
        page(None, vec![linearizable])?;
        if !self.step {
            text.push('\n');
        }
        text.push_str(verdict);
        if has_changed {
            text.push_str(&format!("({changed}; what these moves do has not.)\n"));
        }
        Ok((text, code))
    }
}

/// Returns true if the moves of a loop lead back to the state before it. Its first round counts for
/// the stem: it overwrites variables that are not read.
fn returns(machine: &Machine<'_>, moves: &[Move], stem: usize) -> bool {
    let twice = [moves, &moves[stem..]].concat();
    match (machine.run(moves), machine.run(&twice)) {
        (Ok(once), Ok(twice)) => machine.key(&once.last) == machine.key(&twice.last),
        _ => false,
    }
}
