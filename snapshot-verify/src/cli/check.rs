//! `snapshot-verify check`: are all executions of these algorithms linearizable?

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use snapshot_core::Process;
use snapshot_io::ci::{self, CheckReport};
use snapshot_io::output::{self, Printed};
use snapshot_io::replacement;
use snapshot_verify::exercise::Exercise;
use snapshot_verify::program::Program;
use snapshot_verify::refine::Means;
use snapshot_verify::report::{
    Case, Tally, human, human_conclusion, human_every, human_trial, json, json_every, json_summary,
};
use snapshot_verify::search::{Progress, SelfCheck};
use snapshot_verify::verify::every::{Every, every};
use snapshot_verify::verify::{
    Effort, Method, Operations, Outcome, Pairs, Reductions, Request, Unfinished, Verdict, Watch,
    exercised, tried, verify,
};

use super::bounds::{self, Budget, Sizes};
use super::certificate::Output as Certificate;
use super::input::{Input, Variant};
use super::memory::allocated;
use super::page::{self, Output};
use super::progress::Ticker;
use super::{ReportFormat, WIDTH, interrupt, refused, trouble};

/// Verifies algorithms, or finds shortest counterexamples.
///
/// Explores, for all pairs (i, j) of segments, all (i, j)-simple executions:
/// what holds for them holds for all (docs/verification.md). Exit code: 1 if
/// there is a violation, else 2 if an input is bad, else 3 if something is not
/// decided, else 0.
#[derive(Debug, Args)]
pub struct Check {
    /// Algorithms: names of the corpus (see `list`), or files.
    #[arg(required = true, value_name = "ALGORITHM|FILE")]
    inputs: Vec<String>,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME", conflicts_with = "all_bugs")]
    bug: Option<String>,
    /// Take all bug variants, one after the other.
    #[arg(long)]
    all_bugs: bool,
    /// Processes, and segments: a number, a list 3,5, a range 3..6, or every: a
    /// proof for every number of processes at once, else a violation for a small one.
    #[arg(short = 'n', long = "processes", value_name = "N", default_value = "3",
          value_parser = bounds::sizes)]
    sizes: Sizes,
    /// The pairs to explore: all, or one, such as 0,1.
    #[arg(long, value_name = "all|I,J", default_value = "all", value_parser = bounds::pairs)]
    pairs: Pairs,
    /// How: exploration of reduced instances with an observer; or refinement of
    /// the normalised specification, PAT's method, far slower, to compare with
    /// (default: exploration, but refinement of full executions).
    #[arg(long, value_enum, value_name = "METHOD")]
    method: Option<MethodName>,
    /// Simple executions, or all that write a few values: --values.
    #[arg(long, value_enum, value_name = "EXECUTIONS")]
    executions: Option<Executions>,
    /// All executions that write these many values rather than simple ones.
    #[arg(long, value_name = "K", conflicts_with = "pairs",
          value_parser = clap::value_parser!(u32).range(2..))]
    values: Option<u32>,
    /// With refinement: only this process updates, and it does not scan. For
    /// objects with one writer.
    #[arg(long, value_name = "P", value_parser = bounds::process)]
    updater: Option<Process>,
    /// With refinement: the partial order reduction.
    #[arg(long, value_enum, value_name = "on|off")]
    partial_order: Option<Switch>,
    /// With refinement: operations take effect at the statements that the text
    /// marks with `linearizes`, and nowhere else.
    #[arg(long)]
    points: bool,
    /// A bound on the operations of each process: a number, none, or grow: 1, 2,
    /// 3, ... and few processes first, to find bugs fast.
    #[arg(long, value_name = "B|none|grow", default_value = "none",
          value_parser = bounds::operations)]
    operations: Operations,
    /// The reductions to use: all, none, names apart by commas, or no-NAME for
    /// all but some (see `list --reductions`; default: all).
    #[arg(long, value_name = "all|none|LIST", value_parser = bounds::reductions)]
    reductions: Option<Reductions>,
    #[command(flatten)]
    budget: Budget,
    /// Check the reductions while they are used, on a sample of the states that the
    /// search visits and on random executions; exit code 4 if one of them is wrong.
    #[arg(long)]
    self_check: bool,
    /// Explore the other pairs also when one of them is violated.
    #[arg(long)]
    keep_going: bool,
    /// A proof in which something never happens (a statement that is never executed,
    /// an operation that never returns, or that can become unable to end) is not
    /// counted as one: exit code 3.
    #[arg(long)]
    strict: bool,
    /// For people; one JSON object per line; JUnit or SARIF (docs/verification.md).
    #[arg(long, value_enum, default_value = "human")]
    report: CheckReport,
    /// Write the first counterexample to this file, for `replay`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a certificate of the proof to this file, for `certify`: all states of the
    /// interpreter, of the reductions with antichain and symmetry at most
    /// (docs/certificates.md).
    #[arg(long, value_name = "FILE", conflicts_with = "all_bugs")]
    certificate: Option<PathBuf>,
    /// Write a page for a browser: of the counterexample, forwards and backwards, or of the
    /// proof, with what each statement contributes to it (docs/explain.md).
    #[arg(long, value_name = "FILE", conflicts_with = "all_bugs")]
    html: Option<PathBuf>,
    /// Tell progress on standard error also where that is no terminal.
    #[arg(long)]
    progress: bool,
}

