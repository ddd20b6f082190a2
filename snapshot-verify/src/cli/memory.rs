//! The memory that this program has allocated: it counts itself, so that `--memory` holds
//! for what is prepared for a search as well as for its states.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The bytes that are in use. What is prepared lies in small blocks, which take about a
/// quarter more than they hold.
pub fn allocated() -> u64 {
    let bytes = ALLOCATOR.allocated() as u64;
    bytes + bytes / 4
}
