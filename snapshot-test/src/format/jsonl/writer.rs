//! Writing the JSON Lines format.

use std::io::Write;

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{Names, immediate};

use crate::Value;
use crate::format::Object;
use crate::format::writer::{Heading, WriteError, expressible_initial};

#[derive(Debug)]
pub struct JsonlWriter<W> {
    output: W,
    /// The names of processes and of segments, in quotes; empty if they have none.
    processes: Vec<String>,
    segments: Vec<String>,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes the header. Writes in small pieces: `output` should be buffered.
    ///
    /// # Errors
    /// If `output` fails, or if the initial value of segments that are not
    /// listed is not 0 and their number is not declared.
    pub fn new(output: W, declaration: &Declaration<Value>) -> Result<Self, WriteError> {
        let (object, names) = (Object::Snapshot, &Names::default());
        Self::begin(output, &Heading { object, declaration, names, comments: &[] })
    }

    /// As [`Self::new`], with everything of a heading.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn begin(mut output: W, heading: &Heading<'_>) -> Result<Self, WriteError> {
        let Heading { object, declaration, names, comments } = *heading;
        let quoted = |names: &[Box<str>]| {
            names.iter().map(|name| Value::from(&**name).to_string()).collect::<Vec<_>>()
        };
        let (processes, segments) = (quoted(names.processes()), quoted(names.segments()));
        let initial = expressible_initial(declaration)?;
        write!(output, "{{\"snapshot-history\":1")?;
        if !comments.is_empty() {
            write!(output, ",\"comment\":{}", Value::from(comments.join("; ").as_str()))?;
        }
        if object != Object::Snapshot {
            write!(output, ",\"object\":\"{}\"", object.name())?;
        }
        for (field, size, names) in [
            ("segments", declaration.segments, &segments),
            ("processes", declaration.processes, &processes),
        ] {
            if !names.is_empty() {
                write!(output, ",\"{field}\":[{}]", names.join(","))?;
            } else if let Some(size) = size {
                write!(output, ",\"{field}\":{size}")?;
            }
        }
        if !initial.is_empty() {
            write!(output, ",\"initial\":")?;
            write_array(&mut output, &initial)?;
        }
        if declaration.writers == Writers::Many {
            write!(output, ",\"writers\":\"many\"")?;
        }
        writeln!(output, "}}")?;
        Ok(Self { output, processes, segments })
    }

    /// Writes one event of an object of several, by its key.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_of(&mut self, key: &Value, event: &Event<'_, Value>) -> Result<(), WriteError> {
        write!(self.output, "{{\"key\":{key},")?;
        self.write_rest(event)
    }

    pub fn write(&mut self, event: &Event<'_, Value>) -> Result<(), WriteError> {
        write!(self.output, "{{")?;
        self.write_rest(event)
    }

    fn write_rest(&mut self, event: &Event<'_, Value>) -> Result<(), WriteError> {
        let Self { output, processes, segments } = self;
        write!(output, "\"process\":")?;
        write_id(output, processes, event.process.index())?;
        write!(output, ",\"event\":")?;
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                write!(output, "\"invoke\",\"operation\":\"update\",\"segment\":")?;
                write_id(output, segments, segment.index())?;
                write!(output, ",\"value\":{value}")?;
            }
            Action::InvokeScan => write!(output, "\"invoke\",\"operation\":\"scan\"")?,
            Action::RespondUpdate => write!(output, "\"ok\"")?,
            Action::RespondScan { values } => {
                write!(output, "\"ok\",\"values\":")?;
                write_array(output, values)?;
            }
            Action::RespondPartialScan { entries, .. } => {
                write!(output, "\"ok\",\"values\":{{")?;
                for (at, (segment, value)) in entries.iter().enumerate() {
                    let separator = if at == 0 { "" } else { "," };
                    match segments.get(segment.index()) {
                        Some(name) => write!(output, "{separator}{name}:{value}")?,
                        None => write!(output, "{separator}\"{segment}\":{value}")?,
                    }
                }
                write!(output, "}}")?;
            }
            Action::Fail => write!(output, "\"fail\"")?,
            Action::Unknown => write!(output, "\"unknown\"")?,
        }
        writeln!(output, "}}")?;
        Ok(())
    }

    /// Writes one event of an immediate snapshot; of several, with its key.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_exchange(
        &mut self,
        key: Option<&Value>,
        event: &immediate::Event<'_, Value>,
    ) -> Result<(), WriteError> {
        let Self { output, processes, .. } = self;
        write!(output, "{{")?;
        if let Some(key) = key {
            write!(output, "\"key\":{key},")?;
        }
        write!(output, "\"process\":")?;
        write_id(output, processes, event.process)?;
        write!(output, ",\"event\":")?;
        match event.action {
            immediate::Action::Invoke { value } => {
                write!(output, "\"invoke\",\"operation\":\"exchange\",\"value\":{value}")?;
            }
            immediate::Action::Respond { values } => {
                write!(output, "\"ok\",\"values\":")?;
                write_array(output, values)?;
            }
            immediate::Action::Fail => write!(output, "\"fail\"")?,
            immediate::Action::Unknown => write!(output, "\"unknown\"")?,
        }
        writeln!(output, "}}")?;
        Ok(())
    }

    /// Ends the recording and returns the output, flushed.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Writes a name, or the number if there are no names.
fn write_id(output: &mut impl Write, names: &[String], number: usize) -> Result<(), WriteError> {
    match names.get(number) {
        Some(name) => write!(output, "{name}")?,
        None => write!(output, "{number}")?,
    }
    Ok(())
}

fn write_array(output: &mut impl Write, values: &[Value]) -> Result<(), WriteError> {
    let mut separator = '[';
    for value in values {
        write!(output, "{separator}{value}")?;
        separator = ',';
    }
    write!(output, "{}]", if values.is_empty() { "[" } else { "" })?;
    Ok(())
}
