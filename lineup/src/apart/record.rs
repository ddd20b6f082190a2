//! The record: a file of notes, one a line, that a worker writes and its supervisor reads after its
//! end.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Told;

/// Length after which the notes of finished tests are removed.
const LONG: u64 = 1 << 20;

/// File and line.
pub(super) type Line = (String, u32);

/// A note.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Note {
    /// The program came to the check.
    Reached,
    /// A test begins.
    Begins(u64, String),
    Ends(u64),
    /// An execution begins: its number.
    Execution(u64),
    /// A thread makes a step.
    Runs {
        thread: usize,
        /// Line of the step.
        at: Option<Line>,
        /// Line before which the thread stops that ran last, inside an operation.
        stopped: Option<Line>,
    },
    Calls(usize),
    /// A thread returns with an answer.
    Returns(usize, String),
    /// A panic, as text.
    Panics(String),
    Answers(Told),
}

/// A record that is written.
#[derive(Debug)]
pub(super) struct Record {
    file: File,
    length: u64,
    running: Vec<(u64, String)>,
    begun: u64,
    executions: u64,
}

impl Record {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().write(true).open(path)?;
        Ok(Self { file, length: 0, running: Vec::new(), begun: 0, executions: 0 })
    }

    pub(super) fn add(&mut self, note: &Note) {
        let line = serde_json::to_string(note).unwrap_or_default() + "\n";
        // If the file cannot be written, the supervisor finds no answer, and says so.
        if self.file.write_all(line.as_bytes()).is_ok() {
            self.length += line.len() as u64;
        }
    }

    fn clear(&mut self) {
        drop(self.file.set_len(0).and_then(|()| self.file.rewind()));
        self.length = 0;
    }

    pub(super) fn begin(&mut self, test: String) -> u64 {
        let id = self.begun;
        self.begun += 1;
        if self.length > LONG {
            self.clear();
            self.add(&Note::Reached);
            for (id, test) in self.running.clone() {
                self.add(&Note::Begins(id, test));
            }
        }
        self.add(&Note::Begins(id, test.clone()));
        self.running.push((id, test));
        id
    }

    pub(super) fn end(&mut self, id: u64) {
        self.running.retain(|(of, _)| *of != id);
        self.add(&Note::Ends(id));
    }

    /// Begins an execution: the notes of earlier ones are removed.
    pub(super) fn execution(&mut self) {
        self.executions += 1;
        self.clear();
        self.add(&Note::Execution(self.executions));
    }
}

/// Returns the notes of a record. The last line may be incomplete.
pub(super) fn notes(text: &str) -> Vec<Note> {
    text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the tests that had begun and not ended, each once.
pub(super) fn running(notes: &[Note]) -> Vec<String> {
    let mut running: Vec<(u64, &String)> = Vec::new();
    for note in notes {
        match note {
            Note::Begins(id, test) => running.push((*id, test)),
            Note::Ends(id) => running.retain(|(of, _)| of != id),
            _ => {}
        }
    }
    let mut tests: Vec<String> = Vec::new();
    for (_, test) in running {
        if !tests.contains(test) {
            tests.push(test.clone());
        }
    }
    tests
}

/// Returns the number of executions.
pub(super) fn executions(notes: &[Note]) -> u64 {
    let number = |note: &Note| match note {
        Note::Execution(number) => Some(*number),
        _ => None,
    };
    notes.iter().rev().find_map(number).unwrap_or(0)
}
