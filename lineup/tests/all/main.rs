//! All tests of the crate from outside, in one program, which is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod agreement;
mod commands;
mod crashes;
mod hostile;
mod locks;
mod paper;
mod parking;
mod pitfalls;
mod plain;
mod reduction;
mod sequences;
mod snapshots;
mod spinning;
mod stand_in;
mod statics;
mod synchronisation;
mod unwinding;
mod wakeups;
