//! Outcomes as text.

use std::path::Path;

use snapshot_core::Process;

use super::exercised::human_exercised;
use super::quantity::{bound_on_operations, count, memory, seconds};
use super::{Case, TextPosition};
use crate::counterexample::{render, render_object};
use crate::program::Object;
use crate::refine::Techniques;
use crate::verify::{Barriers, Effort, Measures, Method, Outcome, Unfinished, Verdict};

/// Returns one outcome of a case in one line, and below it the violation or fault in lines of at
/// most `width` characters. `trace` is the file that the counterexample was written to.
pub fn human(case: &Case<'_>, outcome: &Outcome, trace: Option<&Path>, width: usize) -> String {
    let mut text = format!("{}: {}", about(case, outcome.pair), answer(case, outcome));
    let measured = &outcome.measures;
    if measured.explorations > 0 || measured.like.is_some() || measured.proof.is_some() {
        text.push_str(&format!(" ({})", measures(&outcome.measures)));
    }
    text.push('\n');
    for limit in outcome.measures.limits.iter() {
        text.push_str(&format!("  note: {}\n", limit.consequence()));
    }
    match &outcome.verdict {
        Verdict::Violation(counterexample) => {
            text.push('\n');
            text.push_str(&counterexample.body(width));
            text.push('\n');
        }
        Verdict::ObjectViolation(counterexample) => {
            text.push('\n');
            text.push_str(&counterexample.body(width));
            text.push('\n');
        }
        Verdict::Fault(fault) => {
            let TextPosition { line, column, message } =
                TextPosition::of_fault(case.source, &fault.fault);
            let name = case.source.name();
            text.push_str(&format!(
                "  {name}:{line}:{column}: {message} (after {} moves)\n",
                fault.moves.len()
            ));
            if let Some(before) = &fault.before {
                text.push_str(&format!("\n{}", render_object(before, width)));
                if let Some(last) = fault.moves.last() {
                    text.push_str(&format!(
                        "\n  The next step of p{} goes wrong.\n\n",
                        last.process
                    ));
                }
            }
        }
        Verdict::Misplaced(misplaced) => {
            let render = if case.object.is_some() { render_object } else { render };
            text.push_str(&format!(
                "\n{}\n  {}\n  Yet the history is linearizable: nothing is said against the \
                 algorithm.\n\n",
                render(&misplaced.execution, width),
                misplaced.argument(),
            ));
        }
        Verdict::Verified | Verdict::Refused | Verdict::Unknown(_) => {}
    }
    if let Some(trace) = trace {
        text.push_str(&format!("  trace: {}\n", trace.display()));
    }
    text
}

/// Returns true if a pair was left since the answer of another pair decides the case.
pub const fn is_unneeded(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Unknown(Unfinished::Answered))
}

/// Counts the pairs that were not needed, in one line; empty if there are none.
pub fn human_unneeded(case: &Case<'_>) -> String {
    let all = case.outcomes.len();
    let count = case.outcomes.iter().filter(|outcome| is_unneeded(outcome)).count();
    let pairs = match count {
        0 => return String::new(),
        1 if all == 2 => "the other pair was".to_owned(),
        1 => format!("1 of {all} pairs was"),
        _ if count + 1 == all => format!("the other {count} pairs were"),
        _ => format!("{count} of {all} pairs were"),
    };
    format!("{}: {pairs} not needed\n", case.title())
}

