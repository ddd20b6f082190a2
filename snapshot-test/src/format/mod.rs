//! The three formats of recordings: readers, writers, detection.
//!
//! All readers stream: an event is handed over as soon as its line (disc22: its `;`) was read,
//! borrows its values from the reader, and memory is bounded by [`LINE_LIMIT`], never by the input.
//! They check only the *syntax*; [`snapshot_core::history::Admission`], through which every
//! consumer passes the events, decides whether a history can have an event at its position.
//!
//! `docs/formats.md` describes the formats for users.

mod batch;
mod clock;
mod cure;
mod detect;
pub mod disc22;
mod error;
mod json_value;
pub mod jsonl;
mod keys;
mod location;
pub(crate) mod names;
mod nearest;
mod object;
mod parsed;
mod pieces;
pub(crate) mod quoted;
mod reader;
mod source;
pub mod text;
mod writer;

use std::fmt;

pub use batch::Batch;
pub(crate) use clock::Clock;
pub use clock::{Backwards, Doubt, Noticed};
pub(crate) use cure::{did_you_mean, of_another_object};
pub use detect::{DETECTION_LENGTH, detect};
pub(crate) use detect::{begins_like_edn, is_decisive, is_table};
pub use error::{Found, ReadError, ReadErrorKind};
pub use json_value::JsonValue;
pub(crate) use jsonl::{Member, Time, members};
pub use keys::Key;
pub use location::{Excerpt, Location};
pub use names::{Kind, NamesSoFar};
pub(crate) use nearest::nearest;
pub use object::Object;
pub(crate) use pieces::{Irregular, Piece, Pieces, SIZE as PIECE_SIZE};
pub use reader::Reader;
pub(crate) use source::BYTE_ORDER_MARK;
pub use source::LINE_LIMIT;
pub use writer::{Heading, Inexpressible, WriteError, Writer, write_history};

pub(crate) use self::parsed::{Parsed, integer};
use self::parsed::{Payload, Shape};
use crate::Value;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Format {
    /// One event per line, for people: `p0 update 5`. See [`mod@text`].
    Text,
    /// One JSON object per line, for programs. See [`jsonl`].
    Jsonl,
    /// `startUpdate!0,5;...`, the format of the supporting material of the
    /// DISC 2022 paper. See [`disc22`].
    Disc22,
    /// A history of Jepsen, Knossos or Porcupine in EDN, or a log of `jepsen.util`. It is read, not
    /// written. See [`crate::import`].
    Edn,
    /// Operations with the times of their calls and returns: CSV or JSON. It is read, not written.
    /// See [`crate::import`].
    Intervals,
}

impl Format {
    /// The formats of recordings, which are read event by event, and written.
    pub const ALL: [Self; 3] = [Self::Text, Self::Jsonl, Self::Disc22];

    /// Returns the name in options and reports: `text`, `jsonl`, `disc22`, `edn` or `intervals`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Jsonl => "jsonl",
            Self::Disc22 => "disc22",
            Self::Edn => "edn",
            Self::Intervals => "intervals",
        }
    }

    /// Returns true for the logs of other tools, which are not written.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Edn | Self::Intervals)
    }
}

/// Writes the name in sentences: `text`, `JSON Lines`, `disc22`, `EDN` or `intervals`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Jsonl => "JSON Lines",
            Self::Disc22 => "disc22",
            Self::Edn => "EDN",
            Self::Intervals => "intervals",
        })
    }
}

/// Returns the error for an object that the recording does not have.
pub(crate) fn no_such_key(key: &Value) -> ReadError {
    ReadError::new(Location::START, ReadErrorKind::NoSuchKey(key.clone()), None)
}
