//! Bytes as a history: an atomic object under a scheduler, with lies.
//!
//! Most sequences of random events are non-linearizable for dull reasons. So an array plays the
//! object: operations take effect on it between invocation and response, and a scan returns the
//! values that it read unless a choice makes it lie. Every history can occur, but histories near
//! the border are frequent.
//!
//! All features of recordings occur: pending operations, lost outcomes (of updates with and without
//! effect), failures (rightly and wrongly reported), repeated values, unusual initial values, and
//! many writers, also concurrent ones.

use snapshot_core::History;
use snapshot_core::history::{Declaration, HistoryBuilder, Writers};

use crate::choices::Choices;

/// Brute force on more events would be slow.
const MAX_EVENTS: usize = 18;

const MAX_SEGMENTS: usize = 3;

/// Choice of the updates' values.
#[derive(Clone, Copy)]
enum Values {
    /// 1, 2, 3, ...: no value repeats.
    Fresh,
    /// From 0 up to this value, exclusive.
    Few(usize),
}

/// Open operation of a process.
#[derive(Clone)]
enum Open {
    Nothing,
    Update { segment: usize, value: i64, is_effective: bool },
    Scan { view: Option<Vec<i64>> },
}

struct Scheduler {
    builder: HistoryBuilder<i64>,
    values: Values,
    many_writers: bool,
    fresh: i64,
    /// Values of the object.
    held: Vec<i64>,
    open: Vec<Open>,
}

/// Returns the history that these bytes encode.
pub fn history(bytes: &[u8]) -> History<i64> {
    let mut choices = Choices::new(bytes);
    let (segments, rest) = choices.next(MAX_SEGMENTS).unwrap_or((0, 0));
    let segments = segments + 1;
    let processes = segments + rest % 2;
    let many_writers = rest / 2 % 4 == 3;
    let values = [Values::Fresh, Values::Fresh, Values::Few(2), Values::Few(3)][rest / 8 % 4];
    // With 2, an update may write the initial value as well.
    let initial = i64::from(rest / 32 == 1) * 2;
    let declaration = Declaration::new(0)
        .with_segments(segments)
        .with_initial(vec![initial])
        .with_writers(if many_writers { Writers::Many } else { Writers::Single });
    let mut held = vec![0; segments];
    held[0] = initial;
    let mut scheduler = Scheduler {
        builder: History::builder(declaration).expect("the declaration is valid"),
        values,
        many_writers,
        fresh: 0,
        held,
        open: vec![Open::Nothing; processes],
    };
    while scheduler.builder.len() < MAX_EVENTS && scheduler.advance(&mut choices).is_some() {}
    scheduler.builder.finish()
}

impl Scheduler {
    /// Makes one step of one process; `None` when there are no more choices.
    fn advance(&mut self, choices: &mut Choices<'_>) -> Option<()> {
        let (process, rest) = choices.next(self.open.len())?;
        self.open[process] = match self.open[process].clone() {
            Open::Nothing => self.invoke(process, rest),
            Open::Update { segment, value, is_effective: false } if rest % 8 < 5 => {
                self.held[segment] = value;
                Open::Update { segment, value, is_effective: true }
            }
            Open::Scan { view: None } if rest % 8 < 7 => {
                Open::Scan { view: Some(self.held.clone()) }
            }
            Open::Update { is_effective: true, .. } if rest % 8 < 6 => {
                self.builder.respond_update(process).expect("an update is open");
                Open::Nothing
            }
            Open::Scan { view: Some(view) } => self.respond(process, view, rest, choices)?,
            Open::Update { .. } | Open::Scan { .. } => {
                match rest / 8 % 2 {
                    0 => self.builder.unknown(process),
                    _ => self.builder.fail(process),
                }
                .expect("an operation is open");
                Open::Nothing
            }
        };
        Some(())
    }

    fn invoke(&mut self, process: usize, choice: usize) -> Open {
        let segments = self.held.len();
        let writes = self.many_writers || process < segments;
        if !writes || choice.is_multiple_of(2) {
            self.builder.invoke_scan(process).expect("the process is idle");
            return Open::Scan { view: None };
        }
        let choice = choice / 2;
        let segment = if self.many_writers { choice % segments } else { process };
        let value = match self.values {
            Values::Fresh => {
                self.fresh += 1;
                self.fresh
            }
            Values::Few(count) => (choice / segments % count) as i64,
        };
        self.builder.invoke_update(process, segment, value).expect("the process is idle");
        Open::Update { segment, value, is_effective: false }
    }

    /// Responds; one response in three lies about one entry, if there are choices left.
    fn respond(
        &mut self,
        process: usize,
        mut view: Vec<i64>,
        choice: usize,
        choices: &mut Choices<'_>,
    ) -> Option<Open> {
        if choice % 3 == 2 {
            let (segment, rest) = choices.next(view.len())?;
            let largest = match self.values {
                // A value that will be written next, and one that may never be.
                Values::Fresh => self.fresh as usize + 2,
                Values::Few(count) => count,
            };
            view[segment] = (rest % (largest + 1)) as i64;
        }
        self.builder.respond_scan(process, &view).expect("a scan is open");
        Some(Open::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use snapshot_core::history::{OperationKind, Outcome};

    use super::*;
    use crate::agreement::tests::noise;

    #[test]
    fn empty_input_gives_an_empty_history() {
        assert!(history(&[]).is_empty());
    }

    #[test]
    fn restarted_builder_equals_a_new_one() {
        let (mut reused, mut kept) = (None::<HistoryBuilder<i64>>, 0);
        for bytes in noise(500, 60) {
            let history = history(&bytes);
            let mut new =
                History::builder(history.declaration()).expect("the declaration of a history");
            let builder = match &mut reused {
                Some(builder) => {
                    kept += builder.len();
                    builder.restart(history.declaration()).expect("the declaration of a history");
                    builder
                }
                none => none.insert(new.clone()),
            };
            for event in history.events() {
                builder.push(&event).expect("an event of a history");
                new.push(&event).expect("an event of a history");
            }
            assert_eq!(format!("{builder:?}"), format!("{new:?}"));
        }
        assert!(kept > 1000, "too few discarded events: {kept}");
    }

    #[test]
    fn random_bytes_cover_all_kinds_and_outcomes() {
        let mut seen = BTreeSet::new();
        for bytes in noise(2000, 60) {
            let history = history(&bytes);
            history.validate();
            assert!(history.len() <= MAX_EVENTS);
            for operation in history.operations() {
                let kind = match operation.kind() {
                    OperationKind::Scan => "scan",
                    OperationKind::Update { segment }
                        if segment.index() != operation.process().index() =>
                    {
                        "foreign update"
                    }
                    OperationKind::Update { .. } => "update",
                };
                let outcome = match operation.outcome() {
                    Outcome::Complete { .. } => "complete",
                    Outcome::Failed { .. } => "failed",
                    Outcome::Unknown { .. } => "unknown",
                    Outcome::Pending => "pending",
                };
                seen.insert((kind, outcome, history.segments()));
            }
        }
        // Each kind with each outcome and each number of segments; the second process makes foreign
        // updates of one segment.
        assert_eq!(seen.len(), 3 * 4 * MAX_SEGMENTS, "{seen:?}");
    }
}
