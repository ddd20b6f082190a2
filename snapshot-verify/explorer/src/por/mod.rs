//! Partial order reduction: steps that commute with all future steps of other processes.

pub mod abstract_locations;
pub mod persistent_sets;
