//! The page of an answer of `check`: a counterexample, or a proof.

use snapshot_hints::report;
use snapshot_picture::Diagram;
use snapshot_picture::page::{Answer, Page, Section};

use super::super::human::{about, answer, measures};
use super::super::{Case, count, human_conclusion, human_every, seconds};
use super::execution::{PageInput, of_execution};
use super::proof;
use crate::interpret::{JudgeError, MachineError, Move};
use crate::object::ObjectJudgeError;
use crate::program::Program;
use crate::verify::contribution::Contribution;
use crate::verify::every::EveryNAnswer;
use crate::verify::{Operations, Outcome, Verdict};

/// Contents of a page.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The case with all its answers.
    pub case: &'a Case<'a>,
    pub program: &'a Program,
    /// The counterexample as a file for `replay`.
    pub trace: Option<String>,
    /// Contributions of statements to the proof, if there is one.
    pub contributions: &'a [Contribution],
    /// The program that wrote the page, and the command that reproduces the answer.
    pub origin: String,
}

/// Reason why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The program cannot run.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The history cannot be judged.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The history of an object cannot be judged.
    #[error(transparent)]
    ObjectJudge(#[from] ObjectJudgeError),
}

impl PageError {
    /// Returns true if this program is at fault, as opposed to the question.
    pub const fn is_ours(&self) -> bool {
        match self {
            Self::Machine(_) => false,
            Self::Judge(error) => error.is_ours(),
            Self::ObjectJudge(error) => error.is_ours(),
        }
    }
}

/// Returns the page of the answers for all pairs: of the first counterexample if there is one, else
/// of the proof or of the unknown answer.
///
/// # Errors
/// If the counterexample cannot be repeated.
pub fn of_case(subject: &Subject<'_>) -> Result<Page, PageError> {
    let case = subject.case;
    let shown = case.outcomes.iter().find_map(|outcome| {
        let (moves, answer, words): (&[Move], _, _) = match &outcome.verdict {
            Verdict::Violation(counterexample) => (counterexample.moves(), None, Vec::new()),
            Verdict::ObjectViolation(counterexample) => (counterexample.moves(), None, Vec::new()),
            Verdict::Fault(fault) => {
                let place = case.source.place(fault.fault.span);
                let words = vec![
                    format!("The last step goes wrong at {place}: {}.", fault.fault),
                    "An algorithm that does something without a meaning in one execution is no \
                     implementation, whatever it returns in the others."
                        .to_owned(),
                ];
                (&fault.moves, Some((Answer::Faulty, "goes wrong".to_owned())), words)
            }
            Verdict::Misplaced(misplaced) => {
                let words = vec![
                    misplaced.argument(),
                    "Yet the history is linearizable: nothing is said against the algorithm."
                        .to_owned(),
                ];
                let answer = (Answer::Unknown, "misplaced linearization points".to_owned());
                (&misplaced.moves, Some(answer), words)
            }
            _ => return None,
        };
        Some((outcome, moves, answer, words))
    });
    let Some((outcome, moves, answer, words)) = shown else {
        return Ok(without_execution(subject));
    };
    let machine = case.request.machine(subject.program)?;
    let input = PageInput {
        title: about(case, outcome.pair),
        source: case.source,
        machine: &machine,
        moves,
        answer,
        summary: format!("Found with {}.", measures(&outcome.measures)),
        words,
        trace: subject.trace.clone(),
        origin: subject.origin.clone(),
    };
    of_execution(input)
}

