//! Judging logs of other tools as recordings of a snapshot.

use std::io::Read;

use snapshot_core::History;

use super::{Counts, Finding, Judgement, Options, judge_recording};
use crate::Value;
use crate::error::InputError;
use crate::format::{Format, Location};
use crate::import::{EdnOptions, Imported, IntervalOptions, Warning, edn, intervals};
use crate::input::{Gauge, Input, OpenError, Opened};

/// Judges a log, which is held in memory; places are those of the log.
pub(super) fn judge(format: Format, input: impl Read, options: &Options) -> Judgement {
    match imported(format, input) {
        Err(error) => {
            Judgement::new(Some(format), Counts::default(), Finding::Malformed(error.into()))
        }
        Ok(imported) => judge_imported(format, imported, options).0,
    }
}

/// Judges a log that was imported, and returns its history with the places of its events.
pub fn judge_imported(
    format: Format,
    imported: Imported,
    options: &Options,
) -> (Judgement, History<Value>, Vec<Location>) {
    let Imported { history, places, warnings, names } = imported;
    let judgement = judge_recording(Some(format), &history, &places, None, options);
    let mut backwards = None;
    let mut others = Vec::new();
    for warning in warnings {
        match warning {
            Warning::Backwards(found) => backwards = Some(found),
            other => others.push(other),
        }
    }
    let judgement = Judgement { backwards, warnings: others, ..judgement.named(names) };
    (judgement, history, places)
}

/// Imports an input that is a log of another tool, and can be read again; `None` for any other.
///
/// # Errors
/// If it cannot be opened, or contradicts every history.
pub fn imported_log(
    input: &Input,
    format: Option<Format>,
) -> Result<Option<(Format, Imported)>, OpenError> {
    if input.is_stream() {
        return Ok(None);
    }
    match input.open_any(format, &Gauge::default())?.0 {
        Opened::Log(format, log) => Ok(Some((format, imported(format, log)?))),
        Opened::Recording(_) => Ok(None),
    }
}

fn imported(format: Format, mut input: impl Read) -> Result<Imported, InputError> {
    let mut log = Vec::new();
    input.read_to_end(&mut log).map_err(InputError::io)?;
    match format {
        Format::Edn => edn(&log, &EdnOptions::default()),
        _ => intervals(&log, &IntervalOptions::default()),
    }
}
