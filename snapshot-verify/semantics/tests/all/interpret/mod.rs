//! The interpreter and its clients: replays, walks, enumeration, refinement, counterexamples.

mod bowman;
mod cells;
mod counterexamples;
mod meaning;
mod methods;
mod points;
mod specification;
mod steps;
mod texts;
mod traces;
mod traps;
mod walks;
