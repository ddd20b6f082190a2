//! The input language: the pseudocode of papers, close to how they print it.
//! `docs/language.md` describes it.
//!
//! [`parse`] makes an [`Algorithm`] of a text: the correct algorithm and its bug
//! variants, each of which [`Algorithm::program`] checks and lowers to a
//! [`Program`](crate::program::Program).
//!
//! ```
//! # let text = "\
//! # algorithm one_cell
//! # shared all_of_it: view
//! # update(v):
//! #     atomic: w := all_of_it; w[me] := v; all_of_it := w
//! # scan:
//! #     return all_of_it
//! # ";
//! let algorithm = snapshot_language::parse("one_cell.snapshot", text)?;
//! let program = algorithm.program(None)?;
//! assert_eq!(program.name, "one_cell");
//! # Ok::<(), snapshot_language::Diagnostics>(())
//! ```
//!
//! A text passes through these stages: symbols (`token`), lines and blocks (`indentation`), the
//! syntax tree ([`tree`]), and for each variant its edits (`bug`), names and types (`check`). Every
//! stage is total: for any text it returns a result or all errors that it found.

mod algorithm;
mod bug;
mod check;
mod declaration;
pub(crate) mod diagnostic;
mod expectation;
mod format;
mod indentation;
mod many_writers;
mod meaning;
mod nearest;
mod outline;
mod parser;
mod source;
mod span;
mod token;
pub mod tree;
mod written;

pub use algorithm::{Algorithm, parse};
pub use bug::Bug;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use expectation::{Expectation, ExpectedVerdict, Freedom, Strength};
pub use format::format;
pub use meaning::{Meaning, MeaningText};
pub use nearest::nearest;
pub use outline::{Item, ItemKind, outline};
pub use source::Source;
pub use span::Span;
