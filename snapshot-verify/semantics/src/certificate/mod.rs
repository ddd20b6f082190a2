//! Certificates of proofs: a set of states that every execution stays in, and an independent check
//! of it.
//!
//! A proof by exploration rests on the reductions that keep the exploration small. A certificate
//! does not. It lists states of the *interpreter*, with states of the automata that recognise
//! violations. [`check`] confirms, by the program as written, that
//!
//! 1. the initial state is covered by the list,
//! 2. every move from a covered state leads to a covered one and is not a fault,
//! 3. no covered state is accepting.
//!
//! So the covered states are an inductive invariant, and no simple execution of the pair is a
//! violation. If all pairs are covered and the algorithm does not look at values, no execution is a
//! violation (Amram et al., DISC 2022, Theorem 5); the check tests this premise, too. Namjoshi,
//! *Certifying model checkers*, CAV 2001, describes certificates of this kind.
//!
//! **States covered by a list.** ([`Coverage`])
//!
//! * *exact*: the listed states.
//! * *antichain*: also states with the same program state and a subset of the automata states. Any
//!   word that takes the subset to acceptance takes the whole set there. This is a property of sets
//!   of runs; it assumes nothing about the observer.
//! * *symmetry*: also permutations of the processes other than i and j. **Nothing is presumed
//!   symmetric**: the check makes the moves of each permutation of each listed state, and they must
//!   lead to covered states. So the set of all covered states is closed, even if
//!   permutations are not symmetries. If the program distinguishes processes where it matters, no
//!   list is closed. Symmetry saves space, not time.
//!
//! Other reductions have no certificate of this kind: *constant*, *dead*, *decided*, *shrink*,
//! *stale* and *ample* change the meaning of a state or a step, and *counters* replaces unbounded
//! numbers by classes that the interpreter does not know. So [`write()`] does not take the
//! explorer's states: it closes a list of its own under the interpreter's moves. Versions are
//! renamed in the order of their occurrence, which the check repeats; counters need a bound on the
//! operations.
//!
//! The explorer's observer is not used: [`judge`](self) runs the automata, and tests
//! compare the two methods.
//!
//! | file | content |
//! | --- | --- |
//! | `claim` | the claim of a certificate: its first lines |
//! | `judge` | sets of states of the automata |
//! | `system` | the moves of states in numbers, by the interpreter |
//! | `permutations` | permutations of the processes |
//! | `rows` | interned rows of numbers |
//! | `search` | the list, closed under moves |
//! | `write` | from an algorithm to its certificate |
//! | `lines` | lines of an untrusted text |
//! | `check` | the check |

mod check;
mod claim;
mod judge;
pub mod lines;
mod permutations;
mod planted;
mod rows;
mod search;
mod system;
mod write;

pub use check::{Accepted, Answer, Refusal, check};
pub use claim::{Claim, ClaimError, Coverage, digest, hexadecimal};
pub use write::{Failure, Summary, write};

/// Most processes that certificates with symmetry support: 720 permutations of the others.
const MOST_PERMUTED: usize = 8;

/// Limits on the cost.
pub struct Budget<'a> {
    /// In bytes.
    pub memory: u64,
    /// Called periodically; `false` ends the work.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// Reason for a missing answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// The memory was exhausted.
    Memory,
    /// The caller ended the work.
    Ended,
}

impl Unfinished {
    /// Name for machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Ended => "time",
        }
    }
}

impl Budget<'_> {
    /// Checks the limits against this many bytes in use.
    ///
    /// # Errors
    /// If the bytes exceed the limit, or the caller ends the work.
    pub fn spend(&mut self, bytes: usize) -> Result<(), Unfinished> {
        if bytes as u64 > self.memory {
            return Err(Unfinished::Memory);
        }
        if (self.proceed)() { Ok(()) } else { Err(Unfinished::Ended) }
    }
}
