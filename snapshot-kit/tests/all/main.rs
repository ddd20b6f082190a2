//! All integration tests of the crate, in one program, so that it is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod child;
mod controlled;
mod loom;
#[cfg(target_os = "linux")]
mod noise;
mod record;
mod redis;
mod stress;
