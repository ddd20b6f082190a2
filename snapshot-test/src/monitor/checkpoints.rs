//! Checkpoint files of several inputs.
//!
//! Objects of an input depend only on that input: so the checkpoint of each is independent, and
//! a file may have checkpoints of different moments. The file is replaced as a whole.

use std::fmt::Write;

use serde::Deserialize;

use super::{Checkpoint, CheckpointError};

const VERSION: u32 = 1;

/// The checkpoints of several inputs.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Checkpoints {
    snapshot_checkpoints: u32,
    /// One per input.
    pub inputs: Vec<NamedCheckpoint>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NamedCheckpoint {
    pub input: String,
    /// The checkpoint; if absent, the input is read from its beginning.
    pub checkpoint: Option<Checkpoint>,
}

impl Checkpoints {
    /// Parses the text of a file of checkpoints.
    ///
    /// # Errors
    /// If the text is invalid, or an input occurs twice.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        if text.starts_with("{\"snapshot_checkpoint\":") {
            return Err(CheckpointError::One);
        }
        let checkpoints: Self = serde_json::from_str(text)?;
        if checkpoints.snapshot_checkpoints != VERSION {
            return Err(CheckpointError::Version);
        }
        let mut names: Vec<&str> =
            checkpoints.inputs.iter().map(|named| named.input.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CheckpointError::Twice(twice[0].to_owned()));
        }
        checkpoints
            .inputs
            .iter()
            .filter_map(|one| one.checkpoint.as_ref())
            .try_for_each(Checkpoint::validate)?;
        Ok(checkpoints)
    }

    /// Returns the text of a file of these checkpoints: the name of each input, and the text of its
    /// checkpoint.
    pub fn text<'a>(inputs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
        let mut text = format!("{{\"snapshot_checkpoints\":{VERSION},\"inputs\":[");
        for (number, (name, checkpoint)) in inputs.into_iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let name = serde_json::to_string(name).expect("a text becomes JSON");
            let _ = write!(
                text,
                "{comma}\n{{\"input\":{name},\"checkpoint\":{}}}",
                checkpoint.map_or("null", str::trim_end)
            );
        }
        text.push_str("\n]}\n");
        text
    }
}
