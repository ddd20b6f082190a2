//! Nondeterministic finite automata over the letters of simple histories.

use std::fmt;

use thiserror::Error;

use crate::Process;
use crate::simple::{Letter, Symbol};

/// The alphabet of simple histories of some number of processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alphabet {
    processes: usize,
}

/// An alphabet too large to build automata over.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
#[error(
    "automata over {given} processes are not built: from 1 to {limit} are possible \
         (their size is quadratic); the observer has no such limit"
)]
pub struct AlphabetError {
    /// The requested number of processes.
    pub given: usize,
    /// The largest number possible.
    pub limit: usize,
}

impl Alphabet {
    /// The largest number of processes. At this limit the union has about
    /// four million transitions, 50 MB.
    pub const LIMIT: usize = 256;

    /// Creates the alphabet of this many processes.
    ///
    /// # Errors
    /// If the number is 0 or exceeds [`Self::LIMIT`].
    pub const fn new(processes: usize) -> Result<Self, AlphabetError> {
        if processes == 0 || processes > Self::LIMIT {
            return Err(AlphabetError { given: processes, limit: Self::LIMIT });
        }
        Ok(Self { processes })
    }

    /// Number of processes.
    #[inline]
    pub const fn processes(self) -> usize {
        self.processes
    }

    /// Number of letters: 16 per process.
    #[inline]
    pub const fn size(self) -> usize {
        self.processes * Symbol::COUNT
    }

    /// All letters, by index.
    pub fn letters(self) -> impl ExactSizeIterator<Item = Letter> + Clone {
        (0..self.size()).map(Letter::from_index)
    }

    /// All processes.
    pub fn all_processes(self) -> impl ExactSizeIterator<Item = Process> + Clone {
        (0..self.processes).map(Process::from_index)
    }
}

/// A state of one automaton, numbered from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StateId(u32);

impl StateId {
    pub(super) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The index, below the automaton's number of states.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The properties of a state besides its transitions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct State {
    /// A name for humans, unique within the automaton.
    pub name: String,
    /// True if a run may begin here.
    pub initial: bool,
    /// True if a run that ends here accepts.
    pub accepting: bool,
}

/// A transition from one state to another by a letter.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Transition {
    /// The source.
    pub from: StateId,
    /// The target.
    pub to: StateId,
    /// The letter.
    pub letter: Letter,
}

/// A nondeterministic finite automaton, as a value to count, draw and run.
///
/// Invariants: transitions are sorted and distinct and stay within the states
/// and the alphabet; no state is both initial and accepting, so the empty
/// history is never a violation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Nfa {
    name: String,
    alphabet: Alphabet,
    states: Vec<State>,
    transitions: Vec<Transition>,
}

impl Nfa {
    /// Creates an automaton without states.
    pub(super) fn new(name: &str, alphabet: Alphabet) -> Self {
        Self { name: name.to_owned(), alphabet, states: Vec::new(), transitions: Vec::new() }
    }

    fn push(&mut self, name: String, initial: bool, accepting: bool) -> StateId {
        let id = StateId::new(self.states.len());
        self.states.push(State { name, initial, accepting });
        id
    }

    /// Adds a state in which a run may begin.
    pub(super) fn add_initial(&mut self, name: &str) -> StateId {
        self.push(name.to_owned(), true, false)
    }

    /// Adds a state in which a run neither begins nor accepts.
    pub(super) fn add_state(&mut self, name: String) -> StateId {
        self.push(name, false, false)
    }

    /// Adds a state that always accepts.
    pub(super) fn add_accepting(&mut self, name: &str) -> StateId {
        let id = self.push(name.to_owned(), false, true);
        self.connect(id, id, |_| true);
        id
    }

    /// Adds a transition by each letter that satisfies the predicate.
    pub(super) fn connect(&mut self, from: StateId, to: StateId, by: impl Fn(Letter) -> bool) {
        let letters = self.alphabet.letters().filter(|letter| by(*letter));
        self.transitions.extend(letters.map(|letter| Transition { from, to, letter }));
    }

    /// Returns the finished automaton.
    pub(super) fn build(mut self) -> Self {
        self.transitions.sort_unstable();
        if cfg!(debug_assertions) {
            self.validate();
        }
        self
    }

    /// Returns the union of these automata, side by side. The name of each state is prefixed with
    /// the name of its automaton.
    pub(super) fn union(name: &str, alphabet: Alphabet, parts: &[Self]) -> Self {
        let mut union = Self::new(name, alphabet);
        for part in parts {
            debug_assert_eq!(part.alphabet, alphabet, "a union is over one alphabet");
            let offset = union.states.len();
            let moved = |state: StateId| StateId::new(state.index() + offset);
            union.states.extend(part.states.iter().map(|state| State {
                name: format!("{} {}", part.name, state.name),
                ..state.clone()
            }));
            union.transitions.extend(part.transitions.iter().map(|transition| Transition {
                from: moved(transition.from),
                to: moved(transition.to),
                letter: transition.letter,
            }));
        }
        union.build()
    }

    /// A short name, such as `M1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The alphabet of the automaton.
    pub const fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// All states, by number.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns one state.
    ///
    /// # Panics
    /// If the automaton has no such state.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// The numbers of all states.
    pub fn state_ids(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.states.len()).map(StateId::new)
    }

    /// All transitions, sorted by source, target and letter. A self loop on
    /// the whole alphabet counts as many transitions as there are letters.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Checks the invariants that every method of this type relies on. O(size).
    ///
    /// # Panics
    /// If an invariant is broken, naming it.
    pub fn validate(&self) {
        assert!(self.transitions.is_sorted_by(|a, b| a < b), "transitions are sorted and distinct");
        let states = self.states.len();
        assert!(
            self.transitions.iter().all(|transition| {
                transition.from.index() < states
                    && transition.to.index() < states
                    && transition.letter.index() < self.alphabet.size()
            }),
            "transitions stay within the states and the alphabet"
        );
        assert!(
            self.states.iter().all(|state| !(state.initial && state.accepting)),
            "no state is both initial and accepting"
        );
    }
}

impl fmt::Display for Nfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} processes, {} letters, {} states, {} transitions",
            self.name,
            self.alphabet.processes(),
            self.alphabet.size(),
            self.states.len(),
            self.transitions.len()
        )
    }
}
