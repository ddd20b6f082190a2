//! Partial order reduction: steps that commute with all that other processes may do.

pub mod abstract_locations;
pub mod persistent_sets;
