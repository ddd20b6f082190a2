//! How large the automata are, in closed form (Propositions 12, 13 and 15 of
//! Amram, Hayoun, Mizrahi and Weiss, DISC 2022, give the orders of growth).

use std::fmt;

use super::Automaton;

/// A polynomial in the number n of processes, of degree 2 at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Polynomial {
    /// The coefficient of n².
    pub square: usize,
    /// The coefficient of n.
    pub linear: usize,
    /// The constant.
    pub constant: usize,
}

impl Polynomial {
    const fn new(square: usize, linear: usize, constant: usize) -> Self {
        Self { square, linear, constant }
    }

    /// Its value.
    pub const fn at(self, n: usize) -> usize {
        (self.square * n + self.linear) * n + self.constant
    }
}

/// As in a formula: `32 n² + 42 n`.
impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = [(self.square, " n²"), (self.linear, " n"), (self.constant, "")];
        let terms: Vec<String> = terms
            .into_iter()
            .filter(|(factor, _)| *factor > 0)
            .map(|(factor, power)| format!("{factor}{power}"))
            .collect();
        let sum = terms.join(" + ");
        f.pad(if sum.is_empty() { "0" } else { &sum })
    }
}

/// The size of an automaton for any number of processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Size {
    /// Number of states.
    pub states: Polynomial,
    /// Number of transitions: triples of a state, a letter and a state.
    pub transitions: Polynomial,
}

impl Automaton {
    /// How large it is.
    pub const fn size(self) -> Size {
        let (states, transitions) = match self {
            Self::Inversion => (Polynomial::new(0, 0, 4), Polynomial::new(0, 68, 0)),
            Self::Decrease => (Polynomial::new(0, 2, 4), Polynomial::new(32, 42, 0)),
            Self::Inappropriate => (Polynomial::new(0, 2, 10), Polynomial::new(32, 143, 0)),
            Self::Union => (Polynomial::new(0, 4, 18), Polynomial::new(64, 253, 0)),
        };
        Size { states, transitions }
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::automata::Alphabet;

    use super::*;

    #[test]
    fn automata_have_the_size_of_their_formulas() {
        for automaton in Automaton::ALL {
            let size = automaton.size();
            // A polynomial of degree 2 is fixed by three points; n = 1 included.
            for n in (1..=12).chain([40]) {
                let nfa = automaton.over(Alphabet::new(n).unwrap());
                let counted = (nfa.states().len(), nfa.transitions().len());
                assert_eq!((size.states.at(n), size.transitions.at(n)), counted, "{nfa}");
            }
        }
    }

    #[test]
    fn formulas_are_shown_without_what_is_zero() {
        assert_eq!(Polynomial::new(32, 42, 0).to_string(), "32 n² + 42 n");
        assert_eq!(Polynomial::new(0, 0, 4).to_string(), "4");
        assert_eq!(Polynomial::new(0, 2, 10).to_string(), "2 n + 10");
        assert_eq!(Polynomial::new(0, 0, 0).to_string(), "0");
    }
}
