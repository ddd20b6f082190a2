//! The page of one execution.

use snapshot_core::Names;
use snapshot_picture::Bar;
use snapshot_picture::page::{Answer, Guilty, Page, Recording, Section};

use super::PageError;
use super::judged::Judged;
use super::steps::{Walked, walk};
use crate::interpret::{Machine, Move, Sequential};
use crate::language::Source;

/// Memory limit in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 30;

/// An execution, with the texts of its page.
#[derive(Clone, Debug)]
pub struct PageInput<'a> {
    /// Name of the algorithm.
    pub title: String,
    pub source: &'a Source,
    pub machine: &'a Machine<'a>,
    pub moves: &'a [Move],
    /// The answer in a word, and its kind, unless the history gives the answer.
    pub answer: Option<(Answer, String)>,
    /// How the execution was found, with numbers.
    pub summary: String,
    /// Text shown if there is no argument against the history.
    pub words: Vec<String>,
    /// The execution as a file for `replay`.
    pub trace: Option<String>,
    /// The program that wrote the page, and the command that reproduces the answer.
    pub origin: String,
}

/// Returns the page of an execution. Memory: the changes of each step. At most 10,000 steps are
/// shown one by one.
///
/// # Errors
/// If its history cannot be judged.
pub fn of_execution(input: PageInput<'_>) -> Result<Page, PageError> {
    let walked = walk(input.machine, input.source, input.moves);
    let machine = input.machine;
    let object = machine.program().object();
    let sequential =
        object.map(|object| Sequential::new(object, machine.processes())).transpose()?;
    let judged = Judged::new(&walked.execution, sequential.as_ref(), MEMORY)?;
    let (kind, word, words, operations) = match &judged.violation {
        Some(violation) => {
            let operations = violation.proof.bars.iter().map(guilty).collect();
            (Answer::Violation, "not linearizable", violation.argument.clone(), operations)
        }
        None => (Answer::Linearizable, "linearizable", input.words, Vec::new()),
    };
    let (answer, verdict) = input.answer.unwrap_or_else(|| (kind, word.to_owned()));
    let summary = format!(
        "{} steps of {} processes. {}",
        walked.moves, walked.execution.processes, input.summary
    );
    let diagram = judged.shown().clone();
    let recording = Some(recording(judged, &walked));
    let sections = input.trace.as_deref().map(trace_section).into_iter().collect();
    Ok(Page {
        title: input.title,
        answer,
        verdict,
        summary: summary.trim_end().to_owned(),
        words,
        diagram,
        guilty: operations,
        renamed: None,
        run: None,
        recording,
        steps: Some(walked.steps),
        sections,
        origin: input.origin,
    })
}

/// Returns the position of an operation, in steps.
fn guilty(bar: &Bar) -> Guilty {
    let end = match bar.end {
        Some(end) => format!("to {end}"),
        None => "on".to_owned(),
    };
    Guilty {
        operation: bar.operation.index(),
        name: bar.name.clone(),
        deed: bar.deed.clone(),
        place: format!("p{} [step {} {end}]", bar.process, bar.begin),
    }
}

fn recording(judged: Judged, walked: &Walked) -> Recording {
    Recording {
        columns: judged.columns,
        tick: "step",
        annotations: Vec::new(),
        notes: walked.notes.clone(),
        decided_at: judged.violation.and_then(|violation| violation.decided),
        form: judged.form,
        names: Names::default(),
    }
}

fn trace_section(trace: &str) -> Section {
    Section::folded(
        "The execution as a file",
        "Saved as a file, `snapshot-verify replay FILE` makes these moves again.",
        "The trace",
        trace,
    )
}
