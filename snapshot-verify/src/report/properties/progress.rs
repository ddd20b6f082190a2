//! Progress, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{PropertyCase, add, moves_json};
use crate::language::Span;
use crate::progress::{Extent, Lasso, OperationProgress, Progress, Standing};
use crate::report::{count, seconds};
use crate::verify::properties::Decided;

/// Returns the progress as text.
#[must_use]
pub fn human_progress(case: &PropertyCase<'_>, found: &Decided<Progress>) -> String {
    let Decided { answer, elapsed } = found;
    let mut text = format!(
        "{}: progress ({} states, {})\n",
        case.heading(),
        count(answer.states as u64),
        seconds(*elapsed)
    );
    let place = |span: Span| case.source.place(span).to_string();
    for one in &answer.operations {
        let name = answer.name_of(one.operation);
        let _ = writeln!(text, "  {name}: {}", level(answer, one));
        let fair = |standing: &Standing, name: &str| match standing {
            Standing::WithFairChoices(_) => format!("without fair choices not {name}"),
            _ => format!("not {name}"),
        };
        if let Some(lasso) = one.wait_free.lasso() {
            let what = fair(&one.wait_free, "wait-free");
            let _ = writeln!(text, "    {what}: {}", looped(answer, lasso, &place));
        }
        if let Standing::Fails(lasso) = &one.obstruction_free {
            let _ = writeln!(text, "    not obstruction-free: {}", looped(answer, lasso, &place));
        }
        if let Some(lasso) = one.starvation_free.lasso()
            && one.wait_free.lasso() != Some(lasso)
        {
            let what = fair(&one.starvation_free, "starvation-free");
            let _ = writeln!(text, "    {what}: {}", looped(answer, lasso, &place));
        }
        if let Some(lasso) = &one.waits {
            let _ = writeln!(
                text,
                "    the object itself lets it wait (`await`): {}",
                looped(answer, lasso, &place)
            );
        }
    }
    for (name, standing) in
        [("lock-free", &answer.lock_free), ("deadlock-free", &answer.deadlock_free)]
    {
        let _ = match standing {
            Standing::Holds => writeln!(text, "  {name}: yes"),
            Standing::Open => writeln!(text, "  {name}: not established"),
            Standing::WithFairChoices(lasso) => writeln!(
                text,
                "  {name}: with fair choices; without, {}",
                looped(answer, lasso, &place)
            ),
            Standing::Fails(lasso) => {
                writeln!(text, "  {name}: no: {}", looped(answer, lasso, &place))
            }
        };
    }
    match &answer.extent {
        Extent::Complete => {}
        Extent::CutOff => {
            text.push_str(
                "  not all executions were explored: give it more --memory or --time; an object \
                 must be linearizable\n",
            );
        }
        Extent::Faulty { moves, fault } => {
            let _ = writeln!(
                text,
                "  not all executions could be followed: after {} moves, at {}: {fault}",
                moves.len(),
                place(fault.span)
            );
        }
    }
    text + &case.traced()
}

/// Returns each infinite execution once, with the properties that it refutes.
pub(crate) fn refuted(answer: &Progress) -> Vec<(Vec<String>, &Lasso)> {
    let mut all: Vec<(String, &Lasso)> = Vec::new();
    let add = |subject: &str, property: &str, standing: &Standing| match standing {
        Standing::Holds | Standing::Open => None,
        Standing::Fails(_) => Some(format!("{subject}not {property}")),
        Standing::WithFairChoices(_) => {
            Some(format!("{subject}without fair choices not {property}"))
        }
    };
    for one in &answer.operations {
        let subject = format!("{}: ", answer.name_of(one.operation));
        for (property, standing) in [
            ("wait-free", &one.wait_free),
            ("starvation-free", &one.starvation_free),
            ("obstruction-free", &one.obstruction_free),
        ] {
            all.extend(add(&subject, property, standing).zip(standing.lasso()));
        }
        all.extend(
            one.waits.as_ref().map(|lasso| (format!("{subject}the object lets it wait"), lasso)),
        );
    }
    for (property, standing) in
        [("lock-free", &answer.lock_free), ("deadlock-free", &answer.deadlock_free)]
    {
        all.extend(add("", property, standing).zip(standing.lasso()));
    }
    let mut once: Vec<(Vec<String>, &Lasso)> = Vec::new();
    for (property, lasso) in all {
        match once.iter_mut().find(|(_, other)| *other == lasso) {
            Some((properties, _)) => properties.push(property),
            None => once.push((vec![property], lasso)),
        }
    }
    once
}

