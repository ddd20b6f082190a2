//! The command line of a program that checks subjects; [`main!`](crate::main) makes one.

mod checks;
mod commands;
mod options;
mod progress;

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use snapshot_io::limited::TextError;
use snapshot_io::output;
use thiserror::Error;

use crate::files::FileError;
use crate::matrix::TestError;
use crate::subject::AnySubject;
use crate::survey::RecordError;

/// Exit code without an answer.
const TROUBLE: u8 = 2;

/// Error of a command.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Invalid test.
    #[error(transparent)]
    Test(#[from] TestError),
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: TextError,
    },
    /// A file that cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Malformed file.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: FileError,
    },
    /// Unknown subject.
    #[error("there is no subject `{given}`; the subjects are: {known}")]
    Subject {
        /// The name given.
        given: String,
        /// Known names.
        known: String,
    },
    /// Records that cannot be read.
    #[error("{}: {error}", path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// Why.
        error: RecordError,
    },
    /// More tests than one command runs.
    #[error(
        "{subject} has {number} such tests: take random ones (`random`), a smaller shape, or a \
         budget (`survey`)"
    )]
    TooMany {
        /// The subject.
        subject: &'static str,
        /// The number of tests.
        number: u128,
    },
    /// Error in the process that executed the check.
    #[error("{message}")]
    Worker {
        /// Its message.
        message: String,
    },
    /// The baseline belongs to another test.
    #[error("the baseline is of another test: {baseline}")]
    Baseline {
        /// Test of the baseline.
        baseline: String,
    },
}

/// Runs the program's command line over these subjects.
pub fn main(subjects: &[AnySubject]) -> ExitCode {
    ExitCode::from(run(subjects, std::env::args_os()))
}

/// Runs a command line, of which the first word is the program's name; returns its exit code.
///
/// A check is executed by a process of its own: this program, started again with the arguments of
/// this process, which must come here again.
pub fn run(subjects: &[AnySubject], arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match options::Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        // The text of `--help`, or an error in the arguments.
        Err(error) if !error.use_stderr() => return print(&error.render().to_string(), 0),
        Err(error) => return trouble(error.render().to_string().trim_end()),
    };
    match commands::run(subjects, &arguments) {
        Ok((text, code)) => print(&text, code),
        Err(error) => trouble(error),
    }
}

fn trouble(report: impl Display) -> u8 {
    output::report(report);
    TROUBLE
}

fn print(answer: &str, code: u8) -> u8 {
    match output::print_text(answer) {
        Ok(_) => code,
        Err(error) => trouble(format_args!("cannot write to standard output: {error}")),
    }
}
