//! Published algorithms, as the program prepares and explores them.

use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::pipeline::Prepared;
use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::{Exploration, Outcome};
use snapshot_language::parse;

/// Prepares a text, or one of its bugs, for the pair (0, 1) with these reductions.
pub fn prepared(
    text: &str,
    bug: Option<&str>,
    processes: usize,
    reductions: Reductions,
) -> Prepared {
    let program = parse("text", text).unwrap().program(bug).unwrap();
    let pair = [0, 1].map(Process::from_index);
    Prepared::new(&program, processes, pair, reductions, |_| true, Deadline::NEVER).unwrap()
}

/// Explores a published algorithm for two processes with these reductions and the antichain, under
/// the given bounds.
pub fn explored(
    name: &str,
    bug: Option<&str>,
    reductions: Reductions,
    bounds: Exploration<'_>,
) -> Outcome {
    let text = corpus::algorithm(name).unwrap().text;
    let mut prepared = prepared(text, bug, 2, reductions);
    prepared.analyse(Deadline::NEVER).unwrap();
    let forgetting = prepared.forgetting();
    let ample = prepared.ample(bounds.operations, Deadline::NEVER).unwrap();
    let exploration = Exploration {
        antichain: true,
        numbering: prepared.numbering.as_ref().map(|numbering| numbering as _),
        forgetting: forgetting.as_ref().map(|forgetting| forgetting as _),
        ample: ample.as_ref().map(|ample| ample as _),
        ..bounds
    };
    exploration.run(prepared.explored(), &mut |_| ()).unwrap()
}
