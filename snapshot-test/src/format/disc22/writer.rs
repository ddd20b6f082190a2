//! Writing the disc22 format, as far as it can express a recording.

use std::io::Write;

use snapshot_core::history::{Action, Declaration, Event};

use crate::Value;
use crate::format::writer::{Inexpressible, WriteError};

/// The activity of a process.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    Scanning,
    Updating(i64),
    /// The outcome of its operation was lost: in this format the operation is pending, so the
    /// process can do nothing more.
    Lost,
}

/// Writes events as disc22 events, and refuses recordings that disc22 cannot express.
#[derive(Debug)]
pub struct Disc22Writer<W> {
    output: W,
    /// One entry per process that has occurred, or is below one that has.
    processes: Vec<Activity>,
    declared_processes: Option<usize>,
    declared_segments: Option<usize>,
    /// Number of values of the longest scan.
    longest_scan: usize,
}

impl<W: Write> Disc22Writer<W> {
    /// Creates a writer before the first event. Writes in small pieces: `output` should be
    /// buffered.
    ///
    /// # Errors
    /// If an initial value is not 0.
    pub fn new(output: W, declaration: &Declaration<Value>) -> Result<Self, WriteError> {
        let covered = declaration.segments == Some(declaration.initial.len());
        let rest = (!covered).then_some(&declaration.default_initial);
        if let Some(value) =
            declaration.initial.iter().chain(rest).find(|value| **value != Value::ZERO)
        {
            return Err(Inexpressible::InitialValue { value: value.clone() }.into());
        }
        Ok(Self {
            output,
            processes: Vec::new(),
            declared_processes: declaration.processes,
            declared_segments: declaration.segments,
            longest_scan: 0,
        })
    }

    /// Writes one event.
    ///
    /// # Errors
    /// If the output fails, or if disc22 cannot express the event.
    pub fn write(&mut self, event: &Event<'_, Value>) -> Result<(), WriteError> {
        let process = event.process;
        let index = process.index();
        if index >= self.processes.len() {
            self.processes.resize(index + 1, Activity::Idle);
        }
        let activity = self.processes[index];
        if let Activity::Lost = activity {
            return Err(Inexpressible::EventAfterUnknown { process }.into());
        }
        let output = &mut self.output;
        self.processes[index] = match event.action {
            Action::InvokeUpdate { segment, value } => {
                if segment.index() != index {
                    return Err(Inexpressible::OtherSegment { process, segment }.into());
                }
                let value = integer(value)?;
                write!(output, "startUpdate!{process},{value};")?;
                Activity::Updating(value)
            }
            Action::InvokeScan => {
                write!(output, "startScan!{process};")?;
                Activity::Scanning
            }
            Action::RespondUpdate => {
                let Activity::Updating(value) = activity else {
                    return Err(Inexpressible::NothingOpen { process }.into());
                };
                write!(output, "endUpdate!{process},{value};")?;
                Activity::Idle
            }
            Action::RespondScan { values } => {
                for value in values {
                    integer(value)?;
                }
                self.longest_scan = self.longest_scan.max(values.len());
                write!(output, "endScan!{process}")?;
                for value in values {
                    write!(output, ",{value}")?;
                }
                write!(output, ";")?;
                Activity::Idle
            }
            Action::RespondPartialScan { .. } => {
                return Err(Inexpressible::PartialScan { process }.into());
            }
            Action::Fail => return Err(Inexpressible::Failure { process }.into()),
            Action::Unknown => Activity::Lost,
        };
        Ok(())
    }

    /// Ends the recording and returns the output, flushed.
    ///
    /// # Errors
    /// If the output fails, if there was no event, or if the numbers of segments and of processes
    /// are known and differ from those that a reader will infer from the largest process that
    /// occurred and the longest scan.
    pub fn finish(mut self) -> Result<W, WriteError> {
        let inferred = self.processes.len().max(self.longest_scan);
        if inferred == 0 {
            return Err(Inexpressible::Empty.into());
        }
        // Scans determine the number of segments, unless it is declared.
        let scanned = (self.longest_scan > 0).then_some(self.longest_scan);
        let segments = self.declared_segments.or(scanned).unwrap_or(inferred);
        let processes = self.declared_processes.unwrap_or(inferred);
        if segments != inferred || processes != inferred {
            return Err(Inexpressible::Sizes { segments, processes, inferred }.into());
        }
        self.output.flush()?;
        Ok(self.output)
    }
}

fn integer(value: &Value) -> Result<i64, WriteError> {
    match value {
        Value::Integer(value) => Ok(*value),
        Value::Text(_) => Err(Inexpressible::Text { value: value.clone() }.into()),
    }
}
