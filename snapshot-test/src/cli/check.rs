//! `snapshot-test check`: are these recordings linearizable?

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use parse_size::Config;
use snapshot_core::check::Checker;
use snapshot_test::certificate::Certificate;
use snapshot_test::input::Input;
use snapshot_test::judge::{Finding, Judgement, Options, judge};
use snapshot_test::report::{exit_code, human, json};
use thiserror::Error;

use super::format::InputFormat;
use super::trouble;

/// Checks whether recordings are linearizable, and proves the answers.
///
/// Exit code: 1 if there is a violation, else 2 if an input is malformed, else
/// 3 if one could not be decided, else 0.
#[derive(Debug, Args)]
pub struct Check {
    /// The format of the inputs.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// For people, or one JSON object per line and input (docs/report.md).
    #[arg(long, value_enum, default_value = "human")]
    report: ReportFormat,
    /// Write a certificate per decided input to this directory, for `certify`.
    /// Holds each history in memory.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Seconds that an exact search may take, per input (default: no limit).
    #[arg(long, value_name = "S", value_parser = seconds)]
    budget_seconds: Option<Duration>,
    /// Bytes that an exact search may take, per input: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    budget_memory: usize,
    /// Answer at the first violation, without waiting for the end of the input.
    #[arg(long)]
    live: bool,
    /// How to decide. All but `auto` hold each history in memory.
    #[arg(long, value_enum, default_value = "auto")]
    method: CheckMethod,
    /// Keep no copy of what is piped in, however long: a violation is then
    /// reported without its proof.
    #[arg(long, conflicts_with = "certificate")]
    forget: bool,
    /// The recordings; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
}

/// How to decide.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CheckMethod {
    /// The observer or the linear-time conditions; exact search where they do
    /// not decide.
    Auto,
    /// The linear-time conditions only: unknown where they do not decide.
    Linear,
    /// Exact search, with what is known of snapshots.
    Search,
    /// Exact search that knows nothing but the specification, as for any object
    /// (Wing and Gong; Lowe). Slow on long wrong histories of many processes.
    Generic,
}

impl CheckMethod {
    const fn checker(self) -> Option<Checker> {
        match self {
            Self::Auto => None,
            Self::Linear => Some(Checker::Linear),
            Self::Search => Some(Checker::Search),
            Self::Generic => Some(Checker::Generic),
        }
    }
}

/// How to report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// What is wrong with a budget that was given.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
enum BudgetError {
    #[error("expected a number of seconds that is not negative")]
    Seconds,
    #[error("expected a number of bytes such as 500000000, 500M or 2G")]
    Bytes,
    #[error("this many bytes do not exist")]
    TooManyBytes,
}

fn seconds(text: &str) -> Result<Duration, BudgetError> {
    let seconds = text.parse().map_err(|_| BudgetError::Seconds)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| BudgetError::Seconds)
}

fn bytes(text: &str) -> Result<usize, BudgetError> {
    let bytes = Config::new().with_binary().parse_size(text).map_err(|_| BudgetError::Bytes)?;
    usize::try_from(bytes).map_err(|_| BudgetError::TooManyBytes)
}

impl Check {
    pub fn run(self) -> ExitCode {
        for (is_set, option) in [(self.live, "--live"), (self.forget, "--forget")] {
            if is_set && self.method != CheckMethod::Auto {
                return trouble(format_args!(
                    "{option} judges a recording while it is read, and --method holds all of it \
                     in memory first; leave one of them out"
                ));
            }
        }
        let options = Options {
            time: self.budget_seconds,
            memory: self.budget_memory,
            linearization: self.certificate.is_some(),
            live: self.live,
            checker: self.method.checker(),
            forget: self.forget,
        };
        if let Some(directory) = &self.certificate
            && let Err(error) = fs::create_dir_all(directory)
        {
            return trouble(format_args!("cannot create {}: {error}", directory.display()));
        }
        let mut findings = Vec::with_capacity(self.inputs.len());
        let mut names = CertificateNames::default();
        for path in &self.inputs {
            let input = Input::from_argument(path);
            let judgement = judge(&input, self.format.format(), &options);
            let written = match &self.certificate {
                None => None,
                Some(directory) => {
                    let place = directory.join(names.next(path));
                    match write_certificate(&place, &judgement) {
                        Ok(written) => written.then_some(place),
                        Err(error) => {
                            return trouble(format_args!(
                                "cannot write {}: {error}",
                                place.display()
                            ));
                        }
                    }
                }
            };
            if let Err(error) = self.print(&input.name(), &judgement, written.as_deref()) {
                return trouble(format_args!("cannot write to standard output: {error}"));
            }
            findings.push(judgement.finding);
        }
        if self.report == ReportFormat::Human
            && findings.len() > 1
            && self.summarise(&findings).is_err()
        {
            return ExitCode::from(super::TROUBLE);
        }
        ExitCode::from(exit_code(&findings))
    }

    fn print(&self, name: &str, judgement: &Judgement, written: Option<&Path>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self.report {
            ReportFormat::Human => {
                out.write_all(human(name, judgement).as_bytes())?;
                if let Finding::Malformed(error) = &judgement.finding {
                    eprintln!("{}", error.report(name));
                }
                if let Some(place) = written {
                    writeln!(out, "  certificate: {}", place.display())?;
                }
            }
            ReportFormat::Json => {
                let place = written.map(|place| place.display().to_string());
                writeln!(out, "{}", json(name, judgement, place.as_deref()))?;
            }
        }
        out.flush()
    }

    fn summarise(&self, findings: &[Finding]) -> io::Result<()> {
        let mut counts = [0usize; 4];
        for finding in findings {
            counts[match finding {
                Finding::Linearizable { .. } => 0,
                Finding::Violation(_) => 1,
                Finding::Unknown { .. } | Finding::Unsearched { .. } => 2,
                Finding::Malformed(_) => 3,
            }] += 1;
        }
        let [linearizable, violations, unknown, malformed] = counts;
        writeln!(
            io::stdout().lock(),
            "{} inputs: {linearizable} linearizable, {violations} violations, {unknown} unknown, \
             {malformed} malformed",
            findings.len()
        )
    }
}

/// Writes the certificate of a decided input; whether there was one.
fn write_certificate(place: &Path, judgement: &Judgement) -> io::Result<bool> {
    let certificate = match &judgement.finding {
        Finding::Linearizable { linearization: Some(order), .. } => {
            Certificate::Linearizable(order.clone())
        }
        Finding::Violation(violation) => match &violation.proof {
            Some(proof) => Certificate::Violation(proof.explanation.witness.clone()),
            None => return Ok(false),
        },
        _ => return Ok(false),
    };
    fs::write(place, certificate.to_text())?;
    Ok(true)
}

/// Distinct file names for certificates, after the inputs' own.
#[derive(Debug, Default)]
struct CertificateNames {
    taken: std::collections::HashSet<String>,
}

impl CertificateNames {
    fn next(&mut self, input: &Path) -> String {
        let name = input.file_name().map_or("-".into(), |name| name.to_string_lossy());
        let name = if name == "-" { "standard-input".into() } else { name };
        let mut candidate = format!("{name}.certificate");
        let mut number = 2;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{name}.{number}.certificate");
            number += 1;
        }
        candidate
    }
}
