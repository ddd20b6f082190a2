//! `snapshot-test generate`: a recording whose answer is known.
//!
//! The events stream: a recording on standard output may be far larger than
//! memory and disk. A file appears whole or not at all.

mod comments;
mod fault;
mod object;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use corpus::generate::{Exchanges, ManyWriters, Recipe, Rule, Style, Violation};
use snapshot_io::replacement::Replacement;
use snapshot_test::Value;
use snapshot_test::format::WriteError;
use snapshot_test::generate::{
    GenerateError, generate, generate_exchanges, generate_many, generate_object,
};
use snapshot_test::synchronisation::{InitialError, Object, ObjectRecipe};
use thiserror::Error;

use self::fault::{Fault, NotAFault, Pair};
use self::object::ObjectName;
use super::format::OutputFormat;
use super::trouble;

/// Size of the output buffer in bytes.
const BUFFER: usize = 1 << 16;

/// Prints a random history, linearizable or with a violation of a chosen rule.
///
/// A snapshot object is run under a random scheduler. The same options give the same bytes;
/// comments in the output list the options and the expected answer (disc22 has no comments).
#[derive(Debug, Args)]
pub struct Generate {
    /// The object to run: snapshot, immediate, or an object of `check --object` whose operations take
    /// effect one at a time: queue, stack, priority-queue, register, cas-register, map, lock, set,
    /// counter, bounded-queue:N, semaphore:N, or the file that declares one, NAME.snapshot.
    #[arg(long, value_name = "OBJECT", default_value = "snapshot")]
    object: ObjectName,
    /// Objects with named operations: the value before the first operation, as with `check --initial`.
    #[arg(long, value_name = "VALUE", value_parser = super::format::key, allow_negative_numbers = true)]
    initial: Option<Value>,
    /// Objects with named operations: only these operations, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Immediate snapshots, and objects with named operations: the share of operations that
    /// certainly have no effect.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, allow_negative_numbers = true)]
    failures: f64,
    /// The writers of a segment: only the process of the same number, or every process.
    #[arg(long, value_enum, default_value = "single")]
    writers: WritersName,
    /// Many writers: the share of entries that scans do not return.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, allow_negative_numbers = true)]
    gaps: f64,
    /// The number of processes.
    #[arg(long, value_name = "P", default_value_t = 4)]
    processes: usize,
    /// The number of segments [default: the number of processes].
    #[arg(long, value_name = "N")]
    segments: Option<usize>,
    /// The number of operations; each that responds is two events.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    operations: usize,
    /// The values that the updates write.
    #[arg(long, value_enum, default_value = "differentiated")]
    style: StyleName,
    /// small-domain: the number of values [default: 2].
    #[arg(long, value_name = "K")]
    values: Option<u32>,
    /// simple: the segments that switch from 0 to 1 [default: 0,1].
    #[arg(long, value_name = "I,J")]
    pair: Option<Pair>,
    /// The share of scans among the operations of processes with a segment.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5, allow_negative_numbers = true)]
    scans: f64,
    /// The number of operations without a response.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pending: usize,
    /// Fixes all random choices.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// The rule to break: never-written, failed-update-seen, future, stale, decrease, inversion or
    /// missing; or a case of simple histories: 3a-i, 3a-j, 3b-never-i, 3b-never-j, 3b-future-i,
    /// 3b-future-j, 3c, 3d, decrease-i, decrease-j. With many writers, the rules that its
    /// refutation needs: time, first, block, return, chain, crossed or ring (docs/many-writers.md).
    /// For an immediate snapshot, the condition: own-value, containment, immediacy, validity,
    /// validity-never-written or validity-failed (docs/immediate.md). For an object with named
    /// operations, `any`, or a rule of its violations (docs/synchronisation.md).
    #[arg(long, value_name = "RULE")]
    violation: Option<String>,
    /// The correct twin: the same run, with all scans correct.
    #[arg(long, requires = "violation")]
    twin: bool,
    /// The format to print.
    #[arg(long, value_enum, default_value = "text")]
    to: OutputFormat,
    /// The file to write, instead of standard output; replaced if it exists.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum WritersName {
    /// Process k writes segment k; others only scan.
    Single,
    /// Every process writes every segment.
    Many,
}

/// The recipe to follow.
enum Plan {
    Single(Recipe),
    Many(ManyWriters),
    Exchanges(Exchanges),
    Object(ObjectRecipe),
}

/// [`Style`], without the parameters that are options.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum StyleName {
    /// Two segments each switch once from 0 to 1; all other segments keep 0.
    Simple,
    /// No value occurs twice.
    Differentiated,
    /// Few values, so most are ambiguous.
    SmallDomain,
}

impl StyleName {
    const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Differentiated => "differentiated",
            Self::SmallDomain => "small-domain",
        }
    }
}

