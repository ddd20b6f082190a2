//! What belongs to a proof besides its operations.

use snapshot_core::Process;
use snapshot_core::automata::{self, Alphabet};
use snapshot_core::explanation::Explanation;
use snapshot_core::simple::{Letter, SimpleHistory};

use crate::value::Value;

/// The numbers of the events of a proof's operations, ascending.
pub(super) fn events(explanation: &Explanation<Value>) -> Vec<usize> {
    let ends = |exhibit: &snapshot_core::explanation::Exhibit<Value>| {
        [Some(exhibit.invocation), exhibit.ending.event()]
    };
    let mut events: Vec<usize> = explanation.exhibits.iter().flat_map(ends).flatten().collect();
    events.sort_unstable();
    events
}

/// A run with which one of the three automata accepts a proof's operations
/// after renaming.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AcceptingRun {
    /// The automaton's name.
    pub automaton: String,
    /// The name of the state before the first letter.
    pub from: String,
    /// Each letter, by the recording's process, with the state after it. In the
    /// names of states, processes are numbered as they take part.
    pub steps: Vec<(Letter, String)>,
}

/// The automaton that accepts a proof, with its run; `None` if the proof has no
/// renaming (it was found by search), or very many processes.
pub fn accepting_run(explanation: &Explanation<Value>) -> Option<AcceptingRun> {
    let simple = SimpleHistory::recognise(&explanation.renamed()?).ok()?;
    // The automata are built for as many processes as take part.
    let mut processes: Vec<Process> = simple.letters().iter().map(|l| l.process()).collect();
    processes.sort_unstable();
    processes.dedup();
    let alphabet = Alphabet::new(processes.len()).ok()?;
    let dense = |letter: &Letter| {
        let process = processes.partition_point(|process| *process < letter.process());
        Letter::new(Process::must(process), letter.symbol())
    };
    let letters: Vec<Letter> = simple.letters().iter().map(dense).collect();
    let automata = [
        automata::inversion(alphabet),
        automata::decrease(alphabet),
        automata::inappropriate(alphabet),
    ];
    automata.iter().find_map(|automaton| {
        let run = automata::accepting_run(automaton, &letters)?;
        let name = |state: &automata::StateId| automaton.state(*state).name.clone();
        let steps = simple.letters().iter().copied().zip(run[1..].iter().map(name));
        Some(AcceptingRun {
            automaton: automaton.name().to_owned(),
            from: name(&run[0]),
            steps: steps.collect(),
        })
    })
}
