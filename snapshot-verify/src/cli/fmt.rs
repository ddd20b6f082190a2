//! `snapshot-verify fmt`: a uniform layout for texts of the language.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_io::output::{self, Printed};
use snapshot_io::replacement;
use snapshot_verify::language::format;

use super::input::LARGEST;
use super::{TROUBLE, WRONG, trouble};

/// Formats algorithms: indentation, spaces and empty lines; comments stay.
///
/// Writes the files, and says which of them have changed; for standard input, `-`, prints the
/// formatted text. A text with syntax errors is left alone. Exit code: 2 if a file cannot be read,
/// written or parsed, else 1 if --check finds one that is not formatted, else 0.
#[derive(Debug, Args)]
pub struct Fmt {
    /// Files, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Write nothing; say which files would change.
    #[arg(long)]
    check: bool,
}

/// Result for a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Unchanged,
    Changed,
    Failed,
    /// The reader of the output has closed it.
    Closed,
}

impl Fmt {
    pub fn run(self) -> ExitCode {
        let mut code = ExitCode::SUCCESS;
        let mut has_failed = false;
        for name in &self.files {
            match self.file(name) {
                Outcome::Unchanged => {}
                Outcome::Changed if self.check && !has_failed => code = ExitCode::from(WRONG),
                Outcome::Changed => {}
                Outcome::Failed => {
                    has_failed = true;
                    code = ExitCode::from(TROUBLE);
                }
                Outcome::Closed => return code,
            }
        }
        code
    }

    fn file(&self, name: &str) -> Outcome {
        let is_input = name == "-";
        let path = Path::new(if is_input { "/dev/stdin" } else { name });
        let shown = if is_input { "standard input" } else { name };
        let text = match read_text(path, LARGEST, LINE_LIMIT) {
            Ok(text) => text,
            Err(error) => return failed(format_args!("cannot read {shown}: {error}")),
        };
        let formatted = match format(shown, &text) {
            Ok(formatted) => formatted,
            Err(diagnostics) => return failed(diagnostics),
        };
        let is_changed = formatted != text;
        let answer = match (is_input, self.check) {
            (true, false) => output::print_data(&formatted),
            _ if !is_changed => return Outcome::Unchanged,
            (_, true) => output::print_text(&format!("{shown}: not formatted\n")),
            (false, false) => {
                if let Err(error) = replace(path, &formatted) {
                    return failed(format_args!("cannot write {shown}: {error}"));
                }
                output::print_text(&format!("{shown}: formatted\n"))
            }
        };
        match answer {
            Ok(Printed::Whole) if is_changed => Outcome::Changed,
            Ok(Printed::Whole) => Outcome::Unchanged,
            Ok(Printed::Closed) => Outcome::Closed,
            Err(error) => failed(format_args!("cannot write to standard output: {error}")),
        }
    }
}

/// Replaces an existing file and keeps its permissions.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    replacement::write_with(path, |file| {
        file.set_permissions(permissions)?;
        file.write_all(text.as_bytes())
    })
}

fn failed(report: impl std::fmt::Display) -> Outcome {
    trouble(report);
    Outcome::Failed
}
