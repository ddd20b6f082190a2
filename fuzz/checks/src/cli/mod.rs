//! Any bytes from another process. No library has these parts of the programs: they are compiled
//! here once more, under the same names.

pub mod cluster;
pub mod lsp;

#[path = "../../../../snapshot-test/src/cli/result.rs"]
mod result;
