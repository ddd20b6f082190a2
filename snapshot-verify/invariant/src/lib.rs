//! Proofs for every n: sets of views that are closed under all steps, their certificates, and the
//! check of these.
//!
//! [`search`] closes a set of views (docs/theory/every-n.md): those of the initial state, and the
//! views that steps lead to, by the program's instructions with unknown values, until a step goes
//! wrong or there are no more. [`write()`] lists the set as a certificate, and [`check`](check())
//! confirms without a search that the initial views are listed, that every step from a listed view
//! leads to listed ones, and that no step goes wrong. The set is inductive, so it has the views of
//! all states of all n. Both take steps by the same rules.
//!
//! Guesses say which scalars are kept, where locals are forgotten, where updates take effect, which
//! calls are ghost scans, and which bits are listed relative to each other. They come from
//! `snapshot-hints` or from a certificate, and cannot make a proof wrong.
//!
//! | module | content |
//! | --- | --- |
//! | [`byte`], [`layout`] | meaning and location of each byte of a view |
//! | [`evaluate`], [`step`], `ghosts`, `rounds` | steps of one process, values unknown |
//! | [`decided`] | scalars that conditions do not need |
//! | [`names`] | the row of an array that is in use |
//! | [`clock`], [`cursor`] | counters relative to one cell; as positions among the processes |
//! | [`flips`] | bits of which only the relation to others is listed |
//! | [`centre`], [`interference`] | shared part of the views of one state, and interference |
//! | [`views`], [`recall`] | kinds of views, valid rows, initial views, all steps from a view |
//! | [`asks`] | the budget, also within a step |
//! | [`claim`], [`text`], [`check`](mod@check) | the file, and its check |
//! | [`smt`] | the same as conditions for solvers |
//! | `rewriting` | the program that it is about, if that is rewritten |
//! | `liveness`, [`search`], [`trace`], [`write`](mod@write), [`file`](mod@file) | closing and writing; nothing that the check uses |
//!
//! Internal to `snapshot-verify`: nothing here is a stable interface. Depends on the language, on
//! the instructions of the interpreter and on the observer of simple histories.

#![forbid(unsafe_code)]

pub mod asks;
pub mod byte;
pub mod centre;
pub mod check;
pub mod claim;
pub mod clock;
pub mod cursor;
pub mod decided;
pub mod evaluate;
pub mod file;
pub mod flips;
mod ghosts;
pub mod interference;
pub mod layout;
mod liveness;
pub mod names;
pub mod projection;
pub mod recall;
mod rewriting;
mod rounds;
pub mod search;
pub mod smt;
pub mod step;
pub mod text;
pub mod trace;
pub mod views;
pub mod write;

pub use check::check;
pub use snapshot_semantics::certificate::{Budget, Unfinished, digest};
pub use write::write;
