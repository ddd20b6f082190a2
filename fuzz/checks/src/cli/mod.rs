//! Any bytes from another process. These parts of the programs are in no library: they are
//! compiled here once more, under the names that they have there.

pub mod cluster;
pub mod lsp;

/// What frames of a cluster hold.
mod outlet {
    use serde::{Deserialize, Serialize};

    /// As `snapshot-test` has it.
    #[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
    pub(super) struct Report {
        pub id: String,
        pub result: Option<String>,
        pub diagnostic: Option<String>,
        pub code: u8,
    }
}
