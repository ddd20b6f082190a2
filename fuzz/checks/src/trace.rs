//! Any bytes as a trace: reading it never panics, a trace that was read is unchanged when it is
//! written and read again, and its moves are made, or refused at the first impossible one.

use std::sync::OnceLock;

use snapshot_verify::interpret::{Machine, Trace};
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;

/// Maximum numbers of processes and moves tried.
const MOST: (usize, usize) = (8, 500);

fn programs() -> &'static [Program; 2] {
    static PROGRAMS: OnceLock<[Program; 2]> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        [
            ("bowman", include_str!("../../../corpus/algorithms/bowman.snapshot")),
            ("treiber_stack", include_str!("../../../corpus/objects/treiber_stack.snapshot")),
        ]
        .map(|(name, text)| {
            let algorithm = parse(name, text).expect("a right text");
            algorithm.program(None).expect("a program")
        })
    })
}

/// Reads, writes, reads again, and makes the moves.
///
/// # Panics
/// If anything is lost on the way.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let trace: Trace = match text.parse() {
        Ok(trace) => trace,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error has a message");
            return;
        }
    };
    let written = trace.to_string();
    match written.parse::<Trace>() {
        Ok(again) => assert_eq!(again, trace, "a trace changes:\n{written}"),
        Err(error) => panic!("{error}\n{written}"),
    }
    if trace.processes > MOST.0 || trace.moves.len() > MOST.1 {
        return;
    }
    for program in programs() {
        let Ok(machine) = Machine::new(program, trace.processes) else { continue };
        let scenes: Vec<_> = machine.replay(&trace.moves).collect();
        let is_made = scenes.iter().all(Result::is_ok);
        assert_eq!(machine.run(&trace.moves).is_ok(), is_made, "{written}");
        for scene in scenes {
            let words = match scene {
                Ok(scene) => scene.text(true) + &scene.deeds(),
                Err(error) => error.to_string(),
            };
            assert!(!words.is_empty(), "a step has a text");
        }
    }
}
