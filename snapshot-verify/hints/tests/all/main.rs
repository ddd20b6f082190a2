//! Tests of hints: hostile ones, and the ladder.
#![allow(clippy::unwrap_used)]

mod analyses;
mod figures;
mod hostile;
mod ladder;
mod twins;

use snapshot_language::program::Program;

fn parsed(text: &str, bug: Option<&str>) -> Program {
    snapshot_language::parse("test", text).unwrap().program(bug).unwrap()
}

fn of_corpus(name: &str, bug: Option<&str>) -> Program {
    parsed(corpus::algorithm(name).unwrap().text, bug)
}
