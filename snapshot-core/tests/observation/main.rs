//! Judgement by serial histories, against the definitions of the paper taken literally.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod automaton;
mod determinism;
mod explanations;
mod judged;
mod literal;
mod paper;
