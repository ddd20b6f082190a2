//! The theory of atomic-snapshot histories, as code.
pub mod automata;
pub mod history;
mod id;
pub mod observer;
pub mod renaming;
pub mod simple;
pub mod verdict;

pub use history::History;
pub use id::{IdError, OperationId, Process, Segment};
pub mod check;
pub mod explanation;
pub mod linear;
pub mod monitor;
pub mod search;
