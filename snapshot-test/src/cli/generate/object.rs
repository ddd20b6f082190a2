//! The object to run, as an option.

use std::str::FromStr;

use snapshot_test::synchronisation::{Object, ObjectError};

/// The object to run.
#[derive(Clone, Debug)]
pub(super) enum ObjectName {
    /// An atomic snapshot: updates and scans.
    Snapshot,
    /// An immediate snapshot: exchanges, which take effect in blocks.
    Immediate,
    /// An object with named operations.
    Named(Object),
}

impl FromStr for ObjectName {
    type Err = ObjectError;

    fn from_str(text: &str) -> Result<Self, ObjectError> {
        match text {
            "snapshot" => Ok(Self::Snapshot),
            "immediate" => Ok(Self::Immediate),
            other => other.parse().map(Self::Named),
        }
    }
}
