//! Proofs that a snapshot algorithm is linearizable for every number n >= 2 of processes,
//! for every pair of segments and any number of operations, from its checked program.
//!
//! Level-1 thread-modular proofs (Flanagan and Qadeer, SPIN 2003; Hoenicke, Majumdar and
//! Podelski, POPL 2017) over views of the crowd of processes. `docs/every-n.md` has the
//! theory, and the proof that it is sound.
//!
//! | module | content |
//! | --- | --- |
//! | [`shape`] | types as rows of bytes, and the meaning of each byte |
//! | [`term`], `evaluate` | expressions, with three-valued logic |
//! | [`compile`], [`model`] | from a program to the instructions and bytes of an obligation |
//! | `links`, `lost` | links to LL/SC cells, and processes that have lost theirs |
//! | `liveness`, [`faint`], [`decided`], `known`, `flow`, `relevance` | dead and kept bytes |
//! | `merge` | rounds of loops that count as rounds of any other process |
//! | [`rounds`] | ghost scans of several processes |
//! | [`names`], `returns` | named rows of arrays, and merged calls |
//! | [`flips`] | bits of which only the relation matters |
//! | [`run`] | steps of one process, in loops over the crowd too |
//! | [`view`] | views, and the centre that they share |
//! | [`prove`] | the least closed set of views |
//! | [`ladder`], `rungs` | the obligations tried, and their order |
//! | [`tell`] | reports in words |
//!
//! Internal to `snapshot-verify`, whose `answer` is the entry point: nothing here is a
//! stable interface.
//!
//! This crate depends on the language and on the observer of simple histories, and on
//! neither the explorer nor a reduction: a mistake there cannot be repeated here.
//!
//! ```
//! # let text = "\
//! # algorithm bowman
//! # shared active: process or none := none
//! # shared a[segment]: value
//! # update(v):
//! #     active := none
//! #     a[me] := v
//! # scan:
//! #     local copy[segment]: value
//! #     repeat
//! #         active := me
//! #         for s in segments: copy[s] := a[s]
//! #     until active = me
//! #     return copy
//! # ";
//! use snapshot_everyn::ladder::{Budget, prove_all};
//!
//! let program = snapshot_language::parse("bowman.snapshot", text)?.program(None)?;
//! let budget = Budget { bytes: 1 << 29, ..Budget::default() };
//! assert!(prove_all(&program, budget).proved);
//! # Ok::<(), snapshot_language::Diagnostics>(())
//! ```

#![forbid(unsafe_code)]

pub mod compile;
pub mod decided;
mod evaluate;
pub mod export;
pub mod faint;
pub mod flips;
mod flow;
mod known;
pub mod ladder;
mod links;
mod liveness;
pub mod lost;
mod merge;
pub mod model;
pub mod names;
pub mod prove;
mod relevance;
mod returns;
pub mod rounds;
pub mod run;
mod rungs;
pub mod shape;
pub mod tell;
pub mod term;
pub mod view;
