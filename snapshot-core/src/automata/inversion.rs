//! M1: two scans contradict each other.

use super::nfa::{Alphabet, Nfa};
use crate::simple::Symbol;

/// M1, *inversion* (Proposition 12): two complete scans returned (0, 1) and
/// (1, 0).
///
/// The first must come before i switches and after j does, the second after i switches and before j
/// does, in either order of time. Its language is
///
/// ```text
/// Σ* res scan(0, 1) Σ* res scan(1, 0) Σ*  |  Σ* res scan(1, 0) Σ* res scan(0, 1) Σ*
/// ```
///
/// The scanner does not matter: O(1) states, O(n) transitions.
#[must_use]
pub fn inversion(alphabet: Alphabet) -> Nfa {
    const SCAN_01: Symbol = Symbol::RespondScan { at_i: false, at_j: true };
    const SCAN_10: Symbol = Symbol::RespondScan { at_i: true, at_j: false };

    let mut nfa = Nfa::new("M1", alphabet);
    let start = nfa.add_initial("start");
    nfa.connect(start, start, |_| true);
    let accept = nfa.add_accepting("inversion");
    for (first, second, name) in
        [(SCAN_01, SCAN_10, "scan returned 01"), (SCAN_10, SCAN_01, "scan returned 10")]
    {
        let one = nfa.add_state(name.to_owned());
        nfa.connect(start, one, |letter| letter.symbol() == first);
        nfa.connect(one, one, |_| true);
        nfa.connect(one, accept, |letter| letter.symbol() == second);
    }
    nfa.build()
}
