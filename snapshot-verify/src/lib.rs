//! Verification of atomic-snapshot algorithms: pseudocode in, a proof by
//! exhaustive exploration or a shortest counterexample out.
//!
//! A data-independent snapshot algorithm is linearizable iff all of its
//! (i, j)-simple executions are (Amram et al., DISC 2022, Theorem 5), and
//! whether a simple execution is, a small observer decides on the fly
//! ([`snapshot_core::observer`]). So an algorithm is verified by exploring, for
//! every pair (i, j), the product of the algorithm under the most general
//! client with that observer.
//!
//! The way of an algorithm through this crate:
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | tree | [`language`] | source text to syntax tree, with positions; bug variants |
//! | program | [`program`] | names and types resolved, one shared access per statement |
//! | instance | [`instance`] | for given n, i, j: one graph of steps per process over scalar slots |
//! | sliced, steps | `passes` | the same, with what cannot matter removed and steps fused |
//! | layout | [`search::layout`] | where each slot lies in a packed state |
//! | - | [`search`] | the search: verified, a violation, or unknown |
//!
//! The `interpret` module runs a [`program`] directly and shares no code
//! with any stage after it: it replays every counterexample before it is shown.
//!
//! This crate knows no history format and nothing of `snapshot-test`.

pub mod report;
pub mod verify;

use snapshot_explorer::quotient;
pub use snapshot_explorer::{deadline, instance, search};
pub use snapshot_language as language;
pub use snapshot_language::program;
pub use snapshot_semantics::{certificate, counterexample, enumerate, exercise, interpret, refine};
