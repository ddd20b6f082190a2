//! The interpreter and its clients: replays, walks, enumeration, refinement, counterexamples.

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
