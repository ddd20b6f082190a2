//! `cargo lineup`: the compiler gives a stand-in for `std` to crates named in a package's
//! `Cargo.toml`, so that they run under Line-Up's scheduler as they were published.
//!
//! | module | content |
//! | --- | --- |
//! | [`wrapper`] | the program `lineup-rustc`, cargo's `RUSTC_WRAPPER`: adds the stand-ins |
//! | [`package`] | the package and its crates under control, by `cargo metadata` |
//! | [`build`] | stand-ins first, then the rest, in a target directory of its own |
//! | [`target`] | that directory, which several commands may want at a time |
//! | [`init`] | a new package for a crate |
//! | [`source`] | finds bare `thread_local!`, and gives it the path of the stand-in |
//!
//! This crate knows nothing of Line-Up itself: the program that it builds does.
#![forbid(unsafe_code)]

pub mod build;
mod error;
pub mod init;
pub mod package;
mod rewritten;
pub mod source;
pub mod target;
pub mod wrapper;

pub use error::Error;
