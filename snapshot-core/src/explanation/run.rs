//! The automaton that accepts a proof after its renaming, with its run.

use super::proof_operation::Explanation;
use crate::Process;
use crate::automata::{self, Alphabet};
use crate::simple::{Letter, SimpleHistory};

/// Processes below this are not renumbered for a run.
const FEW_PROCESSES: usize = 32;

/// A run with which one of the three automata accepts a proof's operations after renaming.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AcceptingRun {
    /// The processes behind p0, p1, ..., if renumbered.
    pub processes: Option<Vec<Process>>,
    /// The automaton's name.
    pub automaton: String,
    /// The name of the state before the first letter.
    pub from: String,
    /// Each letter, with the name of the state after it.
    pub steps: Vec<(Letter, String)>,
}

/// Returns the automaton that accepts a proof, with its run; `None` if the proof has no renaming
/// (it was found by search), or very many processes.
pub fn accepting_run<V: Clone + Eq>(explanation: &Explanation<V>) -> Option<AcceptingRun> {
    let simple = SimpleHistory::recognise(&explanation.renamed()?).ok()?;
    let mut processes: Vec<Process> = simple.letters().iter().map(|l| l.process()).collect();
    processes.sort_unstable();
    processes.dedup();
    // The automata are quadratic in the number of processes: beyond a few, only the processes that
    // take part are numbered.
    let are_few = processes.iter().all(|process| process.index() < FEW_PROCESSES);
    if are_few {
        let last = processes.last().map_or(0, |process| process.index());
        processes = (0..=last).map(Process::from_index).collect();
    }
    let alphabet = Alphabet::new(processes.len()).ok()?;
    let renumbered = |letter: &Letter| {
        let process = processes.partition_point(|process| *process < letter.process());
        Letter::new(Process::from_index(process), letter.symbol())
    };
    let letters: Vec<Letter> = simple.letters().iter().map(renumbered).collect();
    let automata = [
        automata::inversion(alphabet),
        automata::decrease(alphabet),
        automata::inappropriate(alphabet),
    ];
    automata.iter().find_map(|automaton| {
        let run = automata::accepting_run(automaton, &letters)?;
        let name = |state: &automata::StateId| automaton.state(*state).name.clone();
        let steps = letters.iter().copied().zip(run[1..].iter().map(name));
        Some(AcceptingRun {
            processes: (!are_few).then(|| processes.clone()),
            automaton: automaton.name().to_owned(),
            from: name(&run[0]),
            steps: steps.collect(),
        })
    })
}
