//! Strong linearizability and progress, as text and as JSON.

mod progress;
mod strong;
mod told;

pub use progress::{human_progress, json_progress};
pub(crate) use progress::{looped, refuted};
pub use strong::{human_strong, json_strong, strong_code, strong_words};
pub(crate) use strong::{strong_heading, strong_notes};
pub(crate) use told::{Order, Told, order_text};

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::bound_on_operations;
use crate::interpret::Move;
use crate::language::Source;
use crate::program::Program;
use crate::verify::properties::Scope;

/// Subject of a report on a property.
#[derive(Clone, Copy, Debug)]
pub struct PropertyCase<'a> {
    pub input: &'a str,
    pub title: &'a str,
    pub bug: Option<&'a str>,
    pub program: &'a Program,
    pub source: &'a Source,
    pub scope: &'a Scope,
    /// File that the first execution was written to.
    pub trace: Option<&'a Path>,
}

impl PropertyCase<'_> {
    /// Returns text such as `bowman, n = 2, at most 2 operations by each process`.
    pub(crate) fn heading(&self) -> String {
        let operations = bound_on_operations(self.scope.operations, &self.scope.each);
        format!("{}, n = {}, {operations}", self.title, self.scope.processes)
    }

    fn json(&self, question: &str, elapsed: Duration) -> Value {
        json!({
            "schema": crate::report::json::SCHEMA,
            "question": question,
            "input": self.input,
            "algorithm": self.title,
            "bug": self.bug,
            "object": self.program.object().map(|object| object.name.as_str()),
            "processes": self.scope.processes,
            "operations": self.scope.operations,
            "operations_of_each": self.scope.each,
            "trace": self.trace.map(|path| path.display().to_string()),
            "seconds": elapsed.as_secs_f64(),
        })
    }

    fn traced(&self) -> String {
        let written = |path: &Path| {
            format!("  written to {}: snapshot-verify replay shows it\n", path.display())
        };
        self.trace.map(written).unwrap_or_default()
    }
}

fn add(line: &mut Value, key: &str, value: impl Serialize) {
    line[key] = json!(value);
}

fn moves_json(moves: &[Move], names: &[String]) -> Vec<String> {
    moves.iter().map(|made| made.named(names).to_string()).collect()
}
