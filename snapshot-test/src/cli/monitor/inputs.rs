//! The inputs of a monitor: files, folders, standard input and connections.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use snapshot_io::{escape, output};
use snapshot_test::format::{Format, ReadError, Reader};
use snapshot_test::monitor::{Checkpoint, Follow, Interruptible, Listen};

use super::STOP;
use crate::cli::cluster::Processes;
use crate::cli::{folder, trouble};

/// Prefix of an argument that is an address.
const TCP: &str = "tcp://";

/// An input, and its name in messages.
pub(super) struct Input {
    pub name: String,
    source: Source,
}

enum Source {
    Standard,
    File { path: PathBuf, is_followed: bool },
    Connections(Listen<'static>),
}

impl Input {
    /// Returns true if the input may have to be waited for. Of other files, few are read at a time.
    pub fn is_live(&self) -> bool {
        match &self.source {
            Source::File { path, is_followed: false } => !path.is_file(),
            _ => true,
        }
    }

    /// Opens the input at its checkpoint, which is reported.
    ///
    /// # Errors
    /// The message.
    pub fn open(self, resumed: Option<&Checkpoint>) -> Result<Box<dyn Read>, String> {
        let name = self.name.clone();
        let input = self.opened(resumed)?;
        if let Some(Checkpoint { lines, .. }) = resumed {
            output::report(format_args!("{name}: going on at line {}", lines + 1));
        }
        Ok(input)
    }

    fn opened(self, resumed: Option<&Checkpoint>) -> Result<Box<dyn Read>, String> {
        let name = self.name;
        let cannot = |error: io::Error| format!("cannot read {name}: {error}");
        let (path, is_followed) = match self.source {
            Source::Connections(listen) => return Ok(Box::new(listen)),
            Source::Standard => {
                let input = standard_input().map_err(cannot)?;
                return Ok(Box::new(Interruptible::new(input, &STOP)));
            }
            Source::File { path, is_followed } => (path, is_followed),
        };
        let mut file = File::open(path).map_err(cannot)?;
        if let Some(checkpoint) = resumed {
            let length = file.metadata().map_err(cannot)?.len();
            if length < checkpoint.bytes {
                return Err(format!(
                    "{name} has {length} bytes, but the checkpoint is behind byte {}: is it of \
                     another recording? (without the file of the checkpoint, it is read from its beginning)",
                    checkpoint.bytes
                ));
            }
            file.seek(SeekFrom::Start(checkpoint.bytes)).map_err(cannot)?;
        }
        Ok(match is_followed {
            true => Box::new(Follow::new(file, &STOP)),
            false => Box::new(Interruptible::new(file, &STOP)),
        })
    }
}

/// Returns the inputs of these arguments, in order. Listens at addresses.
///
/// # Errors
/// The exit code, if an input cannot be read, or is named twice.
pub(super) fn named(
    arguments: &[PathBuf],
    is_followed: bool,
    processes: &Processes,
) -> Result<Vec<Input>, ExitCode> {
    let mut inputs = Vec::new();
    let mut places = HashSet::new();
    let twice = |name: &str| trouble(format_args!("{name} is named twice: name it once"));
    for argument in arguments {
        if argument == Path::new("-") {
            if !places.insert(PathBuf::from("-")) {
                return Err(twice("standard input"));
            }
            let name = processes.name("standard input".to_owned());
            inputs.push(Input { name, source: Source::Standard });
            continue;
        }
        let address = argument.to_str().and_then(|text| text.strip_prefix(TCP));
        if let Some(address) = address {
            let address = address.parse().map_err(|_| {
                trouble(format_args!(
                    "{TCP}{address}: expected an address of this machine, such as \
                     {TCP}127.0.0.1:7777"
                ))
            })?;
            inputs.push(listening(address, processes)?);
            continue;
        }
        for path in processes.taken(folder::files(std::slice::from_ref(argument))?)? {
            let name = processes.name(escape::name(&path.display().to_string()).into_owned());
            let place = fs::canonicalize(&path)
                .map_err(|error| trouble(format_args!("cannot read {name}: {error}")))?;
            if !places.insert(place) {
                return Err(twice(&name));
            }
            inputs.push(Input { name, source: Source::File { path, is_followed } });
        }
    }
    Ok(inputs)
}

/// Returns the input of connections to this address.
///
/// # Errors
/// The exit code, if the address cannot be used.
pub(super) fn listening(address: SocketAddr, processes: &Processes) -> Result<Input, ExitCode> {
    let cannot = |error| trouble(format_args!("cannot listen at {address}: {error}"));
    let listen = Listen::new(address, &STOP).map_err(cannot)?;
    let name = processes.name(format!("connections to {}", listen.address().map_err(cannot)?));
    output::report(format_args!("{name}: waiting"));
    Ok(Input { name, source: Source::Connections(listen) })
}

/// Opens standard input without a buffer; only the monitor reads it.
#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;

    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// Reads the header of an input, or resumes it at a checkpoint.
///
/// # Errors
/// If the input cannot be read; the inner error, if it is malformed.
pub(super) fn reader<R: Read>(
    input: R,
    resumed: Option<&Checkpoint>,
) -> io::Result<Result<Reader<BufReader<R>>, ReadError>> {
    let mut input = BufReader::new(input);
    if let Some(checkpoint) = resumed {
        let format = checkpoint.input_format().unwrap_or(Format::Text);
        let object = checkpoint.input_object().unwrap_or_default();
        let (names, are_declared) = (checkpoint.names(), checkpoint.declared_names);
        return Ok(Reader::resumed(input, format, object, names, are_declared));
    }
    Ok(match detected(&mut input)? {
        Some(Format::Jsonl) => Reader::jsonl(input),
        _ => Reader::text(input),
    })
}

/// Detects the format, by the first byte that is not blank; `None` for an empty input.
fn detected(input: &mut impl BufRead) -> io::Result<Option<Format>> {
    let first = input.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(first.map(|first| if *first == b'{' { Format::Jsonl } else { Format::Text }))
}
