//! Tables 3 and 4 of the DISC 2022 paper: its 36 configurations of histories, 25 of
//! each, regenerated from fixed seeds by its recipe.

use std::fs::{self, File};
use std::path::Path;

use corpus::Expected;
use corpus::family::{Published, published};
use snapshot_core::History;
use snapshot_core::check::decide;
use snapshot_core::search::Budget;

use super::{Measuring, Question, TableError};
use crate::method::{self, METHODS};
use crate::record::Outcome;
use crate::text;

/// Seconds that a history may take.
pub const PATIENCE: f64 = 10.0;

/// Half of the corpus.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Half {
    /// Table 3.
    Linearizable,
    /// Table 4.
    NonLinearizable,
}

impl Half {
    /// How names of its histories begin.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Linearizable => "linearizable-",
            Self::NonLinearizable => "non_linearizable-",
        }
    }

    /// The name of its records.
    pub const fn table(self) -> &'static str {
        match self {
            Self::Linearizable => "disc2022-table3",
            Self::NonLinearizable => "disc2022-table4",
        }
    }
}

/// Measures one half of the corpus; quick: one history of 100 operations of each of the
/// smallest n.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, half: Half, quick: bool) -> Result<(), TableError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("recording");
    let mut budget = Budget { memory: 1 << 26, proceed: &mut || true };
    let corpus = published(|history| decide(history, &mut budget) == Some(true));
    for Published { name, expected, history } in corpus {
        let is_wanted = !quick || name.ends_with("-100-0") && history.processes() <= 5;
        if name.starts_with(half.prefix()) && is_wanted {
            ask_all(measuring, &name, expected, &history, &path)?;
        }
    }
    Ok(())
}

/// The same with recordings of the published corpus itself, where they are at hand:
/// files named as its members are.
///
/// # Errors
/// If something cannot be read, run or recorded.
pub fn measure_recordings(
    measuring: &mut Measuring,
    half: Half,
    recordings: &Path,
) -> Result<(), TableError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("recording");
    let mut files: Vec<_> = fs::read_dir(recordings)?.collect::<Result<_, _>>()?;
    files.sort_unstable_by_key(fs::DirEntry::path);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with(half.prefix()) {
            let history = method::read(&file.path())?;
            let expected = match half {
                Half::Linearizable => Expected::Linearizable,
                Half::NonLinearizable => Expected::Violation { reason: None },
            };
            ask_all(measuring, &name, expected, &history, &path)?;
        }
    }
    Ok(())
}

/// Asks all methods about a history, which is written for them as text: at `path`.
pub(super) fn ask_all(
    measuring: &mut Measuring,
    name: &str,
    expected: Expected,
    history: &History<i64>,
    path: &Path,
) -> Result<(), TableError> {
    text::write_history(history, File::create(path)?)?;
    let group = name.rsplit_once('-').map_or(name, |(group, _)| group);
    let question = Question {
        case: name.to_owned(),
        group: group.to_owned(),
        x: None,
        expected: Some(Outcome::of(expected.is_linearizable())),
    };
    for method in METHODS {
        measuring.judge(&question, method, &["--recording".into(), path.into()])?;
    }
    Ok(())
}
