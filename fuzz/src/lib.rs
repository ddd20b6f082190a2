//! From arbitrary bytes to histories, words and recordings, and what must hold
//! of each. The fuzz targets are one line each; all that they do is here, so
//! that it can be tested without a fuzzer.
//!
//! Every `check` panics with the input and the disagreement, in words that a
//! person can follow.
#![forbid(unsafe_code)]

pub mod agreement;
mod choices;
pub mod history;
pub mod parse;
pub mod simple;
