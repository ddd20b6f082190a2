//! All tests of the crate from outside, in one program: it is linked once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic is how a test fails")]

mod automata;
mod barriers;
mod chosen_values;
mod immediate;
mod judge;
mod objects;
mod observation;
mod synchronisation;
