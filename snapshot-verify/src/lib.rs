//! Verification of atomic-snapshot algorithms: pseudocode in, a proof by exhaustive exploration or
//! a shortest counterexample out.
//!
//! A data-independent snapshot algorithm is linearizable iff all of its (i, j)-simple executions
//! are (Amram et al., DISC 2022, Theorem 5). A small observer decides on the fly whether a simple
//! execution is linearizable ([`snapshot_core::observer`]). So an algorithm is verified by
//! exploring, for every pair (i, j), the product of the algorithm under the most general client
//! with that observer.
//!
//! [`answer`] is the entry point: from a text and a [`Request`] to the [`Answer`]. All other public
//! items serve the program `snapshot-verify`, the benches and the tests; they are hidden from this
//! documentation and may change at any time.
//!
//! Stages of an algorithm through the crates:
//!
//! | stage | crate | result |
//! | --- | --- | --- |
//! | tree, program | `snapshot-language` | source text to a checked program; bug variants |
//! | instance | `snapshot-explorer` | for n, i, j: a graph of steps per process over scalar slots |
//! | passes | `snapshot-explorer` | the same, with irrelevant state removed and steps fused |
//! | search | `snapshot-explorer` | packed states: verified, a violation, or unknown |
//! | replay | `snapshot-interpreter` | counterexamples, by an interpreter that shares no code |
//!
//! This crate knows no history format and nothing of `snapshot-test`.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod explore;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod verify;

use snapshot_explorer::quotient;
#[doc(hidden)]
pub use snapshot_explorer::{deadline, export, instance, limits, search};
#[doc(hidden)]
pub use snapshot_invariant as invariant;
#[doc(hidden)]
pub use snapshot_language as language;
#[doc(hidden)]
pub use snapshot_language::program;
#[doc(hidden)]
pub use snapshot_semantics::{
    certificate, counterexample, coverability, enumerate, exercise, interpret, object, progress,
    refine, strategy, strong,
};

pub use counterexample::Counterexample;
pub use language::Diagnostics;
pub use search::SelfCheck;
pub use verify::{
    Answer, AnswerError, Measures, Method, Operations, Outcome, Pairs, Reductions, Request,
    Verdict, VerifyError, answer,
};
