//! `snapshot-test check`: are these recordings linearizable?

mod certificates;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Args, ValueEnum};
use snapshot_core::check::Checker;
use snapshot_io::ci::{self, CheckReport};
use snapshot_io::{escape, output, quantity};
use snapshot_test::Value;
use snapshot_test::format::Format;
use snapshot_test::input::{Gauge, Input};
use snapshot_test::judge::{Finding, Judgement, Options, judge_object, judge_recorded};
use snapshot_test::report::{Tally, doubt, exit_code, explained, human, json, verdict};
use snapshot_test::synchronisation::{self, Object};

use self::certificates::{CertificateNames, write_certificates};
use super::cluster::Processes;
use super::folder;
use super::format::InputFormat;
use super::progress::Line;
use super::result::Report;
use super::result_printer::ResultPrinter;
use super::{TROUBLE, print_data, times, trouble};

/// Checks whether recordings are linearizable, and proves the answers.
///
/// Exit code: 4 for a fault of this program, else 1 if there is a violation, else 2 if an input is
/// malformed or missing, else
/// 3 if one could not be decided, else 0.
#[derive(Debug, Args)]
pub struct Check {
    /// The format of the inputs.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// For people; one JSON object per line and input; JUnit or SARIF (docs/report.md).
    #[arg(long, value_enum, default_value = "human")]
    report: CheckReport,
    /// Write a certificate per decided input to this directory, for `certify`.
    /// Holds each history in memory.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Seconds that an exact search may take, per input (default: no limit).
    #[arg(long, visible_alias = "time", value_name = "S", value_parser = quantity::seconds)]
    budget_seconds: Option<Duration>,
    /// Bytes that an exact search may take, per input: 500M, 1.5GiB; units go by 1024.
    #[arg(long, visible_alias = "memory", value_name = "BYTES", default_value = "1G",
          value_parser = quantity::bytes::<usize>)]
    budget_memory: usize,
    /// The recordings are of this object: queue, stack, priority-queue, register, cas-register,
    /// map, lock, set, counter, bounded-queue:N or semaphore:N; or one whose operations take effect
    /// together: channel, exchanger, barrier:N, ... (docs/synchronisation.md). FILE.snapshot
    /// declares one. They are text, JSON Lines, or logs of Jepsen.
    #[arg(long, value_name = "OBJECT",
          conflicts_with_all = ["method", "explain", "forget"])]
    object: Option<Object>,
    /// With --object register, cas-register, map or counter: the value before the first operation
    /// (default: 0; of a map: none).
    #[arg(long, requires = "object", value_name = "VALUE", value_parser = super::format::key,
          allow_negative_numbers = true)]
    initial: Option<Value>,
    /// With --object: treat the end of a recording as quiescent: an operation left waiting though
    /// it could take effect is a violation.
    #[arg(long, requires = "object")]
    progress: bool,
    /// With --object queue, stack and others whose operations take effect one at a time: where the
    /// exact search runs out of its budget, look for operations on few values, and at most K cuts, that show a violation,
    /// with the same budget once more (docs/barriers.md).
    #[arg(long, requires = "object", value_name = "K")]
    barriers: Option<usize>,
    /// Check only the object with this key, in a recording of several: a number, a text, or a text
    /// in double quotes.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// Answer at the first violation, without waiting for the end of the input.
    #[arg(long)]
    live: bool,
    /// The method. All but `auto` hold each history in memory; the first event of a violation, and
    /// its proof, are found by all means.
    #[arg(long, value_enum, default_value = "auto")]
    method: CheckMethod,
    /// Also show the run of the automaton that accepts the violation.
    #[arg(long)]
    explain: bool,
    /// Do not buffer piped input: violations then have no proof.
    #[arg(long, conflicts_with = "certificate")]
    forget: bool,
    #[command(flatten)]
    processes: Processes,
    /// The recordings; `-` is standard input, and a folder stands for all files below it, each a
    /// separate recording.
    #[arg(required_unless_present = "cluster", value_name = "FILE")]
    inputs: Vec<PathBuf>,
}

/// Set when everything must end: the output is closed, or another process has failed.
static STOP: AtomicBool = AtomicBool::new(false);

/// The method of deciding.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CheckMethod {
    /// The observer or the linear-time conditions; the saturated relation where
    /// updates of one segment overlap; exact search where values repeat.
    Auto,
    /// The linear-time conditions only, also for simple histories: unknown where they do not
    /// decide. Where scans are partial, each component of segments separately.
    Linear,
    /// The saturated relation, for overlapping updates; exact search where values repeat.
    Saturation,
    /// Exact search, with the knowledge of snapshots.
    Search,
    /// Exact search by the specification alone, as for any object (Wing and Gong; Lowe). Slow on
    /// long wrong histories of many processes.
    Generic,
    /// The three automata on all renamings: the theorem of DISC 2022, taken literally. For
    /// histories without repeated values and overlapping updates; U updates take O(U²) passes.
    Automata,
}

