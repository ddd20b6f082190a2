//! `snapshot-verify certify`: does a certificate prove that an algorithm is linearizable?

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use snapshot_core::Process;
use snapshot_io::quantity;
use snapshot_verify::certificate::{Accepted, Answer, Budget, Claim, Unfinished, check, digest};
use snapshot_verify::coverability::{self, Unsuitable};
use snapshot_verify::invariant;
use snapshot_verify::invariant::check::{Uncovered, check_projecting};
use snapshot_verify::invariant::claim::TITLE;
use snapshot_verify::invariant::projection::Extent;
use snapshot_verify::language::Source;
use snapshot_verify::report::{bound_on_operations, placed, projected, projection};
use snapshot_verify::strategy::{self, Played, Refusal};
use snapshot_verify::verify::VerifyError;

use super::input::Input;
use super::{ReportFormat, UNKNOWN, WRONG, interrupt, json, print, refused, trouble};

/// Checks the certificate of a proof against the algorithm it was made for.
///
/// It runs the algorithm as it is written from every state or view that the certificate
/// lists, and shares nothing with the search for the proof (docs/certificates.md). Exit code: 0
/// if the certificate proves its claim, 1 if it does not, 2 if an input is bad, 3 if the
/// budget ran out, 4 if an execution contradicts an accepted proof.
#[derive(Debug, Args)]
pub struct Certify {
    /// The algorithm: a name of the corpus, or a file.
    #[arg(value_name = "ALGORITHM|FILE")]
    input: String,
    /// The certificate, as `check --certificate` writes it.
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Bytes that the check may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "4G",
          value_parser = quantity::bytes::<u64>)]
    memory: u64,
    /// Seconds that the check may take (default: no limit).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
    /// Project far more executions into a proof for every n: for each obligation all states of
    /// n = 2, up to 2,000,000, and 200,000 of n = 3.
    #[arg(long)]
    thorough: bool,
    /// Report as text, or as a JSON object (docs/certificates.md).
    #[arg(long, value_enum, default_value = "human")]
    report: ReportFormat,
}

/// Most bytes of the certificate of a strategy.
const LARGEST: u64 = 4 << 30;

/// The answer in JSON.
#[derive(Serialize)]
struct Report {
    schema: u32,
    certificate: String,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved: Option<ProvedWhat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    seconds: f64,
}

/// Proved claim: for one n, or for every n.
#[derive(Serialize)]
#[serde(untagged)]
enum ProvedWhat {
    One(Proved),
    Every(ProvedEvery),
    Strong(ProvedStrong),
    Object(ProvedObject),
}

/// An object, proved for every n.
#[derive(Serialize)]
struct ProvedObject {
    algorithm: String,
    bug: Option<String>,
    processes: &'static str,
    values: u32,
    linearizable: bool,
    minimal_states: usize,
    states: [usize; 2],
}

/// Strong linearizability, proved for one n.
#[derive(Serialize)]
struct ProvedStrong {
    algorithm: String,
    bug: Option<String>,
    processes: usize,
    operations: Option<u32>,
    operations_of_each: Vec<u32>,
    values: Option<u32>,
    strongly_linearizable: bool,
    positions: usize,
    answers: usize,
    moves: u64,
}

/// Claim proved for every n.
#[derive(Serialize)]
struct ProvedEvery {
    algorithm: String,
    bug: Option<String>,
    processes: &'static str,
    linearizable: bool,
    obligations: Vec<ProvedObligation>,
    views: u64,
    steps: u64,
    /// Executions that were projected into the views, per obligation.
    projection: Vec<serde_json::Value>,
}

/// An obligation of the claim.
#[derive(Serialize)]
struct ProvedObligation {
    obligation: String,
    views: u64,
}