fn without_execution(subject: &Subject<'_>) -> Page {
    let case = subject.case;
    let all = |is: fn(&Verdict) -> bool| case.outcomes.iter().all(|one| is(&one.verdict));
    let n = case.request.processes;
    let (kind, verdict, first) = if all(|verdict| matches!(verdict, Verdict::Verified)) {
        (Answer::Linearizable, "verified", proved(case))
    } else if case.outcomes.iter().any(|one| matches!(one.verdict, Verdict::Unknown(_))) {
        let first = format!(
            "It is not known whether all executions with {n} processes are linearizable: not all \
             of them were explored. More time (--time), more memory (--memory) or fewer \
             operations (--operations 2, say) help."
        );
        (Answer::Unknown, "unknown", first)
    } else {
        let first = "No violation was found, but that is no proof: the program looks at values. \
                     All executions over a few values can be searched: --values 2 --operations grow."
            .to_owned();
        (Answer::Unknown, "no proof", first)
    };
    let conclusion = human_conclusion(case);
    let mut words = vec![first];
    words.extend(conclusion.lines().skip(1).map(|line| line.trim().to_owned()));
    let summary = conclusion.lines().next().unwrap_or_default().to_owned();
    let about = format!("for {n} processes");
    let sections = vec![
        proof::text(case, subject.contributions, &about),
        proof::numbers(case, |outcome: &Outcome| answer(case, outcome)),
    ];
    page(case.title(), kind, verdict, summary, words, sections, subject.origin.clone())
}

fn proved(case: &Case<'_>) -> String {
    let operations = match case.request.operations {
        Operations::AtMost(1) => "at most one operation".to_owned(),
        Operations::AtMost(bound) => format!("at most {bound} operations"),
        Operations::Unbounded | Operations::Grow => "any number of operations".to_owned(),
    };
    let values = match case.values() {
        Some(1) => " over one value,".to_owned(),
        Some(values) => format!(" over {values} values,"),
        None => String::new(),
    };
    let reach = match case.object {
        Some(object) => format!("linearizable: it refines `{}`.", object.name),
        None => "linearizable, as far as the pairs below reach. The proof need not be believed: \
                 `snapshot-verify check --certificate FILE` writes it for an independent check."
            .to_owned(),
    };
    format!(
        "Every execution of {} with {} processes, each of which makes {operations},{values} is \
         {reach}",
        case.algorithm, case.request.processes
    )
}

/// Returns the page of an answer for every n without a violation.
pub fn of_every(subject: &Subject<'_>, title: &str, every: &EveryNAnswer) -> Page {
    let case = subject.case;
    let (kind, verdict) = match every.verdict() {
        "verified" => (Answer::Linearizable, "verified for every n"),
        "refused" => (Answer::Unknown, "no proof"),
        _ => (Answer::Unknown, "unknown"),
    };
    let text = human_every(title, case.source, every);
    let summary = text.lines().next().unwrap_or_default().to_owned();
    let first = match kind {
        Answer::Linearizable => format!(
            "Every execution of {} is linearizable, with any number of processes and of \
             operations. The sets below are closed under the steps of the processes: what one \
             process, and those that are like all others, can do, is within them, and nothing in \
             them is a violation (docs/every-n.md).",
            case.algorithm
        ),
        _ => "There is no proof for every number of processes at once. That is no violation: \
              `check -n 3` explores the executions of three processes."
            .to_owned(),
    };
    let rest = match kind {
        Answer::Linearizable => Vec::new(),
        _ => text.lines().skip(1).map(|line| line.trim().to_owned()).collect(),
    };
    let rows = every.answer.rungs.iter().map(|rung| {
        vec![
            report::property(rung.obligation),
            report::outcome(rung, case.source),
            count(rung.views() as u64),
            count(rung.centres as u64),
            seconds(rung.elapsed),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let heads = ["obligation", "outcome", "views", "centres", "time"];
    let about = format!("for {} processes", case.request.processes);
    let sections = vec![
        proof::text(case, subject.contributions, &about),
        Section::table("The obligations", "", &heads, &rows),
    ];
    let words = [vec![first], rest].concat();
    page(title.to_owned(), kind, verdict, summary, words, sections, subject.origin.clone())
}

/// Returns a page of words and sections.
pub(super) fn page(
    title: String,
    answer: Answer,
    verdict: &str,
    summary: String,
    words: Vec<String>,
    sections: Vec<Section>,
    origin: String,
) -> Page {
    Page {
        title,
        answer,
        verdict: verdict.to_owned(),
        summary,
        words,
        diagram: Diagram::default(),
        guilty: Vec::new(),
        renamed: None,
        run: None,
        recording: None,
        steps: None,
        sections,
        origin,
    }
}
