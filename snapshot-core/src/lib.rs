//! The theory of atomic-snapshot histories, as code.
pub mod certificate;
pub mod history;
mod id;
pub mod renaming;
pub mod verdict;

pub use history::History;
pub use id::{IdError, OperationId, Process, Segment};
