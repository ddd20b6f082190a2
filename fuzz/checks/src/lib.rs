//! From arbitrary bytes to histories, words, recordings and algorithms, and what
//! must hold of each. The fuzz targets are one line each; all that they do is here, so
//! that it can be tested without a fuzzer.
//!
//! Every `check` panics with the input and the disagreement, in words that a
//! person can follow.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod algorithm;
mod choices;
pub mod history;
pub mod parse;
pub mod simple;
