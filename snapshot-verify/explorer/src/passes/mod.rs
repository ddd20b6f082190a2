//! Reductions: functions from instances to instances that explore less and
//! answer the same.
//!
//! Each is derived from the program, never written for an algorithm, and its
//! module says why it is sound. In the order in which they are applied:
//!
//! | reduction | module | what it does |
//! | --- | --- | --- |
//! | `constant` | [`sccp`] | removes what holds one scalar only, and what nobody looks at |
//! | `shrink` | [`lipton`] | fuses invocations, responses and what commutes with accesses |
//! | `decided` | [`predicate_specialisation`] | tells apart what a process already knows to be decided, so that the rest of the work can take it into account |
//! | `dead` | [`dead_variable_reset`] | forgets what will not be read again |
//! | `counters` | [`link_copy_propagation`] | tells what is stored under an unbroken link by what the cell holds |
//! | `counters` | [`live_range_split`] | gives a variable a slot for each of its unrelated uses |
//! | `counters` | [`canonical_renaming`](crate::quotient::canonical_renaming) | keeps of versions, counters and anonymous bits what can be told of them |
//! | `symmetry` | [`process_symmetry`](crate::quotient::process_symmetry) | treats processes as interchangeable where the program does |
//! | `stale` | [`static_liveness`](crate::quotient::dead_cells::static_liveness) | forgets what cells hold that nobody is on the way to read |
//! | `stale` | [`speculative`](crate::quotient::dead_cells::speculative) | forgets what cells hold that will be written over unread |
//! | `ample` | [`persistent_sets`](crate::por::persistent_sets) | takes steps at once that nobody can interfere with any more |
//! | - | [`bisimulation`] | identifies locations with equal futures |
//!
//! Limits beyond which a technique leaves a process, or an instance, as it is. None of
//! them changes an answer:
//!
//! | limit | of | beyond it |
//! | --- | --- | --- |
//! | 4,000 locations, 16,000 blocks | `decided`, per process | not by what only the process changes; then not at all |
//! | 64 conditions at a block, 200 nodes each | `decided` | the others are not tracked |
//! | 64 scalars | `decided`, handles of [`abstract_locations`](crate::por::abstract_locations) | a domain counts as unlimited |
//! | 2^16 places, 2^21 ways, 2^20 numbers | [`abstract_locations`](crate::por::abstract_locations), per process | neither `ample` nor [`static_liveness`](crate::quotient::dead_cells::static_liveness) |
//! | 128 cells | [`static_liveness`](crate::quotient::dead_cells::static_liveness) | links, and cells of little worth, are left out |
//! | 8 rounds | `shrink` with what it gives rise to | there is very little more |
//! | 256 steps at once, 1,024 reactions | the search | the state is explored as it is |
//! | 200 refutations | [`speculative`](crate::quotient::dead_cells::speculative) | nothing is forgotten |
//!
//! The partial order reduction is in two of them: `shrink` fuses what commutes with
//! everything that others can ever do, `ample` takes at once what does in the state at
//! hand. Where nothing is bounded little more does, as the most general client lets
//! everybody begin any operation at any time.

pub mod bisimulation;
mod cone_of_influence;
pub mod dead_variable_reset;
pub mod link_copy_propagation;
pub mod lipton;
pub mod live_range_split;
pub mod predicate_specialisation;
pub mod sccp;
mod step_fusion;