/// Name in reports for continuous integration.
const PROGRAM: &str = "snapshot-test";

impl CheckMethod {
    const fn checker(self) -> Option<Checker> {
        match self {
            Self::Auto => None,
            Self::Linear => Some(Checker::Linear),
            Self::Saturation => Some(Checker::Saturation),
            Self::Search => Some(Checker::Search),
            Self::Generic => Some(Checker::Generic),
            Self::Automata => Some(Checker::Automata),
        }
    }
}

/// The form of a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

impl ReportFormat {
    /// Returns the value of the option.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
        }
    }
}

impl Check {
    pub fn run(mut self) -> ExitCode {
        let files = folder::files(&self.inputs);
        self.inputs = match files.and_then(|files| self.processes.taken(files)) {
            Ok(files) => files,
            Err(_) if self.processes.is_cluster() => {
                return self.processes.give_up(|| self.task(), self.outlet());
            }
            Err(code) => return code,
        };
        self.object = match Object::chosen(self.object.take(), self.initial.take()) {
            Ok(object) => object,
            Err(error) => return trouble(error),
        };
        if let Some(refusal) = self.object.as_ref().and_then(|object| self.refusal(object)) {
            return trouble(refusal);
        }
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
            progress: self.progress,
            barriers: self.barriers,
        };
        if let Some(directory) = &self.certificate
            && let Err(error) = fs::create_dir_all(directory)
        {
            return trouble(format_args!("cannot create {}: {error}", directory.display()));
        }
        if self.processes.is_cluster() && self.report.is_collected() {
            return trouble(
                "--report junit and --report sarif are one document about all inputs, and each \
                 process of --cluster reports its own\nhelp: use --report human or --report json, \
                 or leave out --cluster",
            );
        }
        match self.judge(&options) {
            Ok(code) | Err(code) => code,
        }
    }

    const fn report(&self) -> ReportFormat {
        match self.report {
            CheckReport::Json => ReportFormat::Json,
            _ => ReportFormat::Human,
        }
    }

    const fn outlet(&self) -> ResultPrinter {
        ResultPrinter::new(self.report(), true, &STOP)
    }

    /// The options that all processes of a cluster must share.
    fn task(&self) -> String {
        let object =
            self.object.as_ref().map(|object| format!(" --object {}", object.described(None)));
        format!("check --report {}{}", self.report().name(), object.unwrap_or_default())
    }

    /// Judges all inputs of this process.
    fn judge(&self, options: &Options) -> Result<ExitCode, ExitCode> {
        let post = self.processes.post(|| self.task(), self.outlet())?;
        let mut tally = Tally::default();
        let mut names = CertificateNames::default();
        let mut answers = Vec::new();
        // Number of inputs with the same name: an input may be named twice.
        let mut ordinals = HashMap::new();
        for path in &self.inputs {
            let input = Input::from_argument(path);
            let key = self.key.as_ref();
            let gauge = Gauge::default();
            let line = Line::new(&input.name(), &gauge);
            let mut judgement = self.judged(&input, options, &gauge);
            drop(line);
            let written = match &self.certificate {
                None => Ok(None),
                Some(directory) => {
                    write_certificates(directory, path, key, &mut names, &mut judgement)
                }
            };
            let written = match written {
                Ok(written) => written,
                Err((place, error)) => {
                    post.fail(format_args!("cannot write {}: {error}", place.display()));
                    break;
                }
            };
            let mut name = self.processes.name(input.name());
            self.warn(&name, &judgement);
            if let Some(key) = key {
                name += &format!(" @{key}");
            }
            tally.count(&judgement.finding);
            if self.report.is_collected() {
                answers.push(answer(path, &name, &judgement));
                continue;
            }
            let shown = self.shown(&name, &judgement, written.as_deref());
            let ordinal = ordinals.entry(shown.id.clone()).or_insert(0_usize);
            let id = format!("{ordinal} {}", shown.id);
            *ordinal += 1;
            if !post.show(&Report { id, code: tally.code(), ..shown }) {
                break;
            }
        }
        let here = serde_json::to_value(tally).expect("numbers become JSON");
        Ok(post.conclude(here, || {}, |all, outlet| self.summed(all, &answers, outlet)))
    }

    /// Prints the summary over all inputs of all processes. Returns the exit code.
    fn summed(
        &self,
        all: Vec<serde_json::Value>,
        answers: &[ci::Answer],
        outlet: &ResultPrinter,
    ) -> u8 {
        let mut tally = Tally::default();
        for one in all {
            match serde_json::from_value(one) {
                Ok(one) => tally.add(one),
                Err(error) => {
                    outlet.fail(format_args!(
                        "a process sent a message that is not known here: {error}"
                    ));
                    return TROUBLE;
                }
            }
        }
        if self.report == CheckReport::Human && tally.inputs() > 1 {
            let criterion = self.object.as_ref().map_or("linearizable", Object::criterion);
            outlet.print(&tally.human_of(criterion), tally.code());
        }
        let collected = self.report.collected(PROGRAM, env!("CARGO_PKG_VERSION"), answers);
        if let Some(text) = collected
            && print_data(&text) != ExitCode::SUCCESS
        {
            return TROUBLE;
        }
        outlet.ended().unwrap_or(tally.code())
    }

    /// Refuses options that the object does not have.
    fn refusal(&self, object: &Object) -> Option<String> {
        if matches!(self.format.format(), Some(Format::Disc22)) {
            return Some(
                "recordings of channels, barriers and their like are text or jsonl".into(),
            );
        }
        (self.barriers.is_some() && !object.is_single()).then(|| {
            format!(
                "--barriers is for objects whose operations take effect one at a time, and those \
                 of `{object}` do so together\nhelp: leave out --barriers"
            )
        })
    }

    /// Judges one input.
    fn judged(&self, input: &Input, options: &Options, gauge: &Gauge) -> Judgement {
        let (format, key) = (self.format.format(), self.key.as_ref());
        match &self.object {
            Some(object) => judge_recorded(object, input, format, key, options, gauge),
            None => judge_object(input, format, key, options, gauge),
        }
    }

    fn warn(&self, name: &str, judgement: &Judgement) {
        for warning in &judgement.warnings {
            let cure = warning.cure().map_or(String::new(), |cure| format!("\nhelp: {cure}"));
            let name = escape::name(name);
            output::report(format_args!("{name}: warning: {warning}{cure}"));
        }
        let Some(backwards) = &judgement.backwards else { return };
        let (name, doubt) = (escape::name(name), doubt(&judgement.finding));
        match self.object {
            Some(_) => times::warn_only(&name, backwards, doubt),
            None => times::warn(&name, backwards, doubt),
        }
    }

    /// Returns the report of an input.
    fn shown(&self, name: &str, judgement: &Judgement, written: Option<&Path>) -> Report {
        let id = name.to_owned();
        let place = written.map(|place| place.display().to_string());
        if self.report == CheckReport::Json {
            let line = json(name, judgement, place.as_deref()) + "\n";
            return Report { id, result: Some(line), ..Report::default() };
        }
        let name = escape::name(name);
        let mut text =
            if self.explain { explained(&name, judgement) } else { human(&name, judgement) };
        if let Some(place) = place {
            text += &format!("  certificate: {}\n", escape::name(&place));
        }
        if self.certificate.is_some() {
            text += &uncertified(judgement);
        }
        let diagnostic = match &judgement.finding {
            Finding::Malformed(error) => Some(error.report(&name).to_string()),
            _ => None,
        };
        Report { id, result: Some(text), diagnostic, code: 0 }
    }
}

