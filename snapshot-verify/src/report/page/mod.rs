//! Answers as pages for a browser: one file, no network ([`snapshot_picture`]).
//!
//! An execution - a counterexample, a trace - becomes steps with all that they changed, its
//! operations on a line of time, and the argument. A proof becomes the text of the
//! algorithm with what each statement contributes, and the numbers. What is drawn is
//! judged here once more, from the moves: pages are made of nothing else.

mod answers;
mod execution;
mod proof;
mod steps;

pub use answers::{PageError, Subject, of_case, of_every};
pub use execution::{PageInput, of_execution};
pub use snapshot_picture::page::{Answer, Page};