impl From<invariant::check::Accepted> for ProvedEvery {
    fn from(accepted: invariant::check::Accepted) -> Self {
        let views = accepted.views();
        let of = |(one, views): &(invariant::claim::Obligation, u64)| ProvedObligation {
            obligation: one.name(),
            views: *views,
        };
        Self {
            obligations: accepted.obligations.iter().map(of).collect(),
            algorithm: accepted.claim.algorithm,
            bug: accepted.claim.bug,
            processes: "every",
            linearizable: true,
            views,
            steps: accepted.steps,
            projection: accepted.projected.iter().map(projection).collect(),
        }
    }
}

/// Claim proved for one n.
#[derive(Serialize)]
struct Proved {
    algorithm: String,
    bug: Option<String>,
    processes: usize,
    pairs: Vec<[usize; 2]>,
    operations: Option<u32>,
    linearizable: bool,
    coverage: &'static str,
    states: u64,
    moves: u64,
}

/// Returns true for the path of a file that begins as certificates do.
fn is_certificate(path: &str) -> bool {
    const LONGEST: u64 = 32;
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut begin));
    let titles = ["snapshot-certificate ", strategy::TITLE, coverability::TITLE];
    read.is_ok() && titles.iter().any(|title| begin.starts_with(title.as_bytes()))
}

impl Certify {
    pub fn run(self) -> ExitCode {
        match self.certify() {
            Ok(code) | Err(code) => code,
        }
    }

    fn certify(&self) -> Result<ExitCode, ExitCode> {
        let place = self.certificate.display();
        if is_certificate(&self.input) {
            let input = &self.input;
            return Err(trouble(format_args!(
                "{input} is a certificate: name the algorithm first, then its certificate"
            )));
        }
        let input = Input::read(&self.input)?;
        let has_points = input.algorithm.has_object();
        let variant = input.variant_or(self.bug.as_deref(), has_points, trouble)?;
        let cannot = |error| trouble(format_args!("cannot read {place}: {error}"));
        let mut file = BufReader::new(File::open(&self.certificate).map_err(cannot)?);
        let first = file.fill_buf().map_err(cannot)?;
        let is_every = first.starts_with(TITLE.as_bytes());
        let is_strategy = first.starts_with(strategy::TITLE.as_bytes());
        let is_coverability = first.starts_with(coverability::TITLE.as_bytes());
        if !is_strategy && !is_coverability {
            input.require_snapshot(&variant, "a certificate of linearizability")?;
        }
        let (began, stop) = (Instant::now(), interrupt::listen());
        let mut proceed = || {
            let is_late = self.time.is_some_and(|time| began.elapsed() >= time);
            !is_late && !stop.load(Ordering::Relaxed)
        };
        let mut budget = Budget { memory: self.memory, proceed: &mut proceed };
        let digest = digest(input.algorithm.source().text());
        let seconds = || began.elapsed().as_secs_f64();
        let text = |file: BufReader<File>| {
            let mut text = String::new();
            file.take(LARGEST).read_to_string(&mut text).map_err(cannot).map(|_| text)
        };
        let checked = if is_strategy {
            let played = strategy::read(&text(file)?).and_then(|(claim, answers)| {
                let strategy = (&claim, answers);
                let played = strategy::check(&variant.program, &digest, strategy, &mut budget)?;
                Ok((claim, played))
            });
            strong(&input.name, played, seconds())
        } else if is_coverability {
            let checked = coverability::read(&text(file)?).and_then(|(claim, upward)| {
                let of = (digest.as_str(), input.algorithm.size());
                coverability::check(&variant.program, of, (&claim, &upward), &mut budget)?;
                Ok((claim, upward.len()))
            });
            object(&input.name, checked, seconds())
        } else if is_every {
            let extent = if self.thorough { Extent::THOROUGH } else { Extent::default() };
            let checked =
                check_projecting(&variant.program, &digest, &mut file, &mut budget, Some(extent));
            every(&input.name, input.algorithm.source(), checked.map_err(cannot)?, seconds())
        } else {
            let checked = check(&variant.program, &digest, &mut file, &mut budget);
            one(&input.name, checked.map_err(cannot)?, seconds())
        };
        self.report(&input, checked, seconds())
    }

