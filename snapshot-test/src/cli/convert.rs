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
use snapshot_test::format::{Format, WriteError, Writer};
use snapshot_test::import::{EdnOptions, ImportError, Imported, Stamp, edn, intervals};
use snapshot_test::input::Input;
use snapshot_test::{InputError, Value};

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
    /// Of a recording of several objects, write the one with this key: a number, a text, or
    /// a text in double quotes.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// By how much each clock of `--from intervals`, or of `--sort-by-time`, may be off, in
    /// its unit.
    #[arg(long, value_name = "TIME", default_value = "0")]
    skew: Stamp,
    /// Values of `--from edn` are tuples [key value] of independent keys.
    #[arg(long)]
    independent: bool,
    /// What the registers of `--from edn` hold at first, in EDN (default: nil).
    #[arg(long, value_name = "VALUE")]
    initial: Option<String>,
    /// Sort the events of `--from edn` by `:time`; those at one instant overlap.
    #[arg(long)]
    sort_by_time: bool,
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
                if let Some(option) = self.foreign_option() {
                    return trouble(option);
                }
                let mut reader = match input.open(from.format()) {
                    Ok(reader) => reader,
                    Err(error) => return trouble(error.report(&name)),
                };
                if let Some(key) = &self.key
                    && let Err(error) = reader.select(key)
                {
                    return trouble(InputError::from(error).report(&name));
                }
                let name = name.clone();
                Box::new(move |output| {
                    let converted = convert(reader, to, output).map(drop);
                    converted.map_err(|error| -> Box<dyn Display> {
                        Box::new(error.report(&name).to_string())
                    })
                })
            }
            None => {
                if let Some(option) = self.foreign_option() {
                    return trouble(option);
                }
                if self.key.is_some() {
                    return trouble("--key is for recordings: a foreign log has no keys");
                }
                let imported = match self.import(&input) {
                    Ok(imported) => imported,
                    Err(error) => return trouble(format_args!("{name}: {error}")),
                };
                for warning in &imported.warnings {
                    output::report(format_args!("{name}: warning: {warning}"));
                }
                let name = name.clone();
                Box::new(move |output| {
                    write(to, output, &imported).map_err(|error| -> Box<dyn Display> {
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

impl Convert {
    /// An option that only foreign logs of another kind have.
    fn foreign_option(&self) -> Option<&'static str> {
        let is_edn = self.from == SourceFormat::Edn;
        if !is_edn && (self.independent || self.initial.is_some() || self.sort_by_time) {
            return Some("--independent, --initial and --sort-by-time are for --from edn");
        }
        if self.skew == Stamp::default() {
            return None;
        }
        match self.from {
            SourceFormat::Intervals => None,
            SourceFormat::Edn if self.sort_by_time => None,
            SourceFormat::Edn => {
                Some("--skew is for clocks: --from edn uses them with --sort-by-time only")
            }
            _ => Some("--skew is for --from intervals: recordings have no clocks"),
        }
    }

    fn import(&self, input: &Input) -> Result<Imported, ImportError> {
        let mut log = Vec::new();
        let read = match input {
            Input::Standard => io::stdin().read_to_end(&mut log),
            Input::File(path) => File::open(path).and_then(|mut file| file.read_to_end(&mut log)),
        };
        read.map_err(|error| ImportError { line: 1, kind: error.into() })?;
        if self.from == SourceFormat::Intervals {
            return intervals(&log, self.skew);
        }
        let text = String::from_utf8(log).map_err(|error| {
            let error = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
            ImportError { line: 1, kind: error.into() }
        })?;
        let options = EdnOptions {
            independent: self.independent,
            initial: self.initial.clone(),
            sort_by_time: self.sort_by_time,
            skew: self.skew,
        };
        edn(&text, &options)
    }
}

/// Writes an imported log as a recording, with what its segments are.
fn write(to: Format, output: &mut dyn Write, imported: &Imported) -> Result<(), WriteError> {
    let declaration = imported.history.declaration();
    let mut writer = Writer::with_comments(to, output, &declaration, &imported.comments)?;
    for event in imported.history.events() {
        writer.write(&event)?;
    }
    writer.finish().map(drop)
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
