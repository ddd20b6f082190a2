//! The front end: texts to programs.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod anonymity;
mod errors;
mod format;
mod meaning;
mod places;
mod programs;
mod rewriting;
mod roundtrip;
mod texts;
mod total;
