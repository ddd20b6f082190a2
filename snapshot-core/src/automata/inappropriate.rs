//! M3: a scan that the updates do not allow.

use super::nfa::{Alphabet, Nfa};
use crate::simple::{Switching, Symbol};

/// M3, *inappropriate* (Proposition 15): some complete scan S satisfies one of
/// the cases of Lemma 14, where F_l is the first update of l to 1.
///
/// For l in {i, j}, k the other segment, and p any process:
///
/// ```text
/// (1)      S returned 0 at l, though F_l < S:
///          Σ* res update_l(1) Σ* inv scan_p (Σ \ Σ_p)* res scan_p(0 at l) Σ*
/// (2)      S returned 1 at l before F_l was invoked, or without it:
///          (Σ \ inv update_l(1))* res scan(1 at l) Σ*
///          or a value that no update wrote:
///          Σ* res scan(foreign) Σ*
/// (3), (4) S returned 0 at l and 1 at k, though F_l < F_k:
///          (Σ \ inv update_k(1))* res update_l(1) (Σ \ inv update_k(1))* inv update_k(1)
///              Σ* res scan(0 at l, 1 at k) Σ*
/// ```
///
/// As the first update to 1 to be invoked need not be the first to respond (its
/// outcome may be lost), "F_l has responded" is read as "some update of l to 1
/// has". Where updates of one segment are ordered, it is the same.
///
/// Case (3) does not constrain the invocation of S. The languages printed in the paper's appendix
/// (L3, L4 there) do, and miss the history in which S begins, then i switches, then j, and S
/// returns (0, 1); Lemma 14 itself is right. A scan that returns 1 at k before F_k is invoked is
/// left to case (2).
///
/// O(n) states: only case (1) remembers a process. O(n²) transitions.
#[must_use]
pub fn inappropriate(alphabet: Alphabet) -> Nfa {
    let mut nfa = Nfa::new("M3", alphabet);
    let start = nfa.add_initial("start");
    nfa.connect(start, start, |_| true);
    let accept = nfa.add_accepting("inappropriate");
    nfa.connect(start, accept, |letter| letter.symbol() == Symbol::RespondForeign);
    for segment in Switching::BOTH {
        let other = segment.other();
        let complete = Symbol::RespondUpdate { segment, value: true };
        let switches = Symbol::InvokeUpdate { segment, value: true };
        let other_complete = Symbol::RespondUpdate { segment: other, value: true };

        // (1)
        let overwritten = nfa.add_state(format!("F_{segment} complete"));
        nfa.connect(start, overwritten, |letter| letter.symbol() == complete);
        nfa.connect(overwritten, overwritten, |_| true);
        for process in alphabet.all_processes() {
            let open = nfa.add_state(format!("S of p{process} open after F_{segment}"));
            nfa.connect(overwritten, open, |letter| {
                letter.process() == process && letter.symbol() == Symbol::InvokeScan
            });
            nfa.connect(open, open, |letter| letter.process() != process);
            nfa.connect(open, accept, |letter| {
                letter.process() == process && letter.symbol().returns(segment, false)
            });
        }

        // (2)
        let unwritten = nfa.add_initial(&format!("F_{segment} not invoked"));
        nfa.connect(unwritten, unwritten, |letter| letter.symbol() != switches);
        nfa.connect(unwritten, accept, |letter| letter.symbol().returns(segment, true));

        // (3) where the segment is j, (4) where it is i.
        let before = nfa.add_state(format!("F_{other} complete, F_{segment} not invoked"));
        nfa.connect(unwritten, before, |letter| letter.symbol() == other_complete);
        nfa.connect(before, before, |letter| letter.symbol() != switches);
        let ordered = nfa.add_state(format!("F_{other} < F_{segment}"));
        nfa.connect(before, ordered, |letter| letter.symbol() == switches);
        nfa.connect(ordered, ordered, |_| true);
        nfa.connect(ordered, accept, |letter| {
            letter.symbol().returns(segment, true) && letter.symbol().returns(other, false)
        });
    }
    nfa.build()
}