/// Options that contradict each other.
#[derive(Debug, Error)]
enum Clash {
    #[error("invalid value '{found}' for '--violation <RULE>': {reason}")]
    NoFault { found: String, reason: NotAFault },
    #[error(transparent)]
    Initial(#[from] InitialError),
    #[error(
        "--{option} works only with --style {needed}, found --style {found}\n\
         help: leave out --{option}, or ask for --style {needed}"
    )]
    Idle { option: &'static str, needed: &'static str, found: &'static str },
    #[error(
        "--violation {fault} needs {needed}\n\
         help: ask for {needed}, or for another violation"
    )]
    OtherObject { fault: &'static str, needed: &'static str },
    #[error(
        "--{option} works only with --object {needed}\n\
         help: leave out --{option}, or ask for --object {needed}"
    )]
    IdleObject { option: &'static str, needed: &'static str },
    #[error(
        "--{option} works only with objects that have named operations\n\
         help: leave out --{option}, or ask for one of them: --object queue"
    )]
    IdleSnapshot { option: &'static str },
    #[error(
        "--{option} works only with --writers {needed}\n\
         help: leave out --{option}, or ask for --writers {needed}"
    )]
    IdleWriters { option: &'static str, needed: &'static str },
    #[error(
        "simple histories have one writer per segment, found --writers many\n\
         help: leave out --style, ask for --style small-domain, or for --writers single"
    )]
    SimpleCrowd,
    #[error(
        "{case} is a case of simple histories, found --style {found}\n\
         help: ask for --style simple, or for the rule that it breaks: --violation {rule}"
    )]
    CaseOfSimple { case: &'static str, rule: Rule, found: &'static str },
}

