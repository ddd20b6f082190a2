//! One run of `check`: verifies each algorithm and size, and reports the answers.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use snapshot_cluster::Cluster;
use snapshot_io::ci::{self, CheckReport};
use snapshot_io::output::{self, Printed};
use snapshot_io::replacement;
use snapshot_verify::exercise::Exercise;
use snapshot_verify::language::Source;
use snapshot_verify::program::Program;
use snapshot_verify::report::{
    Case, Tally, human, human_conclusion, human_every, human_every_exercised, human_exercised,
    human_trial, human_unneeded, is_unneeded, json, json_every, json_summary,
};
use snapshot_verify::search::Storage;
use snapshot_verify::verify::every::{EXERCISED, EveryNAnswer, every_by};
use snapshot_verify::verify::{Method, Outcome, Request, Verdict, exercised, tried, verify_by};

use super::Check;
use super::checkpoints::Checkpoints;
use super::disk::Folder;
use crate::cli::certificate::Output as Certificate;
use crate::cli::input::{Input, Variant};
use crate::cli::page::{self, Output};
use crate::cli::progress::{ProgressWatch, Ticker};
use crate::cli::{ReportFormat, UNKNOWN, WIDTH, interrupt, refused, trouble};

pub(super) struct Session<'a> {
    pub(super) command: &'a Check,
    pub(super) stop: &'static AtomicBool,
    pub(super) ticker: &'a Ticker,
    checkpoints: Option<&'a Checkpoints<'a>>,
    disk: Option<&'a Folder>,
    engine: Option<&'a Cluster>,
    began: Instant,
    /// Remaining algorithms and numbers of processes, including the present ones.
    left: usize,
    pub(super) tally: Tally,
    peak_bytes: u64,
    /// True if a trace was written.
    traced: bool,
    /// Format of answers printed as they are found.
    pub(super) format: ReportFormat,
    /// Answers to be printed at the end instead.
    pub(super) collected: Option<Vec<ci::Answer>>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        command: &'a Check,
        ticker: &'a Ticker,
        checkpoints: Option<&'a Checkpoints<'a>>,
        disk: Option<&'a Folder>,
        engine: Option<&'a Cluster>,
        cases: usize,
    ) -> Self {
        Self {
            command,
            stop: interrupt::listen(),
            ticker,
            checkpoints,
            disk,
            engine,
            began: Instant::now(),
            left: cases,
            tally: Tally::default(),
            peak_bytes: 0,
            traced: false,
            format: match command.report {
                CheckReport::Json => ReportFormat::Json,
                _ => ReportFormat::Human,
            },
            collected: command.report.is_collected().then(Vec::new),
        }
    }

    fn storage(&self) -> Storage<'a> {
        match (self.checkpoints, self.disk, self.engine) {
            (Some(checkpoints), ..) => Storage::Checkpoints(checkpoints),
            (None, Some(disk), _) => Storage::Disk { disk, above: None },
            (None, None, Some(engine)) => Storage::Workers(engine),
            (None, None, None) => Storage::Memory,
        }
    }

    /// Returns the time of the next case: an equal share of the rest of the command's time.
    pub(super) fn share(&mut self) -> Option<Duration> {
        let all = self.command.request(2, Method::Exploration).time?;
        let left = u32::try_from(self.left).unwrap_or(u32::MAX).max(1);
        self.left = self.left.saturating_sub(1);
        Some(all.saturating_sub(self.began.elapsed()) / left)
    }

    pub(super) fn case(
        &mut self,
        input: &Input,
        variant: &Variant,
        processes: usize,
        method: Method,
    ) -> Result<(), ExitCode> {
        let mut request = self.command.request(processes, method);
        request.time = self.share();
        if variant.object().is_some() {
            request.values.get_or_insert(Request::VALUES);
        }
        let source = input.algorithm.source();
        let looks_at_values = input.looks_at_values(variant);
        let mut case = Case {
            input: &input.name,
            algorithm: &variant.title,
            bug: variant.bug.as_deref(),
            object: variant.program.object(),
            source,
            request: &request,
            outcomes: &[],
            exercise: None,
            looks_at_values: &looks_at_values,
        };
        let (stop, ticker, storage) = (self.stop, self.ticker, self.storage());
        let watch = ProgressWatch { title: case.title(), stop, ticker, storage };
        let began = Instant::now();
        let left = || request.time.map(|time| time.saturating_sub(began.elapsed()));
        let way = self.command.way();
        let found = verify_by(&variant.program, looks_at_values.is_empty(), &request, &way, &watch);
        self.ticker.clear();
        let (outcomes, every) = found.map_err(|error| refused(&watch.title, source, &error))?;
        case.outcomes = &outcomes;
        let is_proof = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
        // Coverage of executions with a bound on barriers is not known.
        let is_bounded = request.barriers.bound().is_some();
        let exercise = match outcomes.iter().all(is_proof) && !is_bounded {
            true => {
                let exercise = exercised(&variant.program, &request, left(), &watch);
                Some(exercise.map_err(|error| refused(&watch.title, source, &error))?)
            }
            false => None,
        };
        case.exercise = exercise.as_ref();
        let is_refused = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Refused);
        let is_wrong = |outcome: &Outcome| outcome.verdict.is_wrong();
        let is_trial = outcomes.iter().any(is_refused) && !outcomes.iter().any(is_wrong);
        let trial = match is_trial && every.is_none() {
            true => {
                let trial = tried(&variant.program, &request, left(), &watch);
                self.ticker.clear();
                Some(trial.map_err(|error| refused(&watch.title, source, &error))?)
            }
            false => None,
        };
        let is_vacuous = exercise.as_ref().is_some_and(Exercise::is_vacuous);
        for outcome in &outcomes {
            self.tally.vacuous += usize::from(is_vacuous);
            let trace = self.count(input, &variant.program, &case, outcome)?;
            self.print(&match self.format {
                ReportFormat::Human if is_unneeded(outcome) => String::new(),
                ReportFormat::Human => human(&case, outcome, trace, WIDTH),
                ReportFormat::Json => json(&case, outcome, trace) + "\n",
            })?;
        }
        if let Some((request, outcome)) = trial {
            let full = Case { request: &request, outcomes: std::slice::from_ref(&outcome), ..case };
            return self.conclude_by_trial(input, variant, &case, &full, &watch);
        }
        if self.format == ReportFormat::Human {
            self.print(&(human_unneeded(&case) + &human_conclusion(&case)))?;
            if let Some(every) = every.filter(|every| every.verdict() == "unknown") {
                self.print(&human_every(&case.title(), source, &every))?;
            }
        }
        self.page(input, variant, &case, left(), &watch)?;
        self.certificate(variant, &case, left())
    }

    /// Counts and collects an outcome; returns the file of its trace, if one is written.
    fn count(
        &mut self,
        input: &Input,
        program: &Program,
        case: &Case<'_>,
        outcome: &Outcome,
    ) -> Result<Option<&'a Path>, ExitCode> {
        self.tally.count(&outcome.verdict);
        self.peak_bytes = self.peak_bytes.max(outcome.measures.peak_bytes);
        let trace = self.trace(input, program, case, outcome)?;
        self.collect(case, outcome);
        Ok(trace)
    }

    /// Reports on executions that were tried because simple ones do not decide the case: `full` is
    /// the case with their outcome.
    fn conclude_by_trial(
        &mut self,
        input: &Input,
        variant: &Variant,
        case: &Case<'_>,
        full: &Case<'_>,
        watch: &ProgressWatch<'_>,
    ) -> Result<(), ExitCode> {
        let outcome = &full.outcomes[0];
        let is_wrong = outcome.verdict.is_wrong();
        let trace = match is_wrong {
            true => self.count(input, &variant.program, full, outcome)?,
            false => None,
        };
        self.page(input, variant, if is_wrong { full } else { case }, None, watch)?;
        self.print(&match (self.format, is_wrong) {
            (ReportFormat::Json, _) => json(full, outcome, trace) + "\n",
            (ReportFormat::Human, true) => {
                human(full, outcome, trace, WIDTH) + &human_conclusion(full)
            }
            (ReportFormat::Human, false) => human_conclusion(case) + &human_trial(full, outcome),
        })
    }

    /// Counts an answer for every n without a counterexample, and collects it for a file.
    pub(super) fn count_every(
        &mut self,
        title: &str,
        proof: &Case<'_>,
        verdict: &Verdict,
        text: &str,
        elapsed: Duration,
    ) {
        self.tally.count(verdict);
        let is_vacuous = proof.exercise.is_some_and(Exercise::is_vacuous);
        let (kind, name) = judged(verdict, self.command.strict && is_vacuous);
        if let Some(collected) = &mut self.collected {
            collected.push(ci::Answer {
                name: format!("{title}, every n"),
                kind,
                verdict: name,
                text: text.to_owned() + &human_every_exercised(proof),
                file: Some(proof.source.name().to_owned()),
                place: None,
                elapsed: Some(elapsed),
            });
        }
    }

    /// Counts, collects and prints the outcome with the smallest n that is wrong.
    pub(super) fn outcome(
        &mut self,
        input: &Input,
        variant: &Variant,
        case: &Case<'_>,
        outcome: &Outcome,
    ) -> Result<(), ExitCode> {
        let trace = self.count(input, &variant.program, case, outcome)?;
        self.print(&match self.format {
            ReportFormat::Human => human(case, outcome, trace, WIDTH),
            ReportFormat::Json => json(case, outcome, trace) + "\n",
        })
    }

    /// Answers for every n.
    pub(super) fn every(&mut self, input: &Input, variant: &Variant) -> Result<(), ExitCode> {
        let source = input.algorithm.source();
        let bug = variant.bug.as_deref();
        let with = bug.map_or_else(String::new, |bug| format!(" with {bug}"));
        let title = format!("{}{with}", variant.program.name);
        let time = self.share();
        let request = Request { time, ..self.command.request(2, Method::Exploration) };
        let watch = ProgressWatch::new(title.clone(), self.ticker);
        let rungs = self.command.rungs.clone().unwrap_or_default();
        let searches = self.command.method.is_none();
        let began = Instant::now();
        let every = every_by(&variant.program, &request, &rungs, searches, &watch);
        self.ticker.clear();
        let every = every.map_err(|error| refused(&title, source, &error))?;
        let small = self.command.request(EXERCISED, Method::Exploration);
        let exercise = match every.verdict() {
            "verified" => {
                let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
                let exercise = exercised(&variant.program, &small, left, &watch);
                Some(exercise.map_err(|error| refused(&title, source, &error))?)
            }
            _ => None,
        };
        self.tally.vacuous += usize::from(exercise.as_ref().is_some_and(Exercise::is_vacuous));
        let proof = Case {
            input: &input.name,
            algorithm: &variant.title,
            bug,
            object: None,
            source,
            request: &small,
            outcomes: &[],
            exercise: exercise.as_ref(),
            looks_at_values: &[],
        };
        if every.wrong.is_none() {
            let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
            self.page_of_every(input, variant, &every, left, &watch)?;
        }
        match &every.wrong {
            None => {
                let verdict = match every.verdict() {
                    "verified" => Verdict::Verified,
                    "refused" => Verdict::Refused,
                    _ => Verdict::Unknown(every.short()),
                };
                let text = human_every(&title, source, &every);
                self.count_every(&title, &proof, &verdict, &text, every.elapsed);
            }
            Some((request, outcomes)) => {
                let looks_at_values = input.looks_at_values(variant);
                let looks_at_values = &looks_at_values;
                let case = Case { request, outcomes, looks_at_values, ..proof };
                self.page(input, variant, &case, None, &watch)?;
                for outcome in outcomes.iter().filter(|outcome| outcome.verdict.is_wrong()) {
                    self.outcome(input, variant, &case, outcome)?;
                }
            }
        }
        self.print(&match self.format {
            ReportFormat::Human => {
                human_every(&title, source, &every) + &human_every_exercised(&proof)
            }
            ReportFormat::Json => json_every(&proof, &every),
        })?;
        let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
        self.certificate_of_every(variant, source, (&request, left), &every)
    }

    /// Writes the certificate of a proof for every n, if one is requested and there is a proof.
    fn certificate_of_every(
        &self,
        variant: &Variant,
        source: &Source,
        (request, time): (&Request, Option<Duration>),
        every: &EveryNAnswer,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.certificate.as_deref() else { return Ok(()) };
        if !every.is_proved() {
            output::report(format_args!("no certificate {}: there is no proof", path.display()));
            return Ok(());
        }
        let output = Certificate { path, time, stop: self.stop, report: self.format };
        self.print(&output.write_every(&variant.program, source, request.memory, every)?)
    }

    /// Writes the certificate, if one is requested and there is a proof.
    fn certificate(
        &self,
        variant: &Variant,
        case: &Case<'_>,
        time: Option<Duration>,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.certificate.as_deref() else { return Ok(()) };
        let is_proof = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
        if !case.outcomes.iter().all(is_proof) {
            output::report(format_args!("no certificate {}: there is no proof", path.display()));
            return Ok(());
        }
        let output = Certificate { path, time, stop: self.stop, report: self.format };
        let (text, request) = (case.source.text(), case.request);
        self.print(&output.write(&variant.program, text, request, self.command.reductions)?)
    }

    /// Writes the first counterexample, if requested; returns its path.
    pub(super) fn trace(
        &mut self,
        input: &Input,
        program: &Program,
        case: &Case<'_>,
        outcome: &Outcome,
    ) -> Result<Option<&'a Path>, ExitCode> {
        let (Some(path), false) = (self.command.trace.as_deref(), self.traced) else {
            return Ok(None);
        };
        let Some(trace) = page::trace(input, program, case, outcome)? else { return Ok(None) };
        replacement::write(path, trace.to_string().as_bytes())
            .map_err(|error| trouble(format_args!("cannot write {}: {error}", path.display())))?;
        self.traced = true;
        Ok(Some(path))
    }

    /// Writes the page of a case, if one is requested.
    fn page(
        &self,
        input: &Input,
        variant: &Variant,
        case: &Case<'_>,
        time: Option<Duration>,
        watch: &ProgressWatch<'_>,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.html.as_deref() else { return Ok(()) };
        let page = Output { path, time, watch, ticker: self.ticker };
        page.of_case(input, &variant.program, case)
    }

    /// Writes the page of an answer for every n without a violation, if one is requested.
    fn page_of_every(
        &self,
        input: &Input,
        variant: &Variant,
        every: &EveryNAnswer,
        time: Option<Duration>,
        watch: &ProgressWatch<'_>,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.html.as_deref() else { return Ok(()) };
        let request = self.command.request(3, Method::Exploration);
        let page = Output { path, time, watch, ticker: self.ticker };
        page.of_every(input, &variant.program, variant.bug.as_deref(), &request, every)
    }

    /// Stores an answer, if all are reported at the end.
    pub(super) fn collect(&mut self, case: &Case<'_>, outcome: &Outcome) {
        let Some(collected) = &mut self.collected else { return };
        let name = match outcome.pair {
            Some([i, j]) => format!("{}, pair ({i},{j})", case.title()),
            None => case.title(),
        };
        let is_vacuous = self.command.strict && case.exercise.is_some_and(Exercise::is_vacuous);
        let (kind, verdict) = judged(&outcome.verdict, is_vacuous);
        let exercised = case.exercise.map(|exercise| human_exercised(case, exercise, ""));
        collected.push(ci::Answer {
            name,
            kind,
            verdict,
            text: human(case, outcome, None, WIDTH) + &exercised.unwrap_or_default(),
            file: Some(case.source.name().to_owned()),
            place: match &outcome.verdict {
                Verdict::Fault(fault) => Some(case.source.position(fault.fault.span)),
                _ => None,
            },
            elapsed: Some(outcome.measures.elapsed),
        });
    }

    pub(super) fn print(&self, text: &str) -> Result<(), ExitCode> {
        if self.collected.is_some() || self.command.follows() {
            return Ok(());
        }
        let printed = match self.format {
            ReportFormat::Human => output::print_text(text),
            ReportFormat::Json => output::print_data(text),
        };
        match printed {
            Ok(Printed::Whole) => Ok(()),
            // The output was closed, so the run ends.
            Ok(Printed::Closed) => Err(ExitCode::from(self.tally.exit_code(self.command.strict))),
            Err(error) => Err(trouble(format_args!("cannot write to standard output: {error}"))),
        }
    }

    pub(super) fn finish(mut self) -> Result<ExitCode, ExitCode> {
        if let Some(answers) = self.collected.take() {
            let (program, version) = ("snapshot-verify", env!("CARGO_PKG_VERSION"));
            if let Some(text) = self.command.report.collected(program, version, &answers) {
                self.print(&text)?;
            }
        }
        if self.format == ReportFormat::Json {
            let (strict, elapsed) = (self.command.strict, self.began.elapsed());
            let sent = self.engine.map(Cluster::bytes_sent);
            let peak_bytes = self.peak_bytes;
            self.print(&(json_summary(&self.tally, strict, elapsed, peak_bytes, sent) + "\n"))?;
        }
        if let Some(checkpoints) = self.checkpoints
            && self.tally.exit_code(false) == UNKNOWN
        {
            let folder = checkpoints.folder();
            output::report(format_args!("what was reached is kept: go on with --resume {folder}"));
        }
        Ok(ExitCode::from(self.tally.exit_code(self.command.strict)))
    }
}

/// Returns a verdict for continuous integration. A vacuous proof does not count.
const fn judged(verdict: &Verdict, is_vacuous: bool) -> (ci::Kind, &'static str) {
    match verdict {
        Verdict::Verified if is_vacuous => (ci::Kind::Open, "vacuous"),
        Verdict::Verified => (ci::Kind::Right, verdict.name()),
        verdict if verdict.is_wrong() => (ci::Kind::Wrong, verdict.name()),
        _ => (ci::Kind::Open, verdict.name()),
    }
}
