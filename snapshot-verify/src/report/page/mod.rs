//! Answers as pages for a browser: one file, no network ([`snapshot_picture`]).
//!
//! An execution (a counterexample, a trace) becomes steps with all their changes, a timeline of its
//! operations, and the argument. A proof becomes the text of the algorithm with the contribution of
//! each statement, and the numbers. Each drawn execution is judged again here, from its moves:
//! pages have no other source.

mod answers;
mod execution;
mod judged;
mod proof;
mod steps;

pub(crate) use judged::{Judged, Violation};
pub(crate) use steps::{faulty, line, position, table};

pub use answers::{PageError, Subject, of_case, of_every};
pub use execution::{PageInput, of_execution};
pub use snapshot_picture::page::{Answer, Page};
