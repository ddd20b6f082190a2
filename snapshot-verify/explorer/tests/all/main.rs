//! All external tests of the crate in a single program, which is linked only once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod explore;
mod instance;
mod passes;
