//! The automata on one simple history, letter by letter.

use std::fmt;

use snapshot_core::automata::{Alphabet, AlphabetError, Nfa, Simulation};
use snapshot_core::simple::{Letter, SimpleHistory};

use super::Automaton;

/// The effect of one letter on one automaton.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    pub automaton: Automaton,
    /// The names of the states that some run has entered with this letter.
    pub entered: Vec<String>,
    /// The names of the states that no run is in any more.
    pub left: Vec<String>,
    /// True if the word so far is accepted: it is a violation.
    pub accepts: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.accepts {
            return write!(f, "{} accepts", self.automaton.name());
        }
        write!(f, "{}:", self.automaton.name())?;
        let mut separator = " ";
        for (sign, states) in [('+', &self.entered), ('-', &self.left)] {
            for state in states {
                write!(f, "{separator}{sign} {state}")?;
                separator = "; ";
            }
        }
        Ok(())
    }
}

/// One letter with the automata that it changed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    pub letter: Letter,
    /// Number of the letter's event in the recording.
    pub event: usize,
    /// The automata whose sets of states changed.
    pub changes: Vec<Change>,
}

impl Row {
    /// Returns true if an automaton accepts with this letter.
    pub fn accepts(&self) -> bool {
        self.changes.iter().any(|change| change.accepts)
    }
}

/// Runs automata on a simple history, up to the first letter with which one accepts.
/// O(automata * letters * states).
pub fn run(simple: &SimpleHistory, automata: &[Automaton]) -> Result<Vec<Row>, AlphabetError> {
    let alphabet = Alphabet::new(simple.processes().max(1))?;
    let automata: Vec<(Automaton, Nfa)> =
        automata.iter().map(|automaton| (*automaton, automaton.over(alphabet))).collect();
    let mut simulations: Vec<Simulation> =
        automata.iter().map(|(_, nfa)| Simulation::new(nfa)).collect();
    let mut rows: Vec<Row> = Vec::with_capacity(simple.letters().len());
    for (index, &letter) in simple.letters().iter().enumerate() {
        let steps = automata.iter().zip(&mut simulations);
        let changes = steps.filter_map(|((automaton, nfa), simulation)| {
            let before = simulation.current().to_bitvec();
            let accepts = simulation.step(letter);
            let after = simulation.current();
            let names = |in_first: bool| {
                let states = nfa.state_ids().filter(|id| before[id.index()] != after[id.index()]);
                let states = states.filter(|id| before[id.index()] == in_first);
                states.map(|id| nfa.state(id).name.clone()).collect::<Vec<_>>()
            };
            let (entered, left) = (names(false), names(true));
            let is_change = accepts || !entered.is_empty() || !left.is_empty();
            is_change.then_some(Change { automaton: *automaton, entered, left, accepts })
        });
        let row = Row { letter, event: simple.event(index), changes: changes.collect() };
        let is_last = row.accepts();
        rows.push(row);
        if is_last {
            break;
        }
    }
    Ok(rows)
}
