//! The file from which several inputs are gone on with.
//!
//! Objects of an input depend on nothing but that input: so the checkpoint of each stands by itself, and
//! those in a file may be of different moments. The file is replaced as a whole.

use std::fmt::Write;

use serde::Deserialize;

use super::{Checkpoint, CheckpointError};

/// The version of the file.
const VERSION: u32 = 1;

/// Where to go on with each of several inputs.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Checkpoints {
    snapshot_checkpoints: u32,
    /// Of each input.
    pub inputs: Vec<NamedCheckpoint>,
}

/// Where to go on with an input.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NamedCheckpoint {
    /// The name of the input.
    pub input: String,
    /// Where to go on; if that is not known yet, at its beginning.
    pub checkpoint: Option<Checkpoint>,
}

impl Checkpoints {
    /// Checkpoints from the text of their file.
    ///
    /// # Errors
    /// If it is none, or an input stands in it twice.
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

    /// The text of the file that holds these: the name of each input, and the text of its
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