    /// Prints the answer.
    fn report(&self, input: &Input, checked: Checked, seconds: f64) -> Result<ExitCode, ExitCode> {
        let place = self.certificate.display();
        let mut report = Report {
            schema: 1,
            certificate: place.to_string(),
            answer: "accepted",
            proved: None,
            reason: None,
            seconds,
        };
        let (text, code) = match checked {
            Checked::Foreign => return Err(self.foreign()),
            Checked::Accepted(text, proved) => {
                report.proved = Some(proved);
                (format!("{place}: proves that {text}\n"), ExitCode::SUCCESS)
            }
            Checked::Refused(refusal) => {
                let text = format!("{place}: proves nothing of {}: {refusal}\n", input.name);
                report.answer = "refused";
                report.reason = Some(refusal);
                (text, ExitCode::from(WRONG))
            }
            Checked::Uncovered(uncovered) => {
                let source = input.algorithm.source();
                let error = VerifyError::Uncovered(uncovered);
                return Err(refused(&input.name, source, &error));
            }
            Checked::Unknown(cause) => {
                report.answer = "unknown";
                report.reason = Some(cause.name().to_owned());
                let text = format!("{place}: not checked to its end: {} ran out\n", cause.name());
                (text, ExitCode::from(UNKNOWN))
            }
        };
        self.answer(&text, &report, code)
    }

    fn foreign(&self) -> ExitCode {
        trouble(format_args!(
            "{}: no certificate of a proof, or of another version: its first line must be \
             `snapshot-certificate 1 states` or `{TITLE}`",
            self.certificate.display()
        ))
    }

    fn answer(&self, text: &str, report: &Report, code: ExitCode) -> Result<ExitCode, ExitCode> {
        let printed = match self.report {
            ReportFormat::Human => print(text),
            ReportFormat::Json => print(&json(report)),
        };
        if printed == ExitCode::SUCCESS { Ok(code) } else { Err(printed) }
    }
}

/// Result of a check, for one n or for every n.
enum Checked {
    /// The claim, as text and for JSON.
    Accepted(String, ProvedWhat),
    /// Reason why the certificate proves nothing.
    Refused(String),
    /// The exhausted budget.
    Unknown(Unfinished),
    /// An execution contradicts the check.
    Uncovered(Uncovered),
    /// The file is not a certificate of this version.
    Foreign,
}

/// Reports on a certificate for one n.
fn one(name: &str, answer: Answer, seconds: f64) -> Checked {
    match answer {
        Answer::Accepted(accepted) => {
            let text = describe(name, &accepted, seconds);
            Checked::Accepted(text, ProvedWhat::One(Proved::from(accepted)))
        }
        Answer::Refused(refusal) => Checked::Refused(refusal.to_string()),
        Answer::Unknown(cause) => Checked::Unknown(cause),
        Answer::Foreign => Checked::Foreign,
    }
}

/// Reports on a certificate of strong linearizability.
fn strong(name: &str, played: Result<(strategy::Claim, Played), Refusal>, seconds: f64) -> Checked {
    let (claim, played) = match played {
        Ok(played) => played,
        Err(Refusal::Unknown(cause)) => return Checked::Unknown(cause),
        Err(refusal) => return Checked::Refused(refusal.to_string()),
    };
    let operations = bound_on_operations(claim.operations, &claim.each);
    let values = match claim.values {
        None => "all values".to_owned(),
        Some(1) => "1 value".to_owned(),
        Some(values) => format!("{values} values"),
    };
    let text = format!(
        "{name} is strongly linearizable for n = {} ({operations}, {values}; {} positions, {} \
         answers, {} moves, {seconds:.2} s)",
        claim.processes, played.positions, played.answers, played.moves
    );
    Checked::Accepted(
        text,
        ProvedWhat::Strong(ProvedStrong {
            algorithm: claim.algorithm,
            bug: claim.bug,
            processes: claim.processes,
            operations: claim.operations,
            operations_of_each: claim.each,
            values: claim.values,
            strongly_linearizable: true,
            positions: played.positions,
            answers: played.answers,
            moves: played.moves,
        }),
    )
}

