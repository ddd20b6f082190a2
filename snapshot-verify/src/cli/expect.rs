//! `snapshot-verify expect`: tries the expectations in the texts of algorithms.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use snapshot_verify::language::{Expectation, ExpectedVerdict};
use snapshot_verify::report::{Case, count, seconds, strong_words};
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::every::every;
use snapshot_verify::verify::every_object::every_object;
use snapshot_verify::verify::properties::{Scope, progressing, strongly};
use snapshot_verify::verify::{
    Conformance, Measures, Outcome, Reductions, Request, conformance, object_request,
    progress_conformance, request, strong_conformance, verify,
};

use super::bounds::{self, Budget};
use super::input::{self, Input, Variant};
use super::progress::{ProgressWatch, Ticker};
use super::{ReportFormat, UNKNOWN, WRONG, print, print_in, refused, trouble};

/// Maximum number of states in the search for one expectation, unless its time is limited.
const STATES: u64 = 40_000_000;

/// Tries the `expect` lines of the corpus, or of files.
///
/// Exit code: 1 if one is contradicted, else 2 if an input is bad, else 3 if one
/// could not be decided, else 0.
#[derive(Debug, Args)]
#[command(mut_arg("time", |time| time.help(
    "Seconds that each expectation may take (default: any number; a search ends with 40,000,000 states)"
)))]
pub struct Expect {
    /// Algorithms: names of the corpus, or files (default: all of the corpus).
    #[arg(value_name = "ALGORITHM|FILE")]
    inputs: Vec<String>,
    /// The reductions to use: all, none, names separated by commas, or no-NAME.
    #[arg(long, value_name = "all|none|LIST", default_value = "all",
          value_parser = bounds::reductions)]
    reductions: Reductions,
    #[command(flatten)]
    budget: Budget,
    /// Report as text, or as one JSON object per line.
    #[arg(long, value_enum, default_value = "human")]
    report: ReportFormat,
    /// Show the status of the search on standard error even if it is not a terminal.
    #[arg(long)]
    status: bool,
}

/// Result for one expectation.
#[derive(Serialize)]
struct Row {
    input: String,
    expectation: String,
    conforms: &'static str,
    answer: String,
    /// Unit of the count: states, or views.
    #[serde(skip)]
    unit: &'static str,
    states: u64,
    seconds: f64,
}

impl Expect {
    pub fn run(self) -> ExitCode {
        match self.expect() {
            Ok(code) | Err(code) => code,
        }
    }

    fn expect(&self) -> Result<ExitCode, ExitCode> {
        let ticker = Ticker::new(self.status);
        let mut counts = [0usize; 3];
        for name in input::names(&self.inputs) {
            let input = Input::read(&name)?;
            for expectation in input.algorithm.expectations() {
                let (conforms, row) = self.row(&input, expectation, &ticker)?;
                counts[conforms as usize] += 1;
                let text = match self.report {
                    ReportFormat::Human => row.human(),
                    ReportFormat::Json => super::json(&row),
                };
                let printed = print_in(self.report, &text);
                if printed != ExitCode::SUCCESS {
                    return Err(printed);
                }
            }
        }
        let [met, contradicted, undecided] = counts;
        if self.report == ReportFormat::Human {
            let all = met + contradicted + undecided;
            let printed = print(&format!(
                "{all} expectations: {met} met, {contradicted} contradicted, {undecided} \
                 undecided\n"
            ));
            if printed != ExitCode::SUCCESS {
                return Err(printed);
            }
        }
        Ok(ExitCode::from(match (contradicted, undecided) {
            (0, 0) => 0,
            (0, _) => UNKNOWN,
            _ => WRONG,
        }))
    }

    fn row(
        &self,
        input: &Input,
        expectation: &Expectation,
        ticker: &Ticker,
    ) -> Result<(Conformance, Row), ExitCode> {
        let bug = expectation.bug.as_ref().map(|name| name.text.as_str());
        let input = &input.sized(expectation.size)?;
        let points = expectation.every && input.algorithm.has_object();
        let variant = input.variant_or(bug, points, trouble)?;
        if expectation.every {
            return self.row_of_every(input, &variant, expectation, ticker);
        }
        if expectation.verdict.is_property() {
            return self.row_of_property(input, &variant, expectation, ticker);
        }
        let request = match variant.object() {
            None => request(expectation, &self.means()),
            Some(_) => object_request(expectation, &self.means()),
        };
        let looks_at_values = input.looks_at_values(&variant);
        let source = input.algorithm.source();
        let mut case = Case {
            input: &input.name,
            algorithm: &variant.title,
            bug,
            object: variant.program.object(),
            source,
            request: &request,
            outcomes: &[],
            exercise: None,
            looks_at_values: &looks_at_values,
        };
        let watch = ProgressWatch::new(case.title(), ticker);
        let outcomes = verify(&variant.program, looks_at_values.is_empty(), &request, &watch);
        ticker.clear();
        let outcomes: Vec<Outcome> =
            outcomes.map_err(|error| refused(&watch.title, source, &error))?;
        case.outcomes = &outcomes;
        let conforms = conformance(expectation.verdict, &outcomes);
        let mut measures = Measures::default();
        outcomes.iter().for_each(|outcome| measures.add(&outcome.measures));
        let row = Row {
            input: input.name.clone(),
            expectation: expectation.to_string(),
            conforms: name_of(conforms),
            answer: case.conclusion().to_owned(),
            unit: "states",
            states: measures.states,
            seconds: measures.elapsed.as_secs_f64(),
        };
        Ok((conforms, row))
    }

