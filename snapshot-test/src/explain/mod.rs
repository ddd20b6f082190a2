//! From a recording to a page or a picture that explains its verdict.
//!
//! The recording is held in memory, judged, and shown in the forms of [`snapshot_picture`]: the
//! pictures show the explanation that `check` reports, and the order that its certificate would
//! hold. A `Subject` is a kind of recording: of a snapshot, of an immediate snapshot, of an object
//! with named operations.

mod annotations;
mod exchanges;
mod operations;
mod snapshots;

pub use annotations::{Comment, MOST as MOST_COMMENTS, comments};

use snapshot_core::{Names, OperationId};
use snapshot_picture::columns::{Columns, MOST_ENTRIES};
use snapshot_picture::diagram::Diagram;
use snapshot_picture::page::{Annotation, Answer, Form, Guilty, Page, Recording as Drawn};
use snapshot_picture::run::Run;

use self::exchanges::Exchanges;
use self::operations::Operations;
use self::snapshots::Snapshots;
use crate::Value;
use crate::format::{Format, Location, Object};
use crate::input::{Gauge, Input, OpenError, Replay};
use crate::judge::{Class, Finding, Judgement, Options, imported_log};
use crate::report;
use crate::synchronisation;

/// The largest number of operations that a page draws as a whole.
pub const MOST_OPERATIONS: usize = 4_000_000;

/// The largest number of characters of a name on a page.
const MOST_OF_NAME: usize = 24;

/// The largest number of operations of a correct recording that is also drawn as a picture.
const FEW_OPERATIONS: usize = 60;

/// A kind of recording, in memory with its judgement.
trait Subject {
    fn judgement(&self) -> &Judgement;

    /// Number of operations.
    fn operations(&self) -> usize;

    /// Returns true if the operations of a violation are known.
    fn is_refuted(&self) -> bool;

    /// Returns the operations of the violation, or of the whole recording with their positions in
    /// the order. Processes and segments have these names.
    fn diagram(&self, names: &Names) -> Diagram;

    /// Returns the diagram in characters, if it fits into lines of `width` characters.
    fn text(&self, width: usize) -> Option<String> {
        snapshot_picture::text::text(&self.diagram(&self.judgement().names), width)
    }

    /// Returns the paragraphs of the argument, with the names in the diagram; `None` if nothing is
    /// proved.
    fn words(&self, diagram: &Diagram) -> Option<Vec<String>>;

    /// Returns the columns of the recording; an empty recording if `is_empty`.
    fn columns(&self, is_empty: bool) -> Columns;

    fn form(&self) -> Form;

    /// Returns the text of the position of an event of an operation of the argument.
    fn place(&self, operation: OperationId, event: usize) -> Option<String>;

    /// Returns the number of the event at which the violation is complete.
    fn decided_at(&self) -> Option<usize>;

    /// Returns the number of the first event behind a line.
    fn event_behind(&self, line: u64) -> usize;

    /// Returns the size of the input, and the method of the decision.
    fn summary(&self) -> String {
        report::summary(self.judgement())
    }

    /// Returns the name of the renaming, and the diagram after it.
    fn renamed(&self, _names: &Names) -> Option<(String, Diagram)> {
        None
    }

    /// Returns the run of the automaton that accepts a violation.
    fn run(&self) -> Option<Run> {
        None
    }
}

/// A recording in memory with its judgement.
pub struct Explained {
    name: String,
    subject: Box<dyn Subject>,
    comments: Vec<Comment>,
}

impl Explained {
    /// Reads and judges an input, or one object of several, by its key; detects the format if
    /// `format` is absent. `object`: of an object with named operations. Memory: the history, 24
    /// bytes per event, and the memory of the judgement.
    ///
    /// # Errors
    /// If the input cannot be read to its end, or to the violation.
    pub fn new(
        input: &Input,
        name: String,
        object: Option<&synchronisation::Object>,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        if let Some(object) = object {
            let (subject, comments) = Operations::new(object, input, format, key, options)?;
            return Ok(Self { name, subject: Box::new(subject), comments });
        }
        if let Some((format, log)) = imported_log(input, format)? {
            let subject = Box::new(Snapshots::of_log(format, log, options));
            return Ok(Self { name, subject, comments: Vec::new() });
        }
        let (mut reader, replay) = input.open_repeatably(format, &Gauge::default())?;
        if let Some(key) = key {
            reader.select(key)?;
        }
        let format = reader.format();
        let subject: Box<dyn Subject> = match reader.object() {
            Object::Snapshot => Box::new(Snapshots::new(reader, options)?),
            Object::Immediate => Box::new(Exchanges::new(reader)?),
        };
        Ok(Self { name, subject, comments: noted(&replay, format) })
    }

