//! Strong linearizability: known answers, an oracle that tries all functions, and trees that are
//! confirmed.

mod contents;
mod oracle;
mod table;
mod writes;

use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Client, Machine, Sequential, Values};
use snapshot_semantics::strong::{Confirmed, Strength, Strong, StrongVerdict, confirm, strong};

fn program(text: &str) -> Program {
    parse("test", text).and_then(|parsed| parsed.program(None)).unwrap()
}

fn text(name: &str) -> &'static str {
    let mut all = corpus::algorithms().iter().chain(corpus::object_algorithms());
    all.find(|algorithm| algorithm.name == name).unwrap().text
}

/// Answers for n processes, and confirms a tree.
fn answered(
    program: &Program,
    n: usize,
    client: &Client,
    strength: Strength,
) -> (Strong, Option<Confirmed>) {
    let machine = Machine::new(program, n).unwrap();
    let object = program.object().map(|object| Sequential::new(object, n).unwrap());
    let proceed = &mut || true;
    let mut limits =
        snapshot_semantics::progress::Limits { states: 4_000_000, memory: 4 << 30, proceed };
    let found = strong(&machine, object.as_ref(), strength, client, &mut limits).unwrap();
    let confirmed = match &found.verdict {
        StrongVerdict::NotStrong(case) => {
            Some(confirm(&machine, object.as_ref(), strength, case).unwrap())
        }
        _ => None,
    };
    (found, confirmed)
}

fn bounded(operations: Option<u32>) -> Client {
    Client { operations, ..Client::unbounded(Values::Full(2)) }
}
