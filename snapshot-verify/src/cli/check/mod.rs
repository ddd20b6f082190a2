//! `snapshot-verify check`: are all executions of these algorithms linearizable?
//!
//! [`disk`] stores states that do not fit into memory, [`distribution`] connects workers,
//! [`options`] checks which options are compatible, [`property`] answers other questions than
//! linearizability, [`session`] verifies and reports, [`watch`]
//! repeats this whenever a file changes, and [`checkpoints`] saves searches.

mod checkpoints;
mod disk;
mod distribution;
mod every_object;
mod options;
mod property;
mod session;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use snapshot_core::Process;
use snapshot_io::ci::CheckReport;
use snapshot_io::join::AccessOptions;
use snapshot_io::{output, quantity};
use snapshot_verify::Diagnostics;
use snapshot_verify::report::json_malformed;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::every::Rungs;
use snapshot_verify::verify::{Barriers, Method, Pairs, Reductions, Request, Way};

use self::disk::Folder;
use self::session::Session;
use super::bounds::{self, Bounds, Budget, Sizes};
use super::input::{Input, Variant};
use super::progress::Ticker;
use super::{print_data, trouble};

/// Verifies algorithms, or finds shortest counterexamples.
///
/// Explores, for all pairs (i, j) of segments, all (i, j)-simple executions: a property of these
/// holds for all executions (docs/verification.md). An algorithm that declares an object other than
/// the snapshot is checked by refinement of that object, over all executions with a few values.
/// Exit code: 1 if there is a violation, else 2 if an input is bad, else 3 if something is not
/// decided, else 0.
#[derive(Debug, Args)]
pub struct Check {
    /// Algorithms: names of the corpus (see `list`), or files.
    #[arg(required = true, value_name = "ALGORITHM|FILE")]
    inputs: Vec<String>,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME", conflicts_with = "all_bugs")]
    bug: Option<String>,
    /// Value of `size` in the text, which must declare it (docs/language.md).
    #[arg(long, value_name = "N")]
    size: Option<u32>,
    /// Take all bug variants, one after the other.
    #[arg(long)]
    all_bugs: bool,
    /// Processes, and segments: a number, a list 3,5, a range 3..6, or every: a proof for every
    /// number of processes at the same time, else a violation for a small one.
    #[arg(short = 'n', long = "processes", value_name = "N", default_value = "3",
          value_parser = bounds::sizes)]
    sizes: Sizes,
    /// The pairs to explore: all, or one, such as 0,1.
    #[arg(long, value_name = "all|I,J", default_value = "all", value_parser = bounds::pairs)]
    pairs: Pairs,
    /// Method: exploration of reduced instances with an observer; the proof for every number of
    /// processes, without a search; or refinement of the normalised specification, PAT's method,
    /// far slower, for comparison (default: exploration, and once that grows large the proof;
    /// refinement of full executions).
    #[arg(long, value_enum, value_name = "METHOD")]
    method: Option<MethodName>,
    /// Simple executions, or all executions over a few values: --values.
    #[arg(long, value_enum, value_name = "EXECUTIONS")]
    executions: Option<Executions>,
    /// All executions over this many values rather than simple ones, at least 2 (for a declared
    /// object: 2 unless given, at least 1).
    #[arg(long, value_name = "K", conflicts_with = "pairs",
          value_parser = clap::value_parser!(u32).range(1..))]
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
    /// A bound on the operations of each process: a number, none, or grow: 1, 2, 3, ... and few
    /// processes first, to find bugs fast; with --strong and --progress also a list with a number
    /// for each process.
    #[arg(long, value_name = "B|none|grow", default_value = "none",
          value_parser = bounds::operations_of_each)]
    operations: Bounds,
    /// A bound on the barriers of an execution, invocations right behind a response: a number,
    /// none, or grow: 0, 1, 2, ... and few processes first (docs/barriers.md).
    #[arg(long, value_name = "K|none|grow", default_value = "none",
          value_parser = bounds::barriers)]
    barriers: Barriers,
    /// The reductions to use: all, none, names separated by commas, or no-NAME for all but some (see
    /// `list --reductions`; default: all).
    #[arg(long, value_name = "all|none|LIST", value_parser = bounds::reductions)]
    reductions: Option<Reductions>,
    /// With --processes every or --method proof: the rungs of the ladder to try: all, names
    /// separated by commas, or no-NAME for all but some (docs/every-n.md).
    #[arg(long, value_name = "all|LIST", value_parser = bounds::rungs)]
    rungs: Option<Rungs>,
    #[command(flatten)]
    budget: Budget,
    /// Check the reductions while they are used, on a sample of the states that the
    /// search visits and on random executions; exit code 4 if one of them is wrong.
    #[arg(long)]
    self_check: bool,
    /// Explore the other pairs even after a violation.
    #[arg(long)]
    keep_going: bool,
    /// Do not accept a proof in which some event never happens (a statement that is never executed,
    /// an operation that never returns, or can become unable to return): exit code 3.
    #[arg(long)]
    strict: bool,
    /// Report as text, as one JSON object per line, as JUnit or as SARIF (docs/verification.md).
    #[arg(long, value_enum, default_value = "human")]
    report: CheckReport,
    /// Write the first counterexample to this file, for `replay`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a certificate of the proof to this file, for `certify`: all states of the interpreter,
    /// reduced by antichain and symmetry at most; with --processes every, all views, by the
    /// plainest rules (docs/certificates.md); with --strong, the strategy (docs/strong.md).
    #[arg(long, value_name = "FILE", conflicts_with = "all_bugs")]
    certificate: Option<PathBuf>,
    /// Write a page for a browser: the counterexample, forwards and backwards, or the proof, with
    /// the contribution of each statement (docs/explain.md); with --strong the tree of executions,
    /// with --progress the infinite ones.
    #[arg(long, value_name = "FILE", conflicts_with = "all_bugs")]
    html: Option<PathBuf>,
    /// Decide strong linearizability instead: an order of the operations for each execution, such
    /// that longer executions have longer orders; with =write, longer orders of the operations that
    /// may change the object (docs/strong.md).
    #[arg(long, value_enum, value_name = "all|write", num_args = 0..=1, require_equals = true,
          default_missing_value = "all", conflicts_with_all = NOT_OF_PROPERTIES)]
    strong: Option<property::Ordered>,
    /// Decide progress instead: wait-freedom with the most accesses, lock-freedom,
    /// obstruction-freedom, and freedom from deadlock and starvation (docs/progress.md).
    #[arg(long, conflicts_with_all = NOT_OF_PROPERTIES)]
    progress: bool,
    /// With --progress: exit code 1 if this level is not reached.
    #[arg(long, value_enum, value_name = "LEVEL")]
    require: Option<property::Level>,
    /// Show the status of the search on standard error even if it is not a terminal.
    #[arg(long)]
    status: bool,
    /// Save the search in this new folder, so that it can resume after the program ends for any
    /// reason (docs/beyond.md).
    #[arg(long, value_name = "DIR", conflicts_with_all = ["resume", "watch"])]
    checkpoint: Option<PathBuf>,
    /// Resume the search that `--checkpoint DIR` saved for the same question, and keep saving it.
    #[arg(long, value_name = "DIR", conflicts_with = "watch")]
    resume: Option<PathBuf>,
    /// Seconds between two checkpoints (default: 300).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    every: Option<Duration>,
    /// Write states that do not fit into memory to files in this folder; they are removed at the
    /// end (docs/beyond.md).
    #[arg(long, value_name = "DIR", conflicts_with_all = ["checkpoint", "resume"])]
    disk: Option<PathBuf>,
    /// Search by this many workers, each a thread with its own states, in place of --threads; with
    /// --cluster in each process (docs/beyond.md).
    #[arg(long, value_name = "W",
          conflicts_with_all = ["threads", "checkpoint", "resume", "disk", "watch"])]
    workers: Option<NonZeroUsize>,
    /// Search together with other processes, here or on other machines: a file with a line
    /// host:port for each. All are started with the same options but --process; process 0 reports.
    #[arg(long, value_name = "HOSTS", requires = "process",
          conflicts_with_all = ["threads", "checkpoint", "resume", "disk", "watch"])]
    cluster: Option<PathBuf>,
    /// Index of this process in --cluster, from 0.
    #[arg(long, value_name = "K", requires = "cluster")]
    process: Option<usize>,
    #[command(flatten)]
    access: AccessOptions,
    /// Check again whenever a file changes, until Ctrl-C; a running search is stopped. The exit
    /// code is that of the last check.
    #[arg(long)]
    watch: bool,
}

