//! Tests of instances, and of the reductions that propagate constants and fuse steps.
mod errors;
mod invariants;
mod lockstep;
mod programs;
mod reference;
mod shapes;
mod verdicts;
