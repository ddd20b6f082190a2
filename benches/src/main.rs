//! The parts of a measurement that run in processes of their own: `benches/tables` starts them,
//! records what they print, and makes the tables.
#![forbid(unsafe_code)]

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use benches::histories::{self, Family};
use benches::process::{Limits, within};
use benches::{bowman, meeting, methods};
use clap::Parser;
use serde_json::json;

/// A part of a measurement; its result is JSON.
#[derive(Debug, Parser)]
enum Part {
    /// Runs a command within limits.
    Within {
        #[arg(long)]
        seconds: f64,
        /// Bytes of address space.
        #[arg(long)]
        memory: u64,
        program: OsString,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Writes the recordings of a family into a directory, and tells them, one a line.
    Write {
        #[arg(value_enum)]
        family: Family,
        directory: PathBuf,
        /// A few small ones.
        #[arg(long)]
        quick: bool,
    },
    /// Asks a method for its judgement of a recording.
    Judge { method: String, recording: PathBuf },
    /// Executes an object with a mistake until that shows.
    Meet {
        object: String,
        /// `linearization` or `progress`.
        fault: String,
        /// Seed of the schedules.
        seed: u64,
    },
    /// Lets stateright explore bowman.
    Explore {
        #[arg(value_parser = clap::value_parser!(u8).range(2..=6))]
        processes: u8,
    },
}

fn main() -> ExitCode {
    match work(Part::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn work(part: Part) -> Result<(), Box<dyn Error>> {
    let told = match part {
        Part::Within { seconds, memory, program, arguments } => {
            let time = Duration::try_from_secs_f64(seconds)?;
            let ended = within(Limits { time, memory }, &program, &arguments);
            let told = ended.map_err(|error| format!("{}: {error}", program.display()))?;
            serde_json::to_value(told)?
        }
        Part::Write { family, directory, quick } => {
            histories::write(family, quick, &directory, io::stdout().lock())?;
            return Ok(());
        }
        Part::Judge { method, recording } => {
            let chosen = methods::METHODS.iter().find(|(name, _)| *name == method);
            let (_, judge) = chosen.ok_or_else(|| format!("there is no method `{method}`"))?;
            serde_json::to_value(judge(&methods::read(&recording)?))?
        }
        Part::Meet { object, fault, seed } => {
            let wrong = || format!("no object `{object}` with a mistake that shows in `{fault}`");
            let (meeting, fault) = meeting::named(&object, &fault).ok_or_else(wrong)?;
            let start = Instant::now();
            let executions = meeting.find(fault, seed);
            json!({ "executions": executions, "seconds": start.elapsed().as_secs_f64() })
        }
        Part::Explore { processes } => match bowman::explore(processes.into()) {
            Some(counts) => json!({ "states": counts.states, "transitions": counts.transitions }),
            None => json!("violation"),
        },
    };
    println!("{told}");
    Ok(())
}
