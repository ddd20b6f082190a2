//! Memory allocated by this program. It is counted so that `--memory` limits the preparation of a
//! search as well as its states.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Returns the bytes in use. Preparations consist of small blocks, which take about a quarter more
/// than their contents.
pub fn allocated() -> u64 {
    let bytes = ALLOCATOR.allocated() as u64;
    bytes + bytes / 4
}
