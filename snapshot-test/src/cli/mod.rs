//! The command line: one file per subcommand, each with its options and a
//! `run` that returns the exit code.

mod certify;
mod check;
mod convert;
mod format;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Bad input, bad options, failing output: there is no answer.
const TROUBLE: u8 = 2;

/// Works with recordings of atomic snapshot objects.
#[derive(Debug, Parser)]
#[command(name = "snapshot-test", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Check),
    Certify(certify::Certify),
    Convert(convert::Convert),
}

pub fn run() -> ExitCode {
    match Arguments::parse().command {
        Command::Check(command) => command.run(),
        Command::Certify(command) => command.run(),
        Command::Convert(command) => command.run(),
    }
}

/// Reports an error and returns the exit code for it.
fn trouble(report: impl Display) -> ExitCode {
    eprintln!("{report}");
    ExitCode::from(TROUBLE)
}
