//! Traces as arguments, with the algorithms that they are of.

use std::path::Path;

use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_verify::interpret::Trace;

use super::input::{Input, Variant};
use super::{ExitCode, trouble};

/// Maximum length in bytes of a trace.
const LARGEST: usize = 64 << 20;

/// A trace, with its algorithm.
#[derive(Debug)]
pub struct Recorded {
    /// Path of the trace, for messages.
    pub path: String,
    pub text: String,
    pub trace: Trace,
    pub input: Input,
    pub variant: Variant,
}

impl Recorded {
    /// Reads a trace and the algorithm that it names.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn read(place: &Path) -> Result<Self, ExitCode> {
        let path = place.display().to_string();
        let text = read_text(place, LARGEST, LINE_LIMIT)
            .map_err(|error| trouble(format_args!("cannot read {path}: {error}")))?;
        let trace: Trace =
            text.parse().map_err(|error| trouble(format_args!("{path}: {error}")))?;
        let input = Input::read(&trace.algorithm)?.sized(trace.size)?;
        let variant = input.variant_or(trace.bug.as_deref(), trace.points, trouble)?;
        if trace.operations != variant.program.operation_names() {
            return Err(trouble(format_args!(
                "{path}: the operations of {} are not those of the trace: check the algorithm \
                 again, for a trace of what it does now",
                input.name
            )));
        }
        Ok(Self { path, text, trace, input, variant })
    }
}
