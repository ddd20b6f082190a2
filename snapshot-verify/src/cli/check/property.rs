//! `check --strong` and `check --progress`: other properties than linearizability.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use snapshot_io::ci::CheckReport;
use snapshot_io::replacement;
use snapshot_picture::page::Page;
use snapshot_verify::certificate::digest as text_digest;
use snapshot_verify::interpret::{Machine, Move, StepReport, Trace, digest};
use snapshot_verify::language::{ExpectedVerdict, Freedom};
use snapshot_verify::progress::{Progress, Standing};
use snapshot_verify::report::page::{PropertyPageError, PropertySubject, of_progress, of_strong};
use snapshot_verify::report::{
    PropertyCase, human_progress, human_strong, json_progress, json_strong, strong_code,
};
use snapshot_verify::strong::{Case as Tree, Strength, StrongVerdict};
use snapshot_verify::verify::properties::{Scope, progressing, strategy, strongly};
use snapshot_verify::verify::{Conformance, Operations, progress_conformance, standings};

use super::Check;
use crate::cli::input::{Input, Variant};
use crate::cli::page;
use crate::cli::progress::{ProgressWatch, Ticker};
use crate::cli::{ReportFormat, UNKNOWN, WRONG, print_in, refused, trouble};

/// Operations whose order longer executions keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Ordered {
    All,
    Write,
}

impl Ordered {
    const fn strength(self) -> Strength {
        match self {
            Self::All => Strength::All,
            Self::Write => Strength::Writes,
        }
    }
}

/// Level of progress.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Level {
    #[value(name = "wait-free")]
    Wait,
    #[value(name = "lock-free")]
    Lock,
    #[value(name = "obstruction-free")]
    Obstruction,
    #[value(name = "starvation-free")]
    Starvation,
    #[value(name = "deadlock-free")]
    Deadlock,
}

impl Level {
    const fn freedom(self) -> Freedom {
        match self {
            Self::Wait => Freedom::Wait,
            Self::Lock => Freedom::Lock,
            Self::Obstruction => Freedom::Obstruction,
            Self::Starvation => Freedom::Starvation,
            Self::Deadlock => Freedom::Deadlock,
        }
    }

    /// Returns the exit code.
    fn code(self, progress: &Progress) -> u8 {
        let expected = ExpectedVerdict::Free(self.freedom());
        match progress_conformance(expected, None, None, progress) {
            Some(Conformance::Met) => 0,
            Some(Conformance::Contradicted) => WRONG,
            Some(Conformance::Undecided) | None => UNKNOWN,
        }
    }
}

impl Check {
    /// Returns true if another property than linearizability is asked for.
    pub(super) const fn asks_property(&self) -> bool {
        self.strong.is_some() || self.progress
    }

    /// Answers for each algorithm and number of processes. Returns 1 if a property is refuted, else
    /// 3 if one is not established, else 0.
    pub(super) fn properties(&self, cases: &[(&Input, Variant)]) -> Result<ExitCode, ExitCode> {
        if self.sizes.is_every() {
            return Err(trouble(
                "--strong and --progress are decided for one number of processes: give -n a number",
            ));
        }
        if self.operations.all == Operations::Grow {
            return Err(trouble(
                "--strong and --progress are decided for one bound on the operations: give \
                 --operations a number, a list with a number for each process, or none",
            ));
        }
        if self.require.is_some() && !self.progress {
            return Err(trouble("--require needs --progress: add it, or leave out --require"));
        }
        let format = match self.report {
            CheckReport::Human => ReportFormat::Human,
            CheckReport::Json => ReportFormat::Json,
            _ => {
                return Err(trouble(
                    "--strong and --progress are reported as text or as JSON: use --report json",
                ));
            }
        };
        if self.certificate.is_some()
            && (self.strong.is_none() || cases.len() * self.sizes.0.len() != 1)
        {
            return Err(trouble(
                "a certificate needs --strong, one algorithm and one number of processes: \
                 check them one by one",
            ));
        }
        if self.certificate.is_some() && self.strong == Some(Ordered::Write) {
            return Err(trouble(
                "--strong=write has no certificate: leave out --certificate, or use --strong",
            ));
        }
        if self.html.is_some() && self.strong.is_some() && self.progress {
            return Err(trouble(
                "a page shows one property: use --strong and --progress one by one",
            ));
        }
        self.require_one_page(cases)?;
        self.require_place(self.trace.as_deref())?;
        self.require_place(self.certificate.as_deref())?;
        self.require_place(self.html.as_deref())?;
        self.clear_files()?;
        let ticker = Ticker::new(self.status);
        let mut codes = Vec::new();
        for (input, variant) in cases {
            for &processes in &self.sizes.0 {
                codes.push(self.property(input, variant, processes, format, &ticker)?);
            }
        }
        Ok(ExitCode::from(worst(&codes)))
    }

