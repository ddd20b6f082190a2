//! Judgement by serial histories, against the definitions of the paper taken literally.

mod automaton;
mod determinism;
mod explanations;
mod judged;
mod literal;
mod paper;
