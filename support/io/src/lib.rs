//! Terminals, files and networks for both programs; nothing about snapshots.
//!
//! * [`escape`]: untrusted text without commands to a terminal;
//! * [`output`]: results and diagnostics, on outputs that may be full or closed;
//! * [`replacement`]: files that appear completely or not at all;
//! * [`fault`]: an exit code for panics;
//! * [`limited`]: small inputs, read in bounded memory;
//! * [`hosts`]: the file that names the processes of a cluster;
//! * [`join`]: connections between these processes: only processes with the same key may join;
//! * [`socket`]: connections watched by the system;
//! * [`ci`]: answers as JUnit XML and SARIF;
//! * [`cli`]: arguments, answers and pages of a command line;
//! * [`quantity`]: options for budgets of bytes and seconds;
//! * [`shell`]: completions and manual pages, from a command line's definition.
//!
//! ```
//! use snapshot_io::escape::{name, text};
//!
//! assert_eq!(text("\u{1b}[2Jverified\n"), "\\u{1b}[2Jverified\n");
//! assert_eq!(name("two\nlines"), "two\\u{a}lines");
//! ```
//!
//! Invariant: no function here panics because of the contents of an input or the state of an
//! output.
#![forbid(unsafe_code)]

pub mod ci;
pub mod cli;
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
