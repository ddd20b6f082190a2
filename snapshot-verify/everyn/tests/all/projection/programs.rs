//! The programs that are verified, and others.

use snapshot_everyn::compile::compile;
use snapshot_everyn::model::{Ghosts, Model, Obligation, Part, Specification};
use snapshot_everyn::prove::{Limits, Sabotage, Steps, steps};
use snapshot_everyn::shape::{I, J, Mode, T};
use snapshot_language::program::Program;

pub fn parsed(text: &str) -> Program {
    let algorithm = snapshot_language::parse("test", text).expect("a text that is right");
    algorithm.program(None).expect("a program that is right")
}

pub fn corpus(name: &str) -> Program {
    parsed(corpus::algorithm(name).expect("an algorithm of the corpus").text)
}

pub fn small(name: &str) -> Program {
    parsed(corpus::small(name))
}

pub const NESTED: Obligation = Obligation {
    mode: Mode::Nested,
    ghosts: Ghosts::Scans,
    specification: Specification::Observer,
    part: Part::Whole,
};
pub const DIRECT: Obligation = Obligation { mode: Mode::Direct, ..NESTED };
pub const LOCAL: Obligation = Obligation { specification: Specification::Local, ..DIRECT };
/// Returns all obligations of the proof by calls that return a view.
pub fn by_calls() -> [Obligation; 5] {
    let calls = |one| Obligation { ghosts: Ghosts::Calls, ..one };
    let parts = [T, I, J].map(|place| calls(Obligation { part: Part::By(place), ..LOCAL }));
    let nested = |part| calls(Obligation { part, ..NESTED });
    [nested(Part::Faults), nested(Part::Tokens), parts[0], parts[1], parts[2]]
}
pub const NESTED_CALLS: Obligation = Obligation { ghosts: Ghosts::Calls, ..NESTED };

/// Returns the views of an obligation, if there are at most `most` of them.
pub fn views(program: &Program, obligation: Obligation, most: usize) -> Option<(Model, Steps)> {
    let model = compile(program, obligation).ok()?;
    let limits = Limits { views: most, bytes: 1 << 30, ..Limits::default() };
    let steps = steps(&model, limits, Sabotage::default()).ok()?;
    Some((model, steps))
}
