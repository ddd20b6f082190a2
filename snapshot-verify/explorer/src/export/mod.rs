//! Instances with the observer as models for other model checkers: second opinions on
//! [`crate::search`], state by state.
//!
//! A model has the slots of the instance, where each process stands, and the observer of
//! [`snapshot_core::observer`], which is written out once more. One move of a process is one
//! transition, so the states are those of a search without canonical forms (symmetry,
//! renaming, antichain, dead cells, persistent sets) of the same instance, and their number is
//! the same: unless there are versions, since a fresh one is here the smallest number from 1 on
//! that no slot holds (0 is the first version, which variables may come to hold again), or
//! counters, which grow: with some, only a bound on operations makes the states finite.

mod names;
pub mod promela;
pub mod tla;

use thiserror::Error;

use crate::instance::Instance;

/// The longest model, in bytes. Other model checkers need a hundred times that.
pub const LONGEST: usize = 8 << 20;

/// The most operations of each process in a model.
pub const OPERATIONS: u32 = 255;

/// Why there is no model.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ExportError {
    /// It would be too long.
    #[error(
        "the model is longer than {} MiB: take fewer processes, or more of the reductions that a \
         model can have (constant, dead, shrink)",
        .limit >> 20
    )]
    TooLong {
        /// [`LONGEST`]
        limit: usize,
    },
    /// It has reactions, which only some reductions make.
    #[error("an instance with reactions has no model: leave out the reduction `decided`")]
    Reactions,
    /// More operations than are counted.
    #[error("a model counts at most {limit} operations of each process")]
    Operations {
        /// [`OPERATIONS`]
        limit: u32,
    },
}

/// That there is a model of the instance, of any length.
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

/// What a model is of, in a line.
fn about(instance: &Instance, operations: Option<u32>) -> String {
    let [i, j] = instance.pair.map(|process| process.index());
    let bound = match operations {
        None => "any number of operations".to_owned(),
        Some(bound) => format!("at most {bound} operations of each process"),
    };
    format!("n = {}, all ({i},{j})-simple executions, {bound}.", instance.processes)
}