    pub fn judgement(&self) -> &Judgement {
        self.subject.judgement()
    }

    /// Returns the operations of the violation, or of the whole recording with their positions in
    /// the order.
    pub fn diagram(&self) -> Diagram {
        self.subject.diagram(&self.subject.judgement().names)
    }

    /// Returns the same in characters, if it fits into lines of `width` characters.
    pub fn text(&self, width: usize) -> Option<String> {
        self.subject.text(width)
    }

    pub fn page(&self) -> Page {
        let subject = &*self.subject;
        let judgement = subject.judgement();
        let is_drawn = subject.is_refuted() || subject.operations() <= FEW_OPERATIONS;
        let names = &judgement.names.shortened(MOST_OF_NAME);
        let diagram = if is_drawn { subject.diagram(names) } else { Diagram::default() };
        Page {
            title: self.name.clone(),
            answer: match judgement.finding.class() {
                Class::Violation => Answer::Violation,
                Class::Right => Answer::Linearizable,
                _ => Answer::Unknown,
            },
            verdict: report::verdict(&judgement.finding).to_owned(),
            summary: subject.summary(),
            words: subject.words(&diagram).unwrap_or_else(|| unproved(judgement)),
            guilty: if subject.is_refuted() { guilty(subject, &diagram) } else { Vec::new() },
            diagram,
            renamed: subject.renamed(names),
            run: subject.run(),
            recording: Some(self.drawn()),
            steps: None,
            sections: Vec::new(),
            origin: origin(),
        }
    }

    fn drawn(&self) -> Drawn {
        let subject = &*self.subject;
        let mut notes = Vec::new();
        let is_too_long = subject.operations() > MOST_OPERATIONS;
        if is_too_long {
            notes.push(too_long(subject.operations()));
        }
        let columns = subject.columns(is_too_long);
        if !is_too_long && !columns.has_entries {
            notes.push(format!(
                "What the operations returned is more than {MOST_ENTRIES} values, and is shown \
                 for those of the argument only."
            ));
        }
        let annotations = if is_too_long { Vec::new() } else { self.annotations(&mut notes) };
        Drawn {
            columns,
            tick: "event",
            annotations,
            notes,
            decided_at: subject.decided_at(),
            form: subject.form(),
            names: subject.judgement().names.shortened(MOST_OF_NAME),
        }
    }

    /// Assigns the comments to their events.
    fn annotations(&self, notes: &mut Vec<String>) -> Vec<Annotation> {
        if self.comments.len() == MOST_COMMENTS {
            notes.push(format!("Only the first {MOST_COMMENTS} comments are kept."));
        }
        let annotations = self.comments.iter().map(|comment| Annotation {
            tick: self.subject.event_behind(comment.line),
            text: comment.text.clone(),
        });
        annotations.collect()
    }
}

/// Returns the name of an operation in a diagram.
fn name(diagram: &Diagram, operation: OperationId) -> String {
    let bar = diagram.bars.iter().find(|bar| bar.operation == operation);
    bar.map_or_else(String::new, |bar| bar.name.clone())
}

/// Returns the operations of a violation, with the positions of their events in the recording.
fn guilty(subject: &dyn Subject, diagram: &Diagram) -> Vec<Guilty> {
    let guilty = diagram.bars.iter().map(|bar| {
        let place = |event| subject.place(bar.operation, event).unwrap_or_else(|| "?".to_owned());
        let end = match bar.end {
            Some(end) if bar.is_failed => format!("failed at {}", place(end)),
            Some(end) => format!("to {}", place(end)),
            None => "still open".to_owned(),
        };
        Guilty {
            operation: bar.operation.index(),
            name: bar.name.clone(),
            deed: bar.deed.clone(),
            place: format!("{} [{} {end}]", diagram.row_label(bar.process), place(bar.begin)),
        }
    });
    guilty.collect()
}

/// Returns the number of the first event behind a line, by the positions of the events.
fn events_through(locations: &[Location], line: u64) -> usize {
    locations.partition_point(|place| place.line < line)
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

/// Returns a finding that is not one of a recording as an error.
fn read(judgement: Judgement) -> Result<Judgement, OpenError> {
    match judgement.finding {
        Finding::Malformed(error) => Err(error),
        _ => Ok(judgement),
    }
}

fn origin() -> String {
    format!(
        "Written by snapshot-test {}. The argument needs only the operations named in it; \
         `snapshot-test check --certificate DIR` writes it for an independent check.",
        env!("CARGO_PKG_VERSION")
    )
}
