//! The program `cargo lineup`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use cargo_lineup::init::{Request, init};
use cargo_lineup::package::Selection;
use cargo_lineup::{Error, build};
use clap::{Args, Parser, Subcommand};

/// Cargo calls `cargo-lineup lineup ...`.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo", disable_help_subcommand = true)]
enum Cargo {
    Lineup(Lineup),
}

/// Checks objects of published crates, unmodified, under every schedule (Line-Up).
///
/// The package names the crates under control in its Cargo.toml, in
/// `package.metadata.lineup.controlled`; they are compiled with stand-ins for `std` and
/// `core`. Exit codes: 0 passed, 1 failed, 2 bad arguments or files, 3 unknown.
#[derive(Args, Debug)]
#[command(version)]
struct Lineup {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes a package for a crate, with a subject to fill in.
    Init {
        /// The crate: NAME or NAME@VERSION.
        #[arg(value_name = "CRATE")]
        krate: String,
        /// The directory to make (`lineup-NAME`, if none is given).
        #[arg(long)]
        path: Option<PathBuf>,
        /// The directory of the crate `lineup`.
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
        lineup: PathBuf,
    },
    /// Runs the package's tests (`cargo test`), with its crates under control.
    Test(Passed),
    /// Lists the subjects and their operations.
    List(Passed),
    /// Checks one test.
    Run(Passed),
    /// Checks random tests.
    Random(Passed),
    /// Checks all tests of a shape.
    All(Passed),
    /// Checks all n x n tests over the first n invocations, for n = 1, 2, ...
    Auto(Passed),
    /// Executes the schedule of a failure again.
    Replay(Passed),
    /// Prints the serial histories of a file.
    Show(Passed),
    /// Runs series of tests within a budget, and records what they come to.
    Survey(Passed),
    /// Prints the paper's Table 2 for subjects.
    Table(Passed),
}

/// What is passed on to the package's program.
#[derive(Args, Debug)]
struct Passed {
    /// The package's Cargo.toml.
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// The package of a workspace.
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
    /// Optimised.
    #[arg(long)]
    release: bool,
    /// Subjects and options of the program: `cargo lineup COMMAND -- --help` prints them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn run(command: Command) -> Result<u8, Error> {
    let (name, passed) = match command {
        Command::Init { krate, path, lineup } => {
            let name = krate.split('@').next().unwrap_or("");
            let directory = path.unwrap_or_else(|| format!("lineup-{name}").into());
            print!("{}", init(&Request { krate, directory, lineup })?);
            return Ok(0);
        }
        Command::Test(passed) => ("test", passed),
        Command::List(passed) => ("list", passed),
        Command::Run(passed) => ("run", passed),
        Command::Random(passed) => ("random", passed),
        Command::All(passed) => ("all", passed),
        Command::Auto(passed) => ("auto", passed),
        Command::Replay(passed) => ("replay", passed),
        Command::Show(passed) => ("show", passed),
        Command::Survey(passed) => ("survey", passed),
        Command::Table(passed) => ("table", passed),
    };
    let selection = Selection { manifest: passed.manifest_path, package: passed.package };
    if name == "test" {
        return build::run(&selection, passed.release, "test", &passed.arguments);
    }
    let mut arguments = vec![name.to_owned()];
    arguments.extend(passed.arguments);
    build::run(&selection, passed.release, "run", &arguments)
}

fn main() -> ExitCode {
    let Cargo::Lineup(lineup) = match Cargo::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    match run(lineup.command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
