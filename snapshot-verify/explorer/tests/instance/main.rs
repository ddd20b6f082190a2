//! Instances, and the reductions that propagate constants and fuse steps.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod errors;
mod invariants;
mod lockstep;
mod passes;
mod programs;
mod reference;
mod shapes;
mod verdicts;
