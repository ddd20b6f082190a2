//! Executions made by hand, against the interpreter, and their page.

mod api;
mod browser;
mod corpus;
mod server;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use snapshot_verify::explore::{Answer, Explorer, Question};
use snapshot_verify::interpret::{Move, Trace};
use snapshot_verify::language::parse;

/// Returns the explorer of an algorithm of the corpus, or of a text.
fn explorer(name: &str, bug: Option<&str>, processes: usize) -> Explorer {
    let text = ::corpus::algorithm(name).map_or(name, |known| known.text);
    let algorithm = parse(&format!("{name}.snapshot"), text).unwrap();
    let program = algorithm.program(bug).unwrap();
    Explorer {
        title: name.to_owned(),
        source: algorithm.source().clone(),
        recorded: Trace {
            algorithm: name.to_owned(),
            bug: bug.map(str::to_owned),
            size: None,
            processes,
            pair: None,
            operations: program.operation_names(),
            points: false,
            program: None,
            linearizable: None,
            moves: Vec::new(),
            repeats: None,
            deeds: Default::default(),
        },
        program,
        threads: NonZeroUsize::MIN,
    }
}

fn lines(explorer: &Explorer, moves: &[Move]) -> Vec<String> {
    let operations = &explorer.recorded.operations;
    moves.iter().map(|made| made.named(operations).to_string()).collect()
}

const PORT: u16 = 8080;

/// Asks as the page does.
fn post(explorer: &Explorer, path: &str, body: &str) -> Answer {
    let question = Question {
        method: "POST",
        path,
        host: Some("127.0.0.1:8080"),
        origin: Some("http://127.0.0.1:8080"),
        content_type: Some("application/json"),
        body: body.as_bytes(),
    };
    explorer.answer(PORT, &question, &AtomicBool::new(false))
}

fn ask(explorer: &Explorer, path: &str, moves: &[String], at: usize) -> Answer {
    post(explorer, path, &json!({ "moves": moves, "at": at }).to_string())
}

/// Returns the view, which the API must give.
fn view(explorer: &Explorer, moves: &[String], at: usize) -> Value {
    let answer = ask(explorer, "/view", moves, at);
    assert_eq!(answer.status, 200, "{}: {at} of {moves:?}: {}", explorer.title, answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Returns the reason of a refusal with this status.
fn refused(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{}", answer.body);
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    body["error"].as_str().unwrap().to_owned()
}
