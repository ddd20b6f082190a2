//! What is measured, on which inputs, against which targets.
//!
//! A number without its input and its answer says nothing. So a [`Row`] is an
//! input made from a fixed seed, the work on it, and a [`Digest`] of both input
//! and answer. The digest is printed before anything is measured; at the smoke
//! [`Size`] it must be the one in `digests.json`, which a test checks too. A
//! change that makes a row faster and its answer different is found at once.
//!
//! | where | what |
//! | --- | --- |
//! | `cargo bench -p benches` | every row under criterion, one bench file per kind of work |
//! | `cargo run --release -p benches --bin targets` | every row against its target, ratios measured in the same run |
//! | `cargo run --release -p benches --bin whole-process` | the checker as a command against `wc -l`, and the monitor's memory |
//! | `cargo run --release -p benches --bin tables -- ...` | the published tables, peers and growth: see [`tables`], [`record`], [`mod@render`] |
//! | `cargo run --release -p benches --bin compare -- COMMIT` | two commits, by ratio |
//! | `cargo test -p benches` | the smoke digests, and that the checks take linear time |
//!
//! Sizes are small unless `SNAPSHOT_BENCH_SIZE=full`: see [`Size`].
//!
//! This crate may depend on all others, and none on it. What it measures, it
//! calls as a user would; it has no access to anything private.
#![forbid(unsafe_code)]

mod digest;
mod expected;
mod fit;
mod measure;
pub mod meeting;
pub mod method;
pub mod model;
pub mod process;
pub mod published;
pub mod record;
pub mod render;
mod row;
pub mod rows;
mod size;
mod stream;
pub mod tables;
mod target;
pub mod text;

pub use digest::Digest;
pub use expected::{DigestError, expected};
pub use fit::exponent;
pub use measure::{bench, fastest, median};
pub use row::{Announcement, Row};
pub use size::{Size, SizeError};
pub use stream::{Stream, half_scans};
pub use target::{Outcome, Target, conclude, report};
