//! The input language of `snapshot-verify`: parses a text to a checked program or diagnostics.
//!
//! Internal to `snapshot-verify`, whose `answer` is the entry point: the interfaces are not stable.
//!
//! This crate knows neither the semantics that runs programs nor the explorer that compiles them.
//! Since both depend on it, the bounds on their work are defined here, too:
//! [`program::Program::check_extent`], and [`deadline`].

#![forbid(unsafe_code)]

pub mod deadline;
mod language;
pub mod program;

pub use language::{Algorithm, parse};
pub use language::{Bug, Diagnostic, Diagnostics, Expectation, ExpectedVerdict, Freedom, Strength};
pub use language::{Item, ItemKind, Meaning, MeaningText, outline};
pub use language::{Source, Span, format, nearest, tree};
