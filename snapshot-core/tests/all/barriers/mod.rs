//! The number of barriers that violations need: the definition, by brute force on all small
//! histories, against [`snapshot_core::generic::weaken`], and the table of `docs/barriers.md`.
//!
//! `SNAPSHOT_EFFORT=night` counts the whole table (some minutes); by default its rows end
//! one operation earlier where they are long.

mod definition;
mod objects;
mod orders;
mod queues;
mod table;
mod theorem;
mod weaken;
