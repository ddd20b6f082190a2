//! Reductions: functions from instances to instances that explore less and
//! answer the same.
//!
//! Each is derived from the program, never written for an algorithm, and its
//! module says why it is sound. In the order in which they are applied:
//!
//! | reduction | module | what it does |
//! | --- | --- | --- |
//! | `constant` | [`sccp`] | removes what holds one scalar only, and what no process looks at |
//! | `shrink` | [`lipton`] | fuses invocations, responses and what commutes with accesses |
//! | `decided` | [`predicate_specialisation`] | tells apart what a process already knows to be decided, so that the rest of the work can take it into account |
//! | `dead` | [`dead_variable_reset`] | forgets what will not be read again |
//! | `counters` | [`link_copy_propagation`] | tells what is stored under an unbroken link by what the cell holds |
//! | `counters` | [`live_range_split`] | gives a variable a slot for each of its unrelated uses |
//! | `counters` | [`canonical_renaming`](crate::quotient::canonical_renaming) | keeps of versions, counters and anonymous bits what comparisons can distinguish |
//! | `symmetry` | [`process_symmetry`](crate::quotient::process_symmetry) | treats processes as interchangeable where the program does |
//! | `stale` | [`static_liveness`](crate::quotient::dead_cells::static_liveness) | forgets what cells hold that no process is on the way to read |
//! | `stale` | [`speculative`](crate::quotient::dead_cells::speculative) | forgets what cells hold that will be written over unread |
//! | `ample` | [`persistent_sets`](crate::por::persistent_sets) | takes steps at once that no process can interfere with any more |
//! | - | [`bisimulation`] | identifies locations with equal futures |
//!
//! The limits of each stand in docs/verification.md. None of them changes an answer.
//!
//! The partial order reduction is in two of them: `shrink` fuses what commutes with
//! everything that others can ever do, `ample` takes at once what does in the state at
//! hand. Where nothing is bounded little more does, as the most general client lets
//! every process begin any operation at any time.

pub mod bisimulation;
pub mod dead_variable_reset;
pub mod link_copy_propagation;
pub mod lipton;
pub mod live_range_split;
pub mod predicate_specialisation;
pub mod sccp;
mod step_fusion;