    fn property(
        &self,
        input: &Input,
        variant: &Variant,
        processes: usize,
        format: ReportFormat,
        ticker: &Ticker,
    ) -> Result<u8, ExitCode> {
        let each = &self.operations.each;
        if !each.is_empty() && each.len() != processes {
            return Err(trouble(format_args!(
                "--operations has {} numbers for {processes} processes: give one for each",
                each.len()
            )));
        }
        let scope = Scope {
            processes,
            operations: self.operations.all.bound(),
            each: each.clone(),
            values: self.values,
            memory: self.budget.memory,
            time: self.budget.time,
            states: None,
        };
        let source = input.algorithm.source();
        let watch = ProgressWatch::new(variant.title.clone(), ticker);
        let trace = self.trace.as_deref();
        let case = PropertyCase {
            input: &input.name,
            title: &variant.title,
            bug: variant.bug.as_deref(),
            program: &variant.program,
            source,
            scope: &scope,
            trace: None,
        };
        let question = Question { input, variant, case, format, watch: &watch, trace };
        let strong = self.strong.map(|ordered| self.strong_answer(&question, ordered.strength()));
        let strong = strong.transpose()?;
        let progress = self.progress.then(|| self.progress_answer(&question)).transpose()?;
        let (codes, texts): (Vec<u8>, Vec<String>) = strong.into_iter().chain(progress).unzip();
        match print_in(format, &texts.concat()) {
            ExitCode::SUCCESS => Ok(worst(&codes)),
            failed => Err(failed),
        }
    }

    /// Returns the command line that reproduces the answer.
    fn origin(&self, case: &PropertyCase<'_>) -> String {
        let question = match self.strong {
            Some(Ordered::All) => "--strong",
            Some(Ordered::Write) => "--strong=write",
            None => "--progress",
        };
        let bug = case.bug.map_or_else(String::new, |bug| format!(" --bug {bug}"));
        let Scope { processes, operations, each, values, .. } = case.scope;
        let operations = match (operations, each.as_slice()) {
            (None, []) => String::new(),
            (Some(bound), []) => format!(" --operations {bound}"),
            (_, each) => {
                let each: Vec<String> = each.iter().map(u32::to_string).collect();
                format!(" --operations {}", each.join(","))
            }
        };
        let values = values.map_or_else(String::new, |values| format!(" --values {values}"));
        page::written(&format!(
            "check {}{bug} {question} -n {processes}{operations}{values}",
            case.input
        ))
    }

