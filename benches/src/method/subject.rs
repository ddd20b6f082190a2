//! What is to be judged: a recording over integers.

use std::path::Path;

use corpus::generate::{OwnedAction, OwnedEvent};
use snapshot_core::History;
use snapshot_core::history::{Action, Declaration};
use snapshot_test::input::{Input, OpenError};
use snapshot_test::{InputError, Value, read_history};
use thiserror::Error;

/// Why there is no subject.
#[derive(Debug, Error)]
pub enum SubjectError {
    /// There is no recording.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It is none.
    #[error("{path}:{cause}")]
    Input {
        /// Which.
        path: String,
        /// Why.
        cause: Box<InputError>,
    },
    /// It has values that are no integers, or an initial value other than 0.
    #[error("{path} has values that the peers are not given; they are given integers, 0 initially")]
    Values {
        /// Which.
        path: String,
    },
}

/// Reads a recording, in any of the formats of `snapshot-test`.
///
/// # Errors
/// If there is none, or if its values are not integers.
pub fn read(path: &Path) -> Result<History<i64>, SubjectError> {
    let name = || path.display().to_string();
    let reader = Input::from_argument(path).open(None)?;
    let input = |cause| SubjectError::Input { path: name(), cause: Box::new(cause) };
    let (history, _) = read_history(reader).map_err(input)?;
    integers(&history).ok_or_else(|| SubjectError::Values { path: name() })
}

/// The same history over integers, as recipes make it; `None` if it has other values,
/// or one that is not 0 initially.
fn integers(history: &History<Value>) -> Option<History<i64>> {
    let integer = |value: &Value| match value {
        Value::Integer(value) => Some(*value),
        Value::Text(_) => None,
    };
    let declared = history.declaration();
    let is_zero = |segment| declared.initial_value(segment) == &Value::ZERO;
    if !(0..history.segments()).all(is_zero) {
        return None;
    }
    let declaration = Declaration {
        writers: declared.writers,
        ..Declaration::new(0).with_processes(history.processes()).with_segments(history.segments())
    };
    let mut integers = History::builder(declaration).ok()?;
    for event in history.events() {
        let action = match event.action {
            Action::InvokeUpdate { segment, value } => {
                OwnedAction::InvokeUpdate { segment, value: integer(value)? }
            }
            Action::InvokeScan => OwnedAction::InvokeScan,
            Action::RespondUpdate => OwnedAction::RespondUpdate,
            Action::RespondScan { values } => {
                let values = values.iter().map(integer).collect::<Option<_>>()?;
                OwnedAction::RespondScan { values }
            }
            Action::RespondPartialScan { entries, .. } => {
                let entry = |(segment, value): &(_, _)| Some((*segment, integer(value)?));
                let entries = entries.iter().map(entry).collect::<Option<_>>()?;
                OwnedAction::RespondPartialScan { entries }
            }
            Action::Fail => OwnedAction::Fail,
            Action::Unknown => OwnedAction::Unknown,
        };
        integers.push(&OwnedEvent { process: event.process, action }.as_event()).ok()?;
    }
    Some(integers.finish())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use corpus::generate::{Recipe, Style};

    use super::*;

    #[test]
    fn a_recording_is_what_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording");
        let recipe = Recipe::new(4, 3, 60, Style::Differentiated, 3).with_pending(4);
        crate::text::write(&recipe, fs::File::create(&path).unwrap()).unwrap();
        let (read, made) = (read(&path).unwrap(), recipe.history().unwrap());
        assert_eq!((read.segments(), read.processes()), (3, 4));
        assert!(read.events().eq(made.events()));
    }

    #[test]
    fn peers_get_integers_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording");
        for text in ["p0 update \"x\"\n", "initial 1\np0 update 5\n"] {
            fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, SubjectError::Values { .. }), "{error}");
        }
        let error = read(&directory.path().join("none")).unwrap_err();
        assert!(matches!(error, SubjectError::Open(_)), "{error}");
    }
}