/// Returns the JUnit and SARIF answer of an input.
fn answer(path: &Path, name: &str, judgement: &Judgement) -> ci::Answer {
    let answer = judged(path, name, judgement);
    match &judgement.backwards {
        Some(backwards) => {
            let warning = backwards.told(doubt(&judgement.finding));
            ci::Answer { text: format!("{}warning: {warning}\n", answer.text), ..answer }
        }
        None => answer,
    }
}

fn judged(path: &Path, name: &str, judgement: &Judgement) -> ci::Answer {
    let finding = &judgement.finding;
    let kind = match exit_code([finding]) {
        0 => ci::Kind::Right,
        1 => ci::Kind::Wrong,
        _ => ci::Kind::Open,
    };
    let (text, place) = match finding {
        Finding::Malformed(error) => (error.report(name).to_string(), None),
        Finding::Violation(violation) => {
            let (_, at) = violation.decided_at;
            (human(name, judgement), Some((at.line as usize, at.column as usize)))
        }
        Finding::Recorded(one) => {
            (human(name, judgement), one.decided_at().map(|line| (line as usize, 1)))
        }
        _ => (human(name, judgement), None),
    };
    ci::Answer {
        name: name.to_owned(),
        kind,
        verdict: verdict(finding),
        text,
        file: (path != Path::new("-")).then(|| path.display().to_string()),
        place,
        elapsed: None,
    }
}

/// Returns a note, with help, if there is no certificate, or `certify` cannot check it.
fn uncertified(judgement: &Judgement) -> String {
    if let Finding::Recorded(judgement) = &judgement.finding {
        let note = synchronisation::uncertified(&judgement.finding);
        return note.map_or_else(String::new, |note| format!("  note: no certificate: {note}\n"));
    }
    let Finding::Violation(violation) = &judgement.finding else { return String::new() };
    let error = violation.proof.as_ref().and_then(|proof| proof.uncertified.as_ref());
    error.map_or_else(String::new, |error| {
        format!(
            "  note: `certify` cannot check it: {error}\n  help: give the search for fewer \
             operations more with --budget-seconds and --budget-memory\n"
        )
    })
}
