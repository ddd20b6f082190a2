//! Diagnostics of an invalid text, as JSON.

use serde::Serialize;

use super::TextPosition;
use super::json::{SCHEMA, serialized};
use crate::language::{Diagnostic, Diagnostics, Source, Span};

/// Returns the errors of an algorithm that was named `input`, as one line without its end
/// (`docs/verification.md`).
pub fn json_malformed(input: &str, diagnostics: &Diagnostics) -> String {
    let source = diagnostics.source();
    let diagnostics = diagnostics.iter().map(|found| Entry::new(source, found)).collect();
    serialized(&Line { schema: SCHEMA, input, verdict: "malformed", diagnostics })
}

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    input: &'a str,
    verdict: &'static str,
    diagnostics: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    severity: &'static str,
    line: usize,
    column: usize,
    /// Behind the last character.
    end: [usize; 2],
    message: String,
    /// Proposed correction.
    help: Option<String>,
    /// Other relevant places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<TextPosition>,
}

impl Entry {
    fn new(source: &Source, found: &Diagnostic) -> Self {
        let (line, column) = source.position(found.span);
        let end = source.position(Span { begin: found.span.end, end: found.span.end });
        Self {
            severity: if found.is_warning() { "warning" } else { "error" },
            line,
            column,
            end: end.into(),
            message: found.to_string(),
            help: found.help().map(str::to_owned),
            related: found
                .context()
                .iter()
                .map(|&(span, said)| TextPosition::new(source, span, said))
                .collect(),
        }
    }
}