/// Options that only linearizability has.
const NOT_OF_PROPERTIES: [&str; 20] = [
    "pairs",
    "method",
    "executions",
    "updater",
    "partial_order",
    "points",
    "barriers",
    "reductions",
    "rungs",
    "threads",
    "self_check",
    "keep_going",
    "strict",
    "checkpoint",
    "resume",
    "every",
    "disk",
    "workers",
    "cluster",
    "process",
];

/// Method of the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum MethodName {
    /// Reduced instances with an observer.
    Exploration,
    /// The proof for every number of processes.
    Proof,
    /// The program as it is written against the normalised specification.
    Refinement,
}

/// Executions to check.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Executions {
    /// The (i, j)-simple ones, of all pairs.
    Simple,
    /// All over a few values.
    Full,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Check {
    pub fn run(mut self) -> ExitCode {
        self.leave_files_to_first();
        if self.watch { self.watch() } else { self.once() }
    }

    fn once(&self) -> ExitCode {
        match self.check() {
            Ok(code) | Err(code) => code,
        }
    }

    fn check(&self) -> Result<ExitCode, ExitCode> {
        let read = |name: &String| Input::read_or(name, |wrong| self.malformed(name, &wrong));
        let read = |name: &String| read(name)?.sized(self.size);
        let inputs: Vec<Input> = self.inputs.iter().map(read).collect::<Result<_, _>>()?;
        let mut cases: Vec<(&Input, Variant)> = Vec::new();
        for input in &inputs {
            let mut bugs = vec![self.bug.as_deref()];
            if self.all_bugs {
                bugs = input.bugs().map(Some).collect();
                if bugs.is_empty() {
                    output::report(format_args!("note: {} has no bugs", input.name));
                }
            }
            for bug in bugs {
                let wrong = |wrong| self.malformed(&input.name, &wrong);
                let points = self.points || self.sizes.is_every() && input.algorithm.has_object();
                cases.push((input, input.variant_or(bug, points, wrong)?));
            }
        }
        if cases.is_empty() {
            return Err(trouble(
                "--all-bugs checks the bugs of a text, and there are none: leave it out to check \
                 the algorithm itself",
            ));
        }
        if self.asks_property() {
            return self.properties(&cases);
        }
        if self.require.is_some() {
            return Err(trouble("--require needs --progress: add it, or leave out --require"));
        }
        if !self.operations.each.is_empty() {
            return Err(trouble(
                "a bound for each process works only with --strong and --progress: give one number",
            ));
        }
        let mut methods = Vec::new();
        for (input, variant) in &cases {
            methods.push(match variant.object() {
                None => self.method()?,
                Some(_) => self.object_method(input, variant)?,
            });
        }
        self.require_processes(&cases)?;
        self.require_place(self.trace.as_deref())?;
        self.require_place(self.certificate.as_deref())?;
        self.require_certifiable(&cases, &methods)?;
        self.require_place(self.html.as_deref())?;
        self.require_one_page(&cases)?;
        self.require_search(&methods)?;
        let ticker = Ticker::new(self.status);
        let checkpoints = self.checkpoints(&cases, &ticker)?;
        let disk = self.disk.as_deref().map(Folder::new).transpose()?;
        let cluster = self.connected()?;
        let (checkpoints, cluster) = (checkpoints.as_ref(), cluster.as_ref());
        self.clear_files()?;
        let each = if self.sizes.is_every() { 1 } else { self.sizes.0.len() };
        let count = cases.len() * each;
        let mut session = Session::new(self, &ticker, checkpoints, disk.as_ref(), cluster, count);
        for ((input, variant), method) in cases.iter().zip(methods) {
            match variant.object() {
                _ if !self.sizes.is_every() => {}
                None => session.every(input, variant)?,
                Some(_) => session.every_object(input, variant)?,
            }
            for &processes in &self.sizes.0 {
                session.case(input, variant, processes, method)?;
            }
        }
        session.finish()
    }

    /// Reports the errors of a text; in JSON also on standard output.
    fn malformed(&self, name: &str, diagnostics: &Diagnostics) -> ExitCode {
        if self.report == CheckReport::Json {
            let line = json_malformed(name, diagnostics) + "\n";
            let printed = print_data(&line);
            if printed != ExitCode::SUCCESS {
                return printed;
            }
        }
        trouble(diagnostics)
    }

    /// Returns how one n is answered: options that only the search supports require the search.
    fn way(&self) -> Way {
        let insists = self.method.is_some()
            || self.reductions.is_some()
            || self.self_check
            || self.certificate.is_some()
            || self.is_kept()
            || self.disk.is_some()
            || self.is_distributed()
            || self.operations.all.bound().is_some()
            || self.barriers.bound().is_some();
        match self.method {
            Some(MethodName::Proof) => Way::Proof(self.rungs.clone().unwrap_or_default()),
            _ if insists || self.values.is_some() || self.executions.is_some() => Way::Search,
            // A page shows one n.
            _ if self.html.is_some() => Way::Hunt,
            _ => Way::Cheaper,
        }
    }

    fn request(&self, processes: usize, method: Method) -> Request {
        Request {
            processes,
            method,
            pairs: self.pairs,
            values: self.values,
            updater: self.updater,
            operations: self.operations.all,
            barriers: self.barriers,
            reductions: self.reductions.unwrap_or_else(Reductions::standard),
            threads: self.budget.threads(),
            memory: self.budget.memory,
            time: self.budget.time,
            states: None,
            keep_going: self.keep_going,
            self_check: self.self_check.then_some(SelfCheck::DEFAULT).or(SelfCheck::of_build()),
        }
    }
}