    /// Writes the page of an answer, if one is requested.
    fn page_of(
        &self,
        question: &Question<'_>,
        made: impl FnOnce(&PropertySubject<'_>) -> Result<Page, PropertyPageError>,
    ) -> Result<(), ExitCode> {
        let Some(path) = &self.html else { return Ok(()) };
        let case = &question.case;
        let trace = question.traces();
        let subject = PropertySubject { case, trace: &trace, origin: self.origin(case) };
        page::write(made(&subject), path)
    }

    /// Decides strong linearizability; returns the exit code and the text to print.
    fn strong_answer(
        &self,
        question: &Question<'_>,
        strength: Strength,
    ) -> Result<(u8, String), ExitCode> {
        let Question { input, variant, case, format, watch, trace } = *question;
        let (scope, source) = (case.scope, case.source);
        let found = strongly(&variant.program, strength, scope, watch);
        let found = found.map_err(|error| refused(&variant.title, source, &error))?;
        let strong = &found.answer.0;
        let written = match (&strong.verdict, trace) {
            (StrongVerdict::NotStrong(tree), Some(path)) => {
                write_trace(path, input, &case, &first_leaf(tree), None)?;
                Some(path)
            }
            _ => None,
        };
        self.page_of(question, |subject| of_strong(subject, &found))?;
        let case = PropertyCase { trace: written, ..case };
        let mut text = match format {
            ReportFormat::Human => human_strong(&case, &found),
            ReportFormat::Json => json_strong(&case, &found) + "\n",
        };
        if let (StrongVerdict::Strong, Some(path)) = (&strong.verdict, &self.certificate) {
            let place = path.display();
            let digest = text_digest(source.text());
            let certificate = strategy(&variant.program, scope, strong.values, digest, watch);
            let certificate = certificate
                .map_err(|error| trouble(format_args!("no certificate {place}: {error}")))?;
            replacement::write(path, certificate.as_bytes())
                .map_err(|error| trouble(format_args!("cannot write {place}: {error}")))?;
            if format == ReportFormat::Human {
                text += &format!("  certificate: {place}\n");
            }
        }
        Ok((strong_code(strong), text))
    }

    /// Decides progress; returns the exit code and the text to print.
    fn progress_answer(&self, question: &Question<'_>) -> Result<(u8, String), ExitCode> {
        let Question { input, variant, case, format, watch, trace } = *question;
        let found = progressing(&variant.program, case.scope, watch);
        let found = found.map_err(|error| refused(&variant.title, case.source, &error))?;
        let progress = &found.answer;
        let required = |standing: &&Standing| match self.require {
            None => true,
            Some(level) => standings(progress, level.freedom(), None).contains(standing),
        };
        let lasso = progress.standings().filter(required).find_map(Standing::lasso);
        let written = match (lasso, trace) {
            (Some(lasso), Some(path)) => {
                let moves = [&*lasso.stem, &*lasso.cycle].concat();
                write_trace(path, input, &case, &moves, Some(lasso.stem.len()))?;
                Some(path)
            }
            _ => None,
        };
        self.page_of(question, |subject| of_progress(subject, &found))?;
        let case = PropertyCase { trace: written, ..case };
        let established = if progress.is_established() { 0 } else { UNKNOWN };
        let code = self.require.map_or(established, |level| level.code(progress));
        let text = match format {
            ReportFormat::Human => human_progress(&case, &found),
            ReportFormat::Json => json_progress(&case, &found) + "\n",
        };
        Ok((code, text))
    }
}

/// Returns the exit code of several answers: a refuted property precedes one that is not
/// established.
fn worst(codes: &[u8]) -> u8 {
    if codes.contains(&WRONG) { WRONG } else { codes.iter().copied().max().unwrap_or(0) }
}

/// A question about an algorithm, and how to answer it.
#[derive(Clone, Copy)]
struct Question<'a> {
    input: &'a Input,
    variant: &'a Variant,
    case: PropertyCase<'a>,
    format: ReportFormat,
    watch: &'a ProgressWatch<'a>,
    /// File for an execution.
    trace: Option<&'a Path>,
}

impl Question<'_> {
    /// Returns executions as the files of a page.
    fn traces(&self) -> impl Fn(&[Move], Option<usize>) -> Option<String> {
        |moves, repeats| {
            let trace = trace_of(self.input, &self.case, moves, repeats);
            trace.ok().map(|trace| trace.to_string())
        }
    }
}

/// Returns the moves of the first execution of a tree.
fn first_leaf(tree: &Tree) -> Vec<Move> {
    let mut moves = tree.moves.clone();
    if let Some(branch) = tree.branches.first() {
        moves.extend(first_leaf(&branch.case));
    }
    moves
}

/// Returns an execution as a trace; `repeats`: number of moves before those that repeat for ever.
fn trace_of(
    input: &Input,
    case: &PropertyCase<'_>,
    moves: &[Move],
    repeats: Option<usize>,
) -> Result<Trace, Box<dyn Display>> {
    let fail = |error: &dyn Display| -> Box<dyn Display> { Box::new(error.to_string()) };
    let machine = Machine::new(case.program, case.scope.processes).map_err(|one| fail(&one))?;
    let execution = machine.run(moves).map_err(|error| fail(&error))?;
    Ok(Trace {
        algorithm: input.name.clone(),
        bug: case.bug.map(str::to_owned),
        size: input.size,
        processes: case.scope.processes,
        pair: None,
        operations: case.program.operation_names(),
        points: false,
        program: Some(digest(case.program)),
        linearizable: None,
        moves: moves.to_vec(),
        repeats,
        deeds: (1..).zip(execution.reports.iter().map(StepReport::deeds)).collect(),
    })
}

/// Writes an execution, as [`trace_of`].
fn write_trace(
    path: &Path,
    input: &Input,
    case: &PropertyCase<'_>,
    moves: &[Move],
    repeats: Option<usize>,
) -> Result<(), ExitCode> {
    let place = path.display();
    let trace = trace_of(input, case, moves, repeats);
    let trace = trace.map_err(|error| trouble(format_args!("{place}: {error}")))?;
    replacement::write(path, trace.to_string().as_bytes())
        .map_err(|error| trouble(format_args!("cannot write {place}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::{UNKNOWN, WRONG, worst};

    #[test]
    fn a_refuted_property_precedes_an_open_one() {
        assert_eq!(worst(&[WRONG, UNKNOWN]), WRONG);
        assert_eq!(worst(&[0, UNKNOWN]), UNKNOWN);
        assert_eq!(worst(&[0, 0]), 0);
    }
}