/// How to check.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum MethodName {
    /// Reduced instances with an observer.
    Exploration,
    /// The program as it is written against the normalised specification.
    Refinement,
}

/// Which executions to check.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Executions {
    /// The (i, j)-simple ones, of all pairs.
    Simple,
    /// All over a few values.
    Full,
}

/// Whether something is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Check {
    pub fn run(self) -> ExitCode {
        match self.check() {
            Ok(code) | Err(code) => code,
        }
    }

    fn check(&self) -> Result<ExitCode, ExitCode> {
        let inputs: Vec<Input> =
            self.inputs.iter().map(|name| Input::read(name)).collect::<Result<_, _>>()?;
        let mut cases: Vec<(&Input, Variant)> = Vec::new();
        for input in &inputs {
            match self.all_bugs {
                true => cases.extend(input.bugs()?.into_iter().map(|variant| (input, variant))),
                false => cases.push((input, input.variant(self.bug.as_deref())?)),
            }
        }
        let method = self.method()?;
        self.require_processes()?;
        self.require_place(self.trace.as_deref())?;
        self.require_place(self.certificate.as_deref())?;
        self.require_certifiable(&cases, method)?;
        self.require_place(self.html.as_deref())?;
        self.require_one_page(&cases)?;
        let ticker = Ticker::new(self.progress);
        let mut session = Session::new(self, method, &ticker);
        for (input, variant) in &cases {
            if self.sizes.is_every() {
                session.every(input, variant)?;
            }
            for &processes in &self.sizes.0 {
                session.case(input, variant, processes)?;
            }
        }
        session.finish()
    }

    /// The method, if all options suit it and each other.
    fn method(&self) -> Result<Method, ExitCode> {
        let is_full = match (self.executions, self.values) {
            (Some(Executions::Full), None) => {
                return Err(trouble(
                    "full executions need to know how many values are written: add --values 2, say",
                ));
            }
            (Some(Executions::Simple), Some(_)) => {
                return Err(trouble(
                    "simple executions write 0 and 1: leave out --values, or use --executions full",
                ));
            }
            (_, values) => values.is_some(),
        };
        let given = [
            (self.reductions.is_some(), "--reductions"),
            (self.budget.threads.is_some(), "--threads"),
            (self.partial_order.is_some(), "--partial-order"),
            (self.points, "--points"),
            (self.updater.is_some(), "--updater"),
        ];
        let given = |which: std::ops::Range<usize>| {
            given[which].iter().find(|(given, _)| *given).map(|(_, option)| option)
        };
        match self.method {
            Some(MethodName::Exploration) if is_full => Err(trouble(
                "exploration knows simple executions only: for full ones, use --method refinement",
            )),
            None | Some(MethodName::Exploration) if !is_full => match given(2..5) {
                Some(option) => Err(trouble(format_args!(
                    "{option} is of refinement: add --method refinement, or leave it out"
                ))),
                None => Ok(Method::Exploration),
            },
            _ => match given(0..2) {
                Some(option) => Err(trouble(format_args!(
                    "{option} is of exploration, and full executions and --method refinement are \
                     searched without: leave it out"
                ))),
                None => Ok(Method::Refinement(Means {
                    partial_order: self.partial_order != Some(Switch::Off),
                    points: self.points,
                })),
            },
        }
    }

    /// The pair and the updater must be there for every n.
    fn require_processes(&self) -> Result<(), ExitCode> {
        if self.sizes.is_every() {
            let is_chosen = [
                (self.pairs != Pairs::All, "--pairs"),
                (self.method.is_some(), "--method"),
                (self.executions.is_some() || self.values.is_some(), "--values or --executions"),
                (self.updater.is_some(), "--updater"),
                (self.operations != Operations::Unbounded, "--operations"),
                (self.keep_going, "--keep-going"),
            ];
            return match is_chosen.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(trouble(format_args!(
                    "{option} does not go with --processes every, which is about all pairs and \
                     any number of operations: leave it out"
                ))),
                None => Ok(()),
            };
        }
        let smallest = self.sizes.0.iter().copied().min().unwrap_or(usize::MAX);
        let range = format!("is out of range: with n = {smallest}, ");
        match (self.pairs, self.updater) {
            (Pairs::One(i, j), _) if j.index() >= smallest => Err(trouble(format_args!(
                "the pair {i},{j} {range}segments are 0 to {}",
                smallest - 1
            ))),
            (_, Some(updater)) if updater.index() >= smallest => Err(trouble(format_args!(
                "the updater {updater} {range}processes are 0 to {}",
                smallest - 1
            ))),
            _ => Ok(()),
        }
    }

    /// A certificate is of one proof by exploration, with finitely many states.
    fn require_certifiable(
        &self,
        cases: &[(&Input, Variant)],
        method: Method,
    ) -> Result<(), ExitCode> {
        if self.certificate.is_none() {
            return Ok(());
        }
        if method != Method::Exploration {
            return Err(trouble("--certificate is of exploration: leave out --method refinement"));
        }
        if self.operations == Operations::Grow {
            return Err(trouble(
                "a certificate is of one bound on the operations: with --certificate, give a \
                 number or none",
            ));
        }
        let ([(_, variant)], [_]) = (cases, self.sizes.0.as_slice()) else {
            return Err(trouble(
                "a certificate is of one algorithm for one number of processes: check them one \
                 by one",
            ));
        };
        if self.operations == Operations::Unbounded && variant.program.has_counters() {
            return Err(trouble(
                "a certificate lists all states, and with counters there are infinitely many: \
                 add --operations 2, say",
            ));
        }
        Ok(())
    }

    /// A page is of one answer.
    fn require_one_page(&self, cases: &[(&Input, Variant)]) -> Result<(), ExitCode> {
        let sizes = self.sizes.0.len() + usize::from(self.sizes.is_every());
        match self.html.is_some() && cases.len() * sizes != 1 {
            true => Err(trouble(
                "a page is of one algorithm for one number of processes: check them one by one",
            )),
            false => Ok(()),
        }
    }

    /// Better now than after an hour.
    fn require_place(&self, path: Option<&Path>) -> Result<(), ExitCode> {
        let Some(path) = path else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.is_none_or(Path::is_dir) && !path.is_dir() {
            true => Ok(()),
            false => Err(trouble(format_args!(
                "cannot write {}: it must be a file in a folder that exists",
                path.display()
            ))),
        }
    }

    fn request(&self, processes: usize, method: Method) -> Request {
        Request {
            processes,
            method,
            pairs: self.pairs,
            values: self.values,
            updater: self.updater,
            operations: self.operations,
            reductions: self.reductions.unwrap_or_else(Reductions::standard),
            threads: self.budget.threads(),
            memory: self.budget.memory,
            time: self.budget.time,
            keep_going: self.keep_going,
            self_check: self.self_check.then_some(SelfCheck::DEFAULT).or(SelfCheck::of_build()),
        }
    }
}

