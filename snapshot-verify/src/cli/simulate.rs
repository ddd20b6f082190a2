//! `snapshot-verify simulate`: random executions.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use snapshot_core::Process;
use snapshot_verify::counterexample::{Counterexample, ObjectCounterexample};
use snapshot_verify::interpret::{
    Client, ClientError, JudgeError, Machine, Sequential, Values, judge, walk,
};
use snapshot_verify::object::{Judge, walk_object};
use snapshot_verify::verify::Request;

use super::bounds;
use super::input::Input;
use super::{BUG, UNKNOWN, WIDTH, WRONG, interrupt, print, trouble};

/// Memory limit in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 28;

/// Makes random executions of an algorithm and judges them.
///
/// Random executions find frequent bugs, and prove nothing. Exit code: 1 if an execution is not
/// linearizable or the program has a fault, else 0.
#[derive(Debug, Args)]
pub struct Simulate {
    /// An algorithm of the corpus, or a file.
    #[arg(value_name = "ALGORITHM|FILE")]
    input: String,
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
    /// Make simple executions of this pair.
    #[arg(long, value_name = "I,J", value_parser = bounds::pair)]
    pair: Option<[Process; 2]>,
    /// Write this many values, in any order (default: each update another one; for a declared
    /// object: 2).
    #[arg(long, value_name = "K", conflicts_with = "pair",
          value_parser = clap::value_parser!(u32).range(2..))]
    values: Option<u32>,
    /// Only this process updates, and it does not scan. For objects with one writer.
    #[arg(long, value_name = "P", value_parser = bounds::process)]
    updater: Option<Process>,
    /// Number of executions.
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    walks: u64,
    /// Number of moves of each execution: invocations, accesses, responses.
    #[arg(long, value_name = "COUNT", default_value = "300")]
    moves: usize,
    /// Seed of the first execution; the others count up from it.
    #[arg(long, default_value = "0")]
    seed: u64,
}

impl Simulate {
    pub fn run(self) -> ExitCode {
        match self.simulate() {
            Ok(code) | Err(code) => code,
        }
    }

    fn simulate(&self) -> Result<ExitCode, ExitCode> {
        let input = Input::read(&self.input)?.sized(self.size)?;
        let variant = input.variant(self.bug.as_deref())?;
        let title = format!("{}, n = {}", self.input, self.processes);
        let fail = |error: &dyn std::fmt::Display| trouble(format_args!("{title}: {error}"));
        let machine =
            Machine::new(&variant.program, self.processes).map_err(|error| fail(&error))?;
        let stop = interrupt::listen();
        if let Some(object) = variant.program.object() {
            let is_given = [(self.pair.is_some(), "--pair"), (self.updater.is_some(), "--updater")];
            if let Some((_, option)) = is_given.iter().find(|(given, _)| *given) {
                input.require_snapshot(&variant, option)?;
            }
            let sequential =
                Sequential::new(object, self.processes).map_err(|error| fail(&error))?;
            return self.simulate_object(&input, &machine, &sequential, stop);
        }
        let values = match (self.pair, self.values) {
            (Some([i, j]), _) => Values::Simple(i, j),
            (None, Some(values)) => Values::Full(values),
            (None, None) => Values::Distinct,
        };
        // A walk is no search of all executions: distinct values need no bound.
        let client = Client { updater: self.updater, ..Client::unbounded(values) };
        match client.validate(self.processes) {
            Ok(()) | Err(ClientError::Unbounded) => {}
            Err(error) => return Err(fail(&error)),
        }
        let mut moves = 0;
        for number in 0..self.walks {
            if stop.load(Ordering::Relaxed) {
                let text = format!("{title}: interrupted after {number} executions\n");
                return Ok(answer(&text, UNKNOWN));
            }
            let seed = self.seed.wrapping_add(number);
            let walk = walk(&machine, &client, seed, self.moves);
            moves += walk.moves.len();
            let history = walk.execution.history();
            let mut proceed = || !stop.load(Ordering::Relaxed);
            let report = match judge(&history, MEMORY, &mut proceed) {
                // The next round reports it.
                Err(JudgeError::Ended) => continue,
                report => report.map_err(|error| fail(&format_args!("seed {seed}: {error}")))?,
            };
            if report.explanation.is_some() {
                let counterexample = Counterexample::validated(&machine, self.pair, &walk.moves);
                let counterexample = counterexample.map_err(|error| {
                    let _ = fail(&error);
                    ExitCode::from(BUG)
                })?;
                let text = format!("seed {seed}: {}", counterexample.text(WIDTH));
                return Ok(answer(&text, WRONG));
            }
            if let Some((made, fault)) = walk.faulty {
                let text = format!(
                    "seed {seed}: move {}, `{made}`: {}: {fault}\n",
                    walk.moves.len() + 1,
                    input.algorithm.source().place(fault.span)
                );
                return Ok(answer(&text, WRONG));
            }
        }
        let walks = self.walks;
        Ok(print(&format!("{title}: {walks} executions ({moves} moves), all linearizable\n")))
    }
}

impl Simulate {
    /// Makes random executions of a declared object.
    fn simulate_object(
        &self,
        input: &Input,
        machine: &Machine<'_>,
        sequential: &Sequential<'_>,
        stop: &AtomicBool,
    ) -> Result<ExitCode, ExitCode> {
        let title = format!("{}, n = {}", self.input, self.processes);
        let fail = |error: &dyn std::fmt::Display| trouble(format_args!("{title}: {error}"));
        let values = Values::Full(self.values.unwrap_or(Request::VALUES));
        let client = Client::unbounded(values);
        client.validate_object(sequential).map_err(|error| fail(&error))?;
        let judge = Judge::new(sequential);
        let mut moves = 0;
        for number in 0..self.walks {
            if stop.load(Ordering::Relaxed) {
                let text = format!("{title}: interrupted after {number} executions\n");
                return Ok(answer(&text, UNKNOWN));
            }
            let seed = self.seed.wrapping_add(number);
            let in_walk =
                |error: &dyn std::fmt::Display| fail(&format_args!("seed {seed}: {error}"));
            let walk = walk_object(machine, sequential, &client, seed, self.moves);
            let walk = walk.map_err(|error| in_walk(&error))?;
            moves += walk.moves.len();
            let events: Vec<_> = walk.execution.events().collect();
            let judgement = judge.judge(&events).map_err(|error| in_walk(&error))?;
            if !judgement.is_linearizable() {
                let found = ObjectCounterexample::validated(machine, sequential, &walk.moves);
                let found = found.map_err(|error| {
                    let _ = in_walk(&error);
                    ExitCode::from(BUG)
                })?;
                return Ok(answer(&format!("seed {seed}: {}", found.text(WIDTH)), WRONG));
            }
            if let Some((made, fault)) = walk.faulty {
                let text = format!(
                    "seed {seed}: move {}, of p{}: {}: {fault}\n",
                    walk.moves.len() + 1,
                    made.process,
                    input.algorithm.source().place(fault.span)
                );
                let code = if fault.kind.is_limit() { UNKNOWN } else { WRONG };
                return Ok(answer(&text, code));
            }
        }
        let walks = self.walks;
        Ok(print(&format!("{title}: {walks} executions ({moves} moves), all linearizable\n")))
    }
}

/// Prints an answer and returns its exit code, if it could be printed.
fn answer(text: &str, code: u8) -> ExitCode {
    let printed = print(text);
    if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed }
}
