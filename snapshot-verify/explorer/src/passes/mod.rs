//! Reductions: functions from instances to smaller instances with the same verdict.
//!
//! Each is derived from the program, never written for one algorithm, and its module proves its
//! soundness. [`crate::pipeline`] orders them.
//!
//! | reduction | module | effect |
//! | --- | --- | --- |
//! | `constant` | [`sccp`] | removes slots that hold one scalar only, and slots that no process
//! reads |
//! | `shrink` | [`lipton`] | fuses invocations, responses and commuting steps with accesses |
//! | `decided` | [`predicate_specialisation`] | splits locations by the known outcomes of later
//! tests, for use by the other reductions |
//! | `dead` | [`dead_variable_reset`] | resets variables that will not be read again |
//! | `counters` | [`link_copy_propagation`] | expresses values stored under an unbroken link by the
//! cell's content |
//! | `counters` | [`live_range_split`] | gives a variable a slot for each of its unrelated uses |
//! | `counters` | [`canonical_renaming`](crate::quotient::canonical_renaming) | keeps versions,
//! counters and anonymous bits only up to the outcome of comparisons |
//! | `symmetry` | [`process_symmetry`](crate::quotient::process_symmetry) | treats processes as
//! interchangeable where the program does |
//! | `stale` | [`static_liveness`](crate::quotient::dead_cells::static_liveness) | resets cells
//! that no process is on the way to read |
//! | `stale` | [`speculative`](crate::quotient::dead_cells::speculative) | resets cells that will
//! be overwritten unread |
//! | `ample` | [`persistent_sets`](crate::por::persistent_sets) | takes steps immediately that no
//! process can interfere with any more |
//! | - | [`bisimulation`] | merges locations with equal futures |
//!
//! The limits of each reduction are listed in docs/verification.md. No limit changes an answer.
//!
//! Partial order reduction is split in two: `shrink` fuses steps that commute with all possible
//! steps of others, `ample` takes steps immediately that commute in the state at hand. Without
//! bounds `ample` adds little, as the most general client lets every process begin any operation at
//! any time.

pub mod bisimulation;
pub mod dead_variable_reset;
pub mod link_copy_propagation;
pub mod lipton;
pub mod live_range_split;
pub mod predicate_specialisation;
pub mod sccp;
mod step_fusion;
