//! Any bytes from another process. No library has these parts of the programs: they are compiled
//! here once more, under the same names.

pub mod cluster;
pub mod lsp;

/// Content of a cluster's frames.
mod result_printer {
    use serde::{Deserialize, Serialize};

    /// As in `snapshot-test`.
    #[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
    pub(super) struct Report {
        pub id: String,
        pub result: Option<String>,
        pub diagnostic: Option<String>,
        pub code: u8,
    }
}
