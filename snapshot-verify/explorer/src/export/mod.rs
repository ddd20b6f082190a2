//! Exports instances with the observer as models for other model checkers: second opinions on
//! [`crate::search`], state by state.
//!
//! A model has the slots of the instance, the locations of processes, and a reimplementation of the
//! observer of [`snapshot_core::observer`]. One move of a process is one transition, so it has the
//! same states as a search without canonical forms (symmetry, renaming, antichain, dead cells,
//! persistent sets). There are two exceptions. Versions: here a fresh version is the smallest
//! positive number that no slot holds (0 is the initial version, which variables may hold again).
//! Counters: they grow, so the states are finite only if operations are bounded.

mod names;
pub mod promela;
pub mod tla;

use thiserror::Error;

use crate::instance::Instance;

/// The greatest length of a model in bytes. Other model checkers need a hundred times as much
/// memory.
pub const LONGEST: usize = 8 << 20;

/// The greatest number of operations per process in a model.
pub const OPERATIONS: u32 = 255;

/// Why an instance has no model.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ExportError {
    /// The model is too long.
    #[error(
        "the model is longer than {} MiB: take fewer processes, or more of the reductions that a \
         model can have (constant, dead, shrink)",
        .limit >> 20
    )]
    TooLong {
        /// [`LONGEST`]
        limit: usize,
    },
    /// The instance has reactions, which only some reductions make.
    #[error("an instance with reactions has no model: leave out the reduction `decided`")]
    Reactions,
    /// There are too many operations to count.
    #[error("a model counts at most {limit} operations of each process")]
    Operations {
        /// [`OPERATIONS`]
        limit: u32,
    },
}

/// Checks that the instance has a model, regardless of its length.
fn check(instance: &Instance, operations: Option<u32>) -> Result<(), ExportError> {
    if operations.is_some_and(|operations| operations > OPERATIONS) {
        return Err(ExportError::Operations { limit: OPERATIONS });
    }
    let mut locations = instance.graphs.iter().flat_map(|graph| &graph.locations);
    match locations.any(|standing| !standing.reactions.is_empty()) {
        true => Err(ExportError::Reactions),
        false => Ok(()),
    }
}

/// Returns a description of the model, in one line.
fn about(instance: &Instance, operations: Option<u32>) -> String {
    let [i, j] = instance.pair.map(|process| process.index());
    let bound = match operations {
        None => "any number of operations".to_owned(),
        Some(bound) => format!("at most {bound} operations of each process"),
    };
    format!("n = {}, all ({i},{j})-simple executions, {bound}.", instance.processes)
}
