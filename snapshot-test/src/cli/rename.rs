//! `snapshot-test rename`: a simple history of a recording.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use snapshot_core::Segment;
use snapshot_core::renaming::{NotDifferentiated, Renaming};
use snapshot_test::Value;
use snapshot_test::format::{Format, WriteError, Writer};
use snapshot_test::rename::renamed;
use thiserror::Error;

use super::format::InputFormat;
use super::recorded::{self, Recorded};
use super::{print_data, trouble};

/// Prints the (i, j)-simple history of a recording under a renaming.
///
/// The updates of each segment are numbered 1, 2, ... in their order. Values of segment i from
/// number R on, and values of segment j from number S on, become 1; all others become 0. A
/// recording in which no value repeats is linearizable iff all of its simple histories are. The
/// output is a recording: pipe it to `check -` or `automata --run -`.
#[derive(Debug, Args)]
pub struct Rename {
    /// The format of the recording.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// Rename only the object with this key, in a recording of several objects: a number, a text, or a text
    /// in double quotes.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// The segments whose values may become 1: `0,1`; in a recording of one segment, `0`.
    #[arg(long, value_name = "I,J", value_delimiter = ',', num_args = 1, required = true)]
    pair: Vec<usize>,
    /// For each segment, the number of the first update that becomes 1, from 1 on: `2,1`.
    #[arg(long, value_name = "R,S", value_delimiter = ',', num_args = 1, required = true)]
    from: Vec<u64>,
    /// The recording; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
}

/// The reason why a recording has no such renaming.
#[derive(Debug, Error)]
enum RenameError {
    #[error(
        "{segments} segments need two segments and two numbers, such as `--pair 0,1 --from 2,1`"
    )]
    Pair { segments: usize },
    #[error("one segment takes `--pair 0 --from 2`, with another number behind `--from`")]
    Single,
    #[error("--pair names segment {0} twice; name two segments")]
    Twice(usize),
    #[error("--pair names segment {segment}, and the last segment is {last}")]
    Segment { segment: usize, last: usize },
    #[error("--from must be at least 1: number 0 is the initial value")]
    Initial,
    #[error("{error}{place}\nhelp: `snapshot-test check` judges such recordings, too")]
    NotDifferentiated { error: NotDifferentiated, place: String },
    #[error(transparent)]
    Output(#[from] WriteError),
}

impl Rename {
    pub fn run(self) -> ExitCode {
        let recorded = match recorded::read(&self.input, self.format, self.key.as_ref()) {
            Ok(recorded) => recorded,
            Err(code) => return code,
        };
        match self.answer(&recorded) {
            Ok(text) => print_data(&text),
            Err(error) => trouble(format_args!("{}: {error}", recorded.name)),
        }
    }

    /// Returns the renaming of the options.
    fn renaming(&self, segments: usize) -> Result<Renaming, RenameError> {
        let (i, j, from_i, from_j) = match (&*self.pair, &*self.from) {
            (&[i], &[from_i]) if segments == 1 => (i, None, from_i, 1),
            _ if segments == 1 => return Err(RenameError::Single),
            (&[i, j], &[from_i, from_j]) => (i, Some(j), from_i, from_j),
            _ => return Err(RenameError::Pair { segments }),
        };
        if j == Some(i) {
            return Err(RenameError::Twice(i));
        }
        if let Some(segment) = [Some(i), j].into_iter().flatten().find(|k| *k >= segments) {
            return Err(RenameError::Segment { segment, last: segments - 1 });
        }
        if from_i == 0 || from_j == 0 {
            return Err(RenameError::Initial);
        }
        let segment = Segment::from_index;
        Ok(Renaming { i: segment(i), j: j.map(segment), from_i, from_j })
    }

    fn answer(&self, recorded: &Recorded) -> Result<String, RenameError> {
        let Recorded { name, history, locations } = recorded;
        let renaming = self.renaming(history.segments())?;
        let simple = renamed(history, renaming).map_err(|error| {
            let event = history.operation(error.operation()).invocation();
            let place = format!(" [{}]", locations[event]);
            RenameError::NotDifferentiated { error, place }
        })?;
        let about = format!("{name} after the renaming {renaming}");
        let declaration = simple.declaration();
        let mut writer = Writer::with_comments(Format::Text, Vec::new(), &declaration, &[about])?;
        for event in simple.events() {
            writer.write(&event)?;
        }
        Ok(String::from_utf8_lossy(&writer.finish()?).into_owned())
    }
}
