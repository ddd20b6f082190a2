//! Judges executions by the automata of the paper, with all of their runs together.
//!
//! [`snapshot_core::automata::violation`] accepts the simple histories that are not linearizable
//! (Amram et al., DISC 2022, Theorem 11). The explorer runs the observer, a determinisation of
//! these automata written by hand. This module tracks the set of states that some run is in, using
//! only the table of transitions.
//!
//! **Domination.** A run from a state of a set is a run from a state of any larger set. So if the
//! larger set accepts no future, neither does the smaller. This argument is independent of the
//! meaning of the states.

use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_core::automata::{Alphabet, Nfa, violation};
use snapshot_core::seeded::SeededMap;
use snapshot_core::simple::{Letter, Switching, Symbol};

use crate::interpret::{Action, Call};

/// Largest supported number of processes: the states of the automata fit a word.
pub const MOST_PROCESSES: usize = 27;

/// Observation of a move by the judge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    /// An access: the judge observes nothing.
    Nothing,
    /// The invocation or response of an operation.
    Letter(Letter),
    /// The response of an update. Its value is 1 if its segment has switched by now, else 0.
    UpdateEnds,
}

/// Interner of sets of states of the automata.
#[derive(Debug)]
pub struct Judge {
    pair: [Process; 2],
    states: usize,
    /// Pairs of source and target state, by letter.
    transitions: Vec<Vec<(u8, u8)>>,
    accepting: u128,
    initial: u128,
    sets: Vec<u128>,
    numbers: SeededMap<u128, u32>,
    steps: FxHashMap<(u32, Letter), u32>,
    /// Target of each state, per permutation of the processes.
    renamings: Vec<Vec<u8>>,
}

impl Judge {
    /// Creates a judge of the (i, j)-simple histories of n processes, renamed by these
    /// permutations.
    ///
    /// # Panics
    /// If n is 0 or exceeds [`MOST_PROCESSES`].
    pub fn new(n: usize, pair: [Process; 2], permutations: &[Vec<usize>]) -> Self {
        assert!(n <= MOST_PROCESSES, "the states of the automata fit a word");
        let nfa = violation(Alphabet::new(n).expect("there is a process, and not too many"));
        let mut transitions = vec![Vec::new(); nfa.alphabet().size()];
        for transition in nfa.transitions() {
            let (from, to) = (transition.from.index() as u8, transition.to.index() as u8);
            transitions[transition.letter.index()].push((from, to));
        }
        let all = |holds: fn(&snapshot_core::automata::State) -> bool| {
            let states = nfa.states().iter().enumerate().filter(|(_, state)| holds(state));
            states.fold(0_u128, |set, (index, _)| set | 1 << index)
        };
        Self {
            pair,
            states: nfa.states().len(),
            transitions,
            accepting: all(|state| state.accepting),
            initial: all(|state| state.initial),
            sets: Vec::new(),
            numbers: SeededMap::default(),
            steps: FxHashMap::default(),
            renamings: permutations.iter().map(|to| renaming(&nfa, n, to)).collect(),
        }
    }

    /// Returns the set before any event.
    pub fn initial(&mut self) -> u32 {
        self.number(self.initial)
    }

    /// Returns the number of a set, or `None` if a bit of it names no state.
    pub fn admit(&mut self, set: u128) -> Option<u32> {
        (set >> self.states == 0).then(|| self.number(set))
    }

    /// Returns the number of distinct sets that have occurred.
    pub const fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns a set: bit k stands for state k.
    pub fn set(&self, number: u32) -> u128 {
        self.sets[number as usize]
    }

    /// Returns true if some run has accepted.
    pub fn is_accepting(&self, number: u32) -> bool {
        self.set(number) & self.accepting != 0
    }

    /// Returns true if every run of the smaller set is a run of the larger one.
    pub fn includes(&self, larger: u32, smaller: u32) -> bool {
        larger == smaller || self.set(smaller) & !self.set(larger) == 0
    }