/// One run of the command.
struct Session<'a> {
    command: &'a Check,
    method: Method,
    stop: &'static AtomicBool,
    ticker: &'a Ticker,
    began: Instant,
    tally: Tally,
    peak_bytes: u64,
    /// Whether a trace was written.
    traced: bool,
    /// How to print answers as they come.
    format: ReportFormat,
    /// They are printed at the end instead.
    collected: Option<Vec<ci::Answer>>,
}

impl<'a> Session<'a> {
    fn new(command: &'a Check, method: Method, ticker: &'a Ticker) -> Self {
        Self {
            command,
            method,
            stop: interrupt::listen(),
            ticker,
            began: Instant::now(),
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

    fn case(&mut self, input: &Input, variant: &Variant, processes: usize) -> Result<(), ExitCode> {
        let request = self.command.request(processes, self.method);
        let source = input.algorithm.source();
        let looks_at_values = input.looks_at_values(variant);
        let mut case = Case {
            input: &input.name,
            algorithm: &variant.program.name,
            bug: variant.bug.as_deref(),
            source,
            request: &request,
            outcomes: &[],
            exercise: None,
            looks_at_values: &looks_at_values,
        };
        let watch = ProgressWatch { title: case.title(), stop: self.stop, ticker: self.ticker };
        let began = Instant::now();
        let outcomes = verify(&variant.program, looks_at_values.is_empty(), &request, &watch);
        self.ticker.clear();
        let outcomes = outcomes.map_err(|error| refused(&watch.title, source, &error))?;
        case.outcomes = &outcomes;
        let is_proof = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
        let exercise = match outcomes.iter().all(is_proof) {
            true => {
                let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
                let exercise = exercised(&variant.program, &request, left, &watch);
                Some(exercise.map_err(|error| refused(&watch.title, source, &error))?)
            }
            false => None,
        };
        case.exercise = exercise.as_ref();
        let is_refused = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Refused);
        let is_wrong = |outcome: &Outcome| outcome.verdict.is_wrong();
        let trial = match outcomes.iter().any(is_refused) && !outcomes.iter().any(is_wrong) {
            true => {
                let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
                let trial = tried(&variant.program, &request, left, &watch);
                self.ticker.clear();
                Some(trial.map_err(|error| refused(&watch.title, source, &error))?)
            }
            false => None,
        };
        let is_vacuous = exercise.as_ref().is_some_and(Exercise::is_vacuous);
        for outcome in &outcomes {
            self.tally.count(&outcome.verdict);
            self.tally.vacuous += usize::from(is_vacuous);
            self.peak_bytes = self.peak_bytes.max(outcome.measures.peak_bytes);
            let trace = self.trace(input, &variant.program, &case, outcome)?;
            self.collect(&case, outcome);
            self.print(&match self.format {
                ReportFormat::Human => human(&case, outcome, trace, WIDTH),
                ReportFormat::Json => json(&case, outcome, trace) + "\n",
            })?;
        }
        let Some((request, outcome)) = trial else {
            if self.format == ReportFormat::Human {
                self.print(&human_conclusion(&case))?;
            }
            let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
            self.page(input, variant, &case, left, &watch)?;
            let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
            return self.certificate(variant, &case, left);
        };
        let outcomes = [outcome];
        let full = Case { request: &request, outcomes: &outcomes, ..case };
        let [outcome] = &outcomes;
        let mut trace = None;
        if is_wrong(outcome) {
            self.tally.count(&outcome.verdict);
            self.peak_bytes = self.peak_bytes.max(outcome.measures.peak_bytes);
            trace = self.trace(input, &variant.program, &full, outcome)?;
            self.collect(&full, outcome);
        }
        let shown = if is_wrong(outcome) { &full } else { &case };
        self.page(input, variant, shown, None, &watch)?;
        self.print(&match (self.format, is_wrong(outcome)) {
            (ReportFormat::Json, _) => json(&full, outcome, trace) + "\n",
            (ReportFormat::Human, true) => {
                human(&full, outcome, trace, WIDTH) + &human_conclusion(&full)
            }
            (ReportFormat::Human, false) => human_conclusion(&case) + &human_trial(&full, outcome),
        })
    }

    /// An answer for every n.
    fn every(&mut self, input: &Input, variant: &Variant) -> Result<(), ExitCode> {
        let source = input.algorithm.source();
        let bug = variant.bug.as_deref();
        let with = bug.map_or_else(String::new, |bug| format!(" with {bug}"));
        let title = format!("{}{with}", variant.program.name);
        let request = self.command.request(2, Method::Exploration);
        let watch = ProgressWatch { title: title.clone(), stop: self.stop, ticker: self.ticker };
        let every = every(&variant.program, &request, &watch);
        self.ticker.clear();
        let every = every.map_err(|error| refused(&title, source, &error))?;
        if every.wrong.is_none() {
            self.page_of_every(input, variant, &every, &watch)?;
        }
        match &every.wrong {
            None => {
                let verdict = match every.verdict() {
                    "verified" => Verdict::Verified,
                    "refused" => Verdict::Refused,
                    _ => Verdict::Unknown(Unfinished::Memory),
                };
                self.tally.count(&verdict);
                if let Some(collected) = &mut self.collected {
                    collected.push(ci::Answer {
                        name: format!("{title}, every n"),
                        kind: kind(&verdict),
                        verdict: every.verdict(),
                        text: human_every(&title, source, &every),
                        file: Some(source.name().to_owned()),
                        place: None,
                        elapsed: Some(every.elapsed),
                    });
                }
            }
            Some((request, outcomes)) => {
                let looks_at_values = input.looks_at_values(variant);
                let case = Case {
                    input: &input.name,
                    algorithm: &variant.program.name,
                    bug,
                    source,
                    request,
                    outcomes,
                    exercise: None,
                    looks_at_values: &looks_at_values,
                };
                self.page(input, variant, &case, None, &watch)?;
                for outcome in outcomes.iter().filter(|outcome| outcome.verdict.is_wrong()) {
                    self.tally.count(&outcome.verdict);
                    let trace = self.trace(input, &variant.program, &case, outcome)?;
                    self.collect(&case, outcome);
                    self.print(&match self.format {
                        ReportFormat::Human => human(&case, outcome, trace, WIDTH),
                        ReportFormat::Json => json(&case, outcome, trace) + "\n",
                    })?;
                }
            }
        }
        self.print(&match self.format {
            ReportFormat::Human => human_every(&title, source, &every),
            ReportFormat::Json => json_every(&input.name, bug, source, &every),
        })
    }

    /// Writes the certificate, if one is wanted and there is a proof.
    fn certificate(
        &self,
        variant: &Variant,
        case: &Case<'_>,
        time: Option<Duration>,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.certificate.as_deref() else { return Ok(()) };
        let is_proof = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
        if !case.outcomes.iter().all(is_proof) {
            eprintln!("no certificate {}: there is no proof", path.display());
            return Ok(());
        }
        let output = Certificate { path, time, stop: self.stop, report: self.format };
        let (text, request) = (case.source.text(), case.request);
        self.print(&output.write(&variant.program, text, request, self.command.reductions)?)
    }

    /// Writes the first counterexample, if that is wanted; where to.
    fn trace(
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

    /// Writes the page of a case, if one is wanted.
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

    /// Writes the page of an answer for every n without a violation, if one is wanted.
    fn page_of_every(
        &self,
        input: &Input,
        variant: &Variant,
        every: &Every,
        watch: &ProgressWatch<'_>,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.html.as_deref() else { return Ok(()) };
        let request = self.command.request(3, Method::Exploration);
        let page = Output { path, time: request.time, watch, ticker: self.ticker };
        page.of_every(input, &variant.program, variant.bug.as_deref(), &request, every)
    }

    /// Keeps an answer for the end, if all are reported there.
    fn collect(&mut self, case: &Case<'_>, outcome: &Outcome) {
        let Some(collected) = &mut self.collected else { return };
        let name = match outcome.pair {
            Some([i, j]) => format!("{}, pair ({i},{j})", case.title()),
            None => case.title(),
        };
        collected.push(ci::Answer {
            name,
            kind: kind(&outcome.verdict),
            verdict: outcome.verdict.name(),
            text: human(case, outcome, None, WIDTH),
            file: Some(case.source.name().to_owned()),
            place: match &outcome.verdict {
                Verdict::Fault(fault) => Some(case.source.position(fault.fault.span)),
                _ => None,
            },
            elapsed: Some(outcome.measures.elapsed),
        });
    }

    fn print(&self, text: &str) -> Result<(), ExitCode> {
        if self.collected.is_some() {
            return Ok(());
        }
        let printed = match self.format {
            ReportFormat::Human => output::print_text(text),
            ReportFormat::Json => output::print_data(text),
        };
        match printed {
            Ok(Printed::Whole) => Ok(()),
            // The output was closed: nothing more is to be done.
            Ok(Printed::Closed) => Err(ExitCode::from(self.tally.exit_code(self.command.strict))),
            Err(error) => Err(trouble(format_args!("cannot write to standard output: {error}"))),
        }
    }

    fn finish(mut self) -> Result<ExitCode, ExitCode> {
        if let Some(answers) = self.collected.take() {
            let (program, version) = ("snapshot-verify", env!("CARGO_PKG_VERSION"));
            if let Some(text) = self.command.report.collected(program, version, &answers) {
                self.print(&text)?;
            }
        }
        if self.format == ReportFormat::Json {
            let (strict, elapsed) = (self.command.strict, self.began.elapsed());
            self.print(&(json_summary(&self.tally, strict, elapsed, self.peak_bytes) + "\n"))?;
        }
        Ok(ExitCode::from(self.tally.exit_code(self.command.strict)))
    }
}

/// What a verdict is for continuous integration.
fn kind(verdict: &Verdict) -> ci::Kind {
    match verdict {
        Verdict::Verified => ci::Kind::Right,
        verdict if verdict.is_wrong() => ci::Kind::Wrong,
        _ => ci::Kind::Open,
    }
}

/// Passes on to the ticker how far a search is.
pub struct ProgressWatch<'a> {
    /// What is searched.
    pub title: String,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Shows progress.
    pub ticker: &'a Ticker,
}

impl Watch for ProgressWatch<'_> {
    fn stop(&self) -> &AtomicBool {
        self.stop
    }

    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        let pair = pair.map_or_else(String::new, |[i, j]| format!(", pair ({i},{j})"));
        let operations = effort.operations.map_or_else(String::new, |operations| {
            format!(", {operations} operations of {}", effort.active)
        });
        self.ticker.begin(format!("{}{pair}{operations}", self.title));
    }

    fn progress(&self, progress: &Progress) {
        self.ticker.tick(progress);
    }

    fn allocated(&self) -> Option<fn() -> u64> {
        Some(allocated)
    }
}
