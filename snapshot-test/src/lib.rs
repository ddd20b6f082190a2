//! Recordings of atomic snapshot objects: reading, writing, converting and judging them.
//!
//! A recording is a history in the sense of [`snapshot_core`]: a sequence of invocations and
//! responses. It comes from a real object, through [`record::Recorder`] of the kit, from a file in
//! one of three [formats](mod@format), or from a generator that knows the answer
//! ([`mod@generate`]); [`conformance`] tests the checker with such answers. This crate reads files
//! and starts threads, so that `snapshot-core` need not; it knows no algorithm.
//!
//! ```
//! use snapshot_test::format::Reader;
//! use snapshot_test::{Value, read_history};
//!
//! let recording = "p0 update 5\np1 scan\np0 ok\np1 ok 5 0\n";
//! let (history, locations) = read_history(Reader::text(recording.as_bytes())?)?;
//! assert_eq!(history.segments(), 2);
//! assert_eq!(history.scan_values(&history.operations()[1])[0], Value::from(5));
//! assert_eq!(locations[3].line, 4);
//! # Ok::<(), snapshot_test::InputError>(())
//! ```
#![forbid(unsafe_code)]

pub mod automata;
pub mod certificate;
pub mod conformance;
pub mod convert;
mod error;
pub mod explain;
pub mod format;
pub mod generate;
pub mod import;
pub mod input;
pub mod judge;
mod kind;
pub mod monitor;
mod origins;
mod read;
pub mod rename;
pub mod report;
mod stamp;
pub mod synchronisation;

pub use error::{InputError, InputErrorKind};
pub use kind::{Atomic, Immediate, Next, SnapshotKind};
pub use origins::Origins;
pub use read::{Recording, read_exchanges, read_history};
pub use snapshot_kit::{Value, record};
