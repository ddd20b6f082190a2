//! Shared support for tests: programs run from outside in bounded time and memory, and the effort
//! of tests.
//!
//! For tests only: all failures panic. Programs run on systems with `sh` and `ulimit`.
#![forbid(unsafe_code)]

pub mod effort;
#[cfg(target_os = "linux")]
pub mod lateness;
#[cfg(unix)]
pub mod network;
#[cfg(unix)]
pub mod pages;
#[cfg(unix)]
mod program;

#[cfg(unix)]
pub use program::*;
