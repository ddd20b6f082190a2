//! The command line: one file per subcommand, each with its options and a
//! `run` that returns the exit code.

mod automata;
mod certify;
mod check;
mod cluster;
mod convert;
mod corpus;
mod explain;
mod folder;
mod format;
mod generate;
mod monitor;
mod progress;
mod recorded;
mod rename;
mod result;
mod result_printer;
mod times;

use std::env;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use snapshot_core::seeded;
use snapshot_io::cli::{self, About, TROUBLE, print, print_data, trouble};

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
    Explain(explain::Explain),
    Monitor(monitor::Monitor),
    Certify(certify::Certify),
    Convert(convert::Convert),
    Generate(generate::Generate),
    Corpus(corpus::Corpus),
    Rename(rename::Rename),
    Automata(automata::Automata),
    #[command(flatten)]
    About(About),
}

/// Environment variable with the seed for hashing values, for tests.
const HASH_SEED: &str = "SNAPSHOT_HASH_SEED";

pub fn run() -> ExitCode {
    if let Some(seed) = env::var(HASH_SEED).ok().and_then(|seed| seed.parse().ok()) {
        seeded::set(seed);
    }
    let arguments = match cli::arguments::<Arguments>() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match arguments.command {
        Command::Check(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Monitor(command) => command.run(),
        Command::Certify(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Corpus(command) => command.run(),
        Command::Rename(command) => command.run(),
        Command::Automata(command) => command.run(),
        Command::About(about) => about.run::<Arguments>(),
    }
}
