//! Pictures and pages that explain histories of atomic snapshot objects.
//!
//! A few operations become a [`Diagram`]: intervals on a timeline, a row per process, with the
//! order that their results force. It is drawn as [`svg`], [`dot`] or [`latex`] (in characters,
//! `snapshot-core` draws it). A whole history, of up to millions of operations, becomes a [`page`]:
//! one HTML file that needs no network and no other file.
//!
//! ```
//! use snapshot_core::Names;
//! use snapshot_core::history::{Declaration, History};
//! use snapshot_picture::{Diagram, svg};
//!
//! let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
//! history.invoke_update(0, 0, 7).unwrap();
//! history.invoke_scan(1).unwrap();
//! history.respond_update(0).unwrap();
//! history.respond_scan(1, &[7, 0]).unwrap();
//! let diagram = Diagram::of_history(&history.finish(), &Names::default());
//! assert_eq!(diagram.bars[1].label(), "S1: scan [7, 0]");
//! assert!(svg::standalone(&diagram, "two operations").contains("S1: scan [7, 0]"));
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`diagram`] | operations as intervals, and their forced order |
//! | [`forced`] | derivation of that order from a violation's reason |
//! | `exchanges` | diagrams of an immediate snapshot |
//! | `operations` | diagrams of named operations of any object |
//! | [`svg`], [`dot`], [`latex`], [`text`] | a diagram, drawn |
//! | [`run`] | the run of an automaton, drawn |
//! | [`columns`] | a whole history in few bytes, for a script |
//! | [`page`] | the page |
//!
//! The crate knows no file, no format of histories and no algorithm. Its inputs are untrusted text:
//! every output escapes it for its own syntax.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod columns;
pub mod diagram;
pub mod dot;
mod exchanges;
pub mod forced;
pub mod latex;
mod operations;
pub mod page;
mod places;
pub mod run;
pub mod svg;
pub mod text;

pub use diagram::{Bar, Diagram};
pub use forced::Forced;
pub use operations::Named;
