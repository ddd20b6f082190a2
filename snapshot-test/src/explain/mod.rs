//! From a recording to a page or a picture that explains its verdict.
//!
//! The history is held in memory, judged, and shown in the forms of [`snapshot_picture`]: the
//! pictures show the explanation that `check` reports, and the linearization that its certificate
//! would hold.

mod annotations;
mod exchanges;

pub use annotations::{Comment, MOST as MOST_COMMENTS, comments};
pub use exchanges::Exchanges;

use snapshot_core::explanation::{Explanation, accepting_run, picture};
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, OperationId};
use snapshot_picture::columns::{self, Ticks};
use snapshot_picture::diagram::{Bar, Diagram};
use snapshot_picture::page::{Annotation, Answer, Guilty, Page, Recording as Drawn};
use snapshot_picture::run::Run;

use crate::Value;
use crate::format::{Format, Location, Object};
use crate::input::{Gauge, Input, InputReader, OpenError, Replay};
use crate::judge::{self, Finding, Judgement, Options, Proof};
use crate::read::{Recording, read_recording};
use crate::report;

/// The largest number of operations that a page draws as a whole.
pub const MOST_OPERATIONS: usize = 4_000_000;

/// The largest number of operations of a linearizable history that is also drawn as a picture.
const FEW_OPERATIONS: usize = 60;

/// A recording in memory with its judgement.
#[derive(Debug)]
pub enum Explained {
    Snapshot(Box<Snapshots>),
    Immediate(Box<Exchanges>),
}

impl Explained {
    /// Reads and judges an input, or one object of several, by its key; detects the format if
    /// `format` is absent. Memory: the history, 24 bytes per event, and the memory of the
    /// judgement.
    ///
    /// # Errors
    /// If the input cannot be read to its end, or to the violation.
    pub fn new(
        input: &Input,
        name: String,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let (mut reader, replay) = input.open_repeatably(format, &Gauge::default())?;
        if let Some(key) = key {
            reader.select(key)?;
        }
        Ok(match reader.object() {
            Object::Snapshot => {
                Self::Snapshot(Box::new(Snapshots::new(reader, &replay, name, options)?))
            }
            Object::Immediate => Self::Immediate(Box::new(Exchanges::new(reader, &replay, name)?)),
        })
    }

    pub const fn judgement(&self) -> &Judgement {
        match self {
            Self::Snapshot(explained) => &explained.judgement,
            Self::Immediate(explained) => explained.judgement(),
        }
    }

    /// Returns the operations of the violation, or of the whole history with the positions in its
    /// linearization.
    pub fn diagram(&self) -> Diagram {
        match self {
            Self::Snapshot(explained) => explained.diagram(),
            Self::Immediate(explained) => explained.diagram(),
        }
    }

    /// Returns the same in characters, if it fits into lines of `width` characters.
    pub fn text(&self, width: usize) -> Option<String> {
        match self {
            Self::Snapshot(explained) => explained.text(width),
            Self::Immediate(explained) => snapshot_picture::text::text(&explained.diagram(), width),
        }
    }

    pub fn page(&self) -> Page {
        match self {
            Self::Snapshot(explained) => explained.page(),
            Self::Immediate(explained) => explained.page(),
        }
    }
}

/// The recording of a snapshot in memory, with its judgement.
#[derive(Debug)]
pub struct Snapshots {
    name: String,
    history: History<Value>,
    locations: Vec<Location>,
    comments: Vec<Comment>,
    judgement: Judgement,
}

impl Snapshots {
    fn new(
        reader: InputReader,
        replay: &Replay,
        name: String,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let (format, noticed) = (reader.format(), reader.noticed());
        let Recording { history, locations, defect, .. } = read_recording(reader, usize::MAX)?;
        let judgement = judge::judge_recording(Some(format), &history, &locations, defect, options);
        let judgement = Judgement { backwards: noticed.backwards(), ..judgement };
        if let Finding::Malformed(error) = judgement.finding {
            return Err(error);
        }
        let comments = noted(replay, format);
        Ok(Self { name, history, locations, comments, judgement })
    }

    fn proof(&self) -> Option<&Proof> {
        match &self.judgement.finding {
            Finding::Violation(violation) => violation.proof.as_ref(),
            _ => None,
        }
    }

    fn order(&self) -> Option<&Linearization> {
        match &self.judgement.finding {
            Finding::Linearizable { linearization, .. } => linearization.as_ref(),
            _ => None,
        }
    }

    fn diagram(&self) -> Diagram {
        match (self.proof(), self.order()) {
            (Some(proof), _) => Diagram::of_explanation(&proof.explanation),
            (None, Some(order)) => Diagram::of_linearization(&self.history, order),
            (None, None) => Diagram::of_history(&self.history),
        }
    }

    fn text(&self, width: usize) -> Option<String> {
        if let Some(proof) = self.proof() {
            return proof.explanation.picture(width);
        }
        let labels = |label: fn(&Bar) -> String| -> Vec<String> {
            self.diagram().bars.iter().map(label).collect()
        };
        picture(&self.history, &labels(Bar::label), width)
            .or_else(|| picture(&self.history, &labels(|bar| bar.name.clone()), width))
    }

