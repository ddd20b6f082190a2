//! Certificates of proofs: a set of states that every execution stays in, and an
//! independent check of it.
//!
//! A proof by exploration rests on everything that makes the exploration small. A
//! certificate rests on none of it. It lists states of the *interpreter*, with states of
//! the automata that recognise violations, and [`check`] confirms, by the program as it is
//! written, that
//!
//! 1. the initial state is covered by the list,
//! 2. every move from a covered state leads to a covered one, and is no fault,
//! 3. no covered state is accepting.
//!
//! So the covered states are an inductive invariant, and no simple execution of the pair is
//! a violation. With all pairs of an algorithm that does not look at values, no execution
//! is (Amram et al., DISC 2022, Theorem 5); the check tests that premise, too. Certificates
//! of model checkers are of this kind: Namjoshi, *Certifying model checkers*, CAV 2001.
//!
//! **What a list covers.** ([`Coverage`])
//!
//! * *exact*: its states.
//! * *antichain*: also those with the same state of the program whose set of states of the
//!   automata is a subset: whatever word takes the subset to acceptance takes the whole
//!   set there. That is a property of sets of runs, and needs nothing of the observer's.
//! * *symmetry*: also those that a permutation of the processes other than i and j makes of
//!   them. **Nothing is presumed symmetric**: the moves of each permutation of each state
//!   on the list are made and must lead to covered states, so the set of all covered
//!   states is what is closed, whatever a permutation means. If the program tells processes
//!   apart where it matters, then no list is closed. This spares space, not time.
//!
//! Other reductions have no certificate of this kind: *constant*, *dead*, *decided*, *shrink*,
//! *stale* and *ample* change what a state or a step is, and *counters* replaces unbounded
//! numbers by classes of which the interpreter knows nothing. So [`write()`] does not take the
//! explorer's states: it closes a list of its own under the interpreter's moves. Versions
//! are renamed in the order of their occurrence, which the check does by itself; counters
//! need a bound on the operations.
//!
//! The explorer's observer is not used: [`judge`](self) runs the automata, and tests
//! compare the two methods.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `claim` | what a certificate claims, its first lines |
//! | `judge` | sets of states of the automata |
//! | `system` | the moves of states in numbers, by the interpreter |
//! | `permutations` | those of the processes |
//! | `rows` | rows of numbers, each once |
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

/// The most processes whose other processes are permuted: 720 permutations.
const MOST_PERMUTED: usize = 8;

/// What it may cost.
pub struct Budget<'a> {
    /// Bytes.
    pub memory: u64,
    /// Asked from time to time; `false` ends it.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// The memory did not suffice.
    Memory,
    /// It was ended.
    Ended,
}

impl Unfinished {
    /// Its name, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Ended => "time",
        }
    }
}

impl Budget<'_> {
    /// With this many bytes in use.
    ///
    /// # Errors
    /// If they are too many, or it is to end.
    pub fn spend(&mut self, bytes: usize) -> Result<(), Unfinished> {
        if bytes as u64 > self.memory {
            return Err(Unfinished::Memory);
        }
        if (self.proceed)() { Ok(()) } else { Err(Unfinished::Ended) }
    }
}
