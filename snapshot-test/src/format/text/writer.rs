//! Writing the text format.

use std::io::{self, Write};

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{Names, immediate};

use crate::Value;
use crate::format::Object;
use crate::format::writer::{Heading, WriteError, expressible_initial};

#[derive(Debug)]
pub struct TextWriter<W> {
    output: W,
    /// True if nothing has been written yet.
    empty: bool,
}

impl<W: Write> TextWriter<W> {
    /// Writes the header, as far as something is declared. Writes in small
    /// pieces: `output` should be buffered.
    ///
    /// # Errors
    /// If `output` fails, or if the initial value of segments that are not
    /// listed is not 0 and their number is not declared.
    pub fn new(output: W, declaration: &Declaration<Value>) -> Result<Self, WriteError> {
        let (object, names) = (Object::Snapshot, &Names::default());
        Self::begin(output, &Heading { object, declaration, names, comments: &[] })
    }

    /// As [`Self::new`], with the object and the names of a heading.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn begin(mut output: W, heading: &Heading<'_>) -> Result<Self, WriteError> {
        let Heading { object, declaration, names, .. } = *heading;
        let mut empty = true;
        if object != Object::Snapshot {
            writeln!(output, "object {}", object.name())?;
            empty = false;
        }
        for (keyword, size) in
            [("segments", declaration.segments), ("processes", declaration.processes)]
        {
            if let Some(size) = size {
                writeln!(output, "{keyword} {size}")?;
                empty = false;
            }
        }
        let initial = expressible_initial(declaration)?;
        if !initial.is_empty() {
            write!(output, "initial")?;
            for value in initial.iter() {
                write!(output, " {value}")?;
            }
            writeln!(output)?;
            empty = false;
        }
        if declaration.writers == Writers::Many {
            writeln!(output, "writers many")?;
            empty = false;
        }
        write_names(&mut output, names)?;
        Ok(Self { output, empty: empty && names.is_empty() })
    }

    /// Writes one event of an object of several, by its key.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_of(&mut self, key: &Value, event: &Event<'_, Value>) -> Result<(), WriteError> {
        write!(self.output, "@{key} ")?;
        self.write(event)
    }

    pub fn write(&mut self, event: &Event<'_, Value>) -> Result<(), WriteError> {
        self.empty = false;
        let process = event.process;
        let output = &mut self.output;
        match event.action {
            Action::InvokeUpdate { segment, value } if segment.index() == process.index() => {
                writeln!(output, "p{process} update {value}")?;
            }
            Action::InvokeUpdate { segment, value } => {
                writeln!(output, "p{process} update s{segment} {value}")?;
            }
            Action::InvokeScan => writeln!(output, "p{process} scan")?,
            Action::RespondUpdate => writeln!(output, "p{process} ok")?,
            Action::RespondScan { values } => write_values(output, process.index(), values)?,
            Action::RespondPartialScan { entries: [], .. } => writeln!(output, "p{process} ok _")?,
            Action::RespondPartialScan { entries, .. } => {
                write!(output, "p{process} ok")?;
                for (segment, value) in entries {
                    write!(output, " s{segment} {value}")?;
                }
                writeln!(output)?;
            }
            Action::Fail => writeln!(output, "p{process} fail")?,
            Action::Unknown => writeln!(output, "p{process} unknown")?,
        }
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
        self.empty = false;
        let (process, output) = (event.process, &mut self.output);
        if let Some(key) = key {
            write!(output, "@{key} ")?;
        }
        match event.action {
            immediate::Action::Invoke { value } => writeln!(output, "p{process} exchange {value}")?,
            immediate::Action::Respond { values } => write_values(output, process, values)?,
            immediate::Action::Fail => writeln!(output, "p{process} fail")?,
            immediate::Action::Unknown => writeln!(output, "p{process} unknown")?,
        }
        Ok(())
    }

    /// Ends the recording and returns the output, flushed.
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.empty {
            writeln!(self.output, "# An empty history.")?;
        }
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Writes a header line for each name.
pub(crate) fn write_names(output: &mut impl Write, names: &Names) -> io::Result<()> {
    for (number, name) in names.processes().iter().enumerate() {
        writeln!(output, "process p{number} {}", Value::from(&**name))?;
    }
    for (number, name) in names.segments().iter().enumerate() {
        writeln!(output, "segment s{number} {}", Value::from(&**name))?;
    }
    Ok(())
}

fn write_values(output: &mut impl Write, process: usize, values: &[Value]) -> io::Result<()> {
    write!(output, "p{process} ok")?;
    for value in values {
        write!(output, " {value}")?;
    }
    writeln!(output)
}
