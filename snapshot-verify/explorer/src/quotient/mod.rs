//! Quotients: functions from states to canonical states, derived from an instance.
//!
//! The search knows only their contracts, the traits of [`canonical`](crate::search::canonical).

pub mod canonical_renaming;
pub mod dead_cells;
pub mod process_symmetry;
