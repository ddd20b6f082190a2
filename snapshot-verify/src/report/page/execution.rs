//! The page of one execution.

use snapshot_core::check::Report;
use snapshot_core::verdict::Verdict;
use snapshot_core::{History, Names};
use snapshot_picture::columns::{self, Ticks};
use snapshot_picture::page::{Answer, Form, Guilty, Page, Recording, Section};
use snapshot_picture::{Bar, Diagram};

use super::steps::{Walked, walk};
use crate::counterexample::operation_names;
use crate::interpret::{JudgeError, Machine, Move, judge};
use crate::language::Source;

/// Memory limit in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 30;

/// Maximum number of operations of a linearizable history that is drawn as a picture, too.
const FEW_OPERATIONS: usize = 60;

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
pub fn of_execution(input: PageInput<'_>) -> Result<Page, JudgeError> {
    let walked = walk(input.machine, input.source, input.moves);
    let history = walked.execution.history();
    let report = judge(&history, MEMORY, &mut || true)?;
    let diagram = diagram(&history, &report);
    let words = match &report.explanation {
        Some(explanation) => {
            let names = operation_names(&history);
            let argument = explanation.argument(|exhibit| names[exhibit.id.index()].clone());
            argument.lines().map(str::to_owned).collect()
        }
        None => input.words,
    };
    let (answer, verdict) = input.answer.unwrap_or_else(|| match report.explanation {
        Some(_) => (Answer::Violation, "not linearizable".to_owned()),
        None => (Answer::Linearizable, "linearizable".to_owned()),
    });
    let guilty = match report.explanation {
        Some(_) => diagram.bars.iter().map(|bar| guilty(bar, &walked)).collect(),
        None => Vec::new(),
    };
    let summary = format!(
        "{} steps of {} processes. {}",
        walked.moves, walked.execution.processes, input.summary
    );
    let recording = Some(recording(&history, &report, &walked));
    let sections = input.trace.as_deref().map(trace_section).into_iter().collect();
    Ok(Page {
        title: input.title,
        answer,
        verdict,
        summary: summary.trim_end().to_owned(),
        words,
        diagram,
        guilty,
        renamed: None,
        run: None,
        recording,
        steps: Some(walked.steps),
        sections,
        origin: input.origin,
    })
}

/// Returns the operations of the argument of a violation, or the linearization if it is small.
pub(crate) fn diagram(history: &History<u32>, report: &Report<u32>) -> Diagram {
    let names = operation_names(history);
    match (&report.explanation, &report.verdict) {
        (Some(explanation), _) => {
            Diagram::of_explanation_named(explanation, |id| names[id.index()].clone())
        }
        (None, Verdict::Linearizable(order)) if history.operations().len() <= FEW_OPERATIONS => {
            Diagram::of_linearization(history, order, &Names::default())
        }
        _ => Diagram::default(),
    }
}

/// Returns the position of an operation, in steps.
fn guilty(bar: &Bar, walked: &Walked) -> Guilty {
    let step = |event: usize| walked.ticks.get(event).copied().unwrap_or_default();
    let end = match bar.end {
        Some(end) => format!("to {}", step(end)),
        None => "on".to_owned(),
    };
    Guilty {
        operation: bar.operation.index(),
        name: bar.name.clone(),
        deed: bar.deed.clone(),
        place: format!("p{} [step {} {end}]", bar.process, step(bar.begin)),
    }
}

fn recording(history: &History<u32>, report: &Report<u32>, walked: &Walked) -> Recording {
    let ticks = Ticks { of_event: Some(&walked.ticks), count: walked.moves + 1 };
    let order = match &report.verdict {
        Verdict::Linearizable(order) => Some(order),
        _ => None,
    };
    let decided = report.decided_at.filter(|_| report.explanation.is_some());
    Recording {
        columns: columns::encode(history, order, ticks),
        tick: "step",
        annotations: Vec::new(),
        notes: walked.notes.clone(),
        decided_at: decided.and_then(|event| walked.ticks.get(event).copied()),
        form: Form::Snapshot,
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
