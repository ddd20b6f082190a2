//! Running a nondeterministic automaton: all of its runs together.
//!
//! The set of possible states is a bit vector. Most states loop on most letters, so a letter's
//! effect is a mask (the states that stay) and a short list of moves to other states: a step costs
//! O(states / 64) for the mask, plus one test per move.

use bitvec::prelude::{BitBox, BitSlice, BitVec, Lsb0};

use super::nfa::{Nfa, StateId};
use crate::simple::Letter;

type States = BitBox<u64, Lsb0>;

/// The effect of one letter on a set of states.
#[derive(Clone, Debug)]
struct Effect {
    /// The states with a self loop.
    stay: States,
    /// Transitions from a state to another.
    moves: Vec<(StateId, StateId)>,
}

/// A bit-parallel run of one automaton.
#[derive(Clone, Debug)]
pub struct Simulation {
    initial: States,
    accepting: States,
    /// One effect per letter.
    effects: Vec<Effect>,
    current: States,
    /// Buffer for the next step; its content is meaningless between steps.
    next: States,
}

impl Simulation {
    /// Prepares to run an automaton. O(letters * states / 64 + transitions).
    #[must_use]
    pub fn new(nfa: &Nfa) -> Self {
        let states = nfa.states();
        let none = BitVec::<u64, Lsb0>::repeat(false, states.len()).into_boxed_bitslice();
        let (mut initial, mut accepting) = (none.clone(), none.clone());
        for (index, state) in states.iter().enumerate() {
            initial.set(index, state.initial);
            accepting.set(index, state.accepting);
        }
        let mut effects = vec![Effect { stay: none, moves: Vec::new() }; nfa.alphabet().size()];
        for transition in nfa.transitions() {
            let effect = &mut effects[transition.letter.index()];
            if transition.from == transition.to {
                effect.stay.set(transition.from.index(), true);
            } else {
                effect.moves.push((transition.from, transition.to));
            }
        }
        Self { current: initial.clone(), next: initial.clone(), initial, accepting, effects }
    }

    /// Returns to the empty word.
    pub fn reset(&mut self) {
        self.current.copy_from_bitslice(&self.initial);
    }

    /// The states that some run may be in, by number.
    pub fn current(&self) -> &BitSlice<u64, Lsb0> {
        &self.current
    }

    /// Continues from a set of states.
    ///
    /// # Panics
    /// If the set's length is not the automaton's number of states.
    pub fn set_current(&mut self, states: &BitSlice<u64, Lsb0>) {
        assert_eq!(states.len(), self.current.len(), "a set has one bit per state");
        self.current.copy_from_bitslice(states);
    }

    /// Takes the next letter. Returns true if the word so far is accepted.
    ///
    /// # Panics
    /// If the letter is not in the automaton's alphabet.
    pub fn step(&mut self, letter: Letter) -> bool {
        let Effect { stay, moves } = &self.effects[letter.index()];
        let words = self.current.as_raw_slice().iter().zip(stay.as_raw_slice());
        for (next, (current, stay)) in self.next.as_raw_mut_slice().iter_mut().zip(words) {
            *next = current & stay;
        }
        for (from, to) in moves {
            if self.current[from.index()] {
                self.next.set(to.index(), true);
            }
        }
        std::mem::swap(&mut self.current, &mut self.next);
        self.is_accepting()
    }

    /// Returns true if the word so far is accepted.
    pub fn is_accepting(&self) -> bool {
        let accepting = self.accepting.as_raw_slice();
        self.current.as_raw_slice().iter().zip(accepting).any(|(a, b)| a & b != 0)
    }

    /// Returns a state in `from` from which `letter` leads to `to`.
    fn predecessor(
        &self,
        from: &BitSlice<u64, Lsb0>,
        letter: Letter,
        to: StateId,
    ) -> Option<StateId> {
        let Effect { stay, moves } = &self.effects[letter.index()];
        let moved = moves.iter().find(|(source, target)| *target == to && from[source.index()]);
        let stayed = (stay[to.index()] && from[to.index()]).then_some(to);
        // Staying first: the run then moves as early as it can.
        stayed.or(moved.map(|(source, _)| *source))
    }
}

/// Returns the index of the letter that completes the shortest accepted prefix.
/// O(length * (states / 64 + moves per letter)).
///
/// # Panics
/// If a letter is not in the automaton's alphabet.
pub fn first_accepting_prefix(nfa: &Nfa, letters: &[Letter]) -> Option<usize> {
    let mut simulation = Simulation::new(nfa);
    letters.iter().position(|&letter| simulation.step(letter))
}

/// Returns one run that accepts the shortest accepted prefix: the state before its first letter,
/// and the state after each letter. For display: the states have names. Memory: a set of states per
/// letter.
///
/// # Panics
/// If a letter is not in the automaton's alphabet.
pub fn accepting_run(nfa: &Nfa, letters: &[Letter]) -> Option<Vec<StateId>> {
    let mut simulation = Simulation::new(nfa);
    let mut sets = vec![simulation.current.clone()];
    let accepted = letters.iter().position(|&letter| {
        let accepts = simulation.step(letter);
        sets.push(simulation.current.clone());
        accepts
    })?;
    let mut state = nfa
        .state_ids()
        .find(|id| simulation.current[id.index()] && simulation.accepting[id.index()])?;
    let mut run = vec![state];
    for (&letter, set) in letters[..=accepted].iter().zip(&sets).rev() {
        state = simulation.predecessor(set, letter, state)?;
        run.push(state);
    }
    run.reverse();
    Some(run)
}
