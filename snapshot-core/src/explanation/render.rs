//! A proof for human readers: its operations, a picture of them, and the argument; on request the
//! renaming to a simple history, and the run of the automaton that accepts it.
//!
//! Every report of a violation is made here, so that a failing test, a program's report and a
//! library's message agree.

use std::fmt::{self, Display, Write};

use super::picture::picture;
use super::proof_operation::{Deed, Ending, Explanation, ProofOperation};
use super::run::accepting_run;
use crate::{Names, Segment};

/// Lines of the argument have at most this many characters, after their indentation.
const ARGUMENT: usize = 76;

/// Lines of the picture have at most this many characters.
const PICTURE: usize = 100;

impl<V: Clone + Display + Eq> Explanation<V> {
    /// Renders the proof, several lines, each ended and indented by two spaces. `place` renders the
    /// position of an event, for example in a file: `12:1`.
    pub fn render(&self, place: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        self.write(&mut text, &place).expect("writing to a string cannot fail");
        text
    }

    /// Renders the condition that fails, the renaming (i, j, r_i, r_j) that makes the history a
    /// simple one, and the run with which one of the three automata accepts the renamed operations,
    /// for readers of the paper. Empty if no renaming exists. Lines as in [`Self::render`].
    pub fn tell_run(&self) -> String {
        let mut text = String::new();
        self.write_run(&mut text).expect("writing to a string cannot fail");
        text
    }

    /// Draws the operations as intervals on the line of time, a line per process; `None` if they do
    /// not fit into `width` characters.
    pub fn picture(&self, width: usize) -> Option<String> {
        let history = self.history();
        let labels = self.labels();
        let operations = self.operations.iter().zip(&labels);
        let label = |(operation, label): (&ProofOperation<V>, &String)| {
            let failed =
                if matches!(operation.ending, Ending::Failure(_)) { " failed" } else { "" };
            format!("{label}: {}{failed}", operation.deed.label(&self.names))
        };
        let full: Vec<String> = operations.map(label).collect();
        picture(&history, &self.names, &full, width)
            .or_else(|| picture(&history, &self.names, &labels, width))
    }

    /// Returns a short name for each operation: S1, S2, ... for scans, U1, U2, ... for updates.
    fn labels(&self) -> Vec<String> {
        let (mut scans, mut updates) = (0, 0);
        let label = |operation: &ProofOperation<V>| match operation.deed {
            Deed::Scan { .. } => {
                scans += 1;
                format!("S{scans}")
            }
            Deed::Update { .. } => {
                updates += 1;
                format!("U{updates}")
            }
        };
        self.operations.iter().map(label).collect()
    }

    fn write(&self, out: &mut String, place: &impl Fn(usize) -> String) -> fmt::Result {
        let labels = self.labels();
        for (operation, label) in self.operations.iter().zip(&labels) {
            writeln!(out, "  {label} = {}", described(operation, &self.names, place))?;
        }
        if let Some(picture) = self.picture(PICTURE) {
            writeln!(out, "\n{}", picture.trim_end())?;
        }
        let name = |operation: &ProofOperation<V>| {
            let at = self.operations.iter().position(|other| other.id == operation.id);
            at.map_or_else(String::new, |at| labels[at].clone())
        };
        writeln!(out)?;
        for paragraph in self.argument(name).lines() {
            for line in wrap(paragraph, ARGUMENT) {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    fn write_run(&self, out: &mut String) -> fmt::Result {
        if let Some(renaming) = self.witness.renaming {
            writeln!(out)?;
            writeln!(out, "  rule: {}; renaming {renaming}", self.witness.reason.name())?;
        }
        let Some(run) = accepting_run(self) else { return Ok(()) };
        writeln!(out, "  automaton {} accepts the renamed operations:", run.automaton)?;
        if let Some(processes) = &run.processes {
            let names: Vec<String> = processes
                .iter()
                .enumerate()
                .map(|(p, process)| format!("p{p} = {}", self.names.process(*process)))
                .collect();
            writeln!(out, "    {}", names.join(", "))?;
        }
        writeln!(out, "    {:28} {}", "", run.from)?;
        for (letter, state) in &run.steps {
            writeln!(out, "    {:28} {state}", letter.to_string())?;
        }
        Ok(())
    }
}

/// Renders `scan by process 1, returned 0 for segment 0, 5 for segment 1 [3:1 to 9:1]`.
fn described<V: Display>(
    operation: &ProofOperation<V>,
    names: &Names,
    place: &impl Fn(usize) -> String,
) -> String {
    let process = names.process(operation.process);
    let mut text = match &operation.deed {
        Deed::Update { segment, value } => {
            format!("update({value}) of {} by {process}", names.segment(*segment))
        }
        Deed::Scan { entries } => {
            let entry = |(k, value): &(Segment, V)| format!("{value} for {}", names.segment(*k));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("scan by {process}, returned {}", entries.join(", "))
        }
    };
    let begin = place(operation.invocation);
    let end = match operation.ending {
        Ending::Response(event) => format!("to {}", place(event)),
        Ending::Failure(event) => format!("failed at {}", place(event)),
        Ending::Unknown(event) => format!("outcome lost at {}", place(event)),
        Ending::None => "still open".to_owned(),
    };
    text += &format!(" [{begin} {end}]");
    text
}

/// Breaks a text between words, into lines of at most `width` characters where words allow it. All
/// lines have the indentation of the first.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let unindented = text.trim_start_matches(' ');
    let indent = &text[..text.len() - unindented.len()];
    for word in unindented.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}
