//! Executions of the interpreter, projected: for every tuple of processes, each state has
//! a view in the set that a proof is made of, and each step leads to a successor of it.
//!
//! What is compared shares no code with the steps of the proof: the interpreter runs the
//! program, `execution` keeps in mind what the specification does of its past, and
//! `likeness` reads both. So this is a test of the theorem of `docs/every-n.md`, whatever
//! a proof finds: of programs that are not proved, too, up to where a failure was found.

mod execution;
mod follow;
mod holes;
mod likeness;
mod linked;
mod named;
mod programs;
mod random;
mod whole;
