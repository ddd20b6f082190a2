//! Executions of the interpreter, projected: for every tuple of processes, each state has
//! a view in the set that a proof is made of, and each step leads to a successor of it.
//!
//! The comparison shares no code with the steps of the proof: the interpreter runs the program,
//! `execution` records the past as the specification sees it, and `likeness` reads both. So this
//! tests the theorem of `docs/theory/every-n.md`, for any result of a proof: also for programs that
//! are not proved, up to where a failure was found.

mod execution;
mod follow;
mod holes;
mod likeness;
mod linked;
mod named;
mod programs;
mod random;
mod whole;
