//! Proofs that a snapshot algorithm is linearizable for every number of processes.

#![forbid(unsafe_code)]

pub mod compile;
mod evaluate;
mod liveness;
pub mod model;
pub mod prove;
mod relevance;
pub mod run;
pub mod shape;
mod term;
pub mod view;
