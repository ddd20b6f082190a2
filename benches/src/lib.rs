//! What is measured, on which inputs, and the published tables.
//!
//! A number without its input and its answer says nothing: see [`rows`].
//!
//! | where | what |
//! | --- | --- |
//! | `cargo bench -p benches` | every row under criterion, whose baselines compare two commits |
//! | `benches/ratios.py` | the commands against `wc -l`, and the monitor's memory |
//! | `cargo run --release -p benches --bin tables -- ...` | the published tables and peers: see [`tables`], [`record`], [`mod@render`] |
//! | `cargo test -p benches` | the smoke digests, and that the checks take linear time |
//!
//! Sizes are small unless `SNAPSHOT_BENCH_SIZE=full`: see [`Size`].
//!
//! This crate may depend on all others, and none on it. What it measures, it
//! calls as a user would; it has no access to anything private.
#![forbid(unsafe_code)]

mod digest;
pub mod meeting;
pub mod method;
pub mod model;
pub mod process;
pub mod published;
pub mod record;
pub mod render;
pub mod rows;
mod size;
pub mod tables;
pub mod text;

pub use digest::{Digest, expected};
pub use size::Size;
