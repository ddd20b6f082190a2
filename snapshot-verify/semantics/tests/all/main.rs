//! All integration tests of the crate in one program, which is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod certificate;
mod coverability;
mod interpret;
mod progress;
mod strong;
