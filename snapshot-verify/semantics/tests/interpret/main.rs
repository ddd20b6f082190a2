//! The interpreter and what rests on it: replays, walks, enumeration,
//! refinement, counterexamples.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bowman;
mod cells;
mod meaning;
mod methods;
mod points;
mod specification;
mod steps;
mod telling;
mod texts;
mod traces;
mod traps;
mod walks;