impl Generate {
    pub fn run(self) -> ExitCode {
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(error) => return trouble(error),
        };
        let comments = self.comments(&plan);
        let format = self.to.format();
        let stream = |output: &mut dyn Write| {
            let output = BufWriter::with_capacity(BUFFER, output);
            match &plan {
                Plan::Single(recipe) => generate(recipe, format, &comments, output).map(drop),
                Plan::Many(recipe) => generate_many(recipe, format, &comments, output).map(drop),
                Plan::Exchanges(recipe) => {
                    generate_exchanges(recipe, format, &comments, output).map(drop)
                }
                Plan::Object(recipe) => {
                    generate_object(recipe, format, &comments, output).map(drop)
                }
            }
        };
        let path = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let Some(path) = path else {
            return match stream(&mut io::stdout().lock()) {
                // The reader has closed the pipe.
                Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
                result => answer(result, "standard output"),
            };
        };
        let name = path.display().to_string();
        let cannot = |error: io::Error| trouble(format_args!("cannot write {name}: {error}"));
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            // A device or pipe: there is no file to replace.
            return match File::options().write(true).open(path) {
                Ok(mut file) => answer(stream(&mut file), &name),
                Err(error) => cannot(error),
            };
        }
        let mut replacement = match Replacement::new(path) {
            Ok(replacement) => replacement,
            Err(error) => return cannot(error),
        };
        match stream(replacement.file()) {
            Ok(()) => match replacement.persist() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => cannot(error),
            },
            result => answer(result, &name),
        }
    }

    fn plan(&self) -> Result<Plan, Clash> {
        let is_object = matches!(self.object, ObjectName::Named(_));
        let idle = [("initial", self.initial.is_some()), ("only", !self.only.is_empty())];
        if let Some((option, _)) = idle.into_iter().find(|(_, is_given)| *is_given && !is_object) {
            return Err(Clash::IdleSnapshot { option });
        }
        match &self.object {
            ObjectName::Named(object) => return self.named(object.clone()).map(Plan::Object),
            ObjectName::Immediate => return self.exchanges().map(Plan::Exchanges),
            ObjectName::Snapshot => {}
        }
        if self.failures != 0.0 {
            return Err(Clash::IdleObject { option: "failures", needed: "immediate" });
        }
        if self.writers == WritersName::Single {
            if self.gaps != 0.0 {
                return Err(Clash::IdleWriters { option: "gaps", needed: "many" });
            }
            return self.recipe().map(Plan::Single);
        }
        if self.style == StyleName::Simple {
            return Err(Clash::SimpleCrowd);
        }
        self.check_style()?;
        let segments = self.segments.unwrap_or(self.processes);
        let mut recipe = ManyWriters::new(self.processes, segments, self.operations, self.seed);
        (recipe.scan_fraction, recipe.gaps) = (self.scans, self.gaps);
        (recipe.pending, recipe.honest) = (self.pending, self.twin);
        recipe.values = (self.style == StyleName::SmallDomain).then(|| self.values());
        recipe.violation = match self.fault()? {
            None => None,
            Some(Fault::Crowd(contradiction)) => Some(contradiction),
            Some(other) => return Err(clash(&other)),
        };
        Ok(Plan::Many(recipe))
    }

    /// Returns the violation to plant in a snapshot of either kind.
    fn fault(&self) -> Result<Option<Fault>, Clash> {
        let parse = |text: &String| {
            text.parse().map_err(|reason| Clash::NoFault { found: text.clone(), reason })
        };
        self.violation.as_ref().map(parse).transpose()
    }

    /// Refuses options of snapshots.
    fn check_idle(&self, others: &[(&'static str, bool)]) -> Result<(), Clash> {
        let idle = [
            ("writers", self.writers != WritersName::Single),
            ("gaps", self.gaps != 0.0),
            ("pair", self.pair.is_some()),
            ("scans", self.scans != 0.5),
        ];
        match idle.iter().chain(others).find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Clash::IdleObject { option, needed: "snapshot" }),
            None => Ok(()),
        }
    }

    /// Returns the recipe of an object with named operations.
    fn named(&self, object: Object) -> Result<ObjectRecipe, Clash> {
        let is_simple = self.style == StyleName::Simple;
        self.check_idle(&[("segments", self.segments.is_some()), ("style simple", is_simple)])?;
        self.check_style()?;
        let object = match &self.initial {
            Some(initial) => object.with_initial(initial.clone())?,
            None => object,
        };
        let mut recipe = ObjectRecipe::new(object, self.processes, self.operations, self.seed);
        (recipe.pending, recipe.failures) = (self.pending, self.failures);
        recipe.values = (self.style == StyleName::SmallDomain).then(|| self.values());
        recipe.only.clone_from(&self.only);
        recipe.violation.clone_from(&self.violation);
        recipe.honest = self.twin;
        Ok(recipe)
    }

    /// Returns the recipe of an immediate snapshot, which has one segment per process and no scans.
    fn exchanges(&self) -> Result<Exchanges, Clash> {
        self.check_idle(&[
            ("segments", self.segments.is_some_and(|segments| segments != self.processes)),
            ("style", self.style != StyleName::Differentiated),
            ("values", self.values.is_some()),
        ])?;
        let mut recipe = Exchanges::new(self.processes, self.operations, self.seed);
        (recipe.pending, recipe.failures) = (self.pending, self.failures);
        recipe.honest = self.twin;
        recipe.violation = match self.fault()? {
            None => None,
            Some(Fault::Flaw(flaw)) => Some(flaw),
            Some(other) => return Err(clash(&other)),
        };
        Ok(recipe)
    }

    fn values(&self) -> u32 {
        self.values.unwrap_or(2)
    }

    /// Refuses options of another style.
    fn check_style(&self) -> Result<(), Clash> {
        let idle = |option, needed: StyleName| Clash::Idle {
            option,
            needed: needed.name(),
            found: self.style.name(),
        };
        if self.pair.is_some() && self.style != StyleName::Simple {
            return Err(idle("pair", StyleName::Simple));
        }
        if self.values.is_some() && self.style != StyleName::SmallDomain {
            return Err(idle("values", StyleName::SmallDomain));
        }
        Ok(())
    }

    fn recipe(&self) -> Result<Recipe, Clash> {
        self.check_style()?;
        let Pair { i, j } = self.pair.unwrap_or(Pair::FIRST);
        let style = match self.style {
            StyleName::Simple => Style::Simple { i, j },
            StyleName::Differentiated => Style::Differentiated,
            StyleName::SmallDomain => Style::SmallDomain(self.values()),
        };
        let segments = self.segments.unwrap_or(self.processes);
        let mut recipe = Recipe::new(self.processes, segments, self.operations, style, self.seed)
            .with_scan_fraction(self.scans)
            .with_pending(self.pending);
        recipe.violation = match self.fault()? {
            None => None,
            Some(Fault::Rule(rule)) => Some(Violation::new(rule)),
            Some(other @ (Fault::Crowd(_) | Fault::Flaw(_))) => return Err(clash(&other)),
            Some(Fault::Case(case, rule)) if self.style != StyleName::Simple => {
                let found = self.style.name();
                return Err(Clash::CaseOfSimple { case, rule, found });
            }
            Some(Fault::Case(case, _)) => Violation::simple_cases(i, j)
                .into_iter()
                .find_map(|(name, violation)| (name == case).then_some(violation)),
        };
        recipe.honest = self.twin;
        Ok(recipe)
    }
}

/// Returns the error for a violation of another object, or with other writers.
const fn clash(fault: &Fault) -> Clash {
    Clash::OtherObject { fault: fault.name(), needed: fault.needs() }
}

fn is_broken_pipe(error: &GenerateError) -> bool {
    matches!(error, GenerateError::Write(WriteError::Io(error))
        if error.kind() == io::ErrorKind::BrokenPipe)
}

fn answer(result: Result<(), GenerateError>, name: &str) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(GenerateError::Write(WriteError::Io(error))) => {
            trouble(format_args!("cannot write {name}: {error}"))
        }
        Err(error) => trouble(error),
    }
}
