//! Coverage of executions: of the corpus, of vacuous programs, and of mutants, judged by a plain
//! forward search.

mod objects;
mod oracle;
mod sequential;
mod vacuous;

use snapshot_verify::exercise::{Budget, Ending, Exercise, Occurrence, exercise, exercise_object};
use snapshot_verify::interpret::{Client, Machine, Sequential, Values};
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::program::independence;

fn program(text: &str) -> Program {
    parse("test", text).and_then(|parsed| parsed.program(None)).unwrap()
}

/// Returns the coverage of n processes with at most this many operations, on one value.
fn exercised(program: &Program, n: usize, operations: Option<u32>, states: usize) -> Exercise {
    let machine = Machine::new(program, n).unwrap();
    let client = Client { operations, ..Client::unbounded(Values::Full(1)) };
    let proceed = &mut || true;
    let mut budget = Budget { states, memory: 64 << 20, moves: 50_000, proceed };
    match program.object() {
        None => exercise(&machine, &client, &mut budget),
        Some(object) => {
            let sequential = Sequential::new(object, n).unwrap();
            exercise_object(&machine, &sequential, &client, &mut budget)
        }
    }
}

fn never<'a>(text: &'a str, found: &Exercise) -> Vec<&'a str> {
    found.unexecuted().map(|span| &text[span.begin as usize..span.end as usize]).collect()
}

/// Without a bound, nothing is reported falsely; with a bound, statements that need more operations
/// are named.
#[test]
fn corpus_is_fully_exercised() {
    let mut exhaustive = 0;
    for algorithm in corpus::algorithms() {
        let (name, text) = (algorithm.name, algorithm.text);
        let program = program(text);
        let looks_at_values = independence::check(&program).is_err();
        for n in [2, 3] {
            let found = exercised(&program, n, None, 25_000);
            exhaustive += usize::from(found.ending == Ending::Possible);
            assert!(!matches!(found.ending, Ending::Impossible(_)), "{name}: {:?}", found.ending);
            assert!(found.returns.iter().all(|(.., one)| *one == Occurrence::Seen), "{name}");
            if !looks_at_values {
                assert_eq!(never(text, &found), [""; 0], "{name}");
            }
            let open = found.statements.iter().filter(|(_, one)| *one == Occurrence::Open);
            // riany rechecks its version at places where a change takes long to observe.
            assert!(open.count() <= if name == "riany" { 3 } else { 0 }, "{name}");
        }
        let found = exercised(&program, 2, Some(1), 25_000);
        let expected: &[&str] = match name {
            "afek_unbounded" | "afek_bounded" => &["return b[k].view"],
            "attiya_welch" => &["w := seg[k]", "return w.view"],
            _ => &[],
        };
        if !looks_at_values {
            assert_eq!(never(text, &found), expected, "{name}");
        }
    }
    assert!(exhaustive >= 8, "{exhaustive}");
}
