//! `snapshot-test convert`: a recording in another format.
//!
//! The output appears whole or not at all, since half a recording is a valid recording of another
//! history. A file is written under a temporary name beside its place and then renamed; standard
//! output is held back in a temporary file until the input has been read to its end.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use snapshot_core::history::{Declaration, Event, Writers};
use snapshot_core::{Names, Process};
use snapshot_io::output;
use snapshot_io::replacement::Replacement;
use snapshot_test::convert::convert;
use snapshot_test::format::{Doubt, Format, Heading, Object, WriteError, Writer};
use snapshot_test::import::{
    EdnOptions, Imported, IntervalOptions, Stamp, by_time, edn, intervals,
};
use snapshot_test::input::{Gauge, Input};
use snapshot_test::{InputError, Value, synchronisation};

use super::format::{OutputFormat, SourceFormat};
use super::{times, trouble};

/// Writes the whole output; returns the reason if that fails.
type Produce<'a> = dyn FnOnce(&mut dyn Write) -> Result<(), Box<dyn Display>> + 'a;

/// Converts a recording to another format; refuses invalid histories, and events that the other
/// format cannot express.
#[derive(Debug, Args)]
pub struct Convert {
    /// The format of the input.
    #[arg(long, value_enum, default_value = "auto")]
    from: SourceFormat,
    /// The format of the output.
    #[arg(long, value_enum)]
    to: OutputFormat,
    /// The recording is of this object, as with `check --object`: from text, JSON Lines, or a log in
    /// EDN, to text or JSON Lines.
    #[arg(long, value_name = "OBJECT")]
    object: Option<synchronisation::Object>,
    /// Write only the object with this key, in a recording of several objects: a number, a text, or a text
    /// in double quotes.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// The largest error of each clock of `--from intervals`, or of `--sort-by-time`, in its unit.
    #[arg(long, value_name = "TIME", default_value = "0")]
    skew: Stamp,
    /// Values of `--from edn` are tuples [key value] of independent keys.
    #[arg(long)]
    independent: bool,
    /// The initial values of segments: for `--from edn`, of the registers, in EDN (default: nil);
    /// for `--from intervals`, of all, as in a table (default: 0; null is the JSON value).
    #[arg(long, value_name = "VALUE")]
    initial: Option<String>,
    /// Sort the events of `--from edn` by `:time`, or of `--from jsonl` by `time`, instead of by
    /// their lines; events at one instant overlap.
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
        if let Some(option) = self.misplaced_option() {
            return trouble(option);
        }
        let input = Input::from_argument(&self.input);
        let name = input.name();
        let to = self.to.format();
        let produce: Box<Produce<'_>> = match (self.object.clone(), self.from.recording()) {
            (Some(object), _) => {
                let (from, key) = (self.from.format(), self.key.clone());
                Box::new(move |output| {
                    convert_object(&object, &input, from, key.as_ref(), to, output)
                })
            }
            (None, Some(from)) if !self.sort_by_time => {
                let mut reader = match input.open(from.format()) {
                    Ok(reader) => reader,
                    Err(error) => return trouble(error.report(&name)),
                };
                if let Some(key) = &self.key
                    && let Err(error) = reader.select(key)
                {
                    return trouble(InputError::from(error).report(&name));
                }
                let noticed = reader.noticed();
                Box::new(move |output| {
                    let converted = convert(reader, to, output).map(drop);
                    if let Some(backwards) = noticed.backwards() {
                        times::warn(&name, &backwards, Doubt::Either);
                    }
                    converted.map_err(|error| -> Box<dyn Display> {
                        Box::new(error.report(&name).to_string())
                    })
                })
            }
            (None, _) => {
                let objects = match self.import(&input) {
                    Ok(objects) => objects,
                    Err(error) => return trouble(error.report(&name)),
                };
                for warning in objects.iter().flat_map(|(_, imported)| &imported.warnings) {
                    let cure =
                        warning.cure().map_or(String::new(), |cure| format!("\nhelp: {cure}"));
                    output::report(format_args!("{name}: warning: {warning}{cure}"));
                }
                Box::new(move |output| {
                    write(to, output, &objects).map_err(|error| -> Box<dyn Display> {
                        Box::new(format!("{name}: {error}"))
                    })
                })
            }
        };
        match self.output.filter(|path| path != Path::new("-")) {
            None => to_stream(produce, || Ok(io::stdout()), "standard output"),
            Some(path) => match path.metadata() {
                // A device or pipe: there is no file to replace.
                Ok(metadata) if !metadata.is_file() => {
                    let open = || File::options().write(true).open(&path);
                    to_stream(produce, open, &path.display().to_string())
                }
                _ => to_file(produce, &path),
            },
        }
    }

    /// Returns the reason why an option does not apply to this input, if any.
    fn misplaced_option(&self) -> Option<&'static str> {
        if self.object.is_some() {
            let is_of_snapshots = self.independent
                || self.initial.is_some()
                || self.sort_by_time
                || self.skew != Stamp::default()
                || self.from == SourceFormat::Disc22;
            return is_of_snapshots.then_some(
                "--independent, --initial, --sort-by-time, --skew and --from disc22 are for \
                 snapshots: leave them out with --object",
            );
        }
        let is_edn = self.from == SourceFormat::Edn;
        let is_foreign = self.from.recording().is_none();
        if self.independent && !is_edn {
            return Some("--independent is for --from edn: others have a field `key`");
        }
        if self.initial.is_some() && !is_foreign {
            return Some(
                "--initial is for --from edn and --from intervals: a recording says in its header \
                 what segments hold at first",
            );
        }
        if self.sort_by_time
            && !matches!(self.from, SourceFormat::Edn | SourceFormat::Jsonl | SourceFormat::Auto)
        {
            return Some(
                "--sort-by-time is for --from edn and --from jsonl: intervals have no other order, \
                 and the other formats have no times",
            );
        }
        if self.key.is_some() && is_foreign {
            return Some(
                "--key is for recordings: the keys of a foreign log become segments of one",
            );
        }
        let has_clocks = self.sort_by_time || self.from == SourceFormat::Intervals;
        if self.skew != Stamp::default() && !has_clocks {
            return Some(
                "--skew is for clocks: use it with --from intervals, or with --sort-by-time",
            );
        }
        None
    }

    /// Imports the objects of a log, with their keys.
    fn import(&self, input: &Input) -> Result<Objects, InputError> {
        let mut log = Vec::new();
        let read = match input {
            Input::Standard => io::stdin().read_to_end(&mut log),
            Input::File(path) => File::open(path).and_then(|mut file| file.read_to_end(&mut log)),
        };
        read.map_err(InputError::io)?;
        let initial = self.initial.clone();
        let imported = match self.from {
            SourceFormat::Intervals => {
                intervals(&log, &IntervalOptions { initial, skew: self.skew })?
            }
            SourceFormat::Edn => {
                let options = EdnOptions {
                    independent: self.independent,
                    initial,
                    sort_by_time: self.sort_by_time,
                    skew: self.skew,
                };
                edn(&log, &options)?
            }
            SourceFormat::Auto
            | SourceFormat::Text
            | SourceFormat::Jsonl
            | SourceFormat::Disc22 => {
                return by_time(&log, self.key.as_ref(), self.skew);
            }
        };
        Ok(vec![(None, imported)])
    }
}

