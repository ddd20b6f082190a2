//! The explorer on instances made by hand.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

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
mod reductions;
mod self_check;
mod static_dead_cells;
mod symmetry;
mod transition_cache;
