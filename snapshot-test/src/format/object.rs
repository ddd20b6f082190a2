//! The objects of recordings.

use serde::{Deserialize, Serialize};

use super::error::ReadErrorKind;
use super::parsed::Shape;

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    /// An atomic snapshot: `update` and `scan`.
    #[default]
    Snapshot,
    /// An immediate snapshot: `exchange` ([`snapshot_core::immediate`]).
    Immediate,
}

impl Object {
    pub const ALL: [Self; 2] = [Self::Snapshot, Self::Immediate];

    /// Returns the name in headers: `snapshot` or `immediate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Immediate => "immediate",
        }
    }

    /// Returns the criterion of a correct recording: `linearizable` or `set-linearizable`.
    pub const fn criterion(self) -> &'static str {
        match self {
            Self::Snapshot => "linearizable",
            Self::Immediate => "set-linearizable",
        }
    }

    /// Returns the reason why a recording of this object cannot have an event of a shape, if any.
    pub(super) fn refusal(self, shape: Shape) -> Option<ReadErrorKind> {
        let foreign = |found| Some(ReadErrorKind::ForeignOperation { object: self, found });
        match (self, shape) {
            (Self::Snapshot, Shape::InvokeExchange) => foreign("exchange"),
            (Self::Immediate, Shape::InvokeUpdate(_)) => foreign("update"),
            (Self::Immediate, Shape::InvokeScan) => foreign("scan"),
            (Self::Immediate, Shape::RespondUpdate | Shape::RespondPartialScan(_)) => {
                Some(ReadErrorKind::ValuePerSegment)
            }
            _ => None,
        }
    }
}