    /// Returns the set after a move of a process; `switched`: whether i and j have begun to write
    /// 1, this move included.
    pub fn after(&mut self, set: u32, process: Process, sight: Sight, switched: [bool; 2]) -> u32 {
        let letter = match sight {
            Sight::Nothing => return set,
            Sight::Letter(letter) => letter,
            Sight::UpdateEnds => {
                // The open update is the last one begun, so it writes 1 if any does.
                let symbol = self.segment(process).map_or(Symbol::RespondOther, |segment| {
                    Symbol::RespondUpdate { segment, value: switched[segment.index()] }
                });
                Letter::new(process, symbol)
            }
        };
        if let Some(after) = self.steps.get(&(set, letter)) {
            return *after;
        }
        let before = self.set(set);
        let mut after = 0;
        for (from, to) in &self.transitions[letter.index()] {
            if before >> from & 1 == 1 {
                after |= 1 << to;
            }
        }
        let after = self.number(after);
        self.steps.insert((set, letter), after);
        after
    }

    /// Renames processes by the permutation with this number.
    pub fn renamed(&mut self, set: u32, permutation: usize) -> u32 {
        let to = &self.renamings[permutation];
        let before = self.set(set);
        let states = (0..self.states).filter(|state| before >> state & 1 == 1);
        let after = states.fold(0, |after, state| after | 1 << to[state]);
        self.number(after)
    }

    /// Returns the observation of an invocation.
    pub fn call(&self, process: Process, call: Call) -> Sight {
        let symbol = match (call, self.segment(process)) {
            (Call::Scan, _) => Symbol::InvokeScan,
            (Call::Update(value), Some(segment)) => {
                Symbol::InvokeUpdate { segment, value: value == 1 }
            }
            (Call::Update(_), None) => Symbol::InvokeOther,
            (Call::Operation(_), _) => unreachable!("certificates are of snapshots"),
        };
        Sight::Letter(Letter::new(process, symbol))
    }

    /// Returns the observation of a step.
    pub fn step(&self, process: Process, action: Option<&Action>) -> Sight {
        match action {
            Some(Action::RespondUpdate) => Sight::UpdateEnds,
            Some(Action::RespondScan(values)) => {
                Sight::Letter(Letter::new(process, self.returned(values)))
            }
            Some(Action::InvokeUpdate(_) | Action::InvokeScan) | None => Sight::Nothing,
            Some(Action::Begin { .. } | Action::End { .. }) => {
                unreachable!("certificates are of snapshots")
            }
        }
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.sets.len() * 64 + self.steps.len() * 32
    }

    fn returned(&self, values: &[u32]) -> Symbol {
        let at = |process: Process| values[process.index()];
        let is_foreign = |(index, value): (usize, &u32)| {
            let may_be_one = self.pair.iter().any(|process| process.index() == index);
            *value > u32::from(may_be_one)
        };
        if values.iter().enumerate().any(is_foreign) {
            return Symbol::RespondForeign;
        }
        let [i, j] = self.pair;
        Symbol::RespondScan { at_i: at(i) == 1, at_j: at(j) == 1 }
    }

    fn segment(&self, process: Process) -> Option<Switching> {
        let at = self.pair.iter().position(|one| *one == process)?;
        Some(Switching::BOTH[at])
    }

    fn number(&mut self, set: u128) -> u32 {
        *self.numbers.entry(set).or_insert_with(|| {
            self.sets.push(set);
            self.sets.len() as u32 - 1
        })
    }
}

/// Returns the target of each state under a renaming of the processes.
///
/// A state that watches a process says so in its name. If the renamed name belongs to no state, the
/// state stays in place.
fn renaming(nfa: &Nfa, n: usize, to: &[usize]) -> Vec<u8> {
    let names: FxHashMap<&str, usize> =
        nfa.states().iter().enumerate().map(|(index, state)| (&*state.name, index)).collect();
    let target = |(index, state): (usize, &snapshot_core::automata::State)| {
        let watched = (0..n).find(|process| state.name.contains(&format!(" of p{process} open")));
        let Some(process) = watched else { return index as u8 };
        let (old, new) = (format!(" of p{process} open"), format!(" of p{} open", to[process]));
        names.get(&*state.name.replace(&old, &new)).map_or(index, |index| *index) as u8
    };
    nfa.states().iter().enumerate().map(target).collect()
}
