//! `check --html`, `replay --html`: answers as pages for a browser.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use snapshot_io::replacement;
use snapshot_verify::interpret::{StepReport, Trace, digest};
use snapshot_verify::program::Program;
use snapshot_verify::report::Case;
use snapshot_verify::report::page::{Page, Subject, of_case, of_every};
use snapshot_verify::verify::contribution::{Contribution, contributions};
use snapshot_verify::verify::every::EveryNAnswer;
use snapshot_verify::verify::{Operations, Outcome, Request, Verdict};

use super::input::Input;
use super::progress::{ProgressWatch, Ticker};
use super::{refused, trouble};

/// Destination of the page of a case, and its budget.
pub struct Output<'a> {
    pub path: &'a Path,
    /// Remaining time, if it is limited.
    pub time: Option<Duration>,
    /// Shows the progress of the searches.
    pub watch: &'a ProgressWatch<'a>,
    /// Cleared after the searches.
    pub ticker: &'a Ticker,
}

impl Output<'_> {
    /// Writes the page of a counterexample, a proof, or an unknown answer.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn of_case(
        &self,
        input: &Input,
        program: &Program,
        case: &Case<'_>,
    ) -> Result<(), ExitCode> {
        let mut trace = None;
        for outcome in case.outcomes {
            trace = trace.or(self::trace(input, program, case, outcome)?);
        }
        let is_proof = |one: &Outcome| matches!(one.verdict, Verdict::Verified);
        let contributions = match case.outcomes.iter().all(is_proof) {
            true => self.contributed(input, case, case.request)?,
            false => Vec::new(),
        };
        let subject = Subject {
            case,
            program,
            trace: trace.map(|trace| trace.to_string()),
            contributions: &contributions,
            origin: origin(case, &case.request.processes.to_string()),
        };
        write(of_case(&subject), self.path)
    }

    /// Writes the page of an answer for every n, without a counterexample. `request` has a definite
    /// n, for which the contributions of statements are computed.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn of_every(
        &self,
        input: &Input,
        program: &Program,
        bug: Option<&str>,
        request: &Request,
        every: &EveryNAnswer,
    ) -> Result<(), ExitCode> {
        let case = Case {
            input: &input.name,
            algorithm: &program.name,
            bug,
            object: None,
            source: input.algorithm.source(),
            request,
            outcomes: &[],
            exercise: None,
            looks_at_values: &[],
        };
        let contributions = match every.verdict() {
            "verified" => self.contributed(input, &case, request)?,
            _ => Vec::new(),
        };
        let subject = Subject {
            case: &case,
            program,
            trace: None,
            contributions: &contributions,
            origin: origin(&case, "every"),
        };
        let page = of_every(&subject, &self.watch.title, every);
        write(Ok::<_, std::convert::Infallible>(page), self.path)
    }

    /// Returns the contributions of statements to a proof, within the rest of `--time`. Returns
    /// none for bug variants, whose statements come from edits.
    fn contributed(
        &self,
        input: &Input,
        case: &Case<'_>,
        request: &Request,
    ) -> Result<Vec<Contribution>, ExitCode> {
        if case.bug.is_some() {
            return Ok(Vec::new());
        }
        let found = contributions(&input.algorithm, request, self.time, self.watch);
        self.ticker.clear();
        found.map_err(|error| refused(&case.title(), case.source, &error))
    }
}

/// Returns the counterexample of an outcome as a trace, if there is one; or the execution with a
/// fault, including the faulty step.
///
/// # Errors
/// The exit code; the diagnostics have been printed.
pub fn trace(
    input: &Input,
    program: &Program,
    case: &Case<'_>,
    outcome: &Outcome,
) -> Result<Option<Trace>, ExitCode> {
    let (moves, linearizable) = match &outcome.verdict {
        Verdict::Violation(counterexample) => (counterexample.moves(), Some(false)),
        Verdict::ObjectViolation(counterexample) => (counterexample.moves(), Some(false)),
        Verdict::Misplaced(misplaced) => (misplaced.moves.as_slice(), Some(true)),
        Verdict::Fault(fault) => (fault.moves.as_slice(), None),
        Verdict::Verified | Verdict::Refused | Verdict::Unknown(_) => return Ok(None),
    };
    // The last step of a fault has no effect.
    let made = &moves[..moves.len() - usize::from(linearizable.is_none() && !moves.is_empty())];
    let fail = |error: &dyn Display| trouble(format_args!("{}: {error}", case.title()));
    let machine = case.request.machine(program).map_err(|error| fail(&error))?;
    let execution = machine.run(made).map_err(|error| fail(&error))?;
    let deeds = execution.reports.iter().map(StepReport::deeds);
    Ok(Some(Trace {
        algorithm: input.name.clone(),
        bug: case.bug.map(str::to_owned),
        size: input.size,
        processes: case.request.processes,
        pair: outcome.pair,
        operations: program.operation_names(),
        points: case.request.method.at_points(),
        program: Some(digest(program)),
        linearizable,
        moves: moves.to_vec(),
        repeats: None,
        deeds: (1..).zip(deeds).collect(),
    }))
}

/// Returns the command line that reproduces the answer.
fn origin(case: &Case<'_>, sizes: &str) -> String {
    let bug = case.bug.map_or_else(String::new, |bug| format!(" --bug {bug}"));
    let operations = match case.request.operations {
        Operations::Unbounded => String::new(),
        bound => format!(" --operations {bound}"),
    };
    let values =
        case.request.values.map_or_else(String::new, |values| format!(" --values {values}"));
    written(&format!("check {}{bug} -n {sizes}{operations}{values}", case.input))
}

/// Returns `Written by snapshot-verify ...`, with the command that reproduces the page.
pub fn written(command: &str) -> String {
    format!(
        "Written by snapshot-verify {}. The same again: snapshot-verify {command}",
        env!("CARGO_PKG_VERSION")
    )
}

/// Writes a page completely or not at all.
///
/// # Errors
/// The exit code; the diagnostics have been printed.
pub fn write(page: Result<Page, impl Display>, path: &Path) -> Result<(), ExitCode> {
    let place = path.display();
    let page = page.map_err(|error| trouble(format_args!("no page {place}: {error}")))?;
    replacement::write(path, page.html().as_bytes())
        .map_err(|error| trouble(format_args!("cannot write {place}: {error}")))
}
