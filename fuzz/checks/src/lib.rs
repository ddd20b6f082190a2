//! From arbitrary bytes to all inputs of the programs: histories, words, recordings, logs,
//! algorithms, certificates, traces, checkpoints and messages; and checks of each. The fuzz targets
//! are one line each; their work is here, so that it can be tested without a fuzzer.
//!
//! Every `check` panics with the input and the disagreement, in words that a
//! person can follow.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod algorithm;
pub mod checkpoint;
mod choices;
pub mod cli;
pub mod history;
pub mod import;
pub mod parse;
pub mod proof;
#[cfg(test)]
mod seeds;
pub mod simple;
#[cfg(test)]
mod smoke;
pub mod trace;
