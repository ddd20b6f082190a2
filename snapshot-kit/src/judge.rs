//! Judgement of a history, and the report of a failing test.

use std::fmt::{self, Display};
use std::fs;
use std::hash::Hash;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use snapshot_core::History;
use snapshot_core::check::{self, Report};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Size, Verdict};
use thiserror::Error;

use crate::overlap::Overlap;
use crate::record::RecordError;
use crate::save::save;
use crate::value::Recorded;

/// Number of times that an exact search (if values repeat or updates overlap) may ask whether to
/// continue: about every 256 states, a minute in total. The clock decides nothing.
const ASKED: u64 = 500_000;

/// Memory limit in bytes of the search.
const MEMORY: usize = 1 << 30;

/// An error in a recording: the report of `snapshot-test check`, with the operations, a picture of
/// them and the argument; the path of the recording; and the notes of the test (seed, round).
/// [`Display`] shows all of these.
#[derive(Debug, Error)]
pub struct Failure {
    text: String,
    recording: Option<PathBuf>,
    kind: Kind,
}

/// Kind of failure of a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Violation,
    /// No violation was seen, and none could have been.
    NoEvidence,
    Other,
}

impl Failure {
    /// Returns the file with the recording, which `snapshot-test check` reads; `None` if it could
    /// not be written.
    pub fn recording(&self) -> Option<&Path> {
        self.recording.as_deref()
    }

    /// Returns true if the history is not linearizable. Otherwise it could not be decided, the
    /// recording is not a history, or the test [lacks evidence](Self::lacks_evidence).
    pub const fn is_violation(&self) -> bool {
        matches!(self.kind, Kind::Violation)
    }

    /// Returns true if the test ran, and could not have found anything.
    pub const fn lacks_evidence(&self) -> bool {
        matches!(self.kind, Kind::NoEvidence)
    }

    /// An invalid recording, or a panic of the object.
    pub(crate) fn other(text: impl Display) -> Self {
        Self { text: text.to_string(), recording: None, kind: Kind::Other }
    }

    /// A test that could not have found anything, and the reason.
    pub(crate) fn no_evidence(text: impl Display) -> Self {
        let text = format!("no evidence: {text}");
        Self { text, recording: None, kind: Kind::NoEvidence }
    }

    /// Appends a line.
    #[cfg(feature = "shuttle")]
    pub(crate) fn with_note(mut self, note: &str) -> Self {
        self.text = format!("{}\n  {note}", self.text.trim_end());
        self
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::other(format_args!("the recording is no history: {error}"))
    }
}

/// Checks that a history is linearizable. If it is not, or that could not be decided, the recording
/// is written to `target/snapshot/NAME.txt`, with `notes` in front.
///
/// # Errors
/// The failure, for a test to report.
pub fn judge<V>(history: &History<V>, name: &str, notes: &[&str]) -> Result<Overlap, Failure>
where
    V: Clone + Eq + Hash + Display + Recorded,
{
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked < ASKED
    };
    let mut budget = Budget { memory: MEMORY, proceed: &mut proceed };
    if check::decide(history, &mut budget) == Some(true) {
        return Ok(Overlap::new(history));
    }
    let report = check::check(history, &mut budget);
    if matches!(report.verdict, Verdict::Linearizable(_)) {
        return Ok(Overlap::new(history));
    }
    Err(failure(history, &report, name, notes))
}

fn failure<V>(history: &History<V>, report: &Report<V>, name: &str, notes: &[&str]) -> Failure
where
    V: Clone + Eq + Hash + Display + Recorded,
{
    let written = write(history, name, notes);
    let (path, first_line) = match &written {
        Ok((path, line)) => (path.display().to_string(), *line),
        Err(_) => (name.to_owned(), 1),
    };
    let mut text = format!(
        "{path}: {}",
        report.render(&Size::new(history), |event| { format!("{}:1", first_line + event) })
    );
    text.push('\n');
    notes.iter().for_each(|note| text += &format!("  {note}\n"));
    match &written {
        Ok((path, _)) => {
            text += &format!(
                "  recording: {path}\n  again: snapshot-test check {path}\n",
                path = path.display()
            );
        }
        Err(error) => text += &format!("  the recording could not be written: {error}\n"),
    }
    let is_violation = matches!(report.verdict, Verdict::Violation(_));
    let kind = if is_violation { Kind::Violation } else { Kind::Other };
    Failure { text, recording: written.ok().map(|(path, _)| path), kind }
}

/// Returns the file, and the line of the first event.
fn write<V: Recorded>(
    history: &History<V>,
    name: &str,
    notes: &[&str],
) -> io::Result<(PathBuf, usize)> {
    let folder = target().join("snapshot");
    fs::create_dir_all(&folder)?;
    let name = plain(name);
    let path = folder.join(format!("{name}.txt"));
    // The name never refers to an incomplete recording.
    let unfinished = folder.join(format!("{name}.{}.part", std::process::id()));
    let line = save(history, notes, BufWriter::new(fs::File::create(&unfinished)?))?;
    fs::rename(&unfinished, &path)?;
    Ok((path, line))
}

/// Writes a text to `target/snapshot/NAME.ENDING`, and returns its path.
///
/// # Errors
/// If the file cannot be written.
#[cfg(feature = "shuttle")]
pub(crate) fn save_beside(name: &str, ending: &str, text: &str) -> io::Result<PathBuf> {
    let folder = target().join("snapshot");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.{ending}", plain(name)));
    fs::write(&path, text)?;
    Ok(path)
}

/// Converts a text to the name of a file.
fn plain(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    name.chars().map(|character| if is_plain(character) { character } else { '-' }).collect()
}

/// Returns Cargo's target directory, in which tests lie: the one that it marks as a cache, or that
/// has its usual name; else the directory for temporary files.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let is_target = |folder: &&Path| {
        folder.join("CACHEDIR.TAG").is_file() || folder.file_name().is_some_and(|it| it == "target")
    };
    program.ancestors().find(is_target).map_or_else(std::env::temp_dir, Path::to_owned)
}

/// Returns the name of the running test, as far as the thread knows it.
pub(crate) fn test_name() -> String {
    std::thread::current().name().unwrap_or("history").to_owned()
}

/// As the macro [`assert_linearizable!`](macro@crate::assert_linearizable): prints a note if no
/// scan overlapped an update.
///
/// # Panics
/// If the history is not linearizable, or that could not be decided; or if no scan returned,
/// because then any history is linearizable.
#[track_caller]
pub fn assert_linearizable<V>(history: &History<V>)
where
    V: Clone + Eq + Hash + Display + Recorded,
{
    let overlap = match judge(history, &test_name(), &[]) {
        Ok(overlap) => overlap,
        Err(failure) => panic!("{failure}"),
    };
    let has_scan = history.operations().iter().any(|scan| scan.is_scan() && scan.is_complete());
    assert!(has_scan, "{}", Failure::no_evidence("no scan returned, so nothing can be wrong"));
    if let Some(note) = overlap.note() {
        eprintln!("note: {note}");
    }
}
