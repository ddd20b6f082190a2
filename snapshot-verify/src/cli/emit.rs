//! `snapshot-verify emit`: the result of a stage.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use snapshot_core::Process;
use snapshot_io::quantity;
use snapshot_verify::certificate::Budget;
use snapshot_verify::deadline::{Allowance, Deadline, Stopped};
use snapshot_verify::export::promela::promela;
use snapshot_verify::export::tla::tla;
use snapshot_verify::instance::InstanceError;
use snapshot_verify::invariant::smt::{self, SmtError};
use snapshot_verify::search::Exploration;
use snapshot_verify::verify::every::kept;
use snapshot_verify::verify::{Operations, Prepared, Reduction, Reductions, VerifyError, pipeline};

use super::bounds;
use super::input::{Input, Variant};
use super::memory::allocated;
use super::{UNKNOWN, interrupt, print, refused, trouble};

/// Prints the result of a stage of the pipeline for an algorithm.
#[derive(Debug, Args)]
pub struct Emit {
    /// An algorithm of the corpus, or a file.
    #[arg(value_name = "ALGORITHM|FILE")]
    input: String,
    /// Stage whose result is printed.
    #[arg(long, value_enum, required_unless_present = "smt")]
    stage: Option<Stage>,
    /// The proof for every number of processes as conditions in SMT-LIB, for z3 and cvc5: it is
    /// valid if each answer is `unsat` (docs/certificates.md).
    #[arg(long, conflicts_with_all = ["stage", "processes", "pair", "operations", "reductions"])]
    smt: bool,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Value of `size` in the text, which must declare it (docs/language.md).
    #[arg(long, value_name = "N")]
    size: Option<u32>,
    /// Processes, and segments.
    #[arg(short = 'n', long = "processes", value_name = "N", default_value = "3",
          value_parser = bounds::size)]
    processes: usize,
    /// The pair.
    #[arg(long, value_name = "I,J", default_value = "0,1", value_parser = bounds::pair)]
    pair: [Process; 2],
    /// A bound on the operations of each process, for the layout: a number, or
    /// none.
    #[arg(long, value_name = "B|none", default_value = "none",
          value_parser = bounds::operations)]
    operations: Operations,
    /// The reductions to use: all, none, names separated by commas, or no-NAME.
    #[arg(long, value_name = "all|none|LIST", default_value = "all",
          value_parser = bounds::reductions)]
    reductions: Reductions,
    /// Maximum memory in bytes: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = quantity::bytes::<u64>)]
    memory: u64,
    /// Maximum time in seconds (default: no limit).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
}

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Stage {
    /// The text of the variant, without comments, bugs and expectations.
    Tree,
    /// The checked program: one access per statement, types everywhere.
    Program,
    /// Compiled for n, i, j: one graph of steps per process.
    Instance,
    /// Without constants.
    Sliced,
    /// As explored: fused, without dead variables.
    Steps,
    /// Position of each variable in a packed state.
    Layout,
    /// The steps with the observer as a model in Promela, for Spin. Of the reductions only
    /// constant, dead and shrink are used.
    Promela,
    /// The same as a module in TLA+, for TLC.
    Tla,
}

/// Reductions supported by a model in Promela: they make instances, and no canonical states.
const OF_MODELS: [Reduction; 3] = [Reduction::Constant, Reduction::Dead, Reduction::Shrink];

impl Emit {
    pub fn run(self) -> ExitCode {
        match self.text() {
            Ok(text) => print(&text),
            Err(code) => code,
        }
    }

    fn text(&self) -> Result<String, ExitCode> {
        let input = Input::read(&self.input)?.sized(self.size)?;
        let variant = input.variant(self.bug.as_deref())?;
        let Some(stage) = self.stage else { return self.conditions(&input, &variant) };
        let line = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
        match stage {
            Stage::Tree => {
                return input.algorithm.text(self.bug.as_deref()).map_err(trouble);
            }
            Stage::Program => return Ok(line(variant.program.to_string())),
            Stage::Instance
            | Stage::Sliced
            | Stage::Steps
            | Stage::Layout
            | Stage::Promela
            | Stage::Tla => {}
        }
        input.require_snapshot(&variant, "a stage behind `program`")?;
        let title = format!("{}, n = {}", variant.program.name, self.processes);
        let fail = |error: VerifyError| refused(&title, input.algorithm.source(), &error);
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        let memory = Some(Allowance { limit: self.memory, allocated });
        let deadline = Deadline::new(until, Some(interrupt::listen())).with_memory(memory);
        let stopped = |stopped: Stopped| {
            trouble(format_args!("{title}: {stopped}"));
            ExitCode::from(UNKNOWN)
        };
        let instance = pipeline::instance(&variant.program, self.processes, self.pair, deadline)
            .map_err(|error| match error {
                InstanceError::Stopped(at) => stopped(at),
                error => fail(error.into()),
            })?;
        let sliced = || pipeline::sliced(&instance, self.reductions, deadline).map_err(stopped);
        Ok(line(match stage {
            Stage::Tree | Stage::Program | Stage::Instance => instance.to_string(),
            Stage::Sliced => sliced()?.to_string(),
            Stage::Steps => {
                let steps = pipeline::steps(&sliced()?, self.reductions, deadline);
                steps.map_err(stopped)?.to_string()
            }
            Stage::Promela | Stage::Tla => {
                let used: Reductions =
                    self.reductions.iter().filter(|one| OF_MODELS.contains(one)).collect();
                let sliced = pipeline::sliced(&instance, used, deadline).map_err(stopped)?;
                let steps = pipeline::steps(&sliced, used, deadline).map_err(stopped)?;
                let bug = self.bug.as_deref().map_or_else(String::new, |bug| format!(", {bug}"));
                let about = format!("{}{bug}; reductions: {used}", variant.program.name);
                let (name, operations) = (&variant.program.name, self.operations.bound());
                let model = match stage {
                    Stage::Tla => tla(&steps, operations, name, &about),
                    _ => promela(&steps, operations, &about),
                };
                model.map_err(|error| trouble(format_args!("{title}: {error}")))?
            }
            Stage::Layout => {
                let prepared = Prepared::from_instance(instance, self.reductions, deadline);
                let prepared = prepared.map_err(stopped)?;
                let operations = self.operations.bound();
                let plain = prepared.plain(operations);
                let numbering = prepared.numbering.as_ref().map(|numbering| numbering as _);
                let exploration = Exploration {
                    operations,
                    numbering: numbering.or(plain.as_ref().map(|plain| plain as _)),
                    ..Exploration::default()
                };
                let layout = exploration.layout(&prepared.instance);
                layout.map_err(|error| fail(VerifyError::Explore(error.into())))?.to_string()
            }
        }))
    }

    /// Writes the conditions for solvers.
    fn conditions(&self, input: &Input, variant: &Variant) -> Result<String, ExitCode> {
        input.require_snapshot(variant, "--smt")?;
        let program = &variant.program;
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        let stop = interrupt::listen();
        let mut proceed =
            || !stop.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until);
        let mut budget = Budget { memory: self.memory, proceed: &mut proceed };
        let mut text = Vec::new();
        let fail = |error: SmtError| {
            let code = trouble(format_args!("{}: no conditions: {error}", program.name));
            match error {
                SmtError::Unfinished(_) | SmtError::LooksAtValues => ExitCode::from(UNKNOWN),
                _ => code,
            }
        };
        let kept = kept(program).map_err(|construct| {
            trouble(format_args!("{}: no conditions: {construct} is not modelled", program.name))
        })?;
        smt::conditions(program, &kept, &mut text, &mut budget).map_err(fail)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
