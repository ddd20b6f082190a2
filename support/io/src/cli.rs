//! The parts that command lines have in common: arguments, answers, and pages about themselves.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::output::{self, Printed};
use crate::shell::{self, Shell};

/// Exit code without an answer: bad input, bad options, failing output.
pub const TROUBLE: u8 = 2;

/// Parses the arguments of this process. Otherwise the output of `--help` or the error in the
/// arguments has been printed.
///
/// # Errors
/// The exit code.
pub fn arguments<A: Parser>() -> Result<A, ExitCode> {
    A::try_parse().map_err(|error| match error.use_stderr() {
        true => trouble(error.render().to_string().trim_end()),
        false => print(&error.render().to_string()),
    })
}

/// Subcommands about a command line itself.
#[derive(Clone, Debug, Subcommand)]
pub enum About {
    /// Prints completions of this command line for a shell.
    Completions {
        /// Name of the shell.
        shell: Shell,
    },
    /// Writes the manual pages of this command line to a folder.
    Man {
        /// The folder; created if missing.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

impl About {
    /// Prints or writes them, for the command line `A`.
    pub fn run<A: CommandFactory>(self) -> ExitCode {
        match self {
            Self::Completions { shell } => print_data(&shell::completions(A::command(), shell)),
            Self::Man { folder } => match shell::manual(A::command(), &folder) {
                Ok(pages) => print(&format!("{} pages in {}\n", pages.len(), folder.display())),
                Err(error) => {
                    trouble(format_args!("cannot write to {}: {error}", folder.display()))
                }
            },
        }
    }
}

/// Reports an error and returns [`TROUBLE`].
pub fn trouble(report: impl Display) -> ExitCode {
    output::report(report);
    ExitCode::from(TROUBLE)
}

/// Prints an answer as text. A closed output is not an error.
pub fn print(answer: &str) -> ExitCode {
    printed(output::print_text(answer))
}

/// As [`print()`], unchanged, for programs.
pub fn print_data(answer: &str) -> ExitCode {
    printed(output::print_data(answer))
}

fn printed(printed: io::Result<Printed>) -> ExitCode {
    match printed {
        Ok(Printed::Whole | Printed::Closed) => ExitCode::SUCCESS,
        Err(error) => trouble(format_args!("cannot write to standard output: {error}")),
    }
}
