//! `snapshot-test convert`: a recording in another format.
//!
//! The output appears whole or not at all: half a recording is a recording
//! too, only of something else. A file is written under a temporary name beside
//! its place and then renamed; what goes to standard output is held back in a
//! temporary file until the input has been read to its end.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use snapshot_io::output;
use snapshot_io::replacement::Replacement;
use snapshot_test::convert::convert;
use snapshot_test::format::write_history;
use snapshot_test::import::{ImportError, Imported, Stamp, intervals};
use snapshot_test::input::Input;

use super::format::{OutputFormat, SourceFormat};
use super::trouble;

/// Writes the whole output; if that fails, says why.
type Produce<'a> = dyn FnOnce(&mut dyn Write) -> Result<(), Box<dyn Display>> + 'a;

/// Converts a recording to another format; refuses what is no history, and what
/// the other format cannot express.
#[derive(Debug, Args)]
pub struct Convert {
    /// The format of the input.
    #[arg(long, value_enum, default_value = "auto")]
    from: SourceFormat,
    /// The format of the output.
    #[arg(long, value_enum)]
    to: OutputFormat,
    /// By how much each clock of `--from intervals` may be off, in its unit.
    #[arg(long, value_name = "TIME", default_value = "0")]
    skew: Stamp,
    /// The recording; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// The file to write, instead of standard output; replaced if it exists.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

impl Convert {
    pub fn run(self) -> ExitCode {
        let input = Input::from_argument(&self.input);
        let name = input.name();
        let to = self.to.format();
        let produce: Box<Produce<'_>> = match self.from.recording() {
            Some(from) => {
                if self.skew != Stamp::default() {
                    return trouble("--skew is for --from intervals: recordings have no clocks");
                }
                let reader = match input.open(from.format()) {
                    Ok(reader) => reader,
                    Err(error) => return trouble(error.report(&name)),
                };
                let name = name.clone();
                Box::new(move |output| {
                    let converted = convert(reader, to, output).map(drop);
                    converted.map_err(|error| -> Box<dyn Display> {
                        Box::new(error.report(&name).to_string())
                    })
                })
            }
            None => {
                let imported = match import(&input, self.skew) {
                    Ok(imported) => imported,
                    Err(error) => return trouble(format_args!("{name}: {error}")),
                };
                for warning in &imported.warnings {
                    output::report(format_args!("{name}: warning: {warning}"));
                }
                let name = name.clone();
                Box::new(move |output| {
                    let written = write_history(to, output, &imported.history).map(drop);
                    written.map_err(|error| -> Box<dyn Display> {
                        Box::new(format!("{name}: {error}"))
                    })
                })
            }
        };
        match self.output.filter(|path| path != Path::new("-")) {
            None => to_stream(produce, || Ok(io::stdout()), "standard output"),
            Some(path) => match path.metadata() {
                // A device or pipe: nothing that could be replaced.
                Ok(metadata) if !metadata.is_file() => {
                    let open = || File::options().write(true).open(&path);
                    to_stream(produce, open, &path.display().to_string())
                }
                _ => to_file(produce, &path),
            },
        }
    }
}

fn import(input: &Input, skew: Stamp) -> Result<Imported, ImportError> {
    let mut log = Vec::new();
    let read = match input {
        Input::Standard => io::stdin().read_to_end(&mut log),
        Input::File(path) => File::open(path).and_then(|mut file| file.read_to_end(&mut log)),
    };
    read.map_err(|error| ImportError { line: 1, kind: error.into() })?;
    intervals(&log, skew)
}

fn to_file(produce: Box<Produce<'_>>, path: &Path) -> ExitCode {
    let cannot =
        |error: io::Error| trouble(format_args!("cannot write {}: {error}", path.display()));
    let mut replacement = match Replacement::of(path) {
        Ok(replacement) => replacement,
        Err(error) => return cannot(error),
    };
    if let Err(error) = produce(&mut BufWriter::new(replacement.file())) {
        return trouble(error);
    }
    match replacement.persist() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cannot(error),
    }
}

fn to_stream<W: Write>(
    produce: Box<Produce<'_>>,
    open: impl FnOnce() -> io::Result<W>,
    name: &str,
) -> ExitCode {
    let cannot = |error: io::Error| trouble(format_args!("cannot write {name}: {error}"));
    let mut held_back = match tempfile::tempfile() {
        Ok(file) => file,
        Err(error) => return cannot(error),
    };
    if let Err(error) = produce(&mut BufWriter::new(&mut held_back)) {
        return trouble(error);
    }
    let copied = held_back.rewind().and_then(|()| {
        let mut output = open()?;
        io::copy(&mut held_back, &mut output)?;
        output.flush()
    });
    match copied {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cannot(error),
    }
}
