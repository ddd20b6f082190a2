//! All tests of the crate from outside, in one program: it is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod certificates;
mod choices;
mod commands;
mod convert;
mod damaged;
mod documented;
mod hostile;
mod immediate;
mod imports;
mod inputs;
mod kit;
mod layers;
mod limits;
mod malformed;
mod many_writers;
mod monitor;
mod named;
mod names;
mod objects;
mod packages;
mod pages;
mod partial_scans;
mod proofs;
mod python;
mod release;
mod round_trip;
mod samples;
mod shares;
mod synchronisation;
mod two_threads;