/// Converts the recording of an object with named operations.
fn convert_object(
    object: &synchronisation::Object,
    input: &Input,
    from: Option<Format>,
    key: Option<&Value>,
    to: Format,
    output: &mut dyn Write,
) -> Result<(), Box<dyn Display>> {
    let name = input.name();
    let told = |error: &dyn Display| -> Box<dyn Display> { Box::new(error.to_string()) };
    let bytes = input.bytes(&Gauge::default()).map_err(|error| told(&error.report(&name)))?;
    let converted = synchronisation::convert(object, bytes, from, key, to, output);
    if let Some(backwards) = converted.map_err(|error| told(&error.report(&name)))? {
        times::warn(&name, &backwards, Doubt::Either);
    }
    Ok(())
}

/// Histories, with their keys if there are several objects.
type Objects = Vec<(Option<Value>, Imported)>;

/// Writes imported objects as a recording, with the names of their segments and processes.
fn write(to: Format, output: &mut dyn Write, objects: &Objects) -> Result<(), WriteError> {
    let Some((_, first)) = objects.first() else { return Ok(()) };
    let mut declaration = first.history.declaration();
    for (_, Imported { history, .. }) in objects {
        let Declaration { segments, processes, writers, .. } = history.declaration();
        // Differing sizes are inferred again, object by object.
        declaration.segments = declaration.segments.filter(|_| declaration.segments == segments);
        declaration.processes =
            declaration.processes.filter(|_| declaration.processes == processes);
        if writers == Writers::Many {
            declaration.writers = writers;
        }
    }
    let clients = Clients::new(objects);
    let names = &Names::new(clients.names.clone(), first.names.segments().to_vec());
    if !clients.names.is_empty() {
        declaration.processes = Some(clients.names.len());
    }
    let (object, declaration) = (Object::Snapshot, &declaration);
    let heading = Heading { object, declaration, names, comments: &[] };
    let mut writer = Writer::begin(to, output, &heading)?;
    for ((key, imported), numbers) in objects.iter().zip(&clients.numbers) {
        for event in imported.history.events() {
            let number = numbers.get(event.process.index()).copied();
            let process = number.unwrap_or(event.process);
            let event = Event { process, ..event };
            match key {
                Some(key) => writer.write_of(key, &event)?,
                None => writer.write(&event)?,
            }
        }
    }
    writer.finish().map(drop)
}

/// The processes of several objects, numbered together if they have names.
struct Clients {
    names: Vec<Box<str>>,
    /// For each object, the number of each of its processes; empty without names.
    numbers: Vec<Vec<Process>>,
}

impl Clients {
    fn new(objects: &Objects) -> Self {
        let mut known: HashMap<Box<str>, Process> = HashMap::new();
        let mut clients = Self { names: Vec::new(), numbers: Vec::new() };
        let are_named = objects.iter().any(|(_, one)| !one.names.processes().is_empty());
        for (_, Imported { history, names, .. }) in objects {
            let count = if are_named { history.processes() } else { 0 };
            let numbers = (0..count).map(|number| {
                let name = names.processes().get(number).cloned();
                let name = name.unwrap_or_else(|| number.to_string().into());
                *known.entry(name).or_insert_with_key(|name| {
                    clients.names.push(name.clone());
                    Process::from_index(clients.names.len() - 1)
                })
            });
            let numbers = numbers.collect();
            clients.numbers.push(numbers);
        }
        clients
    }
}

fn to_file(produce: Box<Produce<'_>>, path: &Path) -> ExitCode {
    let cannot =
        |error: io::Error| trouble(format_args!("cannot write {}: {error}", path.display()));
    let mut replacement = match Replacement::new(path) {
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
