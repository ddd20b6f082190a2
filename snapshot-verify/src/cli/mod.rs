//! The command line: one file per subcommand, each with its options and a `run` that returns the
//! exit code.

mod bounds;
mod certificate;
mod certify;
mod check;
mod emit;
mod expect;
mod explore;
mod fmt;
mod input;
mod interrupt;
mod list;
mod lsp;
mod memory;
mod nearest;
mod page;
mod points;
mod progress;
mod recorded;
mod replay;
mod replayed;
mod simulate;
mod step;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use serde::Serialize;
use snapshot_io::cli::{self, About, TROUBLE, print, print_data, trouble};
use snapshot_io::replacement;
use snapshot_verify::language::Source;
use snapshot_verify::report::placed;
use snapshot_verify::verify::VerifyError;

/// Exit code: an algorithm is wrong, or an expectation is not met.
const WRONG: u8 = 1;

/// Exit code: nothing was established.
const UNKNOWN: u8 = 3;

/// Exit code: this program is wrong.
const BUG: u8 = snapshot_io::fault::CODE;

/// Maximum width of printed text, where words allow it.
const WIDTH: usize = 110;

/// Verifies algorithms for atomic snapshots and other objects.
#[derive(Debug, Parser)]
#[command(name = "snapshot-verify", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Box<check::Check>),
    Certify(certify::Certify),
    List(list::List),
    Emit(emit::Emit),
    Expect(expect::Expect),
    Explore(explore::Explore),
    Fmt(fmt::Fmt),
    Lsp(lsp::Lsp),
    Points(points::Points),
    Replay(replay::Replay),
    Simulate(simulate::Simulate),
    #[command(flatten)]
    About(About),
}

impl Command {
    /// Returns true if the first Ctrl-C asks for an answer.
    const fn answers_interrupts(&self) -> bool {
        matches!(
            self,
            Self::Check(_)
                | Self::Certify(_)
                | Self::Emit(_)
                | Self::Expect(_)
                | Self::Explore(_)
                | Self::Points(_)
                | Self::Simulate(_)
        )
    }
}

/// Format of the report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ReportFormat {
    /// Text.
    Human,
    /// JSON.
    Json,
}

pub fn run() -> ExitCode {
    let arguments = match cli::arguments::<Arguments>() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    if arguments.command.answers_interrupts() {
        // Listen from here on, also while a text is being read.
        interrupt::listen();
    }
    match arguments.command {
        Command::Check(command) => command.run(),
        Command::Certify(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Emit(command) => command.run(),
        Command::Expect(command) => command.run(),
        Command::Explore(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Lsp(command) => command.run(),
        Command::Points(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::About(about) => about.run::<Arguments>(),
    }
}

/// Removes an existing file at the place of an output, so that an older file is never mistaken for
/// one of this run. The place must differ from all files in `taken`.
///
/// # Errors
/// The exit code; the diagnostics have been printed.
fn clear(path: &Path, taken: &[&Path]) -> Result<(), ExitCode> {
    let place = replacement::target(path);
    // A device or a pipe needs no clearing.
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    if !is_special && taken.iter().any(|taken| replacement::target(taken) == place) {
        return Err(trouble(format_args!(
            "{} would be written over: name another file",
            path.display()
        )));
    }
    replacement::clear(path)
        .map_err(|error| trouble(format_args!("cannot replace {}: {error}", path.display())))
}

/// Returns a value as one line of JSON.
fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("a report is made of text and numbers");
    text.push('\n');
    text
}

/// Prints an answer in this format.
fn print_in(report: ReportFormat, answer: &str) -> ExitCode {
    match report {
        ReportFormat::Human => print(answer),
        ReportFormat::Json => print_data(answer),
    }
}

/// Reports why a case has no answer, with the place in the text if it has one, and returns the exit
/// code for it.
fn refused(title: &str, source: &Source, error: &VerifyError) -> ExitCode {
    let place = placed(source, error.span());
    let code = trouble(format_args!("{title}: {place}{error}"));
    if error.is_ours() { ExitCode::from(BUG) } else { code }
}
