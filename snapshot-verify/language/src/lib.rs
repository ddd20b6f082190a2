//! The input language of `snapshot-verify`: text in, a checked program or
//! diagnostics out.
//!
//! Internal to `snapshot-verify`, whose `answer` is the entry point: nothing here is a
//! stable interface.
//!
//! The crate knows nothing of the future of a program: neither the semantics that
//! runs it nor the explorer that compiles it. All of them know it, so that what bounds their work is here,
//! too: [`program::Program::check_extent`], and [`deadline`].

#![forbid(unsafe_code)]

pub mod deadline;
mod language;
pub mod program;

pub use language::{Algorithm, parse};
pub use language::{Bug, Diagnostic, Diagnostics, Expectation, ExpectedVerdict};
pub use language::{Item, ItemKind, Meaning, MeaningText, outline};
pub use language::{Source, Span, format, tree};
