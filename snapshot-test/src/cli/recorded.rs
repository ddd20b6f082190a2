//! A recording of one object as a history in memory, for subcommands that need the whole history.

use std::path::Path;
use std::process::ExitCode;

use snapshot_core::{History, Names, immediate};
use snapshot_io::escape;
use snapshot_test::format::{Doubt, Location, Object};
use snapshot_test::input::{Input, OpenError};
use snapshot_test::{Value, read_exchanges, read_history};

use super::format::InputFormat;
use super::{times, trouble};

/// A recording that was read to its end.
pub struct Recorded {
    /// The name of the input, escaped for messages.
    pub name: String,
    pub history: History<Value>,
    /// The position of each event in the input.
    pub locations: Vec<Location>,
}

/// The history of a snapshot of either kind.
pub enum Either {
    Snapshot(History<Value>),
    Immediate(immediate::History<Value>),
}

/// Reads the recording at a path; of several objects, the one with a key.
///
/// # Errors
/// The exit code, after the report of the defect.
pub fn read(path: &Path, format: InputFormat, key: Option<&Value>) -> Result<Recorded, ExitCode> {
    let input = Input::from_argument(path);
    let name = escape::name(&input.name()).into_owned();
    match open(&input, format, |_| Ok::<_, OpenError>(key.cloned())) {
        Ok((Either::Snapshot(history), locations, _)) => Ok(Recorded { name, history, locations }),
        Ok((Either::Immediate(_), ..)) => Err(trouble(format_args!(
            "{name}: a recording of immediate snapshots; only snapshots have simple histories"
        ))),
        Err(error) => Err(trouble(error.report(&name))),
    }
}

/// Reads a recording to its end, with the position of each event and the names of processes and
/// segments; of several objects, the one whose key `choose` returns, which learns whether objects
/// have keys there. Warns about times that run backwards.
///
/// # Errors
/// If the recording is malformed, or has no object with this key; and those of `choose`.
pub fn open<E: From<OpenError>>(
    input: &Input,
    format: InputFormat,
    choose: impl FnOnce(bool) -> Result<Option<Value>, E>,
) -> Result<(Either, Vec<Location>, Names), E> {
    let mut reader = input.open(format.format())?;
    if let Some(key) = choose(reader.is_keyed())? {
        reader.select(&key).map_err(OpenError::from)?;
    }
    let (noticed, names) = (reader.noticed(), reader.names());
    let read = match reader.object() {
        Object::Snapshot => {
            read_history(reader).map(|(history, locations)| (Either::Snapshot(history), locations))
        }
        Object::Immediate => read_exchanges(reader)
            .map(|(history, locations)| (Either::Immediate(history), locations)),
    };
    let (history, locations) = read.map_err(OpenError::from)?;
    if let Some(backwards) = noticed.backwards() {
        times::warn(&escape::name(&input.name()), &backwards, Doubt::Either);
    }
    Ok((history, locations, names.get()))
}
