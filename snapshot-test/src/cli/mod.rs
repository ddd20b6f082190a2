//! The command line: one file per subcommand, each with its options and a
//! `run` that returns the exit code.

mod automata;
mod certify;
mod check;
mod convert;
mod corpus;
mod format;
mod generate;
mod replacement;

use std::fmt::Display;
use std::io::{self, Write};
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
    Generate(generate::Generate),
    Corpus(corpus::Corpus),
    Automata(automata::Automata),
}

pub fn run() -> ExitCode {
    match Arguments::parse().command {
        Command::Check(command) => command.run(),
        Command::Certify(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Corpus(command) => command.run(),
        Command::Automata(command) => command.run(),
    }
}

/// Reports an error and returns the exit code for it.
fn trouble(report: impl Display) -> ExitCode {
    eprintln!("{report}");
    ExitCode::from(TROUBLE)
}

/// Prints an answer. That its reader has had enough is no error.
fn print(answer: &str) -> ExitCode {
    let mut output = io::stdout().lock();
    match output.write_all(answer.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            trouble(format_args!("cannot write to standard output: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}
