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
mod outlet;
mod progress;
mod recorded;
mod rename;
mod times;

use std::env;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use snapshot_core::seeded;
use snapshot_io::output::{self, Printed};
use snapshot_io::shell::{self, Shell};

/// Exit code without an answer: bad input, bad options, failing output.
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
    Explain(explain::Explain),
    Monitor(monitor::Monitor),
    Certify(certify::Certify),
    Convert(convert::Convert),
    Generate(generate::Generate),
    Corpus(corpus::Corpus),
    Rename(rename::Rename),
    Automata(automata::Automata),
    /// Prints completions of this command line for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the manual pages of this command line to a folder.
    Man {
        /// The folder; made if it is not there.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Environment variable with the seed for hashing values, for tests.
const HASH_SEED: &str = "SNAPSHOT_HASH_SEED";

pub fn run() -> ExitCode {
    if let Some(seed) = env::var(HASH_SEED).ok().and_then(|seed| seed.parse().ok()) {
        seeded::set(seed);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // The answer to `--help`, or the error of the arguments.
        Err(error) if !error.use_stderr() => return print(&error.render().to_string()),
        Err(error) => return trouble(error.render().to_string().trim_end()),
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
        Command::Completions { shell } => {
            printed(output::print_data(&shell::completions(Arguments::command(), shell)))
        }
        Command::Man { folder } => match shell::manual(Arguments::command(), &folder) {
            Ok(pages) => print(&format!("{} pages in {}\n", pages.len(), folder.display())),
            Err(error) => trouble(format_args!("cannot write to {}: {error}", folder.display())),
        },
    }
}

/// Reports an error and returns the exit code for it.
fn trouble(report: impl Display) -> ExitCode {
    output::report(report);
    ExitCode::from(TROUBLE)
}

/// Prints an answer for human readers. A closed output is not an error.
fn print(answer: &str) -> ExitCode {
    printed(output::print_text(answer))
}

/// As [`print`], for programs.
fn print_data(answer: &str) -> ExitCode {
    printed(output::print_data(answer))
}

fn printed(printed: io::Result<Printed>) -> ExitCode {
    match printed {
        Ok(Printed::Whole | Printed::Closed) => ExitCode::SUCCESS,
        Err(error) => trouble(format_args!("cannot write to standard output: {error}")),
    }
}
