//! From an input to a history.
//!
//! A reader checks the syntax of events, [`snapshot_core`] whether a history can have them. Both
//! kinds of error end in an [`InputError`].

use std::io::Read;

use snapshot_core::{History, immediate};

use crate::Value;
use crate::error::InputError;
use crate::format::{Location, Reader};
use crate::kind::{Atomic, Immediate, Next, SnapshotKind};
use crate::origins::Origins;

/// A recording read into memory.
#[derive(Debug)]
pub struct Recording<H = History<Value>> {
    /// The history, up to the first defect or limit.
    pub history: H,
    pub locations: Vec<Location>,
    /// The reason why it ends before the input does, if so.
    pub defect: Option<InputError>,
    /// True if it ends because memory ran out.
    pub is_cut: bool,
}

/// Bounds of a recording in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub events: usize,
    pub bytes: usize,
}

impl Most {
    pub const ALL: Self = Self { events: usize::MAX, bytes: usize::MAX };
}

/// Reads a whole history into memory, with the position of each event.
///
/// # Errors
/// If the input cannot be read or is no history; the first defect is reported.
pub fn read_history<R: Read>(
    reader: Reader<R>,
) -> Result<(History<Value>, Vec<Location>), InputError> {
    read_whole::<Atomic, R>(reader)
}

/// As [`read_history`], of an immediate snapshot.
///
/// # Errors
/// If the input cannot be read or is no such execution; the first defect is reported.
pub fn read_exchanges<R: Read>(
    reader: Reader<R>,
) -> Result<(immediate::History<Value>, Vec<Location>), InputError> {
    read_whole::<Immediate, R>(reader)
}

fn read_whole<K: SnapshotKind, R: Read>(
    reader: Reader<R>,
) -> Result<(K::History, Vec<Location>), InputError> {
    let recording = read_recording::<K, R>(reader, Most::ALL)?;
    match recording.defect {
        None => Ok((recording.history, recording.locations)),
        Some(defect) => Err(defect),
    }
}

/// Reads a history into memory, within bounds; the part before a defect is returned with it: it is
/// a history, too.
///
/// # Errors
/// If the declaration contradicts itself.
pub(crate) fn read_recording<K: SnapshotKind, R: Read>(
    mut reader: Reader<R>,
    most: Most,
) -> Result<Recording<K::History>, InputError> {
    let mut origins = Origins::default();
    let mut locations = Vec::new();
    let mut builder = K::builder(reader.declaration().clone())
        .map_err(|error| K::refused(&origins, Location::START, error, None))?;
    let (mut defect, mut bytes, mut is_cut) = (None, 0, false);
    while locations.len() < most.events {
        let Next { location, event, .. } = match K::next(&mut reader) {
            None => break,
            Some(Ok(next)) => next,
            Some(Err(error)) => {
                defect = Some(error.into());
                break;
            }
        };
        bytes += K::size(&event);
        if bytes > most.bytes {
            is_cut = true;
            break;
        }
        let pushed = K::push(&mut builder, &event);
        if pushed.is_ok() {
            K::note(&mut origins, location, &event);
        }
        drop(event);
        if let Err(error) = pushed {
            let error = K::refused(&origins, location, error, reader.excerpt());
            defect = Some(error.named(&reader.names().get()));
            break;
        }
        locations.push(location);
    }
    Ok(Recording { history: K::finish(builder), locations, defect, is_cut })
}
