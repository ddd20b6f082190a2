//! The theory of atomic-snapshot histories, as code.
//!
//! An *atomic snapshot* object has n segments; `update(v)` writes one segment,
//! `scan()` returns all of them at one instant. This crate decides whether a
//! recorded execution of such an object - a [`History`] - is linearizable, in
//! time linear in its length, and proves the answer.
//!
//! ```
//! use snapshot_core::history::{Declaration, History};
//! use snapshot_core::{check::check, search::Budget, verdict::Verdict};
//!
//! let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
//! history.invoke_update(0, 0, 7).unwrap(); // process 0 begins update(7) of segment 0
//! history.invoke_scan(1).unwrap();
//! history.respond_scan(1, &[7, 0]).unwrap(); // a scan sees it already
//! history.respond_update(0).unwrap();
//! let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
//! let report = check(&history.finish(), &mut budget);
//! assert!(matches!(report.verdict, Verdict::Linearizable(order) if order.len() == 2));
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`history`] | events, operations, recorded executions |
//! | [`check`] | the checker that chooses among those below |
//! | [`simple`], [`automata`], [`observer`] | (i, j)-simple histories, their three automata, and the automaton derived from them |
//! | [`linear`] | the linear-time check of whole histories |
//! | [`monitor`] | the same, event by event, in bounded memory |
//! | [`saturation`] | the polynomial check of histories whose updates overlap |
//! | [`search`] | exact search, where values are ambiguous or updates overlap |
//! | [`generic`] | the same question for any object, by its sequential specification |
//! | [`observation`] | judging executions of any object by its serial executions (Line-Up) |
//! | [`synchronisation`] | objects whose operations take effect together: channels, exchangers, barriers |
//! | [`immediate`] | the immediate snapshot: histories, the linear-time check, the monitor |
//! | [`object`] | the common interface of all kinds of objects |
//! | [`seeded`] | hash tables for keys that a recording chooses |
//! | [`verdict`], [`renaming`], [`explanation`] | answers, and how to tell them |
//! | [`certificate`] | the independent check of answers |
//!
//! The crate knows no file, no thread, no clock, no terminal, no algorithm.

#![warn(missing_docs)]

pub mod automata;
pub mod certificate;
mod chain;
pub mod check;
pub mod explanation;
pub mod generic;
pub mod history;
mod id;
pub mod immediate;
pub mod linear;
pub mod monitor;
mod names;
pub mod object;
pub mod observation;
pub mod observer;
pub mod renaming;
pub mod saturation;
pub mod search;
pub mod seeded;
mod sights;
pub mod simple;
pub mod synchronisation;
pub mod verdict;

pub use history::History;
pub use id::{IdError, OperationId, Process, Segment};
pub use names::Names;
