//! What both programs need of terminals, files and networks, and nothing of snapshots.
//!
//! * [`escape`]: text from outside cannot command a terminal;
//! * [`output`]: results and diagnostics, on outputs that may be full or closed;
//! * [`replacement`]: files that appear whole or not at all;
//! * [`fault`]: a panic is an exit code of its own;
//! * [`limited`]: small inputs, read in bounded memory;
//! * [`hosts`]: the file that names the processes of a cluster;
//! * [`join`]: where they listen, and which of them may join: those with the same key;
//! * [`socket`]: connections between them, watched by the system;
//! * [`ci`]: answers as JUnit XML and SARIF;
//! * [`quantity`]: budgets of bytes and seconds, as options have them;
//! * [`shell`]: completions and manual pages, from a command line's definition.
//!
//! ```
//! use snapshot_io::escape::{name, text};
//!
//! assert_eq!(text("\u{1b}[2Jverified\n"), "\\u{1b}[2Jverified\n");
//! assert_eq!(name("two\nlines"), "two\\u{a}lines");
//! ```
//!
//! Invariant: no function here panics because of what an input holds or what becomes
//! of an output.
#![forbid(unsafe_code)]

pub mod ci;
mod colour;
pub mod escape;
pub mod fault;
pub mod hosts;
pub mod join;
pub mod limited;
pub mod output;
pub mod quantity;
pub mod replacement;
pub mod shell;
pub mod socket;
