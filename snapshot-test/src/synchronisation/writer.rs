//! Writing recordings of objects: text and JSON Lines.

use std::io::Write;

use serde_json::json;
use snapshot_core::Names;

use super::object::Object;
use super::reader::Deed;
use super::token::Token;
use crate::Value;
use crate::format::{Format, Inexpressible, WriteError, text};

/// Writes events, each as one line.
pub(crate) struct LineWriter<W> {
    output: W,
    format: Format,
    names: Names,
}

impl<W: Write> LineWriter<W> {
    /// Writes the header. Writes in small pieces: `output` should be buffered.
    ///
    /// # Errors
    /// If `output` fails, or for a format without operations of other objects.
    pub fn begin(
        mut output: W,
        format: Format,
        object: &Object,
        names: Names,
        comments: &[String],
    ) -> Result<Self, WriteError> {
        let object = object.header();
        match format {
            Format::Text => {
                for comment in comments {
                    writeln!(output, "# {comment}")?;
                }
                writeln!(output, "object {object}")?;
                text::write_names(&mut output, &names)?;
            }
            Format::Jsonl => {
                write!(output, "{{\"snapshot-history\":1")?;
                if !comments.is_empty() {
                    write!(output, ",\"comment\":{}", json!(comments.join("; ")))?;
                }
                write!(output, ",\"object\":{}", json!(object))?;
                if !names.processes().is_empty() {
                    write!(output, ",\"processes\":{}", json!(names.processes()))?;
                }
                writeln!(output, "}}")?;
            }
            Format::Disc22 => return Err(Inexpressible::NamedObject { object }.into()),
            Format::Edn | Format::Intervals => return Err(Inexpressible::Foreign { format }.into()),
        }
        Ok(Self { output, format, names })
    }

    /// Writes text without a header.
    pub fn body(output: W) -> Self {
        Self { output, format: Format::Text, names: Names::default() }
    }

    /// Writes an event of the object, or of the one with a key.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write(
        &mut self,
        key: Option<&Value>,
        process: usize,
        deed: &Deed,
    ) -> Result<(), WriteError> {
        match self.format {
            Format::Jsonl => self.json(key, process, deed),
            _ => self.text(key, process, deed),
        }
    }

    fn text(&mut self, key: Option<&Value>, process: usize, deed: &Deed) -> Result<(), WriteError> {
        let output = &mut self.output;
        if let Some(key) = key {
            write!(output, "@{key} ")?;
        }
        let (event, tokens) = deed.parts();
        let word = if let Deed::Invoke { operation, .. } = deed { operation } else { event };
        write!(output, "p{process} {word}")?;
        for token in tokens {
            write!(output, " {token}")?;
        }
        Ok(writeln!(output)?)
    }

    fn json(&mut self, key: Option<&Value>, process: usize, deed: &Deed) -> Result<(), WriteError> {
        let output = &mut self.output;
        write!(output, "{{")?;
        if let Some(key) = key {
            write!(output, "\"key\":{key},")?;
        }
        match self.names.processes().get(process) {
            Some(name) => write!(output, "\"process\":{}", Value::from(&**name))?,
            None => write!(output, "\"process\":{process}")?,
        }
        let (event, tokens) = deed.parts();
        write!(output, ",\"event\":\"{event}\"")?;
        if let Deed::Invoke { operation, .. } = deed {
            write!(output, ",\"operation\":{}", Value::from(operation.as_str()))?;
        }
        let (closed, values): (Vec<&Token>, Vec<&Token>) =
            tokens.iter().partition(|token| **token == Token::Closed);
        match values.as_slice() {
            [] => {}
            [one] => write!(output, ",\"value\":{}", json!(one))?,
            all => write!(output, ",\"values\":{}", json!(all))?,
        }
        if !closed.is_empty() {
            write!(output, ",\"closed\":true")?;
        }
        Ok(writeln!(output, "}}")?)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.output.flush()?;
        Ok(self.output)
    }
}
