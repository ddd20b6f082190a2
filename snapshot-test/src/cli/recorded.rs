//! A recording of one snapshot object as a history in memory, for subcommands that need the whole
//! history.

use std::path::Path;
use std::process::ExitCode;

use snapshot_core::History;
use snapshot_io::escape;
use snapshot_test::format::{Doubt, Location, Object};
use snapshot_test::input::Input;
use snapshot_test::{InputError, Value, read_history};

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

/// Reads the recording at a path; of several objects, the one with a key.
///
/// # Errors
/// The exit code, after the report of the defect.
pub fn read(path: &Path, format: InputFormat, key: Option<&Value>) -> Result<Recorded, ExitCode> {
    let input = Input::from_argument(path);
    let name = escape::name(&input.name()).into_owned();
    let mut reader = input.open(format.format()).map_err(|error| trouble(error.report(&name)))?;
    if let Some(key) = key
        && let Err(error) = reader.select(key)
    {
        return Err(trouble(InputError::from(error).report(&name)));
    }
    if reader.object() != Object::Snapshot {
        return Err(trouble(format_args!(
            "{name}: a recording of immediate snapshots; only snapshots have simple histories"
        )));
    }
    let noticed = reader.noticed();
    let (history, locations) =
        read_history(reader).map_err(|error| trouble(error.report(&name)))?;
    if let Some(backwards) = noticed.backwards() {
        times::warn(&name, &backwards, Doubt::Either);
    }
    Ok(Recorded { name, history, locations })
}
