//! `snapshot-verify replay`: an execution, step by step.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use snapshot_io::{output, quantity};
use snapshot_verify::deadline::Deadline;
use snapshot_verify::interpret::MoveErrorKind;
use snapshot_verify::report::page::{Answer, PageInput, of_execution};

use super::page;
use super::recorded::Recorded;
use super::replayed::Replayed;
use super::step;
use super::{UNKNOWN, WRONG, clear, interrupt, print};

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
    /// Step through the execution, forwards and backwards, by typed commands (Enter: on, b: back). The
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
        let recorded = Recorded::read(&self.trace)?;
        if let Some(place) = &self.html {
            clear(place, &[&self.trace, Path::new(&recorded.input.name)])?;
        }
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        let deadline = Deadline::new(until, Some(interrupt::listen()));
        let replayed = Replayed::new(&recorded, deadline)?;
        replayed.require_allowed()?;
        if self.step {
            let moves = &recorded.trace.moves;
            let (input, print) = (io::stdin().lock(), output::print_text);
            let walked = step::interact(&replayed.machine, moves, self.all, input, print);
            walked.map_err(|error| replayed.trouble(&error))?;
        }
        let mut text = String::new();
        if let Some(code) = self.steps(&replayed, &mut text)? {
            return Ok((text, code));
        }
        if !replayed.repeats() {
            let apart = "the moves of the loop do not lead back to where it begins";
            return Ok((text, replayed.trouble(&apart)));
        }
        let is_linearizable = replayed.is_linearizable()?;
        if let Some(code) = replayed.differs_in_verdict(is_linearizable) {
            return Ok((text, code));
        }
        let returning = if replayed.sequential.is_some() { "they" } else { "the scans" };
        let linearizable = format!(
            "The history of these steps is linearizable: there is an order of the operations that \
             explains what {returning} returned."
        );
        self.page(&replayed, None, vec![linearizable])?;
        if !self.step {
            text.push('\n');
        }
        let (verdict, code) = match is_linearizable {
            true => ("The history is linearizable.\n", ExitCode::SUCCESS),
            false => ("The history is not linearizable.\n", ExitCode::from(WRONG)),
        };
        text.push_str(verdict);
        if replayed.has_changed {
            let changed = replayed.changed();
            text.push_str(&format!("({changed}; what these moves do has not.)\n"));
        }
        Ok((text, code))
    }

    /// Appends all steps. Returns the exit code of an execution that ends by a fault, or differs
    /// from its record.
    fn steps(
        &self,
        replayed: &Replayed<'_>,
        text: &mut String,
    ) -> Result<Option<ExitCode>, ExitCode> {
        let Recorded { trace, input, .. } = replayed.recorded;
        for scene in replayed.machine.replay(&trace.moves) {
            replayed.in_time()?;
            let number = scene.as_ref().map_or_else(|error| error.number, |scene| scene.number);
            if trace.repeats == Some(number - 1) && !self.step {
                text.push_str("      from here, the moves repeat for ever\n");
            }
            let error = match scene {
                Ok(scene) => match replayed.differs(scene.number, &scene.deeds()) {
                    None if self.step => continue,
                    None => {
                        text.push_str(&scene.text(self.all));
                        continue;
                    }
                    Some(code) => return Ok(Some(code)),
                },
                Err(error) => error,
            };
            if let Some(code) = replayed.differs(error.number, &error.kind.to_string()) {
                return Ok(Some(code));
            }
            let MoveErrorKind::Fault(fault) = &error.kind else {
                return Err(replayed.refused(error.number, &error));
            };
            let at = input.algorithm.source().place(fault.span);
            text.push_str(&format!(
                "{:>4}  p{}  the program goes wrong at {at}: {fault}\n",
                error.number, error.made.process,
            ));
            let words = vec![format!("The last step goes wrong at {at}: {fault}.")];
            self.page(replayed, Some((Answer::Faulty, "goes wrong".to_owned())), words)?;
            let code = if fault.kind.is_limit() { UNKNOWN } else { WRONG };
            return Ok(Some(ExitCode::from(code)));
        }
        Ok(None)
    }

    /// Writes the page, if it is asked for.
    fn page(
        &self,
        replayed: &Replayed<'_>,
        answer: Option<(Answer, String)>,
        words: Vec<String>,
    ) -> Result<(), ExitCode> {
        let Some(place) = &self.html else { return Ok(()) };
        let Recorded { path, trace, input, variant, .. } = replayed.recorded;
        let input = PageInput {
            title: format!("{path}: {}", variant.program.name),
            source: input.algorithm.source(),
            machine: &replayed.machine,
            moves: &trace.moves,
            answer,
            summary: String::new(),
            words,
            trace: Some(trace.to_string()),
            origin: page::written(&format!("replay {path}")),
        };
        page::write(of_execution(input), place)
    }
}