/// Reports on a certificate of an object for every n.
fn object(
    name: &str,
    checked: Result<(coverability::Claim, usize), coverability::Refusal>,
    seconds: f64,
) -> Checked {
    let (claim, minimal) = match checked {
        Ok(checked) => checked,
        Err(coverability::Refusal::Unsuitable(Unsuitable::Unfinished(cause))) => {
            return Checked::Unknown(cause);
        }
        Err(refusal) => return Checked::Refused(refusal.to_string()),
    };
    let values = match claim.values {
        1 => "1 value".to_owned(),
        values => format!("{values} values"),
    };
    let text = format!(
        "{name} is linearizable for every n (any number of operations, {values}; {minimal} minimal \
         states, {seconds:.2} s)"
    );
    Checked::Accepted(
        text,
        ProvedWhat::Object(ProvedObject {
            algorithm: claim.algorithm,
            bug: claim.bug,
            processes: "every",
            values: claim.values,
            linearizable: true,
            minimal_states: minimal,
            states: claim.states,
        }),
    )
}

/// Reports on a certificate for every n.
fn every(name: &str, source: &Source, answer: invariant::check::Answer, seconds: f64) -> Checked {
    use invariant::check::Answer;
    match answer {
        Answer::Accepted(accepted) => {
            let bug = accepted.claim.bug.as_ref();
            let bug = bug.map_or_else(String::new, |bug| format!(" with bug {bug}"));
            let projecting: Duration = accepted.projected.iter().map(|one| one.elapsed).sum();
            let seconds = (seconds - projecting.as_secs_f64()).max(0.0);
            let text = format!(
                "{name}{bug} is linearizable for every n >= 2 (all pairs, any number of \
                 operations; {} views, {} steps, {seconds:.2} s)\n  projected: {}",
                accepted.views(),
                accepted.steps,
                projected(&accepted.projected),
            );
            Checked::Accepted(text, ProvedWhat::Every(ProvedEvery::from(accepted)))
        }
        Answer::Refused(refusal) => {
            Checked::Refused(format!("{}{refusal}", placed(source, refusal.span())))
        }
        Answer::Unknown(cause) => Checked::Unknown(cause),
        Answer::Uncovered(uncovered) => Checked::Uncovered(uncovered),
        Answer::Foreign => Checked::Foreign,
    }
}

/// Returns text such as `bowman is linearizable for n = 3 (3 pairs, ...)`.
fn describe(name: &str, accepted: &Accepted, seconds: f64) -> String {
    let Accepted { claim, states, moves } = accepted;
    let Claim { bug, processes, operations, pairs, coverage, .. } = claim;
    let bug = bug.as_ref().map_or_else(String::new, |bug| format!(" with bug {bug}"));
    let bound = bound_on_operations(*operations, &[]);
    let about = match claim.has_all_pairs() {
        true if pairs.len() == 1 => "1 pair".to_owned(),
        true => format!("{} pairs", pairs.len()),
        false => {
            pairs.iter().map(|[i, j]| format!("pair ({i},{j})")).collect::<Vec<_>>().join(", ")
        }
    };
    let proved = match (claim.is_complete(), claim.has_all_pairs()) {
        (true, _) => "is linearizable",
        (false, true) => "has no violation within the bound",
        (false, false) => "has no violation among the simple executions of some pairs",
    };
    format!(
        "{name}{bug} {proved} for n = {processes} ({about}, {bound}; {states} states, {}, {moves} \
         moves, {seconds:.2} s)",
        coverage.name()
    )
}

impl From<Accepted> for Proved {
    fn from(Accepted { claim, states, moves }: Accepted) -> Self {
        Self {
            linearizable: claim.is_complete(),
            algorithm: claim.algorithm,
            bug: claim.bug,
            processes: claim.processes,
            pairs: claim.pairs.iter().map(|pair| pair.map(Process::index)).collect(),
            operations: claim.operations,
            coverage: claim.coverage.name(),
            states,
            moves,
        }
    }
}