    fn row_of_every(
        &self,
        input: &Input,
        variant: &Variant,
        expectation: &Expectation,
        ticker: &Ticker,
    ) -> Result<(Conformance, Row), ExitCode> {
        let (program, means) = (&variant.program, self.means());
        let title = if variant.object().is_some() { &variant.title } else { &program.name };
        let watch = ProgressWatch::new(title.clone(), ticker);
        let found = match variant.object() {
            None => every(program, &means, &watch)
                .map(|found| (found.verdict(), "views", found.views(), found.elapsed)),
            Some(_) => every_object(program, &means, &watch).map(|found| {
                let minimal = found.found.as_ref().map_or(0, |found| found.upward.len() as u64);
                (found.verdict(), "minimal states", minimal, found.elapsed)
            }),
        };
        ticker.clear();
        let source = input.algorithm.source();
        let (verdict, unit, states, elapsed) =
            found.map_err(|error| refused(&watch.title, source, &error))?;
        let conforms = conformance_of_every(expectation.verdict, verdict);
        let row = Row {
            input: input.name.clone(),
            expectation: expectation.to_string(),
            conforms: name_of(conforms),
            answer: format!("{verdict} for every n"),
            unit,
            states,
            seconds: elapsed.as_secs_f64(),
        };
        Ok((conforms, row))
    }

    /// Strong linearizability, or progress.
    fn row_of_property(
        &self,
        input: &Input,
        variant: &Variant,
        expectation: &Expectation,
        ticker: &Ticker,
    ) -> Result<(Conformance, Row), ExitCode> {
        let watch = ProgressWatch::new(variant.title.clone(), ticker);
        let scope = Scope {
            processes: expectation.processes as usize,
            operations: expectation.operations,
            each: expectation.each.clone(),
            values: expectation.values,
            memory: self.budget.memory,
            time: self.budget.time,
            states: self.budget.time.is_none().then_some(STATES),
        };
        let (program, verdict) = (&variant.program, expectation.verdict);
        let refused = |error| refused(&variant.title, input.algorithm.source(), &error);
        let strength = match verdict {
            ExpectedVerdict::Strong(strength) | ExpectedVerdict::NotStrong(strength) => {
                Some(strength)
            }
            _ => None,
        };
        let (conforms, answer, states, elapsed) = if let Some(strength) = strength {
            let found = strongly(program, strength, &scope, &watch).map_err(refused)?;
            let strong = &found.answer.0;
            let conforms = strong_conformance(verdict, &strong.verdict);
            (conforms, strong_words(strong).to_owned(), strong.positions, found.elapsed)
        } else {
            let found = progressing(program, &scope, &watch).map_err(refused)?;
            let progress = &found.answer;
            let operation = expectation.operation.as_ref().map(|name| name.text.as_str());
            let conforms = progress_conformance(verdict, expectation.accesses, operation, progress);
            let conforms = conforms.ok_or_else(|| {
                trouble(format_args!("{}: `{expectation}`: no such operation", input.name))
            })?;
            (conforms, "another progress".to_owned(), progress.states, found.elapsed)
        };
        let row = Row {
            input: input.name.clone(),
            expectation: expectation.to_string(),
            conforms: name_of(conforms),
            answer,
            unit: "states",
            states: states as u64,
            seconds: elapsed.as_secs_f64(),
        };
        Ok((conforms, row))
    }

    /// Returns the budgets; the expectation determines the rest.
    fn means(&self) -> Request {
        Request {
            reductions: self.reductions,
            threads: self.budget.threads(),
            memory: self.budget.memory,
            time: self.budget.time,
            states: self.budget.time.is_none().then_some(STATES),
            self_check: SelfCheck::of_build(),
            ..Request::new(2)
        }
    }
}

/// Compares an answer for every n with the expected verdict.
fn conformance_of_every(expected: ExpectedVerdict, found: &str) -> Conformance {
    match (expected, found) {
        (ExpectedVerdict::Linearizable, "verified")
        | (ExpectedVerdict::Violation, "violation" | "fault")
        | (ExpectedVerdict::Fault, "fault")
        | (ExpectedVerdict::NoProof, "refused") => Conformance::Met,
        (_, "unknown" | "misplaced") | (ExpectedVerdict::Linearizable, "refused") => {
            Conformance::Undecided
        }
        _ => Conformance::Contradicted,
    }
}

const fn name_of(conforms: Conformance) -> &'static str {
    match conforms {
        Conformance::Met => "met",
        Conformance::Contradicted => "contradicted",
        Conformance::Undecided => "undecided",
    }
}

impl Row {
    fn human(&self) -> String {
        let note = match self.conforms {
            "met" => String::new(),
            _ => format!(": {}", self.answer),
        };
        format!(
            "{:<12}  {:<16} {}{note} ({} {}, {})\n",
            self.conforms,
            self.input,
            self.expectation,
            count(self.states),
            self.unit,
            seconds(Duration::from_secs_f64(self.seconds)),
        )
    }
}
