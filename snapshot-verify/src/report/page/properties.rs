//! The pages of strong linearizability, with the tree of an answer *no*, and of progress, with the
//! infinite executions.

use snapshot_core::Names;
use snapshot_picture::Diagram;
use snapshot_picture::page::{Answer, Page, Part, Section, Step};

use super::answers::page;
use super::judged::{LETTER, operations};
use crate::counterexample::{named_deeds, names_of};
use crate::interpret::{Execution, Machine, MachineError, Move, MoveError};
use crate::progress::{Lasso, Progress};
use crate::report::properties::{
    Order, Told, looped, order_text, refuted, strong_heading, strong_notes,
};
use crate::report::{PropertyCase, human_progress, strong_words};
use crate::strong::StrongVerdict;
use crate::verify::properties::{Decided, StrongAnswer};

/// Returns an execution as a file for `replay`. The number is that of the moves before those that
/// repeat for ever, if some do.
pub type Traced<'a> = dyn Fn(&[Move], Option<usize>) -> Option<String> + 'a;

/// Contents of a page.
pub struct PropertySubject<'a> {
    pub case: &'a PropertyCase<'a>,
    pub trace: &'a Traced<'a>,
    /// The program that wrote the page, and the command that reproduces the answer.
    pub origin: String,
}

/// Reason why there is no page of a property.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyPageError {
    /// The program cannot run.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// An execution cannot be repeated.
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl PropertySubject<'_> {
    fn machine(&self) -> Result<Machine<'_>, MachineError> {
        Machine::new(self.case.program, self.case.scope.processes)
    }

    fn diagram(&self, execution: &Execution) -> Diagram {
        match self.case.program.object() {
            None => Diagram::of_history(&execution.history(), &Names::default()),
            Some(_) => Diagram::of_operations(&operations(execution), None, LETTER),
        }
    }

    /// Returns the text of the algorithm.
    fn text(&self) -> Section {
        Section::folded("The algorithm", "", "The text", self.case.source.text())
    }

    fn title(&self) -> String {
        format!("{}, n = {}", self.case.title, self.case.scope.processes)
    }
}

/// Returns the page of strong linearizability: of an answer *no* the tree of executions, with a
/// picture of each leaf.
///
/// # Errors
/// If an execution cannot be repeated.
pub fn of_strong(
    subject: &PropertySubject<'_>,
    found: &StrongAnswer,
) -> Result<Page, PropertyPageError> {
    let strong = &found.answer.0;
    let summary = strong_heading(subject.case, found);
    let words = strong_notes(subject.case, found);
    let mut sections = Vec::new();
    let answer = match &strong.verdict {
        StrongVerdict::Strong => Answer::Linearizable,
        StrongVerdict::Unknown | StrongVerdict::Faulty { .. } => Answer::Unknown,
        StrongVerdict::NotStrong(tree) => {
            let machine = subject.machine()?;
            let told = Told::new(&machine, tree)?;
            let notes = [
                "All executions begin alike. Behind a response follow the ways to order the \
                 operations so far; for each way, an execution goes on until no order is left that \
                 begins with the one chosen before."
                    .to_owned(),
                "In the pictures, a point is where an operation takes effect, its number the place \
                 in the order; operations without a point are not in the order yet."
                    .to_owned(),
            ];
            sections.push(Section::branches(
                "The executions",
                &notes,
                "tree",
                &case_part(subject, &told),
            ));
            Answer::Violation
        }
    };
    sections.push(subject.text());
    let verdict = strong_words(strong);
    let origin = subject.origin.clone();
    Ok(page(subject.title(), answer, verdict, summary, words, sections, origin))
}

fn case_part(subject: &PropertySubject<'_>, told: &Told) -> Part {
    let names = names_of(&told.execution);
    let is_leaf = told.branches.is_empty();
    let mut part =
        Part { steps: steps(&told.execution, told.before..told.moves.len()), ..Part::default() };
    if is_leaf {
        let begun = match told.order.is_empty() {
            true => "No order".to_owned(),
            false => format!("No order that begins with {}", order_text(&told.order, &names)),
        };
        part.remark = format!("{begun} explains the last response.");
        let mut diagram = subject.diagram(&told.execution);
        rank(&mut diagram, &told.order);
        part.picture = Some(diagram);
        part.trace = (subject.trace)(&told.moves, None);
    }
    part.branches = told
        .branches
        .iter()
        .map(|branch| {
            let orders: Vec<String> =
                branch.appended.iter().map(|order| order_text(order, &names)).collect();
            let then = if told.order.is_empty() { "" } else { "next " };
            let condition = format!("if ordered {then}{}", orders.join(", or "));
            (condition, case_part(subject, &branch.told))
        })
        .collect();
    part
}

fn rank(diagram: &mut Diagram, order: &Order) {
    for (place, block) in order.iter().enumerate() {
        for &number in block {
            diagram.bars[number].rank = Some(place);
        }
    }
}

fn steps(execution: &Execution, range: std::ops::Range<usize>) -> Vec<Step> {
    let deeds = named_deeds(execution);
    let all = execution.reports.iter().zip(deeds);
    all.skip(range.start)
        .take(range.len())
        .map(|(report, text)| Step {
            process: report.process.index(),
            text,
            line: 0,
            changes: Vec::new(),
        })
        .collect()
}

/// Returns the page of progress, with each infinite execution: its beginning, and the moves that
/// repeat for ever.
///
/// # Errors
/// If an execution cannot be repeated.
pub fn of_progress(
    subject: &PropertySubject<'_>,
    found: &Decided<Progress>,
) -> Result<Page, PropertyPageError> {
    let progress = &found.answer;
    let text = human_progress(subject.case, found);
    let mut lines = text.lines();
    let summary = lines.next().unwrap_or_default().to_owned();
    let words = lines.map(|line| line.trim().to_owned()).collect();
    let machine = subject.machine()?;
    let mut sections = Vec::new();
    for (number, (properties, lasso)) in refuted(progress).into_iter().enumerate() {
        let place = |span| subject.case.source.place(span).to_string();
        let notes = [format!("{}.", looped(progress, lasso, &place))];
        let prefix = format!("loop-{number}");
        let part = lasso_part(subject, &machine, lasso)?;
        sections.push(Section::branches(&properties.join(", "), &notes, &prefix, &part));
    }
    sections.push(subject.text());
    let (answer, verdict) = match progress.is_established() {
        true => (Answer::Linearizable, "established"),
        false => (Answer::Unknown, "not established"),
    };
    let origin = subject.origin.clone();
    Ok(page(subject.title(), answer, verdict, summary, words, sections, origin))
}

fn lasso_part(
    subject: &PropertySubject<'_>,
    machine: &Machine<'_>,
    lasso: &Lasso,
) -> Result<Part, MoveError> {
    let moves = [&*lasso.stem, &*lasso.cycle].concat();
    let execution = machine.run(&moves)?;
    let before = lasso.stem.len();
    let cycle = Part {
        steps: steps(&execution, before..moves.len()),
        picture: Some(subject.diagram(&execution)),
        trace: (subject.trace)(&moves, Some(before)),
        ..Part::default()
    };
    Ok(Part {
        steps: steps(&execution, 0..before),
        branches: vec![("for ever, again and again".to_owned(), cycle)],
        ..Part::default()
    })
}