/// Returns the level of an operation, such as `wait-free, at most 2 accesses`.
fn level(answer: &Progress, one: &OperationProgress) -> String {
    let is_exact = !answer.is_bounded && answer.extent == Extent::Complete;
    let accesses = one.accesses.map(|accesses| {
        let unit = if accesses == 1 { "access" } else { "accesses" };
        match is_exact {
            true => format!(", at most {accesses} {unit}"),
            false => format!(", {accesses} {unit} or more in the worst case"),
        }
    });
    let accesses = accesses.unwrap_or_default();
    if one.waits.is_some() && one.wait_free == Standing::Holds {
        return "returns, unless the object itself keeps letting it wait".to_owned();
    }
    let level = match (&one.wait_free, &one.starvation_free, &one.obstruction_free) {
        (Standing::Holds, ..) => "wait-free",
        (Standing::Open, ..) => "nothing established",
        (_, Standing::Holds, Standing::Holds) => "obstruction-free, starvation-free",
        (_, Standing::Holds, Standing::WithFairChoices(_)) => {
            "obstruction-free with fair choices, starvation-free"
        }
        (_, _, Standing::Holds) => "obstruction-free",
        (Standing::WithFairChoices(_), _, Standing::WithFairChoices(_)) => {
            "wait-free with fair choices"
        }
        (_, _, Standing::WithFairChoices(_)) => "obstruction-free with fair choices",
        (_, Standing::Holds, Standing::Fails(_)) => "blocking, starvation-free",
        (_, _, Standing::Fails(_)) => "blocking",
        (_, _, Standing::Open) => "not wait-free",
    };
    let waits = if one.waits.is_some() { ", unless the object itself lets it wait" } else { "" };
    format!("{level}{accesses}{waits}")
}

/// Returns text such as `p0 and p1 can go on for ever (after 12 moves, 6 moves again and again)`.
pub(crate) fn looped(answer: &Progress, lasso: &Lasso, place: &dyn Fn(Span) -> String) -> String {
    let movers: Vec<String> = lasso.movers().iter().map(|process| format!("p{process}")).collect();
    let victim = lasso.victim.map_or_else(String::new, |(process, operation)| {
        format!(", and the {} by p{process} does not return", answer.name_of(operation))
    });
    let choice = lasso.choice.map_or_else(String::new, |span| {
        format!("; the `choose` at {} is made for ever", place(span))
    });
    format!(
        "{} can go on for ever{victim} (after {}, {} again and again){choice}",
        movers.join(" and "),
        moves(lasso.stem.len()),
        moves(lasso.cycle.len())
    )
}

fn moves(count: usize) -> String {
    if count == 1 { "1 move".to_owned() } else { format!("{count} moves") }
}

/// Returns the progress as a line of JSON, without its end.
#[must_use]
pub fn json_progress(case: &PropertyCase<'_>, found: &Decided<Progress>) -> String {
    let Decided { answer, elapsed } = found;
    let names = &answer.names;
    let lasso = |lasso: &Lasso| {
        json!({
            "stem": moves_json(&lasso.stem, names),
            "loop": moves_json(&lasso.cycle, names),
            "process": lasso.victim.map(|(process, _)| process.index()),
            "choice": lasso.choice.map(|span| case.source.position(span)),
        })
    };
    let standing = |standing: &Standing| json!({ "standing": standing.name(), "execution": standing.lasso().map(lasso) });
    let operations = answer.operations.iter().map(|one| {
        json!({
            "operation": answer.name_of(one.operation),
            "wait_free": standing(&one.wait_free),
            "starvation_free": standing(&one.starvation_free),
            "obstruction_free": standing(&one.obstruction_free),
            "waits": one.waits.as_ref().map(lasso),
            "accesses": one.accesses,
        })
    });
    let operations: Vec<Value> = operations.collect();
    let mut line = case.json("progress", *elapsed);
    add(&mut line, "progress_of", operations);
    add(&mut line, "lock_free", standing(&answer.lock_free));
    add(&mut line, "deadlock_free", standing(&answer.deadlock_free));
    add(&mut line, "established", answer.is_established());
    add(&mut line, "exact", !answer.is_bounded && answer.extent == Extent::Complete);
    let extent = match &answer.extent {
        Extent::Complete => json!("complete"),
        Extent::CutOff => json!("cut off"),
        Extent::Faulty { moves, fault } => {
            json!({ "moves": moves_json(moves, names), "fault": fault.to_string() })
        }
    };
    add(&mut line, "extent", extent);
    add(&mut line, "states", answer.states);
    add(&mut line, "edges", answer.edges);
    line.to_string()
}
