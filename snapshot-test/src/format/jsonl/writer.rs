//! Writing the JSON Lines format.

use std::io::Write;

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::immediate;

use crate::Value;
use crate::format::Object;
use crate::format::writer::{WriteError, expressible_initial};

#[derive(Debug)]
pub struct JsonlWriter<W> {
    output: W,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes the header. Writes in small pieces: `output` should be buffered.
    ///
    /// # Errors
    /// If `output` fails, or if the initial value of segments that are not
    /// listed is not 0 and their number is not declared.
    pub fn new(output: W, declaration: &Declaration<Value>) -> Result<Self, WriteError> {
        Self::of(Object::Snapshot, output, declaration, "")
    }

    /// As [`Self::new`], for a recording of this object, with a comment in the header, unless
    /// it is empty.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of(
        object: Object,
        mut output: W,
        declaration: &Declaration<Value>,
        comment: &str,
    ) -> Result<Self, WriteError> {
        let initial = expressible_initial(declaration)?;
        write!(output, "{{\"snapshot-history\":1")?;
        if !comment.is_empty() {
            write!(output, ",\"comment\":{}", Value::from(comment))?;
        }
        if object != Object::Snapshot {
            write!(output, ",\"object\":\"{}\"", object.name())?;
        }
        if let Some(segments) = declaration.segments {
            write!(output, ",\"segments\":{segments}")?;
        }
        if let Some(processes) = declaration.processes {
            write!(output, ",\"processes\":{processes}")?;
        }
        if !initial.is_empty() {
            write!(output, ",\"initial\":")?;
            write_array(&mut output, &initial)?;
        }
        if declaration.writers == Writers::Many {
            write!(output, ",\"writers\":\"many\"")?;
        }
        writeln!(output, "}}")?;
        Ok(Self { output })
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
        let output = &mut self.output;
        write!(output, "\"process\":{},\"event\":", event.process)?;
        match event.action {
            Action::InvokeUpdate { segment, value } => write!(
                output,
                "\"invoke\",\"operation\":\"update\",\"segment\":{segment},\"value\":{value}"
            )?,
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
                    write!(output, "{separator}\"{segment}\":{value}")?;
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
        let output = &mut self.output;
        write!(output, "{{")?;
        if let Some(key) = key {
            write!(output, "\"key\":{key},")?;
        }
        write!(output, "\"process\":{},\"event\":", event.process)?;
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

fn write_array(output: &mut impl Write, values: &[Value]) -> Result<(), WriteError> {
    let mut separator = '[';
    for value in values {
        write!(output, "{separator}{value}")?;
        separator = ',';
    }
    write!(output, "{}]", if values.is_empty() { "[" } else { "" })?;
    Ok(())
}