/// Returns the answer for all pairs of a case together, in one line; below it the coverage of a
/// proof, and its limits if the program looks at values.
pub fn human_conclusion(case: &Case<'_>) -> String {
    let pairs = match (case.values(), case.outcomes.len()) {
        (Some(1), _) => "value 0, ".to_owned(),
        (Some(values), _) => format!("values 0..{}, ", values - 1),
        (None, _) if case.object.is_some() => String::new(),
        (None, 1) => "1 pair, ".to_owned(),
        (None, pairs) => format!("{pairs} pairs, "),
    };
    let updates = case
        .request
        .updater
        .map_or_else(String::new, |updater| format!("updates by p{updater} only, "));
    let bound = match (case.request.operations, case.request.barriers) {
        (_, Barriers::AtMost(bound)) => executions_with_at_most(bound),
        (operations, _) => bound_on_operations(operations.bound(), &[]),
    };
    let title = format!("{}: {}", case.title(), case.conclusion());
    match case.outcomes.iter().any(|outcome| outcome.verdict.is_wrong()) {
        true => title + "\n",
        false => {
            let method = match case.object {
                None if case.outcomes.iter().any(|one| one.measures.proof.is_some()) => {
                    ", by the proof for every n".to_owned()
                }
                None => method(case.request.method),
                Some(object) => format!(
                    ", by refinement of `{}`{}; for n = {} only, not for every n",
                    object.name,
                    at_points(case.request.method),
                    case.request.processes
                ),
            };
            let exercised = case.exercise.map(|exercise| human_exercised(case, exercise, ""));
            let exercised = exercised.unwrap_or_default();
            let rest = reach(case) + other_values(case);
            format!("{title} ({pairs}{updates}{bound}{method})\n{exercised}{rest}")
        }
    }
}

/// Returns what a proof for a snapshot with many writers leaves open.
fn other_values(case: &Case<'_>) -> &'static str {
    let is_it = |object: &Object| object.name == Object::MULTI_WRITER_SNAPSHOT;
    match case.object.is_some_and(is_it) {
        true => {
            "  any process may update any segment: two values do not speak for all others, so try \
             --values 3, too (docs/many-writers.md)\n"
        }
        false => "",
    }
}

/// Returns the result of the trial of a program without a proof: of all executions over a few
/// values, as far as time allowed.
pub fn human_trial(case: &Case<'_>, outcome: &Outcome) -> String {
    let values = case.request.values.unwrap_or_default();
    let searched = measures(&outcome.measures);
    let help = match outcome.verdict {
        Verdict::Unknown(_) => {
            format!("  help: to look among all of them: --values {values} --operations grow\n")
        }
        _ => String::new(),
    };
    format!(
        "  tried: all executions over {values} values: {} ({searched})\n{help}",
        answer(case, outcome)
    )
}

/// Lists where a program looks at values, and the consequence for an answer without a violation:
/// simple executions prove nothing, all executions over some values prove nothing about other
/// values.
fn reach(case: &Case<'_>) -> String {
    let is_verified = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
    let means = match case.request.values {
        _ if case.looks_at_values.is_empty() => return String::new(),
        None => "simple executions do not speak for all others, for the program looks at values",
        Some(_) if case.outcomes.iter().all(is_verified) => {
            "proved for this n, these values and these operations; other values may fare \
             otherwise, for the program looks at them"
        }
        Some(_) => return String::new(),
    };
    let mut text = format!("  {means}:\n");
    for TextPosition { line, column, message } in case.looks_at_values {
        text.push_str(&format!("  {}:{line}:{column}: {message}\n", case.source.name()));
    }
    text
}

/// Returns text such as `, by refinement`; empty for exploration.
fn method(method: Method) -> String {
    match method {
        Method::Exploration => String::new(),
        Method::Refinement(_) => format!(", by refinement{}", at_points(method)),
    }
}

const fn at_points(method: Method) -> &'static str {
    match method {
        Method::Refinement(Techniques { points: true, .. }) => {
            " with operations taking effect at their linearization points"
        }
        Method::Exploration | Method::Refinement(_) => "",
    }
}

/// Returns text such as `bowman with early_exit, n = 3, pair (0,1)`.
pub(super) fn about(case: &Case<'_>, pair: Option<[Process; 2]>) -> String {
    let pair = pair.map_or_else(String::new, |[i, j]| format!(", pair ({i},{j})"));
    format!("{}{pair}", case.title())
}

