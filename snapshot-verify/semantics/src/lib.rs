//! Semantics of programs, executed as they are written.
//!
//! | module | content |
//! | --- | --- |
//! | [`interpret`] | one execution: steps, traces, replay, simulation; its own crate |
//! | [`refine`] | all executions against the normalised specification (FM 2009) |
//! | [`enumerate`] | all histories of small scope, judged by exact search |
//! | [`exercise`] | coverage of executions: statements, returns, hangs |
//! | [`object`] | histories and random executions of objects that a text declares |
//! | [`counterexample`] | an execution and its history, for display |
//!
//! Internal to `snapshot-verify`, whose `answer` is the entry point: the interfaces are not stable.
//!
//! This crate judges the findings of the explorer and never depends on it: it cannot repeat a
//! mistake in compilation, reductions or search.

#![forbid(unsafe_code)]

pub mod certificate;
pub mod counterexample;
pub mod enumerate;
pub mod exercise;
pub mod object;
pub mod refine;

pub use snapshot_interpreter as interpret;
use snapshot_language as language;
use snapshot_language::program;
