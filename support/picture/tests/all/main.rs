//! All integration tests of the crate, in one program, so that it is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod browser;
mod folded;
mod forced;
