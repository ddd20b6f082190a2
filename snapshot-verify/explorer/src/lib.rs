//! Exhaustive exploration of a program's simple executions.
//!
//! | module | content |
//! | --- | --- |
//! | [`dataflow`] | one worklist for all analyses of graphs, and the analyses |
//! | [`deadline`] | the time limit of long computations |
//! | [`limits`] | the limits of techniques that a run reached |
//! | [`instance`] | for given n, i, j: one graph of steps per process over scalar slots |
//! | [`passes`] | reductions from instance to instance |
//! | [`quotient`] | reductions from state to canonical state |
//! | [`por`] | partial order reduction: which steps commute |
//! | [`search`] | packed states, and the breadth-first search of the product with the observer |
//! | [`reduction`] | the table of reductions, by name |
//! | [`export`] | an instance with the observer as a model for Spin, or for TLC |
//! | [`pipeline`] | the stages in their order, from a program to its exploration |
//!
//! This crate is internal to `snapshot-verify`, whose `answer` is the entry point: it has no stable
//! interface.
//!
//! The crate never depends on the semantics (interpreter, refinement), which check its findings;
//! only its tests compare the two.

#![forbid(unsafe_code)]

pub mod dataflow;
pub mod export;
pub mod instance;
pub mod limits;
pub mod passes;
pub mod pipeline;
pub mod por;
pub mod quotient;
pub mod reduction;
pub mod search;

pub use snapshot_language::deadline;

use snapshot_language as language;
use snapshot_language::program;
