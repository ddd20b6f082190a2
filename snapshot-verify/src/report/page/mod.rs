//! Answers as pages for a browser: one file, no network ([`snapshot_picture`]).
//!
//! An execution (a counterexample, a trace) becomes steps with all their changes, a timeline of its
//! operations, and the argument. A proof becomes the text of the algorithm with the contribution of
//! each statement, and the numbers. Strong linearizability becomes the tree of executions that
//! refutes it, progress its infinite executions. Each drawn execution of these is made again here,
//! and of the others judged, from its moves: pages have no other source.

mod answers;
mod execution;
mod judged;
mod proof;
mod properties;
mod steps;

pub(crate) use judged::{Judged, Violation};
pub(crate) use steps::{faulty, line, position, table};

pub use answers::{PageError, Subject, of_case, of_every};
pub use execution::{PageInput, of_execution};
pub use properties::{PropertyPageError, PropertySubject, of_progress, of_strong};
pub use snapshot_picture::page::{Answer, Page};
