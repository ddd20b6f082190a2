//! The methods that judge histories: ours, baselines that know no more than others do, and peers.
//!
//! All measurements of histories know a method by its name in [`METHODS`]. It runs in a process of
//! its own, which reads a recording and writes an [`Answer`]; so neither its memory nor its crash
//! is another's, and memory and time are limited from outside.

mod stateright;
mod todc;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use corpus::generate::{OwnedAction, OwnedEvent};
use serde::Serialize;
use snapshot_core::check::decide;
use snapshot_core::generic::objects::Snapshot;
use snapshot_core::history::{Action, Declaration};
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::search::{self, Budget, Outcome};
use snapshot_core::{History, generic};
use snapshot_test::input::Input;
use snapshot_test::{Value, read_history};

/// A method by its name in records and tables.
pub type Method = (&'static str, fn(&History<i64>) -> Answer);

/// All of them, in the order of the tables.
pub const METHODS: [Method; 7] = [
    ("linear", |history| budgeted(history, decide)),
    ("monitor", monitor),
    ("search", |history| {
        budgeted(history, |history, budget| answer(&search::search(history, budget)))
    }),
    ("plain-search", |history| {
        budgeted(history, |history, budget| answer(&search::search_plainly(history, budget)))
    }),
    ("generic", |history| budgeted(history, generic)),
    ("todc-utils", todc::judge),
    ("stateright", stateright::judge),
];

/// What a process tells of its work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Absent if a budget of the method's own ran out.
    pub is_linearizable: Option<bool>,
    /// Seconds of the work alone, without reading or preparing the history.
    pub seconds: f64,
}

/// Work is repeated this often, and the least time counts: all else that a machine
/// does can only make it slower.
const TURNS: u32 = 5;

/// After so long altogether it is not repeated any more.
const LONG: Duration = Duration::from_millis(200);

/// Times `work` on what `prepare` makes.
fn timed<I>(mut prepare: impl FnMut() -> I, mut work: impl FnMut(I) -> Option<bool>) -> Answer {
    let (mut least, mut spent) = (Duration::MAX, Duration::ZERO);
    let mut is_linearizable = None;
    for _ in 0..TURNS {
        let input = std::hint::black_box(prepare());
        let start = Instant::now();
        is_linearizable = work(input);
        let time = start.elapsed();
        least = least.min(time);
        spent += time;
        if spent > LONG {
            break;
        }
    }
    Answer { is_linearizable, seconds: least.as_secs_f64() }
}

fn budgeted(
    history: &History<i64>,
    judge: impl Fn(&History<i64>, &mut Budget<'_>) -> Option<bool>,
) -> Answer {
    timed(
        || history,
        |history| judge(history, &mut Budget { memory: usize::MAX, proceed: &mut || true }),
    )
}

fn answer(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Linearizable(_) => Some(true),
        Outcome::NotLinearizable { .. } => Some(false),
        Outcome::Exhausted { .. } => None,
    }
}

/// Making the generic history counts.
fn generic(history: &History<i64>, budget: &mut Budget<'_>) -> Option<bool> {
    let (specification, history) = Snapshot::of(history);
    match generic::check(&specification, &history, budget) {
        generic::Outcome::Linearizable { .. } => Some(true),
        generic::Outcome::NotLinearizable { .. } => Some(false),
        generic::Outcome::Exhausted { .. } => None,
    }
}

/// Event by event, up to the first that completes a violation.
fn monitor(history: &History<i64>) -> Answer {
    let monitor = || Monitor::new(history.declaration());
    timed(monitor, |monitor| {
        let mut monitor = monitor.ok()?;
        for event in history.events() {
            if matches!(monitor.observe(&event).ok()?, Judgement::Violation(_)) {
                return Some(false);
            }
        }
        Some(true)
    })
}

/// Reads a recording, in any of the formats of `snapshot-test`.
///
/// # Errors
/// If it cannot be read, or if its values are not integers, 0 initially, as peers are given them.
pub fn read(path: &Path) -> Result<History<i64>, Box<dyn Error>> {
    let reader = Input::from_argument(path).open(None)?;
    let read = read_history(reader).map_err(|error| format!("{}:{error}", path.display()))?;
    let wrong = || format!("{} has values that are not integers, 0 initially", path.display());
    Ok(integers(&read.0).ok_or_else(wrong)?)
}

/// Returns the same history over integers, as recipes make it.
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
    use std::fs::{self, File};

    use corpus::generate::{Recipe, Rule, Style, Violation};
    use snapshot_test::format::Format;
    use snapshot_test::generate::generate;

    use super::*;

    #[test]
    fn all_methods_give_the_constructed_verdict() {
        for (seed, rule) in (0..).zip(Rule::ALL.into_iter().cycle().take(14)) {
            let recipe = Recipe::new(4, 3, 24, Style::Differentiated, seed)
                .with_violation(Violation::new(rule));
            for (recipe, known) in [(recipe.twin(), true), (recipe, false)] {
                for (name, judge) in METHODS {
                    let answer = judge(&recipe.history().unwrap());
                    assert_eq!(answer.is_linearizable, Some(known), "{name}: {recipe:?}");
                }
            }
        }
    }

    #[test]
    fn histories_with_pending_operations_get_the_known_verdict() {
        // Short ones: a search without memory takes exponential time.
        for seed in 0..40 {
            let recipe = Recipe::new(3, 2, 10, Style::Differentiated, seed).with_pending(2);
            let bad = recipe.clone().with_violation(Violation::new(Rule::Stale));
            for (recipe, known) in [(recipe, true), (bad, false)] {
                for (name, judge) in METHODS.iter().filter(|(name, _)| *name != "todc-utils") {
                    let answer = judge(&recipe.history().unwrap());
                    assert_eq!(answer.is_linearizable, Some(known), "{name}: {recipe:?}");
                }
            }
        }
    }

    #[test]
    fn reads_generated_recordings_and_rejects_non_integers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recording");
        let recipe = Recipe::new(4, 3, 60, Style::Differentiated, 3).with_pending(4);
        generate(&recipe, Format::Text, &[], File::create(&path).unwrap()).unwrap();
        let (history, made) = (read(&path).unwrap(), recipe.history().unwrap());
        assert_eq!((history.segments(), history.processes()), (3, 4));
        assert!(history.events().eq(made.events()));
        for text in ["p0 update \"x\"\n", "initial 1\np0 update 5\n"] {
            fs::write(&path, text).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("not integers"));
        }
        assert!(read(&directory.path().join("none")).is_err());
    }
}