    fn page(&self) -> Page {
        let few = self.history.operations().len() <= FEW_OPERATIONS;
        let diagram =
            if self.proof().is_some() || few { self.diagram() } else { Diagram::default() };
        let finding = &self.judgement.finding;
        let answer = match finding {
            Finding::Violation(_) => Answer::Violation,
            Finding::Linearizable { .. } => Answer::Linearizable,
            _ => Answer::Unknown,
        };
        let explanation = self.proof().map(|proof| &proof.explanation);
        let renamed = explanation.and_then(|explanation| {
            let renaming = explanation.witness.renaming?;
            Some((renaming.to_string(), Diagram::of_renamed(explanation)?))
        });
        let run = explanation.and_then(accepting_run).map(|run| Run {
            automaton: run.automaton,
            processes: run.processes.map(|p| p.iter().map(|p| p.index()).collect()),
            from: run.from,
            steps: run.steps.into_iter().map(|(l, state)| (l.to_string(), state)).collect(),
        });
        Page {
            title: self.name.clone(),
            answer,
            verdict: report::verdict(finding).to_owned(),
            summary: report::summary(&self.judgement),
            words: self.words(explanation, &diagram),
            guilty: self.guilty(&diagram),
            diagram,
            renamed,
            run,
            recording: Some(self.drawn()),
            steps: None,
            sections: Vec::new(),
            origin: origin(),
        }
    }

    fn words(&self, explanation: Option<&Explanation<Value>>, diagram: &Diagram) -> Vec<String> {
        if let Some(explanation) = explanation {
            let argument = explanation.argument(|exhibit| name(diagram, exhibit.id));
            return argument.lines().map(str::to_owned).collect();
        }
        if let Some(order) = self.order() {
            let effects = order.order.len();
            return vec![format!(
                "There is an order of {effects} operations in which each takes effect at one \
                 instant between its invocation and its end, and every scan returns, for each \
                 segment, the value that was written last. Green points are these instants; \
                 the keys n and p follow the order."
            )];
        }
        unproved(&self.judgement)
    }

    fn guilty(&self, diagram: &Diagram) -> Vec<Guilty> {
        let Some(proof) = self.proof() else { return Vec::new() };
        guilty(diagram, |event| proof.location(event))
    }

    fn drawn(&self) -> Drawn {
        let mut notes = Vec::new();
        let operations = self.history.operations().len();
        let decided_at = match &self.judgement.finding {
            Finding::Violation(violation) => Some(violation.decided_at.0),
            _ => None,
        };
        if operations > MOST_OPERATIONS {
            notes.push(too_long(operations));
            let empty = History::builder(self.history.declaration())
                .map(|builder| builder.finish())
                .unwrap_or_else(|_| self.history.prefix(0));
            let columns = columns::encode(&empty, None, Ticks { of_event: None, count: 0 });
            return Drawn {
                columns,
                tick: "event",
                annotations: Vec::new(),
                notes,
                decided_at,
                is_of_exchanges: false,
            };
        }
        let ticks = Ticks { of_event: None, count: self.history.len() };
        let columns = columns::encode(&self.history, self.order(), ticks);
        if !columns.has_entries {
            notes.push(format!(
                "What the scans returned is more than {} values, and is shown for the operations \
                 of the argument only.",
                columns::MOST_ENTRIES
            ));
        }
        let annotations = annotations(&self.comments, &self.locations, &mut notes);
        Drawn { columns, tick: "event", annotations, notes, decided_at, is_of_exchanges: false }
    }
}

/// Returns the name of an operation in a diagram.
fn name(diagram: &Diagram, operation: OperationId) -> String {
    let bar = diagram.bars.iter().find(|bar| bar.operation == operation);
    bar.map_or_else(String::new, |bar| bar.name.clone())
}

/// Returns the operations of a violation, with the positions of their events in the recording.
fn guilty<L: ToString>(diagram: &Diagram, location: impl Fn(usize) -> Option<L>) -> Vec<Guilty> {
    let place = |event| location(event).map_or_else(|| "?".to_owned(), |at| at.to_string());
    let guilty = diagram.bars.iter().map(|bar| {
        let end = match bar.end {
            Some(end) if bar.is_failed => format!("failed at {}", place(end)),
            Some(end) => format!("to {}", place(end)),
            None => "still open".to_owned(),
        };
        Guilty {
            operation: bar.operation.index(),
            name: bar.name.clone(),
            deed: bar.deed.clone(),
            place: format!("p{} [{} {end}]", bar.process, place(bar.begin)),
        }
    });
    guilty.collect()
}

/// Returns the report's explanation of a missing proof: the reason, and help.
fn unproved(judgement: &Judgement) -> Vec<String> {
    let text = report::human("", judgement);
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

/// Returns the note on a recording that no page draws as a whole.
fn too_long(operations: usize) -> String {
    format!(
        "The recording has {operations} operations. A page draws at most {MOST_OPERATIONS}; the \
         argument does not need the others."
    )
}

/// Reads the comments of a recording; none if that fails, since a page without them is still
/// useful.
fn noted(replay: &Replay, format: Format) -> Vec<Comment> {
    replay.bytes().and_then(|bytes| comments(bytes, format)).unwrap_or_default()
}

/// Assigns the comments to their events.
fn annotations(
    comments: &[Comment],
    locations: &[Location],
    notes: &mut Vec<String>,
) -> Vec<Annotation> {
    if comments.len() == MOST_COMMENTS {
        notes.push(format!("Only the first {MOST_COMMENTS} comments are kept."));
    }
    let annotations = comments.iter().map(|comment| Annotation {
        tick: locations.partition_point(|place| place.line < comment.line),
        text: comment.text.clone(),
    });
    annotations.collect()
}

fn origin() -> String {
    format!(
        "Written by snapshot-test {}. The argument needs only the operations named in it; \
         `snapshot-test check --certificate DIR` writes it for an independent check.",
        env!("CARGO_PKG_VERSION")
    )
}
