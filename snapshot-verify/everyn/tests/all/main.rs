//! All tests of the crate from outside, in one program, which is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod deadline;
mod halting;
mod hidden;
mod ladder;
mod links;
mod names;
mod projection;
mod recall;
mod rules;
mod shared_part;
mod verdicts;
