//! Recordings of objects whose operations take effect together: channels, exchangers,
//! barriers (docs/synchronisation.md); and of objects whose operations take effect one at a
//! time: queues, stacks, registers, maps, locks, sets, counters.
//!
//! ```
//! use snapshot_test::judge::Options;
//! use snapshot_test::synchronisation::{Finding, Object, judge};
//!
//! let recording = "p0 send 5\np0 ok\np1 receive\np1 ok 5\n";
//! let channel: Object = "channel".parse()?;
//! let judged = judge(&channel, recording.as_bytes(), None, None, &Options::default())?;
//! assert!(matches!(judged[0].finding, Finding::Violation(_))); // as if there were a buffer
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod certificate;
mod copy;
mod declared;
mod error;
mod foreign;
mod generate;
mod interface;
mod judge;
mod kind;
mod object;
mod proof;
mod reader;
mod record;
mod recording;
mod report;
mod sentence;
mod source;
mod token;
mod vocabulary;
mod writer;

pub use certificate::{Certificate, CertificateError, Refuted, certify};
pub use copy::{ConvertError, convert};
pub use error::{ReadError, ReadErrorKind};
pub use generate::{ANY, ObjectRecipe, ObjectRecipeError};
pub use judge::{Finding, Judgement, Violation, judge, judge_by_event, watch};
pub use object::{InitialError, Object, ObjectError};
pub use reader::LINE_LIMIT;
pub(crate) use record::record;
pub use record::{Record, json};
pub use recording::{Text, Watched};
pub use report::{argument, human, summary, uncertified, verdict};
pub(crate) use report::{sized, write};
pub use token::Token;
pub(crate) use writer::LineWriter;
