//! The explorer on instances made by hand.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod abandoned;
mod alike;
mod ample;
mod antichain;
mod bowman;
mod budget;
mod canonical;
mod counters;
mod counts;
mod hidden;
mod meaning;
mod narrow;
mod oracle;
mod passes;
mod published;
mod random;
mod recall;
mod reductions;
mod self_check;
mod symmetry;
