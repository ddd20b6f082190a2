//! The page of a proof: the text with the contribution of each statement, and the numbers.

use snapshot_picture::page::Section;
use snapshot_picture::page::listing::{Line, Remark, Sign};

use super::super::{Case, count, memory, seconds};
use crate::exercise::Occurrence;
use crate::language::{Source, Span};
use crate::verify::contribution::{Change, Contribution, Without};
use crate::verify::{Measures, Outcome};

/// Table of the costs, one row per pair.
pub(super) fn numbers(case: &Case<'_>, answer: impl Fn(&Outcome) -> String) -> Section {
    let rows: Vec<Vec<String>> = case
        .outcomes
        .iter()
        .map(|outcome| {
            let pair = outcome.pair.map_or_else(|| "all".to_owned(), |[i, j]| format!("({i},{j})"));
            let mut row = vec![pair, answer(outcome)];
            row.extend(measured(&outcome.measures));
            row
        })
        .collect();
    let heads = ["pair", "answer", "states", "transitions", "depth", "time", "memory"];
    let note = "For each pair (i, j) of segments, all executions in which processes i and j write 0 \
                until they switch to 1, and the others write 0, were explored, with an observer \
                that knows every violation of such executions. What holds for them holds for all \
                executions of an algorithm that does not look at values.";
    let note = match (case.object, case.request.values) {
        (Some(_), _) => {
            "Each state is one of the program and the set of states in which the object can be \
             after the same invocations and responses."
        }
        (None, Some(_)) => "",
        (None, None) => note,
    };
    Section::table("The numbers", note, &heads, &rows)
}

fn measured(measures: &Measures) -> [String; 5] {
    if let Some([i, j]) = measures.like {
        let like = format!("as ({i},{j}), processes renamed");
        return [like, String::new(), String::new(), seconds(measures.elapsed), String::new()];
    }
    let bytes = measures.peak_bytes;
    [
        count(measures.states),
        count(measures.transitions),
        measures.depth.to_string(),
        seconds(measures.elapsed),
        if bytes > 0 { memory(bytes) } else { String::new() },
    ]
}

/// Returns the text with remarks on statements that are never executed and on the contribution of
/// each statement. `about` describes the executions that the changed programs were verified for.
pub(super) fn text(case: &Case<'_>, contributions: &[Contribution], about: &str) -> Section {
    let source = case.source;
    let line = |text: &str| Line { text: text.to_owned(), remarks: Vec::new() };
    let mut lines: Vec<Line> = source.text().lines().map(line).collect();
    let mut remark = |span: Span, sign, text| {
        if let Some(line) = lines.get_mut(source.position(span).0 - 1) {
            line.remarks.push(Remark { sign, text });
        }
    };
    for (span, standing) in case.exercise.iter().flat_map(|exercise| &exercise.statements) {
        let words = || source.slice(*span).split_whitespace().collect::<Vec<_>>().join(" ");
        match standing {
            Occurrence::Seen => {}
            Occurrence::Never => {
                remark(*span, Sign::Spare, format!("`{}` is never executed", words()))
            }
            Occurrence::Open => {
                remark(
                    *span,
                    Sign::Open,
                    format!("not established that `{}` is executed", words()),
                );
            }
        }
    }
    for one in contributions {
        let (sign, text) = describe(source, one);
        remark(one.span, sign, text);
    }
    let decided = |one: &&Contribution| !matches!(one.without, Without::NoProgram(_));
    let changes = contributions.iter().filter(decided).count();
    let needed = contributions.iter().filter(|one| sign(&one.without) == Sign::Needed).count();
    let open = contributions.iter().filter(|one| one.without == Without::Open).count();
    let notes = match contributions.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "Each statement was left out, each condition made always or never true, each atomic \
             block taken apart, and what is left was verified again {about}: {changes} changed \
             programs, of which {needed} are wrong or can hang and {open} were not \
             decided. What can be changed without harm is not needed for linearizability; it may be \
             there for progress, or for more processes."
        )],
    };
    Section::listing("What each statement contributes", &notes, &lines)
}

const fn sign(without: &Without) -> Sign {
    match without {
        Without::Violation(_) | Without::Fault(_) | Without::Hangs => Sign::Needed,
        Without::Verified => Sign::Spare,
        Without::NoProgram(_) | Without::Refused | Without::Open => Sign::Open,
    }
}

fn describe(source: &Source, one: &Contribution) -> (Sign, String) {
    let words: Vec<&str> = source.slice(one.span).split_whitespace().collect();
    let words = words.join(" ");
    let changed = match one.change {
        Change::LeftOut => format!("without `{words}`"),
        Change::AlwaysTrue => format!("with `{words}` always true"),
        Change::AlwaysFalse => format!("with `{words}` never true"),
        Change::Apart => "with the steps of the block apart".to_owned(),
    };
    let result = match &one.without {
        Without::NoProgram(why) => format!("no program: {why}"),
        Without::Violation(steps) => format!("a violation in {steps} steps"),
        Without::Fault(why) => format!("it goes wrong: {why}"),
        Without::Hangs => "linearizable, but an operation never ends".to_owned(),
        Without::Verified => "verified, too".to_owned(),
        Without::Refused => "no violation, but it would look at values: no proof".to_owned(),
        Without::Open => "not decided".to_owned(),
    };
    (sign(&one.without), format!("{changed}: {result}"))
}
