//! Formats as options.

use std::convert::Infallible;

use clap::ValueEnum;
use snapshot_test::Value;
use snapshot_test::format::Format;

/// Parses the key of an object as an option: an integer, a text, or a text in double quotes (which
/// distinguishes `"5"` from `5`).
pub fn key(text: &str) -> Result<Value, Infallible> {
    let integer = text.parse().ok().filter(|integer: &i64| integer.to_string() == text);
    let quoted = text.starts_with('"').then(|| serde_json::from_str::<String>(text).ok());
    Ok(match (integer, quoted.flatten()) {
        (Some(integer), _) => Value::from(integer),
        (None, Some(quoted)) => Value::from(quoted.as_str()),
        (None, None) => Value::from(text),
    })
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum InputFormat {
    /// Detected by the beginning of the input.
    Auto,
    /// One event per line, for people.
    Text,
    /// JSON Lines.
    Jsonl,
    /// The format of the DISC 2022 recordings.
    Disc22,
    /// A history of Jepsen, Knossos or Porcupine in EDN, or a console log of jepsen.util.
    Edn,
    /// Operations with the times of their calls and returns: CSV or JSON.
    Intervals,
}

impl InputFormat {
    /// Returns `None` if the format is to be detected.
    pub const fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Text => Some(Format::Text),
            Self::Jsonl => Some(Format::Jsonl),
            Self::Disc22 => Some(Format::Disc22),
            Self::Edn => Some(Format::Edn),
            Self::Intervals => Some(Format::Intervals),
        }
    }
}

/// A format to convert from: of a recording, or of a foreign log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum SourceFormat {
    /// Detect it by the recording's first line.
    Auto,
    /// One event per line, for people.
    Text,
    /// JSON Lines.
    Jsonl,
    /// The format of the DISC 2022 recordings.
    Disc22,
    /// Operations with the times of their calls and returns: CSV or JSON, also the lists of
    /// Porcupine. Closed intervals: operations of two clients that touch overlap.
    Intervals,
    /// Jepsen and Maelstrom: a history in EDN, in the order of its events. Registers,
    /// transactions of one write or of reads, sets that grow.
    Edn,
}

impl SourceFormat {
    /// Returns `None` if the format is to be detected.
    pub const fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Text => Some(Format::Text),
            Self::Jsonl => Some(Format::Jsonl),
            Self::Disc22 => Some(Format::Disc22),
            Self::Edn => Some(Format::Edn),
            Self::Intervals => Some(Format::Intervals),
        }
    }

    /// Returns the format of recordings, unless it is a foreign log.
    pub const fn recording(self) -> Option<InputFormat> {
        match self {
            Self::Auto => Some(InputFormat::Auto),
            Self::Text => Some(InputFormat::Text),
            Self::Jsonl => Some(InputFormat::Jsonl),
            Self::Disc22 => Some(InputFormat::Disc22),
            Self::Intervals | Self::Edn => None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OutputFormat {
    /// One event per line, for people.
    Text,
    /// JSON Lines.
    Jsonl,
    /// The format of the DISC 2022 recordings.
    Disc22,
}

impl OutputFormat {
    pub const fn format(self) -> Format {
        match self {
            Self::Text => Format::Text,
            Self::Jsonl => Format::Jsonl,
            Self::Disc22 => Format::Disc22,
        }
    }
}
