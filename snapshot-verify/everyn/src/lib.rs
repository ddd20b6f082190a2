//! Proofs that a snapshot algorithm is linearizable for every number n >= 2 of processes,
//! for every pair of segments and any number of operations, from its checked program.
//!
//! Level-1 thread-modular proofs (Flanagan and Qadeer, SPIN 2003; Hoenicke, Majumdar and
//! Podelski, POPL 2017) over views of the crowd of processes. `docs/theory/every-n.md` has the
//! theory, and the proof that it is sound.
//!
//! | module | content |
//! | --- | --- |
//! | [`compile`], [`model`], `returns`, `lost`, [`faint`] | a program, as `snapshot-hints` prepares it, and analyses of views |
//! | `evaluate` | expressions, with three-valued logic |
//! | [`run`] | steps of one process, in loops over the crowd too |
//! | [`view`], [`flips`] | views, and the centre that they share |
//! | [`prove`] | the least closed set of views |
//! | [`ladder`], [`rungs`] | the obligations tried, and their order |
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
mod evaluate;
pub mod faint;
pub mod flips;
pub mod ladder;
pub mod lost;
pub mod model;
pub mod prove;
mod returns;
pub mod run;
pub mod rungs;
pub mod view;

pub use snapshot_hints::{decided, export, flow, links, liveness, names, rounds, shape, term};
