//! Inputs, methods and peers that are measured.
//!
//! | where | what |
//! | --- | --- |
//! | `benches/rows.rs` | the checks and the verifier under criterion |
//! | `tables` | the script that measures tables with this crate's program, and renders them |
//! | `tests/linear_time.rs` | the checks take linear time |
//!
//! This crate may depend on all others, and none on it. What it measures, it calls as a user would;
//! it has no access to anything private.
#![forbid(unsafe_code)]

pub mod bowman;
pub mod histories;
pub mod meeting;
pub mod methods;
pub mod process;
