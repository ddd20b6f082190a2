//! One result, as threads and processes pass it on to be printed.

use serde::{Deserialize, Serialize};

/// A result to be printed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Report {
    /// Names the finding: reports of one process with the same name belong to one finding.
    pub id: String,
    /// Text for standard output.
    pub result: Option<String>,
    /// Text for standard error.
    pub diagnostic: Option<String>,
    /// The exit code for this report alone.
    pub code: u8,
}
