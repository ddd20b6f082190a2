//! M2: a scan sees less than an earlier one.

use super::nfa::{Alphabet, Nfa};
use crate::simple::{Switching, Symbol};

/// M2, *decrease* (Proposition 13): S1 < S2, and S2 returned 0 where S1
/// returned 1.
///
/// The automaton guesses the segment l, the response of S1, then the invocation of S2, and
/// remembers the process of S2. Its language is the union, over l in {i, j} and the processes p, of
///
/// ```text
/// Σ* res scan(1 at l) Σ* inv scan_p (Σ \ Σ_p)* res scan_p(0 at l) Σ*
/// ```
///
/// O(n) states; each of them waits on the letters of all processes except one: O(n²) transitions.
#[must_use]
pub fn decrease(alphabet: Alphabet) -> Nfa {
    let mut nfa = Nfa::new("M2", alphabet);
    let start = nfa.add_initial("start");
    nfa.connect(start, start, |_| true);
    let accept = nfa.add_accepting("decrease");
    for segment in Switching::BOTH {
        let seen = nfa.add_state(format!("S1 saw 1 at {segment}"));
        nfa.connect(start, seen, |letter| letter.symbol().returns(segment, true));
        nfa.connect(seen, seen, |_| true);
        for process in alphabet.all_processes() {
            let open = nfa.add_state(format!("S2 of p{process} open, watched at {segment}"));
            nfa.connect(seen, open, |letter| {
                letter.process() == process && letter.symbol() == Symbol::InvokeScan
            });
            nfa.connect(open, open, |letter| letter.process() != process);
            nfa.connect(open, accept, |letter| {
                letter.process() == process && letter.symbol().returns(segment, false)
            });
        }
    }
    nfa.build()
}
