//! Subset construction and minimisation.
//!
//! Over all words the determinised union is large, since a word that is not well-formed can set
//! every bit independently. It serves to compare automata of few processes; [`crate::observer`]
//! checks histories.

use bitvec::prelude::{BitVec, Lsb0};
use thiserror::Error;

use super::nfa::{Alphabet, Nfa};
use super::simulation::Simulation;
use crate::seeded::SeededMap;
use crate::simple::Letter;

/// A complete deterministic automaton. State 0 is initial.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dfa {
    alphabet: Alphabet,
    /// The successor of state s by letter a is number s * letters + a.
    successors: Vec<u32>,
    accepting: Vec<bool>,
}

/// Subset construction met more states than allowed.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("determinisation needs more than {limit} states; allow more or take fewer processes")]
pub struct DfaTooLarge {
    /// Number of states allowed.
    pub limit: usize,
}

impl Dfa {
    /// Returns the automaton of the reachable subsets of an automaton's states, with all accepting
    /// subsets merged: the automata of this crate never leave an accepting state. At most `limit`
    /// states, so at most O(limit * letters) time and memory.
    ///
    /// # Errors
    /// If there are more than `limit` such subsets.
    ///
    /// # Panics
    /// If the automaton can leave an accepting state.
    pub fn determinise(nfa: &Nfa, limit: usize) -> Result<Self, DfaTooLarge> {
        let mut simulation = Simulation::new(nfa);
        let accepts_for_good = nfa.state_ids().filter(|id| nfa.state(*id).accepting).all(|id| {
            let loops = nfa.transitions().iter().filter(|t| t.from == id && t.to == id).count();
            loops == nfa.alphabet().size()
        });
        assert!(accepts_for_good, "an accepting state loops on every letter");

        let start: BitVec<u64, Lsb0> = simulation.current().to_bitvec();
        let mut numbers = SeededMap::from_iter([(start.clone(), 0)]);
        let mut subsets = vec![start];
        let mut accepting = vec![false];
        let mut accept = None;
        let mut successors = Vec::new();
        let mut state = 0;
        while state < subsets.len() {
            for letter in nfa.alphabet().letters() {
                if accepting[state] {
                    successors.push(state as u32);
                    continue;
                }
                simulation.set_current(&subsets[state]);
                let accepts = simulation.step(letter);
                let next = subsets.len() as u32;
                let number = if accepts {
                    *accept.get_or_insert(next)
                } else {
                    *numbers.entry(simulation.current().to_bitvec()).or_insert(next)
                };
                if number == next {
                    if subsets.len() == limit {
                        return Err(DfaTooLarge { limit });
                    }
                    subsets.push(simulation.current().to_bitvec());
                    accepting.push(accepts);
                }
                successors.push(number);
            }
            state += 1;
        }
        Ok(Self { alphabet: nfa.alphabet(), successors, accepting })
    }

    /// Returns the smallest automaton with the same language, by Moore's refinement: two states
    /// stay together as long as no letter distinguishes them. States are numbered by their first
    /// occurrence.
    #[must_use]
    pub fn minimise(&self) -> Self {
        let letters = self.alphabet.size();
        let mut class: Vec<u32> = self.accepting.iter().map(|&a| u32::from(a)).collect();
        let mut classes = 0;
        loop {
            let mut numbers: SeededMap<Vec<u32>, u32> = SeededMap::default();
            let refined: Vec<u32> = (0..self.states())
                .map(|state| {
                    let row = &self.successors[state * letters..(state + 1) * letters];
                    let mut signature = vec![class[state]];
                    signature.extend(row.iter().map(|&next| class[next as usize]));
                    let fresh = numbers.len() as u32;
                    *numbers.entry(signature).or_insert(fresh)
                })
                .collect();
            class = refined;
            if numbers.len() == classes {
                break;
            }
            classes = numbers.len();
        }
        let mut minimal = Self {
            alphabet: self.alphabet,
            successors: Vec::with_capacity(classes * letters),
            accepting: Vec::with_capacity(classes),
        };
        for state in 0..self.states() {
            // Classes are numbered by their first state, so this meets each once.
            if class[state] as usize == minimal.accepting.len() {
                minimal.accepting.push(self.accepting[state]);
                let row = &self.successors[state * letters..(state + 1) * letters];
                minimal.successors.extend(row.iter().map(|&next| class[next as usize]));
            }
        }
        minimal
    }

    /// Number of states.
    pub const fn states(&self) -> usize {
        self.accepting.len()
    }

    /// The alphabet of the automaton.
    pub const fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the state after `letter` in `state`.
    ///
    /// # Panics
    /// If the state does not exist, or the letter is not in the alphabet.
    pub fn successor(&self, state: usize, letter: Letter) -> usize {
        assert!(letter.index() < self.alphabet.size(), "the letter is in the alphabet");
        self.successors[state * self.alphabet.size() + letter.index()] as usize
    }

    /// Returns true if a word that ends in `state` is accepted.
    ///
    /// # Panics
    /// If the state does not exist.
    pub fn is_accepting(&self, state: usize) -> bool {
        self.accepting[state]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple::Symbol;

    /// Accepts after `count` invocations of scans, which are counted twice.
    fn counter(count: usize) -> Nfa {
        let mut nfa = Nfa::new("counter", Alphabet::new(1).unwrap());
        let accept = nfa.add_accepting("enough");
        let is_scan = |letter: Letter| letter.symbol() == Symbol::InvokeScan;
        for branch in 0..2 {
            let mut state = nfa.add_initial(&format!("0 in branch {branch}"));
            for scans in 1..=count {
                nfa.connect(state, state, |letter| !is_scan(letter));
                let last = scans == count;
                let next =
                    if last { accept } else { nfa.add_state(format!("{scans} in {branch}")) };
                nfa.connect(state, next, is_scan);
                state = next;
            }
        }
        nfa.build()
    }

    #[test]
    fn minimisation_separates_states_that_need_a_long_word() {
        let dfa = Dfa::determinise(&counter(40), 100).unwrap();
        assert_eq!((dfa.states(), dfa.minimise().states()), (41, 41));
    }

    #[test]
    fn minimisation_merges_indistinguishable_states() {
        let alphabet = Alphabet::new(1).unwrap();
        let letters = alphabet.size() as u32;
        // 0 leads to 1 or 2, these to 3, which always accepts.
        let successors = (0..letters).map(|letter| 1 + letter % 2);
        let successors = successors.chain((0..3 * letters).map(|_| 3)).collect();
        let dfa = Dfa { alphabet, successors, accepting: vec![false, false, false, true] };
        let minimal = dfa.minimise();
        assert_eq!(minimal.accepting, [false, false, true]);
        assert_eq!((minimal.successor(0, Letter::from_index(1)), minimal.minimise()), (1, minimal));
    }
}
