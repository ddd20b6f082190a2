//! Dead cells: shared cells whose contents no process reads before they are overwritten.
//!
//! Two techniques find them: [`static_liveness`] proves it for an instance, [`speculative`] guesses
//! it from random walks and guards every read.

pub mod speculative;
pub mod static_liveness;
