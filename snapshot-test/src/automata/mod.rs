//! The automata of simple histories by name, and their runs on a recording.
//!
//! `snapshot-core` has the automata themselves. This module is for readers only; no check
//! depends on it.

mod run;

pub use run::{Change, Row, run};
use snapshot_core::automata::{Alphabet, Nfa, decrease, inappropriate, inversion, violation};

/// One of the nondeterministic automata.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Automaton {
    /// M1: two scans contradict each other.
    Inversion,
    /// M2: a scan sees less than one before it.
    Decrease,
    /// M3: a scan that the updates do not allow.
    Inappropriate,
    /// M1, M2 and M3 side by side.
    Union,
}

impl Automaton {
    pub const ALL: [Self; 4] = [Self::Inversion, Self::Decrease, Self::Inappropriate, Self::Union];

    /// Returns the name in tables and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inversion => "inversion",
            Self::Decrease => "decrease",
            Self::Inappropriate => "inappropriate",
            Self::Union => "union",
        }
    }

    pub fn over(self, alphabet: Alphabet) -> Nfa {
        match self {
            Self::Inversion => inversion(alphabet),
            Self::Decrease => decrease(alphabet),
            Self::Inappropriate => inappropriate(alphabet),
            Self::Union => violation(alphabet),
        }
    }
}