pub(super) fn answer(case: &Case<'_>, outcome: &Outcome) -> String {
    let all = case.request.processes;
    match &outcome.verdict {
        Verdict::Verified if outcome.measures.proof.is_some() => {
            "verified, by the proof for every n".to_owned()
        }
        Verdict::Verified => format!("verified{}", within(&outcome.scope, all)),
        Verdict::Refused => format!("no violation{}", within(&outcome.scope, all)),
        Verdict::Violation(_) | Verdict::ObjectViolation(_) => {
            format!("violation{}", within(&outcome.scope, all))
        }
        Verdict::Misplaced(_) => {
            format!("unknown: misplaced linearization points{}", within(&outcome.scope, all))
        }
        Verdict::Fault(_) => format!("the program goes wrong{}", within(&outcome.scope, all)),
        Verdict::Unknown(cause) => {
            let cause = match cause {
                Unfinished::Time => "out of time",
                Unfinished::Memory => "out of memory",
                Unfinished::Interrupted => "interrupted",
                Unfinished::Answered if is_misplaced(case) => "another pair shows it",
                Unfinished::Answered => "another pair is violated",
                Unfinished::Unproved => "no proof for every n",
                Unfinished::Nodes => "more nodes are needed than `up to` allows",
                Unfinished::States => "out of states",
                Unfinished::Views => "out of views",
            };
            let covered: Vec<String> =
                outcome.scope.iter().map(|&effort| scope(effort, all)).collect();
            match covered.as_slice() {
                _ if matches!(outcome.verdict, Verdict::Unknown(Unfinished::Answered)) => {
                    format!("not explored to the end: {cause}")
                }
                [] => format!("unknown: {cause}"),
                covered => {
                    format!("unknown: {cause}; no violation with {}", covered.join(", nor with "))
                }
            }
        }
    }
}

fn is_misplaced(case: &Case<'_>) -> bool {
    case.outcomes.iter().any(|outcome| matches!(outcome.verdict, Verdict::Misplaced(_)))
}

/// Returns the scope of a verdict, unless it covers all executions.
fn within(efforts: &[Effort], processes: usize) -> String {
    match efforts {
        [effort] if effort.most_operations().is_some() || effort.active < processes => {
            format!(" with {}", scope(*effort, processes))
        }
        _ => String::new(),
    }
}

/// Returns text such as `at most 2 operations by each of 3 processes`.
fn scope(effort: Effort, processes: usize) -> String {
    let by = match effort.active {
        active if active == processes => "each process".to_owned(),
        active => format!("each of {active} processes"),
    };
    if let Some(bound) = effort.barriers {
        let among = match effort.active {
            active if active == processes => String::new(),
            active => format!(" of {active} processes"),
        };
        return format!("{}{among}", at_most_barriers(bound));
    }
    match effort.operations {
        None if effort.active == processes => "any number of operations".to_owned(),
        None => format!("any number of operations by {by}"),
        Some(1) => format!("at most 1 operation by {by}"),
        Some(bound) => format!("at most {bound} operations by {by}"),
    }
}

/// Returns text such as `at most 2 barriers`.
fn at_most_barriers(bound: u32) -> String {
    match bound {
        0 => "no barrier".to_owned(),
        1 => "at most 1 barrier".to_owned(),
        _ => format!("at most {bound} barriers"),
    }
}

/// Returns text such as `executions with at most 2 barriers only`.
fn executions_with_at_most(bound: u32) -> String {
    format!("executions with {} only", at_most_barriers(bound))
}

pub(super) fn measures(measures: &Measures) -> String {
    if let Some(proof) = measures.proof {
        let text = format!("{} views, {}", count(proof.views), seconds(proof.elapsed));
        return match measures.states {
            0 => text,
            states => format!("{text}; the search was left at {} states", count(states)),
        };
    }
    if let Some([i, j]) = measures.like {
        return format!("as pair ({i},{j}) with processes renamed, {}", seconds(measures.elapsed));
    }
    let mut text = format!(
        "{} states, {} transitions, depth {}, {}",
        count(measures.states),
        count(measures.transitions),
        measures.depth,
        seconds(measures.elapsed),
    );
    if measures.peak_bytes > 0 {
        text.push_str(&format!(", {}", memory(measures.peak_bytes)));
    }
    if measures.explorations != 1 {
        text.push_str(&format!(", {} explorations", measures.explorations));
    }
    text
}
