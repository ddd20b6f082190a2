//! Exhaustive exploration of a program's simple executions.
//!
//! | module | content |
//! | --- | --- |
//! | [`dataflow`] | one worklist for all analyses of graphs |
//! | [`deadline`] | when whatever takes long must end |
//! | [`instance`] | for given n, i, j: one graph of steps per process over scalar slots |
//! | [`reduce`] | reductions: instance to instance, and state to canonical state |
//! | [`layout`] | the place of each slot in a packed state |
//! | [`explore`] | breadth-first search of the product with the observer |
//! | [`reduction`] | the table of reductions, by name |
//! | [`pipeline`] | the stages in their order, from a program to its exploration |
//!
//! The crate never depends on the semantics (interpreter, refinement), which judges
//! its findings; only its tests compare the two.

#![forbid(unsafe_code)]

pub mod dataflow;
pub mod deadline;
pub mod explore;
pub mod instance;
pub mod layout;
pub mod pipeline;
pub mod reduce;
pub mod reduction;

use snapshot_language as language;
use snapshot_language::program;
