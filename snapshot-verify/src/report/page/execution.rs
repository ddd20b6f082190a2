//! The page of one execution.

use snapshot_core::History;
use snapshot_core::check::Report;
use snapshot_core::verdict::Verdict;
use snapshot_picture::columns::{self, Ticks};
use snapshot_picture::page::{Answer, Guilty, Page, Recording, Section};
use snapshot_picture::{Bar, Diagram};

use super::steps::{Walked, walk};
use crate::counterexample::operation_names;
use crate::interpret::{JudgeError, Machine, Move, judge};
use crate::language::Source;

/// Bytes for each search of orders, should a history need one.
const MEMORY: usize = 1 << 30;

/// A linearizable history of at most this many operations is drawn as a picture, too.
const FEW_OPERATIONS: usize = 60;

/// An execution, with the texts of its page.
#[derive(Clone, Debug)]
pub struct PageInput<'a> {
    /// What it is an execution of.
    pub title: String,
    /// The text.
    pub source: &'a Source,
    /// Runs it.
    pub machine: &'a Machine<'a>,
    /// Its moves.
    pub moves: &'a [Move],
    /// The answer in a word, and its kind, if the execution's history is not it.
    pub answer: Option<(Answer, String)>,
    /// How it was found, with which numbers.
    pub summary: String,
    /// What is said where there is no argument against its history.
    pub words: Vec<String>,
    /// The execution as a file for `replay`.
    pub trace: Option<String>,
    /// The program that wrote the page, and how to get the answer again.
    pub origin: String,
}

/// The page of an execution. Memory: per step what it changed; 10,000 steps at most are
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

fn diagram(history: &History<u32>, report: &Report<u32>) -> Diagram {
    let names = operation_names(history);
    match (&report.explanation, &report.verdict) {
        (Some(explanation), _) => {
            Diagram::of_explanation_named(explanation, |id| names[id.index()].clone())
        }
        (None, Verdict::Linearizable(order)) if history.operations().len() <= FEW_OPERATIONS => {
            Diagram::of_linearization(history, order)
        }
        _ => Diagram::default(),
    }
}

/// Where an operation is, in steps.
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
        is_of_exchanges: false,
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
