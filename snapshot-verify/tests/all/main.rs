//! All integration tests of the crate, in one program, so that it is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod agreement;
mod barriers;
mod commands;
mod documented;
mod every_n;
mod exercise;
mod explore;
mod hostile;
mod layers;
mod marks;
mod objects;
mod points;
mod watchdog;
