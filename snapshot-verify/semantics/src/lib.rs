//! Semantics of programs, executed as they are written.
//!
//! | module | content |
//! | --- | --- |
//! | [`interpret`] | one execution: steps, traces, replay, simulation; its own crate |
//! | [`refine`] | all executions against the normalised specification (FM 2009) |
//! | [`strong`] | strong linearizability: a game on the executions |
//! | [`strategy`] | certificates of strong linearizability, and their check |
//! | [`enumerate`] | all histories of small scope, judged by exact search |
//! | [`exercise`] | coverage of executions: statements, returns, hangs |
//! | [`progress`] | wait-freedom, lock-freedom, obstruction-freedom |
//! | [`object`] | histories and random executions of objects that a text declares |
//! | [`counterexample`] | an execution and its history, for display |
//! | [`coverability`] | linearizability of a finite anonymous object, for every n |
//!
//! Internal to `snapshot-verify`, whose `answer` is the entry point: the interfaces are not stable.
//!
//! This crate judges the findings of the explorer and never depends on it: it cannot repeat a
//! mistake in compilation, reductions or search.

#![forbid(unsafe_code)]

pub mod certificate;
mod contents;
pub mod counterexample;
pub mod coverability;
pub mod enumerate;
pub mod exercise;
mod graph;
pub mod object;
mod product;
pub mod progress;
pub mod refine;
pub mod strategy;
pub mod strong;

pub use snapshot_interpreter as interpret;
use snapshot_language as language;
use snapshot_language::program;
