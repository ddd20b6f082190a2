//! `snapshot-test convert`: a recording in another format.
//!
//! The output appears whole or not at all: half a recording is a recording
//! too, only of something else. A file is written under a temporary name beside
//! its place and then renamed; what goes to standard output is held back in a
//! temporary file until the input has been read to its end.

use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use snapshot_io::replacement::Replacement;
use snapshot_test::convert::convert;
use snapshot_test::format::Format;
use snapshot_test::input::{Input, InputReader};

use super::format::{InputFormat, OutputFormat};
use super::trouble;

/// Converts a recording to another format; refuses what is no history, and what
/// the other format cannot express.
#[derive(Debug, Args)]
pub struct Convert {
    /// The format of the input.
    #[arg(long, value_enum, default_value = "auto")]
    from: InputFormat,
    /// The format of the output.
    #[arg(long, value_enum)]
    to: OutputFormat,
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
        let reader = match input.open(self.from.format()) {
            Ok(reader) => reader,
            Err(error) => return trouble(error.report(&input.name())),
        };
        let to = self.to.format();
        match self.output.filter(|path| path != Path::new("-")) {
            None => to_stream(reader, to, &input, || Ok(io::stdout()), "standard output"),
            Some(path) => match path.metadata() {
                // A device or pipe: nothing that could be replaced.
                Ok(metadata) if !metadata.is_file() => {
                    let open = || File::options().write(true).open(&path);
                    to_stream(reader, to, &input, open, &path.display().to_string())
                }
                _ => to_file(reader, to, &input, &path),
            },
        }
    }
}

fn to_file(reader: InputReader, to: Format, input: &Input, path: &Path) -> ExitCode {
    let cannot =
        |error: io::Error| trouble(format_args!("cannot write {}: {error}", path.display()));
    let mut replacement = match Replacement::of(path) {
        Ok(replacement) => replacement,
        Err(error) => return cannot(error),
    };
    if let Err(error) = convert(reader, to, BufWriter::new(replacement.file())) {
        return trouble(error.report(&input.name()));
    }
    match replacement.persist() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cannot(error),
    }
}

fn to_stream<W: io::Write>(
    reader: InputReader,
    to: Format,
    input: &Input,
    open: impl FnOnce() -> io::Result<W>,
    name: &str,
) -> ExitCode {
    let cannot = |error: io::Error| trouble(format_args!("cannot write {name}: {error}"));
    let mut held_back = match tempfile::tempfile() {
        Ok(file) => file,
        Err(error) => return cannot(error),
    };
    if let Err(error) = convert(reader, to, BufWriter::new(&mut held_back)) {
        return trouble(error.report(&input.name()));
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
