//! The three automata whose union accepts exactly the non-linearizable simple
//! histories (Amram et al., DISC 2022, Theorems 10 and 11).
//!
//! Each looks for one kind of evidence, and accepts at the response that
//! completes it:
//!
//! | automaton | evidence | states | transitions, n processes |
//! | --- | --- | --- | --- |
//! | [`inversion`] (M1) | two scans returned (0, 1) and (1, 0) | 4 | 68 n |
//! | [`decrease`] (M2) | a scan sees less than one before it | 2 n + 4 | 32 n² + 42 n |
//! | [`inappropriate`] (M3) | a scan and the first updates to 1 (Lemma 14) | 2 n + 10 | 32 n² + 143 n |
//!
//! The module defines them as the paper describes them, as values that can be counted, drawn
//! ([`Nfa::to_dot`]) and run ([`first_accepting_prefix`], [`accepting_run`]). They are the readable
//! form of the theory, and explain violations; fast paths run their determinisation,
//! [`crate::observer`].
//!
//! In the regular expressions below, Σ is the alphabet, Σ_p are its letters of
//! process p, x stands for any value, and a letter without process stands for
//! that letter by any process. The expressions are meant on well-formed words.

mod decrease;
mod determinise;
mod dot;
mod inappropriate;
mod inversion;
mod nfa;
mod simulation;

pub use decrease::decrease;
pub use determinise::{Dfa, DfaTooLarge};
pub use inappropriate::inappropriate;
pub use inversion::inversion;
pub use nfa::{Alphabet, AlphabetError, Nfa, State, StateId, Transition};
pub use simulation::{Simulation, accepting_run, first_accepting_prefix};

/// Returns the automaton of Theorem 11: a simple history is non-linearizable iff this automaton
/// accepts it. It is [`inversion`], [`decrease`] and [`inappropriate`] side by side.
///
/// It has 4 n + 18 states and 64 n² + 253 n transitions.
#[must_use]
pub fn violation(alphabet: Alphabet) -> Nfa {
    let parts = [inversion(alphabet), decrease(alphabet), inappropriate(alphabet)];
    Nfa::union("M", alphabet, &parts)
}
