//! Hints for proofs for every n (docs/every-n.md): which sets of views are tried, and what their views keep,
//! forget and merge. The sets are closed and checked by `snapshot-invariant`, and hints need no
//! trust: whatever they say, a wrong program is not proved.
//!
//! | module | content |
//! | --- | --- |
//! | [`ways`], [`guess`] | what is shown together: with what analyses find, and with everything kept |
//! | [`ladder`], `attempt`, [`rungs`] | the ways tried, and their order |
//! | [`report`] | reports in words |
//! | `shape`, `term`, `compile`, `model` | a program as instructions over bytes |
//! | `liveness`, `flow`, `relevance`, `known`, `decided` | dead and kept bytes |
//! | `cursors` | counters of which processes are computed |
//! | `merge` | rounds of loops that count as rounds of any other process |
//! | `links`, `names`, [`rounds`] | links to LL/SC cells, named rows of arrays, ghost scans of several processes |
//! | `flips` | bits of which only the relation matters |
//! | `export` | hints by name, as the engine takes them |
//!
//! Internal to `snapshot-verify`: nothing here is a stable interface.
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
//! use snapshot_hints::ladder::{Budget, prove_all};
//!
//! let program = snapshot_language::parse("bowman.snapshot", text)?.program(None)?;
//! let answer = prove_all(&program, Budget { bytes: 1 << 29, ..Budget::default() });
//! assert!(answer.is_proved() && answer.is_hinted);
//! # Ok::<(), snapshot_language::Diagnostics>(())
//! ```

#![forbid(unsafe_code)]

mod attempt;
mod compile;
mod cursors;
mod decided;
mod export;
mod flips;
mod flow;
pub mod guess;
mod known;
pub mod ladder;
mod links;
mod liveness;
mod merge;
mod model;
mod names;
mod relevance;
pub mod report;
pub mod rounds;
pub mod rungs;
mod shape;
mod term;
pub mod ways;
